"""`ctrag import`, `export`, `undo`: a user's own data in, out, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Data, Json, Persona, own_stores, stores_with, valid_persona
from ctrag.cli.output import line, print_json
from ctrag.cli.writable import folder_to_write
from ctrag.errors import InputError

if TYPE_CHECKING:
    from stores.people.changes import Undone

_SENT = {
    "call": "The call",
    "mail": "The mail",
    "message": "The message",
    "open_url": "The page that was opened",
    "pause": "The pause",
    "play": "The music that was started",
    "share": "The note that was sent",
    "skip": "The skipped song",
    "voicemail": "The voicemail that was played",
}

Home = Annotated[
    Path | None, typer.Option("--stores", help="Stores folder. Default: your own stores.")
]


def import_(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...",
            help="Files, folders or zip archives (Google Takeout as it comes): calendars, address "
            "books, mails, notes, call logs, searches, music; or a data set folder.",
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option("--url", help="A calendar by its address, https:// or webcal://."),
    ] = None,
    persona: Annotated[
        str | None,
        typer.Option("--persona", callback=valid_persona, help="Whose items they are; for files."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The person's name; a known person is renamed.")
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            "--timezone",
            help="Where the person lives, such as Europe/Oslo. Default: what is known of them, "
            "else this machine's.",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", help="Mails to read as well: spam, deleted, drafts or chats."),
    ] = None,
    mirror: Annotated[
        bool,
        typer.Option(
            "--mirror",
            help="Of a calendar or address book that is exported again: remove here what earlier "
            "--mirror imports of it brought and what is no longer in it.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be imported; store nothing.")
    ] = False,
    stores: Home = None,
    json: Json = False,
) -> None:
    """Bring people or files into your own stores; importing the same again changes nothing.

    Exits with 3 when something was left out that should be there.

    Example: ctrag import contacts.vcf calendar.ics --persona me --name "Ada Byron"
    """
    from ctrag.cli.importing import import_paths
    from ctrag.cli.sync import import_address, import_mirrors

    if (url is None) == (not sources):
        raise typer.BadParameter("give files and folders, or --url")
    if dry_run and (mirror or url is not None):
        raise typer.BadParameter("--dry-run is for files without --mirror")
    if url is not None or sources is None:
        import_address(str(url), persona, name, timezone, stores, json)
        return
    if mirror:
        import_mirrors(sources, persona, name, timezone, stores, json)
        return
    root = stores or own_stores()
    report = import_paths(root, sources, persona, name, timezone, also=also or (), dry_run=dry_run)
    if json:
        print_json(report.as_json())
    else:
        for text in report.lines(str(root)):
            line(text)
    if report.lost:
        raise typer.Exit(3)


def export(
    persona: Persona,
    out: Annotated[
        Path,
        typer.Option(
            callback=folder_to_write,
            help="Folder to write; made when missing.",
        ),
    ],
    stores: Home = None,
    data: Data = None,
) -> None:
    """Write a person's data as a data set folder, which `ctrag import` reads back.

    Example: ctrag export --persona me --out my-data
    """
    from ctrag.assistant.written import note
    from stores.files import make_private_folder
    from stores.people.dataset import Persona as Exported
    from stores.people.dataset import write_personas

    source = stores_with(persona, stores, data)
    person = source.person(persona)
    found = source.items(persona)
    if found.unavailable:
        app, reason = next(iter(found.unavailable.items()))
        raise InputError(f"export: the {app} store is {reason}; nothing was written")
    make_private_folder(out)
    note("export", out, persona)  # before it is written: a killed export can be erased, too
    exported = Exported(person, tuple(stored.item for stored in found.items))
    write_personas(out, [exported], private=True)
    line(f"{out}: {len(found.items)} items of {persona}")


def undo(persona: Persona, stores: Home = None, data: Data = None) -> None:
    """Take back the person's own last change or import; nobody else's is touched.

    What one turn of a conversation changed is taken back together. A mail, a call or whatever else
    left the phone cannot be taken back; only its record is removed.

    Example: ctrag undo --persona me
    """
    from stores.people.turns import take_back

    for undone in take_back(stores_with(persona, stores, data), persona):
        line(taken_back(undone))


def taken_back(undone: "Undone") -> str:
    """What an undo did, on one line; what had left the phone is said to be out of reach."""
    if not undone.sent:
        return f"Taken back: {undone.summary}"
    what = _SENT.get(undone.sent[0].kind, "What was sent")
    names = ", ".join(" ".join(one.recipient.split()) for one in undone.sent if one.recipient)
    to = f" to {names}" if names else ""
    return f"{what}{to} cannot be taken back; only the record of it is removed."
