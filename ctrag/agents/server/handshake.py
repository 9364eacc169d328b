"""The greeting between us and a server: answers to it that break the protocol's form, and servers
that fail at the way in which it is begun.

What a server says of itself decides little here. So no field of it is a reason to lose its tools.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, Implementation, ServerCapabilities
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from ctrag.agents.server.messages import as_text

OLDEST, LATEST = HANDSHAKE_PROTOCOL_VERSIONS[0], HANDSHAKE_PROTOCOL_VERSIONS[-1]
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_OF_VERSIONS = re.compile(r"protocol[\s_-]*version", re.IGNORECASE)
_LOST = (httpx2.RemoteProtocolError, httpx2.ReadError, anyio.EndOfStream)
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)


@dataclass(frozen=True, slots=True)
class Greeting:
    """How a server is greeted."""

    mode: str = "auto"
    """`auto` asks first whether it speaks the 2026 revision; `legacy` does not."""
    version: str = ""
    """The revision that is proposed; empty for the latest."""

    def after(self, error: BaseException) -> "Greeting | None":
        """How to greet it after that failure; None where another way promises nothing.

        Some servers end, or break the connection off, at a method that they do not know; some
        refuse a revision that they do not know in place of naming theirs.
        """
        cause = first_cause(error)
        said = f"{cause} {cause.error.data}" if isinstance(cause, MCPError) else str(cause)
        if not self.version and _OF_VERSIONS.search(said):
            named = [one for one in HANDSHAKE_PROTOCOL_VERSIONS[:-1] if one in said]
            return Greeting("legacy", named[-1] if named else OLDEST)
        closed = isinstance(cause, MCPError) and cause.error.code == CONNECTION_CLOSED
        if self.mode == "auto" and (closed or isinstance(cause, (*_LOST, *_CLOSED))):
            return Greeting("legacy")
        return None


def first_cause(error: BaseException) -> BaseException:
    """The first error in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def mended_greeting(result: dict[str, Any], name: str) -> None:
    """Put the usable form of the fields of an answer to `initialize` in their place.

    Args:
        result: As it was sent; changed in place.
        name: Of the server, where it does not say one.
    """
    result["protocolVersion"] = _version(result.get("protocolVersion"))
    result["capabilities"] = _capabilities(result.get("capabilities"))
    result["serverInfo"] = _identity(result.get("serverInfo"), name)
    told = result.pop("instructions", None)
    if isinstance(told, list):
        told = "\n".join(map(as_text, told))
    if isinstance(told, str):
        result["instructions"] = told


def _version(value: Any) -> str:
    """The revision that a server means: the newest that is no later than the one it names."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return OLDEST
    return max((one for one in HANDSHAKE_PROTOCOL_VERSIONS if one <= value), default=OLDEST)


def _capabilities(value: Any) -> dict[str, Any]:
    """What it offers; a capability in another form is one without details."""
    if isinstance(value, list):
        value = {one: {} for one in value if isinstance(one, str)}
    kept: dict[str, Any] = {}
    for key, one in value.items() if isinstance(value, Mapping) else ():
        if one is None or one is False:
            continue
        kept[key] = one if _valid(ServerCapabilities, {key: one}) else {}
    return kept


def _identity(value: Any, name: str) -> dict[str, Any]:
    """Who it is: all that it says, or its name and version alone."""
    if isinstance(value, str):
        value = {"name": value}
    said = dict(value) if isinstance(value, Mapping) else {}
    said["name"] = as_text(said.get("name")) or name
    said["version"] = as_text(said.get("version"))
    if _valid(Implementation, said):
        return said
    return {"name": said["name"], "version": said["version"]}


def _valid(model: type[BaseModel], value: Any) -> bool:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError:
        return False
    return True
