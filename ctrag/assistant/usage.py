"""The record of what requests were answered with: which calls go into it, and as what.

It is kept where the setting `record_use` says so, and `ctrag train ranker --from-usage` reads it.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ctrag.assistant.answer import Answer
from ctrag.assistant.context.learned_features import kinds_of
from ctrag.assistant.context.retrieve import RetrievedContext
from stores.people.local_time import format_local_time
from stores.people.usage import Corrected, RankedItem, Use, keep_use

MOST_ITEMS = 5
"""A call that shows more items is a list, and does not say which of them was meant."""


@dataclass(slots=True)
class Noticing:
    """Passes questions on to a person, and notices whether they agreed."""

    confirm: Callable[[str], bool]
    agreed: bool = False

    def __call__(self, question: str) -> bool:
        """Ask, and remember the answer."""
        self.agreed = self.confirm(question)
        return self.agreed


@dataclass(frozen=True, slots=True)
class UsageLog:
    """One person's record as it is written; without `on`, nothing is."""

    root: Path
    """Folder of the stores."""
    person_id: str
    on: bool

    def ranked(self, found: RetrievedContext) -> tuple[RankedItem, ...]:
        """The items that retrieval returned and the next best, as the packaged ranker has them."""
        if not self.on or not len(found.context):
            return ()
        items = [*(one.item for one in found.items), *found.further]
        kinds = kinds_of(found.context)[found.context.rows_of(items)]
        return tuple(
            RankedItem(id=item.id, kind=int(kind), score=round(float(score), 3))
            for item, kind, score in zip(items, kinds, found.packaged, strict=True)
        )

    def keep(self, answer: Answer, agreed: bool, known: Container[str]) -> None:
        """Record an answer whose call was carried out, or declined.

        Args:
            answer: One that was run; others are not recorded.
            agreed: Whether the person was asked first, and said yes.
            known: Ids of the items that there were before.
        """
        use = use_of(answer, agreed, known) if self.on else None
        if use is not None:
            keep_use(self.root, self.person_id, use)

    def correct(self, text: str, answer: Answer) -> None:
        """Record that the answer to an earlier request was corrected.

        Args:
            text: The earlier request.
            answer: To what the person said about it.
        """
        result = answer.result
        if self.on and result is not None and result.status == "done":
            shown = tuple(dict.fromkeys(one.id for one in result.items))
            items = shown if len(shown) <= MOST_ITEMS else ()
            keep_use(self.root, self.person_id, Corrected(text=text, items=items))


def use_of(answer: Answer, agreed: bool, known: Container[str]) -> Use | None:
    """What a record says of an answer; None where its call was not tried or was refused."""
    result = answer.result
    if result is None or not answer.ranked or result.status in ("refused", "nothing"):
        return None
    shown = tuple(dict.fromkeys(one.id for one in result.items if one.id in known))
    outcome: Literal["done", "agreed", "declined"] = "agreed" if agreed else "done"
    request = answer.request
    return Use(
        text=request.text,
        asked_at=format_local_time(request.asked_at),
        place=request.place,
        api=answer.plan.api,
        items=shown if len(shown) <= MOST_ITEMS else (),
        ranked=answer.ranked,
        outcome="declined" if result.status == "declined" else outcome,
        change=None if result.change is None else result.change.change_id,
    )
