"""Input and output of the rules that read a follow-up."""

import re
from dataclasses import dataclass
from datetime import datetime

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.focus import NOTHING_KNOWN, Focus
from ctrag.assistant.conversation.phrases import Said
from ctrag.assistant.conversation.state import State, Turn
from ctrag.assistant.conversation.the_one import Listed, the_one
from ctrag.assistant.planning.plan import Plan, Value
from ctrag.toolbox import Toolbox
from stores.people.items import Item, Person

READ_BY = {
    "calendar": ("get_event", "title"),
    "reminders": ("read_reminder", "title"),
    "notes": ("read_note", "title"),
    "mail": ("read_mail", "subject"),
}
"""Application → the API that reads one of its items, and the argument that names it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a turn means after the ones before it."""

    text: str
    """The turn as a request that stands by itself as far as that is possible."""
    focus: Focus = NOTHING_KNOWN
    undo: int = 0
    """How many turns' changes are to be taken back, and nothing else done."""
    ask: str = ""
    """What has to be asked before anything can be done."""
    say: str = ""
    """What is said in place of doing anything."""
    corrects: bool = False
    """Whether it takes back the call before it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn and all that it may refer to."""

    said: Said
    state: State
    last: Turn
    """The newest turn in which something was called."""
    view: PersonView
    person: Person
    at: datetime
    toolbox: Toolbox
    playing: str | None = None
    """Id of the song that plays."""

    @property
    def core(self) -> str:
        """What was said, without its opening and closing."""
        return self.said.core

    def own(self, *apps: str) -> list[Item]:
        """The person's items of these applications: those in focus first."""
        near = self.state.items(self.view, *apps)
        ids = {item.id for item in near}
        return [*near, *(i for i in self.view.items if i.app in apps and i.id not in ids)]

    def placed(self, text: str) -> tuple[Item, re.Match[str]] | None:
        """What "the second one" or "the one about soup" of a text is among what was listed, and
        where it says so."""
        shown = self.state.shown(self.view)
        app = next((one.app for one in shown if one is not None), self.last.app)
        since = [one.items[0] for one in self.state.turns if len(one.items) == 1]
        return the_one(text, Listed(shown, since, self.own(app)))

    def call(self, api: str, item: Item | None, text: str = "", **values: Value) -> Reading | None:
        """The whole call, all of whose arguments are known; None where this toolbox lacks it."""
        return self.call_of(Plan(api, dict(values)), item, text)

    def call_of(self, plan: Plan, item: Item | None, text: str = "") -> Reading | None:
        """As `call`, with a plan."""
        if self.toolbox.get(plan.api) is None:
            return None
        ids = () if item is None else (item.id,)
        return Reading(text or self.said.text, Focus(ids, (plan.api,), plan=plan))

    def call_with(self, api: str, item: Item | None, text: str, **values: Value) -> Reading | None:
        """A call whose other arguments the text says."""
        if self.toolbox.get(api) is None:
            return None
        return Reading(text, Focus(() if item is None else (item.id,), (api,), values))

    def with_items(self, text: str, ids: tuple[str, ...]) -> Reading:
        """A text that is planned with these items before all others."""
        return Reading(text, Focus(ids))
