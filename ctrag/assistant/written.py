"""What ctrag wrote of a person outside of the stores: exports, records of conversations, caches.

Exports and records are noted in `written.json` in the home folder when they are made, so that
forgetting the person can erase them, too.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ctrag.errors import CtragError, InputError
from ctrag.settings import cache_folder, settings
from stores.compressed import kept
from stores.files import make_private_folder, write_text
from stores.people.dataset import PERSONAS, QUERIES
from stores.people.items import Contact
from stores.people.stores import Stores, UnknownPerson

NOTES = "written.json"
NOT_ERASED = "could not be erased"
"""How a line of `erase` begins that tells of something left."""
_DAMAGE = (OSError, ValueError, RecursionError, TypeError, AttributeError, LookupError)
"""What reading a file raises that is damaged or not what the notes say."""


class Written(BaseModel):
    """One file or folder that holds something of a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: str
    """`export`: a data set folder; `record`: a file of conversations; `page`: one made of it."""
    path: str
    person: str


_NOTES = TypeAdapter(list[Written])


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be erased: everything of a person, or one item, or contacts."""

    person: str
    item: str | None = None
    contacts: tuple[Contact, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it is everything of the person."""
        return self.item is None and not self.contacts

    def words(self) -> tuple[str, ...]:
        """Texts whose presence makes a recorded request part of it."""
        names = [text for one in self.contacts for text in (one.name, one.phone, one.email) if text]
        return tuple(filter(None, (self.item, *names)))


def note(kind: str, path: Path, person: str) -> None:
    """Note that `path` now holds something of the person.

    Raises:
        ValueError: The notes cannot be read: what is written now would not be found again.
    """
    made = Written(kind=kind, path=str(path.resolve()), person=person)
    notes = _read()
    if made not in notes:
        _write([*notes, made])


def places(person: str) -> list[Path]:
    """Exports and records of the person that are still there; none where the notes cannot be
    read, which `erase` tells."""
    try:
        noted = _read()
    except InputError:
        return []
    return [
        path for one in noted if one.person == person for path in [Path(one.path)] if path.exists()
    ]


def erase(target: Target, *, exports: bool = True) -> Iterator[str]:
    """Erase from cached copies of data sets, records, and (with `exports`) exports.

    Yields:
        What was erased, or could not be (`NOT_ERASED`), one line each.
    """
    yield from _erase_cached(target)
    try:
        noted = _read()
    except InputError as error:
        yield f"{NOT_ERASED}: {error}"
        return
    left = []
    for one in noted:
        path = Path(one.path)
        if one.person != target.person:
            left.append(one)
        elif one.kind == "export" and not exports:
            left.append(one)
            if path.exists():
                yield f"kept, and still holds it: {path}"
        else:
            try:
                changed = path.exists() and _ERASERS[one.kind](path, target)
            except _DAMAGE as error:
                left.append(one)
                yield f"{NOT_ERASED}: {path}: {error}"
                continue
            if not target.whole:
                left.append(one)
            if changed:
                yield f"erased from: {path}"
    _write(left)


def _erase_cached(target: Target) -> Iterator[str]:
    for root in sorted((cache_folder() / "datasets").glob("*")):
        stores = Stores(root)
        try:
            if not stores.exists() or target.person not in stores.people():
                if stores.exists():
                    _finish(stores, target.person)
                continue
            if target.whole and stores.people() == [target.person]:
                shutil.rmtree(root)
            elif target.whole:
                stores.forget(target.person)
            elif target.item is not None:
                stores.forget(target.person, target.item)
            for contact in target.contacts:
                stores.forget_contact(target.person, contact.phone or contact.email or contact.name)
        except UnknownPerson:
            continue
        except (CtragError, OSError) as error:
            if "has no" in str(error):  # this copy lacks the item or the contact
                continue
            shutil.rmtree(root, ignore_errors=True)  # damaged: a cache can be made again
        yield f"erased from the cached copy of a data set: {root}"


def _finish(stores: Stores, person: str) -> None:
    """Remove what an interrupted forgetting left in a cached copy."""
    try:
        stores.forget(person)
    except UnknownPerson:
        return


def _erase_export(folder: Path, target: Target) -> bool:
    path = kept(folder / PERSONAS)
    if not path.exists():
        return False
    lines, changed = [], False
    for line in _lines(path):
        row = json.loads(line)
        if row.get("persona_id") != target.person:
            lines.append(line)
        elif target.whole:
            changed = True
        else:
            changed |= _erase_from(row, target)
            lines.append(json.dumps(row, ensure_ascii=False))
    if not changed:
        return False
    if lines:
        write_text(path, "\n".join(lines) + "\n", private=True)
        return True
    path.unlink()
    requests = folder / QUERIES
    if requests.exists() and not requests.stat().st_size:
        requests.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return True


def _erase_from(row: dict[str, Any], target: Target) -> bool:
    """Take an item or contacts out of an exported person."""
    changed = False
    for app, items in row.get("apps", {}).items():
        left = [one for one in items if one.get("id") != target.item]
        changed |= len(left) < len(items)
        row["apps"][app] = left
    words = {(one.name, one.phone, one.email) for one in target.contacts}
    contacts = row.get("contacts", [])
    row["contacts"] = [
        one
        for one in contacts
        if (one.get("name"), one.get("phone"), one.get("email")) not in words
    ]
    return changed or len(row["contacts"]) < len(contacts)


def _erase_record(path: Path, target: Target) -> bool:
    if path.suffix == ".html":  # noted as a record by versions before there were pages
        return _erase_page(path, target)
    lines = _lines(path)
    left = [line for line in lines if not _of(line, target)]
    if left == lines:
        return False
    if left:
        write_text(path, "\n".join(left) + "\n", private=True)
    else:
        path.unlink()
    return True


def _erase_page(path: Path, target: Target) -> bool:
    """A page goes as a whole, whatever of the person is forgotten: it is made anew of the record,
    and its markup hides words."""
    path.unlink()
    return True


def _lines(path: Path) -> list[str]:
    """Lines end where JSON ends them: names and texts may hold other separators (U+2028)."""
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _of(line: str, target: Target) -> bool:
    try:
        turn = json.loads(line)
    except (ValueError, RecursionError):
        return target.whole  # cut off by a crash: whose it is cannot be told
    if not isinstance(turn, dict) or turn.get("person") != target.person:
        return False
    said = json.dumps(turn, ensure_ascii=False)
    return target.whole or any(word in said for word in target.words())


_ERASERS: dict[str, Callable[[Path, Target], bool]] = {
    "export": _erase_export,
    "record": _erase_record,
    "page": _erase_page,
}


def _path() -> Path:
    return settings().home.expanduser() / NOTES


def _read() -> list[Written]:
    """The notes, none where there is no file.

    Raises:
        ValueError: They cannot be read.
    """
    try:
        return _NOTES.validate_json(_path().read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValidationError):
        raise InputError(
            f"{_path()}: cannot be read, so that it is not known which exports and records "
            "there are; delete those, then this file"
        ) from None


def _write(notes: list[Written]) -> None:
    if not notes:
        _path().unlink(missing_ok=True)
        return
    make_private_folder(_path().parent)
    write_text(_path(), _NOTES.dump_json(notes, indent=1).decode(), private=True)
