"""What a conversation is about: its latest turns, and what they showed, made and refused."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctrag.assistant.answer import Answer
from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.slots import OWNED
from ctrag.text.words import terms, words
from ctrag.toolbox import Tool
from stores.people.items import Item, Person

TURNS = 8
"""Turns that are remembered."""
SHOWN = 10
"""Items of one turn that are remembered."""
_NAMING = (*OWNED, "song_name")


@dataclass(frozen=True, slots=True)
class Turn:
    """One call and what it was about."""

    text: str
    plan: Plan
    tool: Tool | None
    """None for `none()`."""
    items: tuple[str, ...]
    """Ids of the items that it read, showed or changed, the one that it names first."""
    mentioned: tuple[str, ...] = ()
    """Ids of other items of which it spoke."""
    people: tuple[str, ...] = ()
    """Names of those whom it reached or named."""
    change: int | None = None
    """Id of the change that it made."""
    made: bool = False
    """Whether it made the first of `items`."""

    @property
    def app(self) -> str:
        """The application that was called; "" for `none()`."""
        return "" if self.tool is None else self.tool.app


@dataclass(slots=True)
class State:
    """The latest turns, newest last."""

    turns: deque[Turn] = field(default_factory=lambda: deque(maxlen=TURNS))

    @property
    def last(self) -> Turn | None:
        """The newest turn in which something was called."""
        return next((one for one in reversed(self.turns) if one.tool is not None), None)

    def keep(self, answer: Answer, tool: Tool | None, view: PersonView, person: Person) -> Turn:
        """Remember what an answer did.

        Args:
            answer: The answer.
            tool: The tool of its plan.
            view: The person's items after it.
            person: Whose conversation it is.
        """
        turn = _turn(answer, tool, view, person)
        self.turns.append(turn)
        return turn

    def items(self, view: PersonView, *apps: str) -> list[Item]:
        """Items in focus that still exist, newest turn first; of these applications, or of all."""
        found: dict[str, Item] = {}
        for turn in reversed(self.turns):
            for one in (*turn.items, *turn.mentioned):
                if one in view.row and (not apps or view.items[view.row[one]].app in apps):
                    found.setdefault(one, view.items[view.row[one]])
        return list(found.values())

    def shown(self, view: PersonView) -> list[Item | None]:
        """What was listed last, in its order, with None for what is gone since, as long as later
        turns were about things of that list; else what the last turn was about."""
        last = self.last
        since: set[str] = set()
        found = () if last is None else last.items
        for turn in reversed(self.turns):
            if len(turn.items) > 1:
                found = turn.items if since <= set(turn.items) else found
                break
            since.update(turn.items)
        return [view.items[view.row[one]] if one in view.row else None for one in found]

    def people(self, view: PersonView, person: Person) -> list[str]:
        """Names of people in focus, newest first: those reached, then those of the items."""
        found: list[str] = []
        for turn in reversed(self.turns):
            found += turn.people
            for one in turn.items[:1] or turn.mentioned[:1]:
                if one in view.row:
                    found += item_text.people(view.items[view.row[one]])
        own = person.profile.name.casefold()
        return [name for name in dict.fromkeys(found) if name.casefold() != own]


def _turn(answer: Answer, tool: Tool | None, view: PersonView, person: Person) -> Turn:
    plan = answer.plan
    read = [] if answer.result is None else [item.id for item in answer.result.items]
    named = named_item(plan, tool, view)
    if named is not None and tool is not None and not tool.api.startswith("create_"):
        read = [named, *(one for one in read if one != named)]
    said = set(terms(answer.request.text))
    mentioned = [
        one.item.id
        for one in answer.items
        if one.item.id not in read and len(said.intersection(terms(item_text.title(one.item)))) > 1
    ]
    people: list[str] = []
    for value in plan.arguments.values():
        for one in value if isinstance(value, list) else [str(value)]:
            people += [one] if person.contact(one) is not None else []
    people += _spoken_of(answer.request.text, person)
    change = None if answer.result is None or answer.result.change is None else answer.result.change
    return Turn(
        answer.request.text,
        plan,
        tool,
        tuple(read[:SHOWN]),
        tuple(mentioned),
        tuple(dict.fromkeys(people)),
        None if change is None else change.change_id,
        bool(read) and plan.api.startswith("create_"),
    )


_KIN = frozenset(
    "mum mom mummy mommy mam mama mamma mother dad daddy papa father sister brother wife husband"
    " son "
    "daughter aunt uncle granny grandma grandpa nan boss niece nephew".split()
)


def _spoken_of(text: str, person: Person) -> list[str]:
    """Names of the contacts whom a text names, by a name or as kin, in its order."""
    found: list[str] = []
    for word in words(text):
        named = [one.name for one in person.contacts if len(word) > 2 and word in words(one.name)]
        bare = word.removesuffix("s") if word.removesuffix("s") in _KIN else word
        if not named and bare in _KIN:
            kin = mentioned(bare, person.contacts)
            named = [kin[0].name] if len(kin) == 1 else []
        found += named
    return found


def named_item(plan: Plan, tool: Tool | None, view: PersonView) -> str | None:
    """Id of the item that a plan names by its title."""
    if tool is None:
        return None
    titles = [str(plan.arguments[name]) for name in _NAMING if name in plan.arguments]
    own = [item for item in view.items if item.app == tool.app]
    return next((item.id for item in own if titles and title_of(item) == titles[0]), None)


def described(turns: Sequence[Turn]) -> Iterator[str]:
    """The turns as lines, for a trace."""
    return (f"{turn.text} → {turn.plan}" for turn in turns)
