"""What a mail says: its text, the names of its attachments, and the calendars in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ctrag.assistant.imports.mail.html import LONGEST, html_text, tidy
from ctrag.assistant.imports.mail.parts import MOST_PARTS, Part
from ctrag.assistant.imports.mail.tnef import names_and_text

_DEEPEST = 20
"""Levels of parts inside of parts; forwarding adds one or two each time."""
_STUB = 500
"""Characters of a plain text that is compared with the HTML beside it."""
_ELSEWHERE = re.compile(r"\bhtml\b|\bbrowser|\bnavigat(?:eu|o)r|\bnavegador", re.IGNORECASE)
"""In a short text beside HTML: it only says that there is another."""
_HTML_LIKE = re.compile(r"\s*<(?:!doctype html|html|head|body|table|div|p|meta)\b", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]*>")
_UU = re.compile(
    r"^begin [0-7]{3,4} (?P<name>[^\n]+)\n(?:[!-`][ -`]*\n)*`?[ ]*\n?end$", re.MULTILINE
)
_NOT_TEXT = {"text/x-amp-html", "text/watch-html", "text/rfc822-headers", "text/vcard"}
_NOT_TEXT |= {"text/x-vcard", "text/directory", "text/css", "text/javascript"}
_CALENDARS = ("text/calendar", "application/ics", "text/x-vcalendar")
_ENCRYPTED = ("application/pgp-encrypted", "multipart/encrypted")
_TNEF = ("application/ms-tnef", "application/vnd.ms-tnef")
_SMIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")


@dataclass(slots=True)
class Content:
    """What the parts of one mail hold."""

    text: str = ""
    attachments: list[str] = field(default_factory=list)
    """Names of files, in order."""
    calendars: list[bytes] = field(default_factory=list)
    """Invitations and other calendars, as they were sent."""
    unread: list[str] = field(default_factory=list)
    """What of the mail could not be read, and why."""


def content_of(message: Part) -> Content:
    """Text, attachments and calendars of a message."""
    reader = _Reader()
    text = tidy(reader.text(message, 0))
    content = reader.content
    content.text = text or tidy("\n\n".join(filter(None, reader.named_texts)))
    return content


class _Reader:
    """Goes through the parts of one mail; `text` returns what the parts below one say."""

    def __init__(self) -> None:
        self.content = Content()
        self.named_texts: list[str] = []
        self._parts = 0
        self._html_left = LONGEST

    def text(self, part: Part, depth: int, wanted: bool = True) -> str:
        """The text of a part; with `wanted` unset, only files and calendars are taken."""
        self._parts += 1
        if depth > _DEEPEST or self._parts > MOST_PARTS:
            self._missing(
                f"parts nested deeper than {_DEEPEST}"
                if depth > _DEEPEST
                else f"more than {MOST_PARTS} parts"
            )
            return ""
        kind = part.type
        if kind in _ENCRYPTED:
            self._missing("its text is encrypted")
            return ""
        if kind == "message/rfc822" or kind == "message/global":
            return self._forwarded(part, depth, wanted)
        if part.main_type == "multipart":
            return self._multipart(part, depth, wanted)
        if kind in _CALENDARS or part.name.casefold().endswith((".ics", ".vcs")):
            self._calendar(part)
            return ""
        if part.attached or (part.name and kind != "text/html") or not kind.startswith("text/"):
            self._file(part)
            return ""
        return self._leaf(part) if wanted and kind not in _NOT_TEXT else ""

    def _multipart(self, part: Part, depth: int, wanted: bool) -> str:
        children = list(part.children)
        if part.type == "multipart/alternative" and wanted:
            return self._alternative(children, depth)
        if part.type == "multipart/signed":
            children = [child for child in children if "signature" not in child.type]
        texts = [self.text(child, depth + 1, wanted) for child in children]
        return "\n\n".join(filter(None, texts))

    def _alternative(self, children: Sequence[Part], depth: int) -> str:
        """The plain text, unless it only says that there is another."""
        kinds = [_first_type(child) for child in children]
        plain = [child for child, kind in zip(children, kinds, strict=True) if kind != "text/html"]
        html = [child for child, kind in zip(children, kinds, strict=True) if kind == "text/html"]
        said = "\n\n".join(filter(None, (self.text(one, depth + 1) for one in plain)))
        enough = len(said) >= _STUB or not html
        best = said
        for one in html:
            shown = self.text(one, depth + 1, wanted=not enough)
            stub = len(said) < _STUB and _ELSEWHERE.search(said)
            if not enough and shown and (stub or len(tidy(said)) * 4 < len(shown)):
                best, enough = shown, True
        return best

    def _leaf(self, part: Part) -> str:
        text = part.text
        if part.type == "text/html" or (part.type == "text/plain" and _HTML_LIKE.match(text)):
            if len(text) > self._html_left:
                self._missing(f"more than {LONGEST} characters of HTML")
            text = text[: self._html_left]
            self._html_left -= len(text)
            return html_text(text)
        if part.type in ("text/enriched", "text/richtext"):
            return tidy(_MARKUP.sub("", text.replace("<<", "<")))
        if part.parameter("format").casefold() == "flowed":
            text = _unwrapped(text, part.parameter("delsp").casefold() == "yes")
        if "\nbegin " in f"\n{text}":
            self.content.attachments += [found["name"] for found in _UU.finditer(text)]
            text = _UU.sub("", text)
        return text.strip()

    def _forwarded(self, part: Part, depth: int, wanted: bool) -> str:
        inner = part.embedded()
        text = self.text(inner, depth + 1, wanted)
        heads = (f"{name}: {inner.headers.text(name.casefold())}" for name in _SHOWN)
        head = "\n".join(line for line in heads if not line.endswith(": "))
        return f"{head}\n\n{text}".strip() if wanted else ""

    def _calendar(self, part: Part) -> None:
        data = part.content
        charset = part.parameter("charset").casefold()
        if charset not in ("", "utf-8", "us-ascii"):
            data = part.text.encode()
        if data not in self.content.calendars:
            self.content.calendars.append(data)
        if part.name:
            self._named(part.name)

    def _file(self, part: Part) -> None:
        if part.type in _SMIME and part.parameter("smime-type") != "certs-only":
            self._missing("its text is encrypted, or signed in a form that is not read")
        if part.type in _TNEF or part.name.casefold() == "winmail.dat":
            names, text = names_and_text(part.content)
            if names or text:
                self.named_texts.append(text)
                for name in names:
                    self._named(name)
                return
        if part.name:
            inline = part.headers.raw("content-id") and not part.attached
            if part.main_type != "image" or not inline:
                self._named(part.name)
            if not part.attached and part.type == "text/plain":
                self.named_texts.append(part.text)

    def _named(self, name: str) -> None:
        if name not in self.content.attachments:
            self.content.attachments.append(name)

    def _missing(self, why: str) -> None:
        if why not in self.content.unread:
            self.content.unread.append(why)


_SHOWN = ("From", "Subject", "Date")


def _first_type(part: Part, depth: int = 0) -> str:
    """The type of the first text in a part."""
    if part.main_type != "multipart" or depth > _DEEPEST:
        return part.type
    return next((_first_type(child, depth + 1) for child in part.children), part.type)


def _unwrapped(text: str, delsp: bool) -> str:
    """Lines of `format=flowed` (RFC 3676) as the paragraphs that they were."""
    lines: list[str] = []
    before = 0
    flows = False
    for line in text.split("\n"):
        quoted = len(line) - len(line.lstrip(">"))
        content = line[quoted:]
        content = content[1:] if content.startswith(" ") else content
        if flows and quoted == before and content != "-- ":
            lines[-1] = (lines[-1][:-1] if delsp else lines[-1]) + content
        else:
            lines.append(">" * quoted + (" " if quoted else "") + content)
        before = quoted
        flows = content.endswith(" ") and content != "-- "
    return "\n".join(lines)
