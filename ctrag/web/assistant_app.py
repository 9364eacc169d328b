"""The pages of `ctrag serve web`: whose assistant, the conversation, what there is, own data."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ctrag.errors import CtragError
from ctrag.web.answers import defect, not_found, static_files, told
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
        exception_handlers={
            CtragError: told,
            OSError: told,
            HTTPException: not_found,
            Exception: defect,
        },
        lifespan=life,
    )
    return guard.protect(app)
