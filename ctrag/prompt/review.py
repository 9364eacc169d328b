"""Change log and review gate: a changed policy is served once somebody has approved it."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ctrag.prompt.fragments import Fragment
from ctrag.prompt.tokens import CountTokens
from stores.files import write_text

LEDGER = "ledger.json"


class Change(BaseModel):
    """One line of the change log."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    at: str
    """UTC, ISO 8601."""
    unit: str
    what: Literal["added", "changed", "removed", "approved"]
    digest: str
    """Hash of the text that came, or that was removed or approved."""
    by: str = ""
    """Who approved it."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    digest: str
    """Of the text as it is now."""
    approved: str = ""
    """The text that was approved last; empty for none."""
    approved_digest: str = ""


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")
    entries: dict[str, _Entry] = {}
    changes: list[Change] = []


_CONTENT = TypeAdapter(_Content)


class ReviewLedger:
    """What each unit said when it was last approved, and all changes since the first look."""

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Open the ledger of an index folder; an absent file is an empty ledger.

        Raises:
            ValueError: The file breaks a rule.
        """
        self._path = folder / LEDGER
        self._now = now
        try:
            text = self._path.read_bytes() if self._path.exists() else b"{}"
            self._content = _CONTENT.validate_json(text)
        except ValidationError as error:
            raise ValueError(f"{self._path}: {error.errors()[0]['msg']}") from None

    @property
    def changes(self) -> Sequence[Change]:
        """The log, oldest first."""
        return tuple(self._content.changes)

    def updated(self, unit: str) -> str:
        """When the unit's text last came or changed; empty if it is not known."""
        moments = [
            one.at
            for one in self._content.changes
            if one.unit == unit and one.what in ("added", "changed")
        ]
        return moments[-1] if moments else ""

    def note(self, fragments: Sequence[Fragment]) -> list[Change]:
        """Log what was added, changed or removed since the last look; the changes, in order."""
        entries = self._content.entries
        present = {one.id: one for one in fragments}
        fresh = []
        for one in fragments:
            known = entries.get(one.id)
            if known is None or known.digest != one.digest:
                fresh.append(self._change(one.id, "changed" if known else "added", one.digest))
                entries.setdefault(one.id, _Entry(digest="")).digest = one.digest
        for unit in [unit for unit in entries if unit not in present]:
            fresh.append(self._change(unit, "removed", entries.pop(unit).digest))
        if fresh:
            self._save(fresh)
        return fresh

    def pending(self, fragments: Iterable[Fragment]) -> list[Fragment]:
        """Those whose text nobody has approved as it stands."""
        entries = self._content.entries
        return [
            one
            for one in fragments
            if one.id not in entries or entries[one.id].approved_digest != one.digest
        ]

    def approve(self, fragments: Iterable[Fragment], units: Collection[str], by: str) -> None:
        """Mark units as approved with the text that they have now.

        Raises:
            ValueError: A unit is not among the fragments, or nobody is named.
        """
        present = {one.id: one for one in fragments}
        unknown = sorted(set(units) - set(present))
        if unknown:
            raise ValueError(f"units: {unknown[0]!r} is no fragment of these instructions")
        if not by.strip():
            raise ValueError("by: say who approves")
        fresh = []
        for unit in sorted(units):
            one = present[unit]
            entry = self._content.entries.setdefault(unit, _Entry(digest=one.digest))
            entry.approved, entry.approved_digest = one.text, one.digest
            fresh.append(self._change(unit, "approved", one.digest, by))
        self._save(fresh)

    def served(self, fragments: Sequence[Fragment], count: CountTokens) -> list[Fragment]:
        """What may be shown: each unit with its approved text; those without one are left out."""
        found = []
        for one in fragments:
            entry = self._content.entries.get(one.id)
            if entry is None or not entry.approved_digest:
                continue
            if entry.approved_digest == one.digest:
                found.append(one)
            else:
                found.append(replace(one, text=entry.approved, tokens=count(entry.approved)))
        return found

    def _change(self, unit: str, what: str, digest: str, by: str = "") -> Change:
        at = self._now().isoformat(timespec="seconds")
        return Change.model_validate(
            {"at": at, "unit": unit, "what": what, "digest": digest, "by": by}
        )

    def _save(self, fresh: Sequence[Change]) -> None:
        self._content.changes.extend(fresh)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = self._content.model_dump(mode="json")
        write_text(self._path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
