"""Notes of Evernote, as it exports them (.enex)."""

import re
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.assistant.imports.mail.html import html_text
from ctrag.assistant.imports.notes import add_note
from ctrag.assistant.imports.times import moment

FOLDER = "Evernote"
_PIECE = 1 << 16
_DEEPEST = 20
_SECRET = re.compile(r"<en-crypt\b[^>]*>[^<]*</en-crypt>", re.IGNORECASE)
_TICK = re.compile(r"<en-todo\b([^>]*)>", re.IGNORECASE)


def read_evernote(data: bytes, owner: Owner) -> Found:
    """The notes of an export, one by one; what follows a broken place is lost."""
    found = Found()
    parser: Any = XMLPullParser(["start", "end"])
    depth = number = 0
    try:
        for start in range(0, len(data), _PIECE):
            parser.feed(data[start : start + _PIECE])
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if depth > _DEEPEST:
                    raise ParseError("it is nested too deep")
                if event == "end" and element.tag == "note":
                    number += 1
                    _read(element, number, found, owner)
                if event == "end" and element.tag in ("note", "resource"):
                    element.clear()
        parser.close()
    except (ParseError, ValueError, LookupError) as error:  # LookupError: its encoding
        why = f"the file is broken there, and the notes that follow are lost: {error}"
        found.left_out.append(LeftOut("note", f"after note {number}", why))
    return found


def _read(note: Element, number: int, found: Found, owner: Owner) -> None:
    content = _TICK.sub(
        lambda one: "[x] " if 'checked="true"' in one[1] else "[ ] ", note.findtext("content") or ""
    )
    content, secrets = _SECRET.subn("(encrypted)", content)
    tags = " ".join(f"#{tag.text.strip()}" for tag in note.findall("tag") if tag.text)
    body = "\n".join(filter(None, (html_text(content).strip(), tags)))
    title = (note.findtext("title") or "").strip() or body.partition("\n")[0][:80]
    if not title:
        found.left_out.append(LeftOut("note", f"note {number}", "it is empty", lost=False))
        return
    made = (note.findtext("created") or "").strip()
    changed = (note.findtext("updated") or "").strip() or made
    uid = f"{title} {made or number}"
    add_note(found, owner, uid, title, body, FOLDER, moment(changed, owner))
    if secrets:
        why = "a part of it is encrypted, and is not kept"
        found.left_out.append(LeftOut("note", title, why, lost=False))
