"""Rewriting a source's people, items and requests with other names and dates."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta

from stores.people.dataset import Persona
from stores.people.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request, Value
from synth.offline.dates import shifted_text, shifted_value
from synth.offline.names import renamed_address
from synth.offline.sources import ordinary_words
from synth.provider import LabelledRequest

_NOT_RENAMED = {"song_name", "artist", "album_title", "genre"}
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A consistent replacement of names and dates in one source."""

    source: Persona
    names: dict[str, str]
    days: int
    """By how many days everything is moved; whole weeks, to keep weekdays."""

    def text(self, text: str) -> str:
        """A text with names and dates replaced."""
        moved = shifted_text(text, self.source.person.now, self.days)
        return _WORD.sub(lambda found: self._word(found[0]), moved)

    def person(self, person_id: str) -> Person:
        """The source's person with other names."""
        old = self.source.person
        return Person(
            person_id,
            old.now + timedelta(days=self.days),
            self._profile(old.profile),
            tuple(self._contact(one) for one in old.contacts),
        )

    def item(self, item: Item, item_id: str) -> Item:
        """An item with another id, with its usage moved in time."""
        opened = item.usage.last_opened
        usage = replace(item.usage, last_opened=opened and opened + timedelta(days=self.days))
        fields = {name: self._value(name, value) for name, value in item.fields.items()}
        return Item(item_id, item.app, fields, usage)

    def request(self, one: LabelledRequest, ids: dict[str, str]) -> LabelledRequest | None:
        """A request of the source; None when a relevant item has no new id.

        Args:
            one: The source's request.
            ids: Old item id → new item id.
        """
        relevant = one.labels.relevant or ()
        playing = one.request.playing
        if any(item_id not in ids for item_id in relevant):
            return None
        request = Request(
            self.text(one.request.text),
            one.request.asked_at + timedelta(days=self.days),
            one.request.place,
            ids.get(playing) if playing else None,
        )
        plan = one.labels.plan
        thought = one.labels.chain_of_thought
        labels = Labels(
            kind=one.labels.kind,
            chain_of_thought=thought and self.text(thought),
            relevant=tuple(ids[item_id] for item_id in relevant),
            tools=one.labels.tools,
            plan=plan and self._plan(plan),
        )
        return LabelledRequest(request, labels)

    def _plan(self, plan: LabelledPlan) -> LabelledPlan:
        arguments: dict[str, str | int | list[str]] = {}
        for name, value in plan.arguments.items():
            if isinstance(value, list):
                arguments[name] = [self.text(one) for one in value]
            elif isinstance(value, str) and name not in _NOT_RENAMED:
                arguments[name] = shifted_value(value, self.days) or self.text(value)
            else:
                arguments[name] = value
        return LabelledPlan(plan.api, arguments)

    def _value(self, name: str, value: Value) -> Value:
        if value is None or isinstance(value, bool | int) or name in _NOT_RENAMED:
            return value
        if isinstance(value, tuple):
            return tuple(self.text(one) for one in value)
        if isinstance(value, str):
            return self.text(value)
        return value + timedelta(days=self.days)

    def _word(self, word: str) -> str:
        if word in self.names:
            return self.names[word]
        capital = word.capitalize()
        if word.islower() and len(word) > 3 and capital in self.names:
            return word if word in ordinary_words() else self.names[capital].lower()
        return word

    def _profile(self, old: Profile) -> Profile:
        return replace(
            old,
            name=self.text(old.name),
            household=old.household and self.text(old.household),
            work=old.work and self.text(old.work),
            home=old.home and self.text(old.home),
        )

    def _contact(self, old: Contact) -> Contact:
        return Contact(
            self.text(old.name),
            self.text(old.relation),
            old.phone,
            renamed_address(old.email, self.names),
        )
