"""Results of servers that break the protocol's form, as the results that they are meant to be.

A client refuses a whole result for one wrong field, though the call was made and its answer stands
there. So what is plain is read as it is meant, and the rest is named in its place.
"""

import base64
import binascii
from collections.abc import Callable
from typing import Any

from ctrag.agents.server.messages import as_list, as_text

BLOCKS = frozenset(("text", "image", "audio", "resource", "resource_link"))
"""Kinds of content that a result may have."""
_MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
    b"ID3": "audio/mpeg",
    b"OggS": "audio/ogg",
}
"""How files begin, for media whose type is not said."""
_ROLES = {"user", "assistant"}


def mended(result: dict[str, Any], *, of_call: bool) -> None:
    """Put the usable form of a raw result's fields in their place.

    Args:
        result: Of any request; changed in place.
        of_call: Whether it answers `tools/call`, so that it must have content.
    """
    if result.get("resultType", "complete") != "complete" or "task" in result:
        return
    if not isinstance(result.get("_meta", {}), dict):
        del result["_meta"]
    if not (of_call or isinstance(result.get("content"), list)):
        return
    if "isError" in result and not isinstance(result["isError"], bool):
        result["isError"] = str(result["isError"]).lower() in {"true", "1"}
    content = result.get("content")
    if content is None and "toolResult" in result:  # of the first revision
        content = as_text(result.pop("toolResult"))
    blocks = [] if content is None else as_list(content)
    result["content"] = [_block(one) for one in blocks if one is not None]
    structured = result.get("structuredContent")
    loose = "resultType" not in result and not isinstance(structured, dict)  # 2025 takes objects
    if "structuredContent" in result and (structured is None or loose):
        del result["structuredContent"]
    if structured is not None and not result["content"]:
        result["content"] = [_said(as_text(structured))]
    if result.get("isError") and not result["content"]:
        result["content"] = [_said("It failed, and the server does not say why.")]


def _block(value: Any) -> dict[str, Any]:
    """A block of content of the protocol's form."""
    if not isinstance(value, dict):
        return _said(as_text(value))
    block = dict(value)
    if not isinstance(block.get("_meta", {}), dict):
        del block["_meta"]
    if "annotations" in block:
        block["annotations"] = _annotations(block["annotations"])
    kind = block.get("type")
    if kind is None:
        kind = next((one for one in ("text", "resource") if one in block), None)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        return reader({**block, "type": kind})
    if isinstance(block.get("text"), str):
        return _said(block["text"])
    if "json" in block:
        return _said(as_text(block["json"]))
    return _said(f"[content of the kind {str(kind)[:40]!r}, which cannot be shown]")


def _text_block(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "text": as_text(block.get("text", ""))}


def _media(block: dict[str, Any]) -> dict[str, Any]:
    kind, data = block["type"], block.get("data")
    if not isinstance(data, str):
        return _said(f"[{kind} without data]")
    mime = block.get("mimeType") or block.get("mime_type")
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        mime = mime or head.removeprefix("data:").partition(";")[0]
    try:
        begin = base64.b64decode(data[:16], validate=True)
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return _said(f"[{kind} that cannot be shown: its data is no base64]")
    if not isinstance(mime, str) or "/" not in mime:
        mime = next((one for magic, one in _MAGIC.items() if begin.startswith(magic)), "")
    if not mime:
        return _said(f"[{kind} of a type that is not said]")
    return {**block, "data": data, "mimeType": mime}


def _resource(block: dict[str, Any]) -> dict[str, Any]:
    inner = block.get("resource")
    if not isinstance(inner, dict):
        return _said("[a resource without contents]")
    inner = {key: one for key, one in inner.items() if key != "mimeType" or isinstance(one, str)}
    text = inner.get("text")
    if not isinstance(inner.get("uri"), str):
        return _said(as_text(text) if text is not None else "[a resource without an address]")
    if not isinstance(inner.get("blob"), str):
        inner.pop("blob", None)
        inner["text"] = as_text("" if text is None else text)
    return {**block, "resource": inner}


def _link(block: dict[str, Any]) -> dict[str, Any]:
    uri = block.get("uri")
    if not isinstance(uri, str):
        return _said("[a link without an address]")
    name = block.get("name") or block.get("title") or uri.rstrip("/").rpartition("/")[2] or uri
    kept = {
        key: one
        for key, one in block.items()
        if not (key in ("mimeType", "description", "title") and not isinstance(one, str))
        and not (key == "size" and not isinstance(one, int))
    }
    return {**kept, "name": str(name)}


_READERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "text": _text_block,
    "image": _media,
    "audio": _media,
    "resource": _resource,
    "resource_link": _link,
}


def _annotations(value: Any) -> dict[str, Any]:
    """The annotations that are of the protocol's form."""
    given = value if isinstance(value, dict) else {}
    kept = {key: one for key, one in given.items() if one is not None}
    audience, priority = kept.pop("audience", None), kept.pop("priority", None)
    if isinstance(audience, list) and _ROLES.issuperset(map(str, audience)):
        kept["audience"] = audience
    if isinstance(priority, int | float) and 0 <= priority <= 1:
        kept["priority"] = priority
    if not isinstance(kept.get("lastModified", ""), str):
        del kept["lastModified"]
    return kept


def _said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
