"""What every server of pages answers beside its pages: packaged files, errors."""

from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ctrag.text.terminal import message
from ctrag.web.pages import page


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


async def defect(request: Request, error: Exception) -> Response:
    """A defect of ctrag costs one page; the traceback goes to the log."""
    said = f"Something is wrong in ctrag: {type(error).__name__}: {message(str(error))}"
    if "hx-request" in request.headers:
        return PlainTextResponse(said, 500)
    return page("told.html.j2", 500, title="That failed", lines=[said], links=[("Begin", "/")])
