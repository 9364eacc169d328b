"""`ctrag import`, `export`, `undo`: a user's own data in, out, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Data, Json, Persona, own_stores, stores_with
from ctrag.cli.output import line, print_json
from ctrag.cli.writable import check_writable_folder
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
    source: Annotated[
        Path, typer.Argument(help="A data set folder, or an .ics, .mbox or .vcf file.")
    ],
    persona: Annotated[
        str | None, typer.Option("--persona", help="Whose items they are; for files.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The person's name, when they are new.")
    ] = None,
    stores: Home = None,
    json: Json = False,
) -> None:
    """Bring people or files into your own stores; importing the same again changes nothing.

    Example: ctrag import calendar.ics --persona me --name "Ada Byron"
    """
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.assistant.imports.files import personas_from
    from ctrag.assistant.open import TOOLBOX, joined_toolbox, toolbox_of
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.files import write_text
    from stores.people.app_spec import apps_of
    from stores.people.stores import Stores

    root = stores or own_stores()
    target = Stores(root, apps_of(root, source))
    personas = personas_from(source, persona, name, target)
    toolbox = joined_toolbox(root, source)
    encoder = load_encoder(settings().encoder)
    report = target.import_personas(
        personas, lambda owned: encode_items(encoder, list(owned)), encoder.name
    )
    if toolbox != toolbox_of(root):
        write_text(root / TOOLBOX, toolbox.to_yaml(), private=True)
    if json:
        print_json({"added": report.added, "changed": report.changed, "same": report.unchanged})
        return
    line(
        f"{target.root}: {report.added} items added, {report.changed} changed, "
        f"{report.unchanged} as before"
    )
    for app, (reason, number) in report.unavailable.items():
        line(f"{number} items left out: the {app} store is {reason}; see `ctrag doctor`")
    if report.unavailable:
        raise typer.Exit(3)


def export(
    persona: Persona,
    out: Annotated[Path, typer.Option(help="Folder to write; made when missing.")],
    stores: Home = None,
    data: Data = None,
) -> None:
    """Write a person's data as a data set folder, which `ctrag import` reads back.

    Example: ctrag export --persona me --out my-data
    """
    from ctrag.assistant.written import note
    from stores.people.dataset import Persona as Exported
    from stores.people.dataset import write_personas

    check_writable_folder("--out", out)
    source = stores_with(persona, stores, data)
    person = source.person(persona)
    found = source.items(persona)
    if found.unavailable:
        app, reason = next(iter(found.unavailable.items()))
        raise InputError(f"export: the {app} store is {reason}; nothing was written")
    note("export", out, persona)  # before it is written: a killed export can be erased, too
    exported = Exported(person, tuple(stored.item for stored in found.items))
    write_personas(out, [exported], private=True)
    line(f"{out}: {len(found.items)} items of {persona}")


def undo(persona: Persona, stores: Home = None, data: Data = None) -> None:
    """Take back the person's own last change or import; nobody else's is touched.

    A mail, a call or whatever else left the phone cannot be taken back; only its record is removed.

    Example: ctrag undo --persona me
    """
    line(taken_back(stores_with(persona, stores, data).undo(persona)))


def taken_back(undone: "Undone") -> str:
    """What an undo did, on one line; what had left the phone is said to be out of reach."""
    if not undone.sent:
        return f"Taken back: {undone.summary}"
    what = _SENT.get(undone.sent[0].kind, "What was sent")
    names = ", ".join(" ".join(one.recipient.split()) for one in undone.sent if one.recipient)
    to = f" to {names}" if names else ""
    return f"{what}{to} cannot be taken back; only the record of it is removed."
