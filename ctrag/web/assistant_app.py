"""The pages of `ctrag serve web`: whose assistant, the conversation, what there is, own data."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ctrag.errors import CtragError
from ctrag.text.terminal import message
from ctrag.web.bring import Importer, Jobs
from ctrag.web.guard import Guard
from ctrag.web.own_pages import OwnPages
from ctrag.web.pages import page
from ctrag.web.people import Circle, Known, OpenAssistant, People
from ctrag.web.talk_pages import TalkPages
from ctrag.web.things_pages import ThingsPages


@dataclass(frozen=True, slots=True)
class Shown:
    """A circle as the first page shows it."""

    title: str
    about: str
    people: Sequence[Known]


def assistant_app(
    circles: Sequence[Circle],
    open_assistant: OpenAssistant,
    guard: Guard,
    importer: Importer | None = None,
) -> ASGIApp:
    """The application, behind the guard.

    Args:
        circles: Whose assistants can be opened.
        open_assistant: Opens one.
        guard: Who may ask.
        importer: Imports dropped files; no page offers it when None.
    """
    people = People(circles, open_assistant)
    jobs = None if importer is None else Jobs(importer, people.close)

    async def start(request: Request) -> Response:
        own = [one for circle in circles if circle.own for one in circle.people()]
        shown = [Shown(c.title, c.about, c.people()) for c in circles if not c.own]
        return page("start.html.j2", own=jobs is not None, own_people=own, circles=shown)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        people.close()

    app = Starlette(
        routes=[
            Route("/", start),
            *TalkPages(people).routes(),
            *ThingsPages(people).routes(),
            *OwnPages(people, jobs).routes(),
            static_files(),
        ],
        exception_handlers={CtragError: told, OSError: told, HTTPException: not_found},
        lifespan=life,
    )
    return guard.protect(app)


def static_files() -> Mount:
    """The packaged styles and scripts."""
    folder = str(files("ctrag.web").joinpath("static"))
    return Mount("/static", StaticFiles(directory=folder))


async def told(request: Request, error: Exception) -> Response:
    """An error that the person can mend: words in place of a part, a page in place of a page."""
    said = message(str(error))
    if "hx-request" in request.headers:
        return PlainTextResponse(said, 409)
    links = [("Back", request.headers.get("referer") or "/")]
    return page("told.html.j2", 409, title="That did not work", lines=[said], links=links)


async def not_found(request: Request, error: Exception) -> Response:
    """There is no such page or person."""
    code = error.status_code if isinstance(error, HTTPException) else 500
    said = "There is no such page." if code == 404 else "This is not how the page is asked for."
    if "hx-request" in request.headers:
        return PlainTextResponse(said, code)
    return page("told.html.j2", code, title="Not here", lines=[said], links=[("Begin", "/")])
