"""Notes: Markdown and plain text, as Obsidian, Joplin and others keep them, and Google Keep's
JSON."""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from ctrag.assistant.imports.card_lines import as_utf8, decoded
from ctrag.assistant.imports.found import Found, LeftOut, Owner, item_id
from ctrag.assistant.imports.mail.charset import likeliest
from ctrag.assistant.imports.times import local, moment
from stores.people.items import Item

LONGEST = 20_000
"""Characters of one note that are stored."""
FOLDER = "Notes"
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_JOPLIN = re.compile(r"\n\n(id: [0-9a-f]{32}\n(?:[a-z_]+:[^\n]*\n)*type_: \d+)\s*\Z")
"""What Joplin's own export writes behind each note."""
_HEADING = re.compile(r"\A\s*#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n|\Z)")
_UNDERLINED = re.compile(r"\A\s*([^\n]{1,200})\n(?:=+|-{3,})[ \t]*(?:\n|\Z)")
_CHANGED = (
    *("modified", "updated", "last_modified", "date modified", "modified_at", "updated_at"),
    "updated_time",
)
_MADE = ("date", "created", "date created", "created_at", "created_time")


def read_note(data: bytes, name: str, modified: datetime | None, owner: Owner) -> Found:
    """One file of Markdown or plain text as a note.

    Args:
        data: Its bytes.
        name: Its path, `/` between folders: says the folder, and the title where nothing else does.
        modified: When the file was changed.
        owner: Whose note it is.
    """
    data = as_utf8(data)
    text = decoded(data, otherwise=likeliest(data)).replace("\r\n", "\n").replace("\0", "")
    path = PurePosixPath(name)
    front: Mapping[str, Any] = {}
    if begun := _FRONT.match(text):
        front = _mapping(begun[1])
        text = text[begun.end() :] if front or not begun[1].strip() else text
    elif joplin := _JOPLIN.search(text):
        front = _mapping(joplin[1])
        if str(front.get("type_")) != "1":
            found = Found()
            found.left_out.append(
                LeftOut("note", name, "no note, but a part of Joplin", lost=False)
            )
            return found
        first, _, rest = text[: joplin.start()].partition("\n")
        text = f"# {first}\n{rest}"
        front = {key: front[key] for key in ("updated_time", "created_time") if key in front}
    title = _said(front.get("title"))
    headed = _HEADING.match(text) or _UNDERLINED.match(text)
    if headed and title in ("", headed[1].strip()):
        title, text = headed[1].strip(), text[headed.end() :]
    tags = front.get("tags") or []
    tags = tags if isinstance(tags, list) else str(tags).replace(",", " ").split()
    body = "\n".join(filter(None, (text.strip(), " ".join(f"#{tag}" for tag in tags))))
    at = next(filter(None, (_moment(front.get(one), owner) for one in (*_CHANGED, *_MADE))), None)
    found = Found()
    if not body and not headed and not title:
        found.left_out.append(LeftOut("note", name, "it is empty", lost=False))
        return found
    if path.parent.suffix.casefold() == ".textbundle":
        path = path.parent  # in which every note is called `text`
    folder = path.parent.name or FOLDER
    add_note(found, owner, name, title or path.stem, body, folder, at or modified)
    return found


def read_keep(raw: Mapping[str, Any], name: str, owner: Owner) -> Found:
    """One note of Google Keep, as Takeout writes it."""
    found = Found()
    if raw.get("isTrashed") is True:
        found.left_out.append(LeftOut("note", name, "it is in the trash", lost=False))
        return found
    lines = [str(raw.get("textContent") or "")]
    for one in _listed(raw.get("listContent")):
        lines.append(f"{'[x]' if one.get('isChecked') else '[ ]'} {one.get('text', '')}")
    body = "\n".join(filter(None, lines)).strip()
    title = str(raw.get("title") or "").strip() or body.partition("\n")[0][:80]
    if not title:
        found.left_out.append(LeftOut("note", name, "it is empty", lost=False))
        return found
    labels = [str(one.get("name")) for one in _listed(raw.get("labels")) if one.get("name")]
    at = moment(raw.get("userEditedTimestampUsec"), owner)
    add_note(found, owner, name, title, body, labels[0] if labels else "Keep", at)
    return found


def add_note(
    found: Found, owner: Owner, uid: str, title: str, body: str, folder: str, at: datetime | None
) -> None:
    """Add a note to what was found, or its beginning where it is longer than `LONGEST`."""
    if len(body) > LONGEST:
        why = f"it is cut after {LONGEST} characters"
        found.left_out.append(LeftOut("note", title, why, lost=False))
    found.items.append(
        Item(
            item_id(owner.person_id, "notes", uid),
            "notes",
            {
                "title": " ".join(title.split())[:300],
                "body": body[:LONGEST],
                "folder": folder,
                "modified_at": at or owner.now,
            },
        )
    )


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _mapping(text: str) -> Mapping[str, Any]:
    import yaml

    try:
        # Without anchors nothing can grow beyond the text.
        # Every value is text: `Yes` may be a title, and 007.
        read = yaml.load(text, Loader=yaml.BaseLoader) if "&" not in text else None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        read = None
    if isinstance(read, dict):
        return {str(key).casefold(): value for key, value in read.items()}
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip().casefold(): value.strip(" \"'") for key, colon, value in pairs if colon}


def _said(value: object) -> str:
    """A value of the front matter that is a text; YAML has two words for none."""
    text = str(value or "").strip()
    return "" if text in ("~", "null") else text


def _moment(value: object, owner: Owner) -> datetime | None:
    import yaml

    text = _said(value)
    if not text or (at := moment(text, owner)) is not None:
        return at if text else None
    try:
        read = yaml.safe_load(text[:60])
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    return local(read, owner) if isinstance(read, datetime) else None
