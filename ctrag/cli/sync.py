"""`ctrag sync`, and `ctrag import --url`: from servers into a person's own stores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctrag.cli.options import Json, Persona, own_stores
from ctrag.cli.output import line, print_json
from ctrag.errors import CtragError, InputError

if TYPE_CHECKING:
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
    url: str, persona: str | None, name: str | None, stores: Path | None, json: bool
) -> None:
    """`ctrag import --url`: a calendar by its address.

    Raises:
        ValueError: Nobody is named whose it is.
        SourceUnavailable: It cannot be read.
    """
    from ctrag.assistant.sync.address import Address

    if persona is None:
        raise InputError("--persona: a calendar needs the id of the person it belongs to")
    done = synchronized(persona, name, Address(url), stores)
    if json:
        print_json({**done.report.as_json(), "gone": done.gone})
    else:
        tell("calendar", done)
    if done.report.lost:
        raise typer.Exit(3)


def synchronized(persona: str, name: str | None, source: "Source", stores: Path | None) -> "Synced":
    """One source, synchronized into the person's stores."""
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.assistant.imports.files import new_person
    from ctrag.assistant.imports.zones import machine_zone
    from ctrag.assistant.sync.engine import synchronize
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.stores import Stores

    target = Stores(stores or own_stores())
    known = target.exists() and persona in target.people()
    person = target.person(persona) if known else new_person(persona, name, machine_zone().key)
    encoder = load_encoder(settings().encoder)
    return synchronize(
        target, person, source, lambda owned: encode_items(encoder, list(owned)), encoder.name
    )


def tell(name: str, done: "Synced") -> None:
    """What a synchronization did, for people."""
    if done.unchanged:
        line(f"{name}: nothing new")
        return
    for text in done.report.lines(name):
        line(text)
    if done.gone:
        line(f"{name}: {done.gone} removed here that vanished there")
