"""Taking back what the latest turns changed, and saying so."""

import re

from ctrag.errors import CtragError
from stores.people.changes import Undone
from stores.people.stores import Stores
from stores.people.turns import take_back

_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_UNDO = re.compile(
    r"(?:(?:please|oh|no|oops|whoops|ah|wait|sorry|actually)[\s,.!]+)*"
    r"(?:undo (?:it|that|this)(?:,|\s[-–—])?\s(?:because|since|cos|coz|she|he|i"
    r"|i['’]m|we|they|it['’]?s|that['’]s|my|the)\s[^?]{2,80}"
    r"|(?:undo|revert|take back|reverse)(?:\s+(?:(?:all of |both of )?(?:it"
    r"|that|this"
    r"|those|these|them)(?: all)?|all that"
    r"|both|(?:the|my|your) last (?:one|change|thing)(?: (?:you|i) did)?"
    r"|(?:the|my|your) (?:last|latest)\s+(?P<count>two|three|four|five|[2-5])(?:\s+(?:things?"
    r"|changes?|ones|actions|steps))?"
    r"|everything|the (?:whole thing|lot)|what you (?:just )?did))?"
    r"|(?:uncancel|undelete) (?:it|that|them)"
    r"|take (?:it|that|them) back|(?:put|change) (?:it|that|them) back"
    r"(?: (?:to )?(?:as|how|where|the way) (?:it was|they were))?"
    r"|(?:that was|it was) (?:(?:all )?(?:wrong|a mistake)|by mistake)[,.]?\s*undo (?:it|that)"
    r"|that was (?:a mistake|by mistake)|i didn['’]t mean to do (?:it|that))"
    r"(?:[\s!.]+(?:please|then))?[\s!.]*",
    re.IGNORECASE,
)


def turns_to_undo(text: str) -> int:
    """How many turns are to be taken back: two of "undo the last two"; 0 where a text asks for
    something else."""
    found = _UNDO.fullmatch(text)
    if found is None:
        return 0
    count = (found["count"] or "1").casefold()
    return _NUMBERS.get(count) or int(count)


def taken_back(stores: Stores, person_id: str, turns: int = 1) -> str:
    """Take back all that the latest turns changed.

    Args:
        stores: The person's stores.
        person_id: Whose.
        turns: How many turns that changed something.

    Returns:
        What was taken back, newest first, a line each; where nothing is left, it is said.
    """
    told: list[str] = []
    left = turns
    while left:
        try:
            undone_turn = list(take_back(stores, person_id))
            if not all(_only_looked(one) for one in undone_turn):
                left -= 1
            for undone in undone_turn:
                if _only_looked(undone):
                    continue
                summary = " ".join(undone.summary.split())  # a line each, whatever a title has
                if undone.sent:
                    told.append(
                        f"{summary.rstrip('?')}: that has left the phone and cannot be "
                        "taken back; only the record of it is removed."
                    )
                else:
                    told.append(f"Taken back: {summary}")
        except CtragError as error:
            told.append(str(error))
            break
    return "\n".join(told)


def _only_looked(undone: Undone) -> bool:
    """Whether nothing but a page was opened, which changed nothing."""
    return bool(undone.sent) and all(entry.kind == "open_url" for entry in undone.sent)
