"""What is answered in place of a completion, in the form of OpenAI's API."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ctrag.assistant.server.told import failure
from ctrag.errors import CtragError, InputError, StoreUnavailable
from ctrag.text.terminal import message

PLACES = "models are at /v1/models, chat at /v1/chat/completions, MCP at /mcp"


class Defect(CtragError):
    """Something is wrong in ctrag; it was told on the terminal, and a repetition does not help."""


def problem(status: int, said: str, code: str | None = None) -> dict[str, Any]:
    """The body of an error."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": said, "type": kind, "param": None, "code": code}}


def refused(status: int, said: str, code: str | None = None) -> Response:
    """An error as an answer."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(problem(status, said, code), status, headers)


def failed(error: Exception) -> Response:
    """The answer where a turn raised."""
    answer = JSONResponse(failed_body(error), _status(error))
    if isinstance(error, Defect):
        answer.headers["x-should-retry"] = "false"  # OpenAI's clients repeat what fails
    return answer


def failed_body(error: Exception) -> dict[str, Any]:
    """The same as a body, for a stream that has begun."""
    return problem(_status(error), failure(error))


def misdirected(request: Request, status: int) -> Response:
    """The answer where `Host`, `Origin` or `Content-Type` is none that is answered, and what helps.

    Args:
        request: What came.
        status: What the library that compares them answers with.
    """
    host, origin = request.headers.get("host", ""), request.headers.get("origin", "")
    said = {
        403: f"pages of {origin!r} may not call; --allow-origin names those that may",
        421: f"this server is not {host!r}; call it by 127.0.0.1, or give --allow-host with that "
        "name",
    }
    words = said.get(status, "the Content-Type must be application/json")
    return refused(status, message(words))


def no_such_route(request: Request, error: Exception) -> Response:
    """The answer where nothing is, as with an address without its `/v1`."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    path = request.url.path
    if status == 404:
        said = f"there is no {path!r} here; {PLACES}"
    elif status == 405:
        said = f"{request.method} is not answered at {path!r}; {headers.get('Allow', '')} is"
    else:
        said = f"status {status}"
    answer = refused(status, message(said))
    answer.headers.update(headers)
    return answer


def _status(error: Exception) -> int:
    if isinstance(error, InputError):
        return 400
    return 503 if isinstance(error, StoreUnavailable) else 500
