"""Options that several commands share."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.output import say
from ctrag.errors import InputError

if TYPE_CHECKING:
    from stores.people.stores import Stores


def valid_persona(value: str | None) -> str | None:
    """The id of a person, as it was typed.

    Raises:
        InputError: It was typed in bytes that are no UTF-8, which no store and no file name takes.
    """
    if value is not None and any("\ud800" <= one <= "\udfff" for one in value):
        raise InputError("--persona: not valid UTF-8")
    return value


Persona = Annotated[
    str,
    typer.Option("--persona", callback=valid_persona, help="Id of the person, such as p007."),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Data set folder or stores folder. "
        "Default: your own stores, then the packaged people.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
At = Annotated[
    str | None,
    typer.Option(
        "--at", help="When the request is made, ISO 8601 local time, such as 2025-04-17T12:59."
    ),
]
Place = Annotated[
    str | None, typer.Option("--place", help="Where: home, work, commute or any name.")
]

Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help="Agree to sure plans that play sound or reach contacts; anything else is asked, or "
        "not done without a terminal.",
    ),
]
YesUnsure = Annotated[
    bool,
    typer.Option(
        "--yes-unsure",
        help="Agree to everything: to doubtful plans, deletions too, and to addresses and numbers "
        "that are no contact's.",
    ),
]
Reset = Annotated[
    bool,
    typer.Option(
        "--reset",
        help="Begin with a fresh copy of a packaged person or a data set's: earlier plans' changes "
        "are gone.",
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        help="Host that a reverse proxy is called by, with --http; may be repeated.",
    ),
]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        help="Origin of web pages that may call, with --http; may be repeated.",
    ),
]


def parse_at(value: str | None) -> datetime | None:
    """The time of `--at`.

    Raises:
        ValueError: It is no ISO 8601 local time.
    """
    from stores.people.local_time import parse_local_time

    if value is None:
        return None
    try:
        return parse_local_time(value)
    except ValueError as error:
        raise InputError(f"--at: {error}") from None


def parse_address(value: str) -> tuple[str, int]:
    """Host and port of `--http`."""
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise typer.BadParameter(f"--http: must be HOST:PORT, not {value!r}")
    return host.strip("[]"), int(port)


def own_stores() -> Path:
    """The folder of the user's own stores."""
    from ctrag.settings import settings

    return settings().home.expanduser() / "stores"


def stores_with(persona: str, stores: Path | None, data: Path | None) -> "Stores":
    """The stores that `ask` and `chat` change for a person.

    Args:
        persona: Id of the person.
        stores: `--stores`, or None.
        data: `--data`, or None: then the user's own stores, then the packaged people.

    Raises:
        FileNotFoundError: There are no such stores.
    """
    from ctrag.assistant.open import open_stores
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.stores import Stores
    from synth.reference import folder_with

    own = Stores(own_stores())
    known = stores is None and data is None and in_own_stores(persona, own)
    folder = None if known else data or folder_with(persona)
    if stores is not None or folder is None:
        return Stores.open(stores or own.root)
    return open_stores(folder, persona, load_encoder(settings().encoder)).stores


def in_own_stores(persona: str, own: "Stores") -> bool:
    """Whether a person is in the user's own stores.

    Own stores that cannot be read do not stop packaged people: then the answer is no, with a note.

    Raises:
        StoreUnavailable, ValueError: They cannot be read, and the person is no packaged one.
    """
    from ctrag.errors import CtragError
    from synth.reference import folder_with

    try:
        return own.exists() and persona in own.people()
    except (CtragError, OSError) as error:
        if folder_with(persona) is None:
            raise
        say(f"(your own stores: {error}; `ctrag doctor` tells more)")
        return False


def folder_of(persona: str, data: Path | None) -> Path:
    """Where a person's data are: `--data`, the user's own stores, or the packaged people.

    Raises:
        ValueError: Nobody has that id.
    """
    from stores.people.stores import Stores
    from synth.reference import folder_with

    if data is not None:
        return data
    own = Stores(own_stores())
    if in_own_stores(persona, own):
        return own.root
    packaged = folder_with(persona)
    if packaged is None:
        raise InputError(
            f"persona: {persona!r} is neither in {own.root} nor among the packaged people "
            "(such as p007); give --data, or import with `ctrag import`"
        )
    return packaged
