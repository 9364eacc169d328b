"""Results as they are passed on: links that can be read here, and long ones in parts."""

import json
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from ctrag.agents.server.channel import passed_meta
from ctrag.errors import InputError

SCHEME = "ctrag://"
OURS = "ctrag"
"""The server's name in the addresses of kept results."""
READ = "ctrag/read"
"""The tool that every session has: reads a resource or a kept result."""
TEXT_LIMIT = 100_000
"""Characters of text in a result, unless settings or the server's entry say otherwise."""
BINARY_LIMIT = 10_000_000
"""Characters of one picture, sound or file in a result, as base64."""
KEPT = 128 * 1024 * 1024
"""Characters of results that are kept; the oldest go first."""


def outward(server: str, uri: str) -> str:
    """A server's resource, or the template of one, by the name that it has here."""
    return f"{SCHEME}{quote(server, safe='')}/{uri}"


def inward(uri: str) -> tuple[str, str]:
    """The server and its own name of a resource; the inverse of `outward`.

    Raises:
        ValueError: The name is not one of ours.
    """
    server, slash, own = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or not slash or not server or not own:
        raise InputError(
            f"uri: {uri[:100]!r} is not of this server; its resources are {SCHEME}SERVER/URI"
        )
    return unquote(server), own


@dataclass(frozen=True, slots=True)
class _Kept:
    owner: str
    text: str
    mime: str
    binary: bool


class Results:
    """What was too long to be sent at once, kept for the caller whose result it was.

    Args:
        kept: Characters kept at most.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._most = kept
        self._size = 0

    def keep(self, owner: str, text: str, mime: str = "text/plain", *, binary: bool = False) -> str:
        """Keep a text, or binary data as base64; its address."""
        key = f"result/{secrets.token_urlsafe(12)}"
        self._kept[key] = _Kept(owner, text, mime, binary)
        self._size += len(text)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1].text)
        return outward(OURS, key)

    def has(self, uri: str) -> bool:
        """Whether the address is one of a kept result, of any caller."""
        return uri.startswith(f"{SCHEME}{OURS}/result/")

    def whole(self, owner: str, uri: str) -> TextResourceContents | BlobResourceContents:
        """A kept result as a resource's contents.

        Raises:
            ValueError: It is not kept for this caller.
        """
        one = self._found(owner, uri)
        if one.binary:
            return BlobResourceContents(uri=uri, mime_type=one.mime, blob=one.text)
        return TextResourceContents(uri=uri, mime_type=one.mime, text=one.text)

    def _found(self, owner: str, uri: str) -> _Kept:
        one = self._kept.get(uri.removeprefix(f"{SCHEME}{OURS}/"))
        if one is None or one.owner != owner:
            raise InputError(f"uri: {uri[:100]!r} is not kept any more; make the call again")
        return one

    def capped(
        self, result: CallToolResult, owner: str, limit: int, *, structured: bool
    ) -> CallToolResult:
        """A result of at most `limit` characters of text; the rest can be read on.

        Args:
            result: Of a call.
            owner: The caller.
            limit: Characters of all texts together.
            structured: Whether the client expects structured content, so that it stays.
        """
        left, content = limit, []
        for block in result.content:
            text = _text(block)
            if text is not None:
                shown = self._part(block, text, owner, left)
                left -= min(len(text), left)
                content.extend(shown)
            else:
                content.append(self._binary(block, owner))
        more: dict[str, Any] = {}
        value = result.structured_content
        if value is not None and not structured:
            whole = json.dumps(value, ensure_ascii=False)
            if len(whole) > limit:
                more["structured_content"] = None
                if not result.content:
                    block = TextContent(type="text", text=whole)
                    content.extend(self._part(block, whole, owner, limit))
        if not more and content == result.content:
            return result
        kept = result.model_copy(update={"content": content, **more})
        if more:  # a field that was never set is not sent
            kept.model_fields_set.discard("structured_content")
        return kept

    def _part(self, block: Any, text: str, owner: str, left: int) -> list[Any]:
        if len(text) <= left:
            return [block]
        uri = self.keep(
            owner,
            text,
            getattr(getattr(block, "resource", None), "mime_type", None) or "text/plain",
        )
        note = more_note(uri, 0, left, len(text))
        shown = [TextContent(type="text", text=text[:left])] if left else []
        return [*shown, TextContent(type="text", text=note), _link(uri, len(text.encode()))]

    def _binary(self, block: Any, owner: str) -> Any:
        data, mime = _data(block)
        if len(data) <= BINARY_LIMIT:
            return block
        return _link(self.keep(owner, data, mime, binary=True), len(data) * 3 // 4, mime)


def more_note(uri: str, start: int, end: int, total: int) -> str:
    """What a model is told of a text that was not given whole."""
    return (
        f"[Characters {start:,} to {end:,} of {total:,}. Read on with call_tool: name "
        f'"{READ}", arguments {{"uri": "{uri}", "offset": {end}}}.]'
    )


def page(text: str, uri: str, offset: int, limit: int) -> CallToolResult:
    """A part of a text from `offset` on, with the way to the next.

    Raises:
        ValueError: The offset is not within the text.
    """
    if not 0 <= offset <= len(text):
        raise InputError(f"offset: {offset} is not within the {len(text):,} characters")
    end = min(len(text), offset + limit)
    content = [TextContent(type="text", text=text[offset:end])]
    if end < len(text):
        content.append(TextContent(type="text", text=more_note(uri, offset, end, len(text))))
    return CallToolResult(content=list(content))


def passed_on(result: CallToolResult, server: str) -> CallToolResult:
    """A server's result with its resources by the names they have here, and without its
    connection's own `_meta`."""
    content = [_renamed(block, server) for block in result.content]
    meta = passed_meta(result.meta) or None
    return result.model_copy(update={"content": content, "meta": meta})


def links(result: CallToolResult) -> list[str]:
    """The addresses that a result names."""
    named = [one.uri for one in result.content if isinstance(one, ResourceLink)]
    inside = [one.resource.uri for one in result.content if isinstance(one, EmbeddedResource)]
    return [*named, *inside]


def _renamed(block: Any, server: str) -> Any:
    if isinstance(block, ResourceLink):
        return block.model_copy(update={"uri": outward(server, str(block.uri))})
    if isinstance(block, EmbeddedResource):
        inner = block.resource
        inner = inner.model_copy(update={"uri": outward(server, str(inner.uri))})
        return block.model_copy(update={"resource": inner})
    return block


def _text(block: Any) -> str | None:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
        return block.resource.text
    return None


def _data(block: Any) -> tuple[str, str]:
    if isinstance(block, ImageContent | AudioContent):
        return block.data, block.mime_type
    if isinstance(block, EmbeddedResource) and isinstance(block.resource, BlobResourceContents):
        return block.resource.blob, block.resource.mime_type or "application/octet-stream"
    return "", ""


def _link(uri: str, size: int, mime: str = "text/plain") -> ResourceLink:
    name = "the whole result"
    return ResourceLink(type="resource_link", name=name, uri=uri, mime_type=mime, size=size)
