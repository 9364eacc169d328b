"""What an import did, for people and for machines."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ctrag.assistant.imports.found import LeftOut
from stores.people.stores import Counts, ImportReport

_NAMED = 3
"""Records that are named of each reason."""
_NOUNS = {
    "mail": "mails",
    "calendar": "events",
    "google": "searches",
    "notes": "notes",
    "music": "songs",
    "reminders": "reminders",
    "phonecall": "calls",
}
_ONE = {"event": "events", "to-do": "to-dos", "search": "searches"}


@dataclass(slots=True)
class Report:
    """What an import changed, and what it left out and why."""

    stored: ImportReport
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What else the person should know, a sentence each."""
    copies: int = 0
    """Records that were in the sources more than once."""
    dry_run: bool = False

    @property
    def lost(self) -> int:
        """How many records are not stored at all that should be."""
        return sum(one.lost and not one.on_purpose for one in self.left_out)

    def counts(self) -> dict[str, Counts]:
        """Kind → what became of it: `contacts` and each application that has something."""
        found = {"contacts": self.stored.contacts, **self.stored.apps}
        return {kind: one for kind, one in found.items() if one != Counts()}

    def as_json(self) -> dict[str, Any]:
        """All of it; nothing is grouped or cut."""
        return {
            "added": self.stored.added,
            "changed": self.stored.changed,
            "same": self.stored.unchanged,
            "removed": self.stored.removed,
            "kinds": {
                kind: {"added": one.added, "changed": one.changed, "same": one.unchanged}
                for kind, one in self.counts().items()
            },
            "copies": self.copies,
            "left_out": [asdict(one) for one in self.left_out],
            "lost": self.lost,
            "notes": self.notes,
            "dry_run": self.dry_run,
        }

    def lines(self, place: str) -> Iterator[str]:
        """The same for people, what was left out grouped by kind and reason."""
        would = "would be " if self.dry_run else ""
        stored = self.stored
        yield (
            f"{place}: {stored.added} items {would}added, {stored.changed} changed, "
            f"{stored.unchanged} as before"
        )
        for kind, one in self.counts().items():
            what = _NOUNS.get(kind, kind)
            yield (
                f"  {what}: {one.added} {would}added, {one.changed} changed, "
                f"{one.unchanged} as before"
            )
        if stored.removed:
            why = "cancelled, declined or no longer in a newer version"
            yield f"  {stored.removed} {would}removed: {why}"
        if self.copies:
            yield f"  {self.copies} records are in the sources more than once; each was taken once"
        yield from _grouped("Left out:", [one for one in self.left_out if one.lost])
        yield from _grouped("Also noted:", [one for one in self.left_out if not one.lost])
        yield from self.notes


def _grouped(head: str, left_out: list[LeftOut]) -> Iterator[str]:
    if not left_out:
        return
    yield head
    groups: dict[tuple[str, str], list[LeftOut]] = {}
    for one in left_out:
        groups.setdefault((one.kind, _rule(one.why)), []).append(one)
    sizes = Counter({key: len(found) for key, found in groups.items()})
    for (kind, why), count in sizes.most_common():
        found = groups[kind, why]
        names = "; ".join(_named(one) for one in found[:_NAMED])
        more = f"; and {count - _NAMED} more" if count > _NAMED else ""
        noun = kind if count == 1 else _ONE.get(kind, f"{kind}s")
        yield f"  {count} {noun}: {why} ({names}{more})"


def _rule(why: str) -> str:
    """A reason without what it quotes of the record: equal reasons are told once."""
    return " ".join(why.split())


def _named(one: LeftOut) -> str:
    """A record in a few words, without line ends and control characters."""
    text = "".join(letter if letter.isprintable() else " " for letter in one.what)
    what = " ".join(text.split())[:60] or "?"
    source = "".join(letter if letter.isprintable() else " " for letter in one.source)
    return what if not source or source == one.what else f"{what} in {source[-60:]}"
