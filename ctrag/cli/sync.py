"""`ctrag sync`, and `ctrag import --url`: from servers into a person's own stores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctrag.cli.options import Json, Persona, own_stores
from ctrag.cli.output import line, print_json
from ctrag.errors import CtragError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctrag.assistant.sync.engine import Synced
    from ctrag.assistant.sync.source import Source


def sync(
    persona: Persona,
    accounts: Annotated[
        Path | None,
        typer.Option(
            "--accounts", help="Accounts file. Default: accounts.yaml in the home folder."
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only this account.")] = None,
    stores: Annotated[
        Path | None, typer.Option("--stores", help="Stores folder. Default: your own stores.")
    ] = None,
    json: Json = False,
) -> None:
    """Bring what is new on your servers into your own stores, and remove here what vanished there.

    Servers are only read. Exit code 3 when something was left out, 1 when an account failed.

    Example: ctrag sync --persona me
    """
    from ctrag.assistant.sync.accounts import ACCOUNTS, read_accounts
    from ctrag.settings import settings

    path = accounts or settings().home.expanduser() / ACCOUNTS
    known = read_accounts(path)
    names = {one.name for one in known}
    for name in only or ():
        if name not in names:
            raise InputError(
                f"--only: {name!r} is not in {path}; known: {', '.join(sorted(names))}"
            )
    told: dict[str, Any] = {}
    lost = failed = 0
    for account in known:
        if only and account.name not in only:
            continue
        try:
            done = synchronized(persona, None, account.source(), stores)
        except (CtragError, OSError) as error:  # one account never costs another
            failed += 1
            told[account.name] = {"error": str(error)}
            if not json:
                line(f"{account.name}: {error}")
            continue
        lost += done.report.lost
        told[account.name] = {**done.report.as_json(), "gone": done.gone}
        if not json:
            tell(account.name, done)
    if json:
        print_json(told)
    if failed or lost:
        raise typer.Exit(1 if failed else 3)


def import_address(
    url: str,
    persona: str | None,
    name: str | None,
    timezone: str | None,
    stores: Path | None,
    json: bool,
) -> None:
    """`ctrag import --url`: a calendar by its address.

    Raises:
        ValueError: Nobody is named whose it is.
        SourceUnavailable: It cannot be read.
    """
    from ctrag.assistant.sync.address import Address

    _import([("calendar", Address(url))], persona, name, timezone, stores, json)


def import_mirrors(
    paths: list[Path],
    persona: str | None,
    name: str | None,
    timezone: str | None,
    stores: Path | None,
    json: bool,
) -> None:
    """`ctrag import --mirror`: calendars and address books; what vanished there vanishes here.

    Raises:
        ValueError: Nobody is named whose they are.
        SourceUnavailable: One cannot be read; those before are imported.
    """
    from ctrag.assistant.sync.mirror import Mirror

    sources = [(path.name or str(path), Mirror(path)) for path in paths]
    _import(sources, persona, name, timezone, stores, json)


def _import(
    sources: "Sequence[tuple[str, Source]]",
    persona: str | None,
    name: str | None,
    timezone: str | None,
    stores: Path | None,
    json: bool,
) -> None:
    if persona is None:
        raise InputError("--persona: a calendar needs the id of the person it belongs to")
    told: list[dict[str, Any]] = []
    lost = 0
    for shown, source in sources:
        done = synchronized(persona, name, source, stores, timezone)
        lost += done.report.lost
        told.append({**done.report.as_json(), "gone": done.gone})
        if not json:
            tell(shown, done)
    if json:
        print_json(told[0] if len(told) == 1 else told)
    if lost:
        raise typer.Exit(3)


def synchronized(
    persona: str,
    name: str | None,
    source: "Source",
    stores: Path | None,
    timezone: str | None = None,
) -> "Synced":
    """One source, synchronized into the person's stores.

    Raises:
        ValueError: `timezone` is none.
        SourceUnavailable: The source cannot be read.
    """
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.assistant.sync.engine import synchronize
    from ctrag.assistant.sync.mirror import Mirror
    from ctrag.cli.importing import person_of
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.stores import Stores

    target = Stores(stores or own_stores())
    person, notes = person_of(target, persona, name, timezone)
    encoder = load_encoder(settings().encoder)
    done = synchronize(
        target,
        person,
        source,
        lambda owned: encode_items(encoder, list(owned)),
        encoder.name,
        adopt=isinstance(source, Mirror),
    )
    if name is not None or timezone is not None:
        done.report.notes += notes
    return done


def tell(name: str, done: "Synced") -> None:
    """What a synchronization did, for people."""
    if done.unchanged:
        line(f"{name}: nothing new")
        return
    for text in done.report.lines(name):
        line(text)
    if done.gone:
        line(f"{name}: {done.gone} removed here that vanished there")
