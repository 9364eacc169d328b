"""`ctrag serve web`: the assistant in a browser."""

import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import own_stores, valid_persona
from ctrag.cli.output import line, note, say
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.assistant.imports.files import Place
    from ctrag.assistant.imports.report import Report
    from ctrag.web.people import Circle, Known, Starter
    from stores.people.items import Person

_FEW = 4
"""Examples of a packaged person, requests that they made."""
_PLAIN = ("what's on tomorrow", "remind me to buy bread tomorrow at six")
"""Examples that anybody could say."""
_FIRST = ("p204", "p007")
"""Packaged people who come first: those of `ctrag demo` and of the README."""


def web(
    persona: Annotated[
        str | None,
        typer.Option(
            "--persona", callback=valid_persona, help="Id of the person whose page is opened first."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Data set folder or stores folder. Default: your own stores and packaged people.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to serve; 127.0.0.1 is reached from this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes any free one.")] = 8642,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name by which the page may be opened beside this machine's; may be repeated."
        ),
    ] = None,
    planner: Annotated[str, typer.Option(help="embedded or openai.")] = "embedded",
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it in the default browser.")
    ] = False,
) -> None:
    """Serve the assistant as a page: ask, see why, look at what there is, import files.

    The address that is printed has a token, which is new at every start: keep it to yourself.

    Example: ctrag serve web --persona p204
    """
    from ctrag.extras import need

    need("the page", "starlette", "uvicorn", "python_multipart", extra="web")
    need("the assistant", "torch", "transformers", "lightgbm", "llguidance", extra="assistant")
    from ctrag.web.assistant_app import assistant_app
    from ctrag.web.guard import Guard, allowed
    from ctrag.web.own_pages import UPLOADS
    from ctrag.web.people import SharedModels
    from ctrag.web.running import check_host, free_socket, serve

    if planner not in ("embedded", "openai"):
        raise InputError(f"planner: must be embedded or openai, not {planner!r}")
    hosts = allowed(allow_host or ())
    check_host(host, hosts)
    circles = _circles(data)
    if persona is not None and not any(
        one.id == persona for circle in circles for one in circle.people()
    ):
        raise InputError(f"persona: there is nobody with the id {persona!r}")
    listening = free_socket(host, port)
    guard = Guard(listening.getsockname()[1], hosts, uploads=(UPLOADS,))
    models = SharedModels(planner)
    app = assistant_app(circles, models, guard, None if data is not None else _import)
    path = "/" if persona is None else f"/p/{persona}/"
    address = guard.address(host if host not in ("0.0.0.0", "::") else hosts[0], path)

    def started() -> None:
        line(address)
        say("Ctrl-C ends it.")
        if show:
            import webbrowser

            webbrowser.open(address)
        _warm(models.warm)

    serve(app, listening, started)


def _warm(load: Callable[[], None]) -> None:
    """Load models beside the page; that they are missing is said where they are needed."""

    def run() -> None:
        try:
            load()
        except Exception as error:
            note(str(error))

    threading.Thread(target=run, name="warm", daemon=True).start()


def _circles(data: Path | None) -> "list[Circle]":
    from ctrag.web.people import Circle
    from stores.people.generations import MANIFEST
    from synth.reference import split_folder

    if data is not None and (data / MANIFEST).exists():
        return [Circle("People", str(data), data, lambda: _stored(data), own=False)]
    if data is not None:
        return [_data_set("People", str(data), data, 1000)]
    own = own_stores()
    dev = split_folder("dev")
    about = "People made up for development, each with a phone's contents of one day. Try anything."
    return [
        Circle("Your own data", "", own, lambda: _stored(own), _own_starters, own=True),
        _data_set("Packaged people", about, dev, 1000),
    ]


def _data_set(title: str, about: str, folder: Path, most: int) -> "Circle":
    from ctrag.web.people import Circle

    @cache
    def people() -> "Sequence[Known]":
        from stores.people.dataset import load_dataset

        found = [_known(one.person) for one in load_dataset(folder).personas[:most]]
        return sorted(found, key=lambda one: _FIRST.index(one.id) if one.id in _FIRST else 9)

    @cache
    def starters(person: str) -> "Sequence[Starter]":
        from ctrag.web.people import Starter
        from stores.people.dataset import load_dataset
        from stores.people.local_time import format_local_time

        requests = [one.request for one in load_dataset(folder).requests if one.person_id == person]
        return [
            Starter(one.text, format_local_time(one.asked_at), one.place or "", one.playing or "")
            for one in requests[:_FEW]
        ] + [Starter(text) for text in _PLAIN]

    return Circle(title, about, folder, people, starters)


def _stored(folder: Path) -> "Sequence[Known]":
    """The people of a stores folder; the names of those that cannot be read are their ids."""
    from ctrag.errors import CtragError
    from ctrag.web.people import Known
    from stores.people.stores import Stores

    stores = Stores(folder)
    found: list[Known] = []
    try:
        ids = stores.people()
    except (CtragError, OSError) as error:
        note(f"{error}; `ctrag doctor` tells more")
        return []
    for person_id in ids:
        try:
            found.append(_known(stores.person(person_id)))
        except (CtragError, OSError):
            found.append(Known(person_id, person_id))
    return found


def _known(person: "Person") -> "Known":
    from ctrag.web.people import Known

    profile = person.profile
    about = (str(profile.age or ""), profile.profession or "", profile.city or "")
    return Known(person.person_id, profile.name, ", ".join(filter(None, about)))


def _own_starters(person: str) -> "Sequence[Starter]":
    from ctrag.web.people import Starter

    texts = (
        "what's on today",
        "what's on tomorrow",
        "which mails are unread",
        "remind me to water the plants tomorrow at six",
        "make a note that the spare key is at the neighbours'",
    )
    return [Starter(text) for text in texts]


def _import(
    paths: Sequence[Path],
    person: str,
    name: str | None,
    timezone: str | None,
    told: "Callable[[int, Place | None], None]",
) -> "Report":
    from ctrag.cli.importing import Watch, import_paths

    class Told(Watch):
        """Tells the page in place of the terminal."""

        def __enter__(self) -> "Told":
            return self

        def told(self, items: int, place: "Place | None") -> None:
            told(items, place)

    return import_paths(own_stores(), paths, person, name, timezone, watch=Told(paths))
