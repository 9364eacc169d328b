"""Calls of OpenAPI tools over HTTP.

A model chooses values of arguments, and nothing else: the host comes from the document or the
configuration, the path's placeholders take one segment each, credentials come from environment
variables and are sent to that host alone.
"""

import base64
import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import anyio
from mcp.types import CallToolResult, ImageContent, TextContent

from ctrag.agents.catalogue.openapi_operations import Argument, Credential, OpenApi, Operation
from ctrag.agents.catalogue.openapi_paths import filled, placeholders
from ctrag.agents.server.upstream import UpstreamError
from ctrag.errors import InputError
from ctrag.version import __version__

if TYPE_CHECKING:
    import httpx
from ctrag.agents.server.openapi_styles import (
    as_written,
    header_value,
    pairs,
    path_segment,
    written_body,
)

logger = logging.getLogger(__name__)

_REDIRECTS = 5
_TEXT = re.compile(
    r"text/|application/(?:.+\+)?(?:json|xml|yaml)|application/(?:x-)?(?:ndjson|yaml)"
)


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How the tools of an OpenAPI document are called."""

    base_url: str = ""
    """Replaces the addresses that the document names."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """Security scheme, or parameter that holds a secret → environment variable with the secret;
    `SERVER_SCHEME` where it is left out. Basic credentials are `user:password`. `bearer` and
    `basic` are sent with operations of which the document asks no credentials, too."""
    timeout: float = 30.0
    """Seconds that one call may take."""
    answer_limit: int = 200_000
    """Bytes of an answer that are read; the rest is left out, and the answer says so."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if self.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise InputError(
                f"base_url: must be http://HOST… or https://HOST…, not {self.base_url!r}"
            )
        if not self.timeout > 0:
            raise InputError(f"timeout: must be above 0 seconds, not {self.timeout}")
        if self.answer_limit < 1:
            raise InputError(f"answer_limit: must be at least 1 byte, not {self.answer_limit}")


class OpenApiServer:
    """Calls the tools of one document; used from the event loop."""

    def __init__(self, api: OpenApi, settings: ApiSettings | None = None) -> None:
        """A server that calls what `read_openapi` returned.

        Raises:
            ValueError: A credential is of no scheme of the document.
        """
        self.name = api.server
        self._api = api
        self._settings = settings or ApiSettings()
        self._undeclared = self._of_settings()

    @property
    def problems(self) -> Mapping[str, str]:
        """What of the document was left out or named otherwise, and why; by operation."""
        return self._api.problems

    def _of_settings(self) -> tuple[Credential, ...]:
        """`bearer` and `basic` of the settings, for operations of which the document asks none."""
        known = {
            one.name: None
            for operation in self._api.operations.values()
            for alternative in operation.security
            for one in alternative
        }
        found: list[Credential] = []
        for name in self._settings.credentials:
            if name in known:
                continue
            if name == "bearer":
                found.append(Credential(name, "bearer"))
                continue
            if name == "basic":
                found.append(Credential(name, "basic"))
                continue
            told = ", ".join([*known, "bearer", "basic"])
            raise InputError(f"credentials: {name!r} is no scheme that is used here; use {told}")
        return tuple(found)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """The API's answer, errors of HTTP included.

        Raises:
            UpstreamError: There is none, or the call cannot be made; the message says why.
        """
        import httpx

        operation = self._api.operations.get(name)
        if operation is None:
            raise UpstreamError(f"{self.name}/{name} is not in the document any more.")
        try:
            request = self._request(operation, arguments)
        except InputError as error:
            raise UpstreamError(f"{self.name}/{name} was not called: {error}") from None
        try:
            with anyio.fail_after(self._settings.timeout):
                async with httpx.AsyncClient(timeout=None) as client:
                    return await self._sent(client, request)
        except TimeoutError:
            effect = "" if operation.method in ("GET", "HEAD") else (
                " It may still take effect: check before you call it again."
            )  # fmt: skip
            raise UpstreamError(
                f"{self.name}/{name} gave no answer within {self._settings.timeout:g} s.{effect}"
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            logger.warning("%s/%s: %s", self.name, name, error)
            raise UpstreamError(
                f"{self.name}/{name} could not be reached ({type(error).__name__}). Try again "
                "later or search for another tool."
            ) from None

    def _request(self, operation: Operation, arguments: Mapping[str, Any]) -> "httpx.Request":
        import httpx

        given = self._placed(operation, arguments)
        base, _, always = self._base(operation).partition("?")
        url = base.rstrip("/") + self._path(operation, given["path"])
        if always:  # such as a version that every call carries
            url += ("&" if "?" in url else "?") + always
        query = [pair for one, value in given["query"] for pair in pairs(one, value)]
        headers = {one.name: header_value(one, value) for one, value in given["header"]}
        cookies = {one.name: as_written(value) for one, value in given["cookie"]}
        body, own_headers = written_body(operation, given)
        self._authorise(operation, query, headers, cookies)
        if cookies:
            told = (f"{name}={quote(value, safe='')}" for name, value in cookies.items())
            headers["Cookie"] = "; ".join(told)
        if query:
            url += ("&" if "?" in url else "?") + "&".join(
                f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in query
            )
        for header, value in headers.items():
            if any(ord(one) < 32 or ord(one) == 127 for one in value):
                raise InputError(f"{header}: must be one line of text")
        headers = {
            "Accept": "application/json, */*;q=0.5",
            "User-Agent": f"ctrag/{__version__}",
            **own_headers,
            **headers,
        }
        encoded = [(key.encode(), value.encode()) for key, value in headers.items()]
        return httpx.Request(operation.method, url, headers=encoded, **body)

    def _placed(
        self, operation: Operation, arguments: Mapping[str, Any]
    ) -> dict[str, list[tuple[Argument, Any]]]:
        placed: dict[str, list[tuple[Argument, Any]]] = {
            place: [] for place in ("path", "query", "header", "cookie", "body", "whole body")
        }
        for name, value in arguments.items():
            argument = operation.arguments.get(name)
            if argument is None and operation.open_body:
                argument = Argument(name, "body")
            if argument is None:
                told = ", ".join(operation.arguments) or "none"
                raise InputError(f"there is no argument {name!r}; its arguments are: {told}")
            if value is not None or argument.place in ("body", "whole body"):
                placed[argument.place].append((argument, value))
        return placed

    def _base(self, operation: Operation) -> str:
        base, own = self._settings.base_url, operation.address
        if base and own.startswith("/") and urlsplit(base).path in ("", "/"):
            base = base.rstrip("/") + own  # the document says where below the host its paths begin
        base = base or own
        if missing := placeholders(base):
            raise InputError(
                f"its document does not say what {{{missing[0]}}} in its address is; whoever runs "
                "this server gives the address with --base-url"
            )
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                "its document names no address; whoever runs this server gives one with --base-url"
            )
        return base.rstrip("/")

    def _path(self, operation: Operation, given: list[tuple[Argument, Any]]) -> str:
        values = {one.name: (one, value) for one, value in given}

        def value_of(name: str, slashes: bool) -> str:
            if name not in values:
                raise InputError(f"{name}: is missing; the address needs it")
            written = path_segment(*values[name])
            return written.replace("%2F", "/") if slashes else written

        path = filled(operation.path.partition("#")[0], values, value_of)
        if any(part in (".", "..") for part in path.split("/")):
            raise InputError("an argument of its address must not be . or ..")
        return path if path.startswith("/") else f"/{path}"

    def _authorise(
        self,
        operation: Operation,
        query: list[tuple[str, str]],
        headers: dict[str, str],
        cookies: dict[str, str],
    ) -> None:
        """Add the first alternative whose credentials are all there."""
        security = operation.security or ((self._undeclared,) if self._undeclared else ())
        if not security:
            return
        lacking: list[str] = []
        for alternative in security:
            secrets = [(one, os.environ.get(self._variable(one), "")) for one in alternative]
            if all(secret for _, secret in secrets):
                break
            lacking += [self._variable(one) for one, secret in secrets if not secret]
        else:
            raise InputError(
                f"it needs credentials: whoever runs this server sets "
                f"{' or '.join(dict.fromkeys(lacking))} in its environment"
            )
        if () in security and not secrets:  # all else being equal, be known
            for alternative in security:
                found = [(one, os.environ.get(self._variable(one), "")) for one in alternative]
                if found and all(secret for _, secret in found):
                    secrets = found
                    break
        for one, secret in secrets:
            if one.kind == "query":
                query[:] = [pair for pair in query if pair[0] != one.parameter]
                query.append((one.parameter, secret))
            elif one.kind == "cookie":
                cookies[one.parameter] = secret
            else:
                header = one.parameter if one.kind == "header" else "Authorization"
                for other in [key for key in headers if key.lower() == header.lower()]:
                    del headers[other]
                headers[header] = _authorisation(one, secret)

    def _variable(self, credential: Credential) -> str:
        """The environment variable that holds a credential."""
        named = self._settings.credentials.get(credential.name)
        return named or re.sub(r"\W+", "_", f"{self.name}_{credential.name}").upper()

    async def _sent(self, client: "httpx.AsyncClient", request: "httpx.Request") -> CallToolResult:
        """The answer; redirects are followed to the same origin alone, where nothing is sent."""
        import httpx

        for _ in range(_REDIRECTS + 1):
            answer = await client.send(request, stream=True, follow_redirects=False)
            try:
                if not answer.has_redirect_location:
                    return await self._read(answer)
                following = request.url.join(answer.headers["location"])
                origin = (request.url.scheme, request.url.host, request.url.port)
                same = (following.scheme, following.host, following.port) == origin
                if not same or request.method not in ("GET", "HEAD"):
                    return _result(
                        f"HTTP {answer.status_code}: it is at {following.copy_with(query=None)} "
                        "now, which was not called.",
                        error=True,
                    )
            finally:
                await answer.aclose()
            headers = {key: value for key, value in request.headers.items() if key != "host"}
            request = httpx.Request(request.method, following, headers=headers)
        return _result(f"It redirects more than {_REDIRECTS} times.", error=True)

    async def _read(self, answer: "httpx.Response") -> CallToolResult:
        limit = self._settings.answer_limit
        content = b""
        async for chunk in answer.aiter_bytes():
            content += chunk
            if len(content) > limit:
                break
        cut = len(content) > limit
        content = content[:limit]
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        failed = answer.status_code >= 400
        status = f"HTTP {answer.status_code} {answer.reason_phrase}".strip()
        if kind.startswith("image/") and not cut and not failed:
            image = ImageContent(
                type="image", data=base64.b64encode(content).decode(), mime_type=kind
            )
            return CallToolResult(content=[image])
        if kind and not _TEXT.match(kind) and b"\x00" in content[:1000]:
            size = f"{limit:,} bytes or more" if cut else f"{len(content):,} bytes"
            return _result(f"{status}: {size} of {kind}, which is no text.", failed)
        text = content.decode(answer.charset_encoding or "utf-8", "replace")
        if failed or not text:
            text = f"{status}: {text}" if text else status
        if cut:
            text += f"\n[cut: the answer is longer than {limit:,} bytes; ask for less]"
        result = _result(text, failed)
        if not cut and not failed and "json" in kind:
            try:
                value = json.loads(content)
            except ValueError:
                return result
            if isinstance(value, dict):
                return result.model_copy(update={"structured_content": value})
        return result


def _authorisation(credential: Credential, secret: str) -> str:
    if credential.kind == "basic":
        return f"Basic {base64.b64encode(secret.encode()).decode()}"
    return f"Bearer {secret}" if credential.kind == "bearer" else secret


def _result(text: str, error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=error)
