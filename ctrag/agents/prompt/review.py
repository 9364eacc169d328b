"""Change log and review gate: a changed policy is served only once it is approved.

Until then the last approved set is served unchanged: edits, removals and changes of priority or
domain all wait. An edit that is undone needs no new approval.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ctrag.agents.prompt.fragments import Fragment
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens
from stores.files import write_text

LEDGER = "ledger.json"


class ReviewChange(BaseModel):
    """One line of the change log."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    at: str
    """UTC, ISO 8601."""
    unit: str
    what: Literal["added", "changed", "removed", "approved"]
    digest: str
    """Hash of the version added, removed or approved; empty for an approved removal."""
    by: str = ""
    """Who approved it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A unit that waits for approval."""

    id: str
    what: Literal["added", "changed", "removed"]


class _Approved(BaseModel):
    """A fragment as it was approved."""

    model_config = ConfigDict(extra="forbid")
    digest: str
    text: str
    heading: str
    domain: str
    kind: str
    priority: int
    place: int
    recency: str = ""
    about: str = ""
    tools: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    always: bool = False

    @classmethod
    def of(cls, one: Fragment) -> "_Approved":
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    digest: str
    """Of the current version; empty when the unit is gone."""
    approved: _Approved | None = None
    """The last approved version; None if never approved."""


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")
    entries: dict[str, _Entry] = {}
    changes: list[ReviewChange] = []


_CONTENT = TypeAdapter(_Content)


class ReviewLedger:
    """The last approved version of each unit, and the log of all changes."""

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Open the ledger of an index folder; an absent file is an empty ledger.

        Raises:
            ValueError: The file breaks a rule.
        """
        self._path = folder / LEDGER
        self._now = now
        self._content = self._stored()

    def _stored(self) -> _Content:
        """What the file holds now; another process may have written it since."""
        try:
            text = self._path.read_bytes() if self._path.exists() else b"{}"
            return _CONTENT.validate_json(text)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise InputError(
                f"{self._path}: {problem}; without the file all units wait for approval again"
            ) from None

    @property
    def changes(self) -> Sequence[ReviewChange]:
        """The log, oldest first."""
        return tuple(self._content.changes)

    def updated(self, unit: str) -> str:
        """When the unit was last added, changed or removed; empty if unknown."""
        moments = [
            one.at for one in self._content.changes if one.unit == unit and one.what != "approved"
        ]
        return moments[-1] if moments else ""

    def note(self, fragments: Sequence[Fragment]) -> list[ReviewChange]:
        """Log and return, in order, what was added, changed or removed since the last call."""
        self._content = self._stored()
        entries = self._content.entries
        present = {one.id for one in fragments}
        fresh = []
        for one in fragments:
            entry = entries.setdefault(one.id, _Entry(digest=""))
            if entry.digest != one.digest:
                fresh.append(
                    self._change(one.id, "changed" if entry.digest else "added", one.digest)
                )
                entry.digest = one.digest
        for unit, entry in list(entries.items()):
            if unit in present or not entry.digest:
                continue
            fresh.append(self._change(unit, "removed", entry.digest))
            entry.digest = ""
            if entry.approved is None:
                del entries[unit]
        if fresh:
            self._save(fresh)
        return fresh

    def pending(self, fragments: Iterable[Fragment]) -> list[Waiting]:
        """Units not approved as they are: added or changed ones, then approved ones that were
        removed."""
        present = {one.id: one for one in fragments}
        approved = self._approved()
        waiting = [
            Waiting(one.id, "changed" if one.id in approved else "added")
            for one in present.values()
            if one.id not in approved or approved[one.id].digest != one.digest
        ]
        return waiting + [Waiting(unit, "removed") for unit in approved if unit not in present]

    def approve(self, fragments: Iterable[Fragment], units: Collection[str], by: str) -> None:
        """Approve units in their current version, and the removal of those that are gone.

        Raises:
            ValueError: A unit is neither among the fragments nor approved, or `by` is empty.
        """
        present = {one.id: one for one in fragments}
        self._content = self._stored()
        entries, approved = self._content.entries, self._approved()
        unknown = sorted(set(units) - set(present) - set(approved))
        if unknown:
            raise InputError(f"units: {unknown[0]!r} is no fragment of these instructions")
        if not by.strip():
            raise InputError("by: say who approves")
        fresh = []
        for unit in sorted(set(units)):
            one = present.get(unit)
            fresh.append(self._change(unit, "approved", one.digest if one else "", by))
            if one is None:
                del entries[unit]
            else:
                entries.setdefault(unit, _Entry(digest=one.digest)).approved = _Approved.of(one)
        for same in present.values():  # places may have moved
            entry = entries.get(same.id)
            if entry and entry.approved and entry.approved.digest == same.digest:
                entry.approved = _Approved.of(same)
        self._save(fresh)

    def served(self, fragments: Sequence[Fragment], count: CountTokens) -> list[Fragment]:
        """The last approved version of each unit, whatever has changed since.

        Removed ones come last, until their removal is approved.
        """
        approved = self._approved()
        here = [one.id for one in fragments if one.id in approved]
        gone = [unit for unit in approved if unit not in here]
        return [
            Fragment(
                id=unit,
                tokens=count(one.text),
                **one.model_dump(exclude={"digest"}),
            )
            for unit in [*here, *gone]
            for one in [approved[unit]]
        ]

    def _approved(self) -> dict[str, _Approved]:
        entries = self._content.entries.items()
        return {unit: one.approved for unit, one in entries if one.approved is not None}

    def _change(self, unit: str, what: str, digest: str, by: str = "") -> ReviewChange:
        at = self._now().isoformat(timespec="seconds")
        return ReviewChange.model_validate(
            {"at": at, "unit": unit, "what": what, "digest": digest, "by": by}
        )

    def _save(self, fresh: Sequence[ReviewChange]) -> None:
        self._content.changes.extend(fresh)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = self._content.model_dump(mode="json")
        write_text(self._path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
