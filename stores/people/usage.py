"""What a person's requests were answered with, and what became of it.

Kept as lines of one file beside the person's stores, for its owner alone, and only where the person
has asked for it; `forget_learned` erases it.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from stores.files import append_private, make_private_folder, write_text
from stores.people.learned import usage_file

_log = logging.getLogger(__name__)
MOST_LINES = 1000
"""The newest lines that are read."""
_MOST_BYTES = 2_000_000
"""A file that has grown beyond this is cut to its newest lines, and to half of these bytes."""


class RankedItem(BaseModel):
    """An item as the packaged ranker had it when the request was made."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    id: str
    kind: int
    """Position in `KINDS` at that time."""
    score: float


class Use(BaseModel):
    """One request that was carried out, or to which the person said no."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    kind: Literal["use"] = "use"
    text: str
    asked_at: str
    place: str | None = None
    api: str
    items: tuple[str, ...]
    """Ids of the items that the call read, showed or changed."""
    ranked: tuple[RankedItem, ...]
    """The best items of the packaged ranker, best first."""
    outcome: Literal["done", "agreed", "declined"]
    """`agreed`: the person was asked first, and said yes."""
    change: int | None = None
    """Id of the change that it made."""


class TakenBack(BaseModel):
    """The person took changes back."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    kind: Literal["undone"] = "undone"
    changes: tuple[int, ...]


class Corrected(BaseModel):
    """The person corrected the last answer to `text`, which was about other items."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    kind: Literal["corrected"] = "corrected"
    text: str
    items: tuple[str, ...]
    """What had been meant; empty where the correction does not say it."""


_LINE: TypeAdapter[Use | TakenBack | Corrected] = TypeAdapter(
    Annotated[Use | TakenBack | Corrected, Field(discriminator="kind")]
)


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """A person's record of use as it is read."""

    uses: tuple[Use, ...]
    """Those that stand, oldest first; a corrected one is about what had been meant."""
    declined: int = 0
    undone: int = 0
    corrected: int = 0
    """How many uses were corrected; those whose correction says nothing are not in `uses`."""
    about_no_item: int = 0
    """Requests that were carried out and are about none of the person's items."""
    unreadable: int = 0
    """Lines that could not be read."""


def keep_use(root: Path, person_id: str, row: Use | TakenBack | Corrected) -> None:
    """Add a line to the person's record.

    Args:
        root: Folder of the stores.
        person_id: Whose.
        row: What happened. What cannot be written is lost, with a warning: the deed is done.
    """
    path = usage_file(root, person_id)
    try:
        make_private_folder(path.parent)
        append_private(path, row.model_dump_json() + "\n")
        if path.stat().st_size > _MOST_BYTES:
            write_text(path, "".join(_newest(_lines(path), _MOST_BYTES // 2)), private=True)
    except OSError as fault:
        _log.warning("%s: this use is not recorded: %s", path, fault)


def keep_taken_back(root: Path, person_id: str, changes: Iterable[int]) -> None:
    """Add to a record that there is that changes were taken back; arguments as for `keep_use`."""
    if usage_file(root, person_id).exists():
        keep_use(root, person_id, TakenBack(changes=tuple(changes)))


def read_usage(root: Path, person_id: str) -> UsageRecord:
    """The person's record, empty where there is none.

    Args:
        root: Folder of the stores.
        person_id: Whose.
    """
    path = usage_file(root, person_id)
    lines = _lines(path)[-MOST_LINES:] if path.exists() else []
    rows = [row for one in lines if (row := _read(one)) is not None]
    return _settled(rows, len(lines) - len(rows))


def readable_lines(path: Path) -> tuple[int, list[str]]:
    """How many lines a record has, and those that can be read."""
    lines = _lines(path)
    return len(lines), [one for one in lines if _read(one) is not None]


def _read(line: str) -> Use | TakenBack | Corrected | None:
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return None


def _settled(rows: Sequence[Use | TakenBack | Corrected], unreadable: int) -> UsageRecord:
    """The uses that stand after what was said to them later."""
    uses: list[Use] = []
    undone = corrected = 0
    for row in rows:
        if isinstance(row, Use):
            uses.append(row)
        elif isinstance(row, TakenBack):
            left = [one for one in uses if one.change is None or one.change not in row.changes]
            undone += len(uses) - len(left)
            uses = left
        else:
            place = next(
                (at for at in range(len(uses) - 1, -1, -1) if uses[at].text == row.text), None
            )
            if place is not None:
                corrected += 1
                uses[place] = uses[place].model_copy(update={"items": row.items})
    done = [one for one in uses if one.outcome != "declined"]
    about = tuple(one for one in done if one.items)
    # A question that is answered by the next turn is a no, and then a yes.
    declined = {one.text for one in uses} - {one.text for one in done}
    return UsageRecord(about, len(declined), undone, corrected, len(done) - len(about), unreadable)


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return [f"{line}\n" for line in text.split("\n") if line]


def _newest(lines: Sequence[str], most_bytes: int) -> list[str]:
    """The newest lines that fit into so many bytes."""
    kept: list[str] = []
    for line in reversed(lines):
        most_bytes -= len(line.encode())
        if most_bytes < 0:
            break
        kept.append(line)
    return kept[::-1]
