"""Requests about declared applications, based only on toolbox entries and field roles.

Everything the plan needs is in the text, or in the items that the text refers to: by a relation
("my sister"), or by a word that occurs nowhere else on the phone. A text that names the application
has kind explicit.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ctrag.assistant.apps.lookup import plain_words
from ctrag.text.words import terms
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.app_spec import AppSpec, packaged_apps
from stores.people.dataset import Kind, Persona
from stores.people.items import Item, LabelledPlan, Labels, Request
from synth.offline.composer import Composer
from synth.offline.thoughts import thought
from synth.provider import LabelledRequest

_SAY = (
    "I'm on my way", "the keys are with the neighbours", "dinner is at eight", "we need milk",
    "I'll be there on Saturday", "the answer is yes", "bring the big umbrella", "it went well",
    "I can't make it tonight", "the parcel is here", "thanks for the help", "start without me",
)  # fmt: skip
_SEARCH = (
    "where was that about {word}", "what was it about {word} again",
    "there was something with {word}, find it", "was there anything on {word}",
)  # fmt: skip
_LIST = ("show me my {app} of {day}", "which {app} do I have from {day}", "my {app}, {day}")
_LIST_ALL = ("show me all my {app}", "which {app} do I have", "list my {app}")
_READ = ("show me {what}", "open {what}", "let me see {what}", "read me {what}")
_REMOVE = ("get rid of {what}", "I don't need {what} any more", "throw {what} away")
_SET = ("mark {what} as {state}", "{what} is {state}, put that down")
_UNSET = ("{what} is not {state} after all", "{what} is no longer {state}")
_CHOOSE = ("set {what} to {state}", "{what} is now {state}")
_MOVE = ("move {what} to {when}", "{what} has to wait until {when}", "put {what} off to {when}")
_CREATE = ("add to my {app}: {say}", "new in {app}: {say}", "put in my {app}: {say}")
_TELL = ("let my {rel} know {say}", "tell my {rel} {say}", "my {rel} should hear that {say}")
_FROM = ("what my {rel} wrote", "the last from my {rel}", "what came from my {rel}")
_WITH = ("the one with my {rel}", "my {rel}'s", "that thing with my {rel}")
_ABOUT = ("the one about {word}", "the one that mentions {word}", "what I have on {word}")
_WORD = re.compile(r"[^\W\d_]{5,}")
_SAYS_LITTLE = frozenset("otherwise something still there third thought until works".split())
_SHOWN = 10
"""Maximum number of items that an API of a declared application shows."""


def own_requests(
    apps: Sequence[AppSpec], toolbox: Toolbox, persona: Persona, draw: random.Random
) -> list[LabelledRequest]:
    """A request for each tool of the declared applications, where possible, in random order."""
    known = {app.name: app for app in apps if app not in packaged_apps()}
    tools = [tool for tool in toolbox if tool.app in known]
    draw.shuffle(tools)
    composer = Composer(persona, draw)
    found = []
    for tool in tools:
        items = composer.of(tool.app)
        asked = _Asking(tool, known[tool.app], composer, items).asked() if items else None
        if asked is not None and not _gives_away(asked, tool.app):
            beside = [one for one in tools if one.app == tool.app and one.api != tool.api]
            beside.sort(key=lambda one: one.does != tool.does)
            found.append(_labelled(asked, tool, beside, composer))
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: Kind
    text: str
    at: datetime
    relevant: Sequence[Item]
    arguments: dict[str, str | int | list[str]]
    relation: str = ""
    """Whom the text mentions, if anybody."""


@dataclass(frozen=True, slots=True)
class _Meant:
    """How a text refers to an item."""

    kind: Kind
    what: str
    item: Item
    relation: str = ""


@dataclass(frozen=True, slots=True)
class _Asking:
    """Makes requests for one tool."""

    tool: Tool
    app: AppSpec
    composer: Composer
    items: Sequence[Item]
    """All items of the application, in random order."""

    def asked(self) -> _Asked | None:
        """A request for the tool; None when the items do not allow one."""
        names = {one.name for one in self.tool.arguments}
        required = [one for one in self.tool.arguments if one.required]
        match self.tool.does:
            case "find" if "query" in names and len(required) <= 1:
                return self._search()
            case "find" if not required:
                return self._list()
            case "find" if self._keyed(required):
                return self._keyed_request(required[0], _READ)
            case "remove" if self._keyed(required):
                return self._keyed_request(required[0], _REMOVE)
            case "change" if self._keyed(required[:1]) and len(required) == 2:
                return self._change(required[0], required[1])
            case "create" if [one.name for one in required] == list(self.app.named("title")[:1]):
                return self._create(required[0])
            case "send" if {one.type for one in required[:1]} == {"contact"}:
                return self._send(required)
        return self._spelled(required)

    def _search(self) -> _Asked | None:
        for item in self.items:
            for word in self._words_of_its_own(item):
                text = self._choose(_SEARCH).format(word=word)
                found = [one for one in self.items if word.casefold() in _words(one)]
                at = self.composer.soon()
                return _Asked("refind", text, at, found[:_SHOWN], {"query": word})
        return None

    def _list(self) -> _Asked:
        """A plain list request has nothing to identify the application, so it names it."""
        at, times = self.composer.soon(), self.app.named("time")
        called = self.app.name.replace("_", " ")
        day = next((one for one in self.tool.arguments if one.type == "date"), None)
        moment = self.items[0].time(times[0]) if times else None
        if day is None or moment is None:
            text = self._choose(_LIST_ALL).format(app=called)
            return _Asked("explicit", text, at, self.items[:_SHOWN], {})
        found = [one for one in self.items if _on(one.time(times[0]), moment)]
        text = self._choose(_LIST).format(app=called, day=_day(moment, at))
        arguments: dict[str, str | int | list[str]] = {day.name: moment.date().isoformat()}
        return _Asked("explicit", text, at, found[:_SHOWN], arguments)

    def _keyed_request(self, key: Argument, ways: Sequence[str]) -> _Asked | None:
        meant = self._meant(key)
        if meant is None:
            return None
        relevant = [meant.item]
        if self.tool.does == "find":
            value = meant.item.text(key.name)
            relevant = [one for one in self.items if one.text(key.name) == value][:_SHOWN]
        text = self._choose(ways).format(what=meant.what)
        return self._about(meant, text, key, {}, relevant)

    def _change(self, key: Argument, new: Argument) -> _Asked | None:
        meant, at = self._meant(key), self.composer.soon()
        if meant is None:
            return None
        state = new.name.replace("_", " ")
        if new.type == "datetime":
            moment = self._later(at)
            text = self._choose(_MOVE).format(what=meant.what, when=_moment(moment, at))
            return self._about(meant, text, key, {new.name: _iso(moment)}, [meant.item], at)
        if set(new.values) == {"yes", "no"} and new.name in meant.item.fields:
            value = "no" if meant.item.flag(new.name) else "yes"
            ways = _SET if value == "yes" else _UNSET
        elif new.values:
            value = state = self._choose(new.values)
            ways = _CHOOSE
        else:
            value = state = self._choose(_SAY)
            ways = _CHOOSE
        text = self._choose(ways).format(what=meant.what, state=state)
        return self._about(meant, text, key, {new.name: value}, [meant.item], at)

    def _create(self, title: Argument) -> _Asked:
        say, at = self._choose(_SAY), self.composer.soon()
        text = self._choose(_CREATE).format(app=self.app.name.replace("_", " "), say=say)
        return _Asked("explicit", text, at, (), {title.name: say})

    def _send(self, required: Sequence[Argument]) -> _Asked | None:
        texts = [one for one in required[1:] if one.match == "text" and one.type == "string"]
        known = [(item, name) for item in self.items for name in self._people(item)]
        for item, name in known:
            relation = self.composer.related(name)
            if relation and len(texts) == len(required) - 1 == 1:
                say = self._choose(_SAY)
                text = self._choose(_TELL).format(rel=relation, say=say)
                arguments: dict[str, str | int | list[str]] = {
                    required[0].name: name,
                    texts[0].name: say,
                }
                at = self.composer.soon()
                return _Asked("write", text, at, [item], arguments, relation)
        return self._spelled(required)

    def _spelled(self, required: Sequence[Argument]) -> _Asked:
        """The purpose of an unknown API, with all values spelled out."""
        at, item = self.composer.soon(), self.items[0]
        arguments = {one.name: self._value(one, item, at) for one in required}
        does = self.tool.description.partition("is used to ")[2].rstrip(".")
        values = (
            f"{name.replace('_', ' ')} {', '.join(value) if isinstance(value, list) else value}"
            for name, value in arguments.items()
        )
        text = ", ".join([does or self.tool.api.replace("_", " "), *values])
        return _Asked("explicit", text, at, [item] if required else (), arguments)

    def _about(
        self,
        meant: _Meant,
        text: str,
        key: Argument,
        more: dict[str, str | int | list[str]],
        relevant: Sequence[Item],
        at: datetime | None = None,
    ) -> _Asked:
        reads = self.tool.does == "find" or meant.kind == "explicit"
        arguments = {key.name: meant.item.text(key.name), **more}
        return _Asked(
            meant.kind if reads else "write",
            text,
            at or self.composer.soon(),
            relevant,
            arguments,
            meant.relation,
        )

    def _keyed(self, required: Sequence[Argument]) -> bool:
        """Whether the only argument is the title or the person of an item."""
        keys = (*self.app.named("title"), *self.app.named("person"))
        return len(required) == 1 and required[0].name in keys

    def _meant(self, key: Argument) -> _Meant | None:
        """An item that a text can refer to without its key, or as a last resort with it.

        If a person has several, the latest is meant.
        """
        times = self.app.named("time")
        by_person = key.name in self.app.named("person")
        for item in self.items:
            for name in self._people(item):
                theirs = [one for one in self.items if name in self._people(one)]
                latest = max(theirs, key=lambda one: _time(one, times))
                relation = self.composer.related(name)
                if (
                    relation
                    and not self._writes_elsewhere(name)
                    and (by_person or theirs == [item])
                ):
                    writes = self.app.similar_app == "mail" and self.app.named("text")
                    ways = _FROM if writes else _WITH
                    what = self._choose(ways).format(rel=relation)
                    return _Meant("reference", what, latest, relation)
        if by_person:
            return None
        alone = [one for one in self.items if self._called_alone(one, key)]
        for item in alone:
            title = {word for name in self.app.named("title") for word in _said_words(item, name)}
            for word in self._words_of_its_own(item):
                alike = [one for one in self.items if word.casefold() in _words(one)]
                if word.casefold() not in title and len(alike) == 1:
                    return _Meant("refind", self._choose(_ABOUT).format(word=word), item)
        for item in alone:
            return _Meant("explicit", f"“{item.text(key.name)}”", item)
        return None

    def _called_alone(self, item: Item, key: Argument) -> bool:
        value = item.text(key.name)
        return bool(value) and [one.text(key.name) for one in self.items].count(value) == 1

    def _people(self, item: Item) -> list[str]:
        return [name for field in self.app.named("person") if (name := item.text(field))]

    def _writes_elsewhere(self, name: str) -> bool:
        """Whether the application that this one resembles also has an item of theirs."""
        [like] = [one for one in packaged_apps() if one.name == self.app.similar_app]
        return any(
            name in item.text(field)
            for item in self.composer.persona.items
            if item.app == like.name
            for field in like.named("person")
        )

    def _words_of_its_own(self, item: Item) -> list[str]:
        """Words of the item that occur in no other application, longest first."""
        elsewhere: set[str] = set()
        for other in self.composer.persona.items:
            if other.app != item.app:
                elsewhere |= _words(other)
        worded = (*self.app.named("title"), *self.app.named("text"))
        found = [word for name in worded for word in _WORD.findall(item.text(name))]
        elsewhere |= _SAYS_LITTLE
        fitting = [one for one in found if terms(one) and not elsewhere & set(plain_words(one))]
        return sorted(dict.fromkeys(fitting), key=len, reverse=True)

    def _value(self, argument: Argument, item: Item, at: datetime) -> str | int | list[str]:
        people = [one.name for one in self.composer.persona.person.contacts]
        moment = self._later(at)
        match argument.type:
            case "contact" if people:
                return self._choose(people)
            case "contacts" if people:
                return [self._choose(people)]
            case "datetime":
                return _iso(moment)
            case "date":
                return moment.date().isoformat()
            case "integer":
                return self.composer.draw.randint(1, 5)
            case "enum":
                return self._choose(argument.values)
        return item.text(argument.name) or self._choose(_SAY)

    def _later(self, at: datetime) -> datetime:
        day = at + timedelta(days=self.composer.draw.randint(1, 6))
        return day.replace(hour=self.composer.draw.randint(8, 19), minute=0)

    def _choose(self, ways: Sequence[str]) -> str:
        return self.composer.draw.choice(ways)


def _labelled(
    asked: _Asked, tool: Tool, beside: Sequence[Tool], composer: Composer
) -> LabelledRequest:
    app = tool.app.replace("_", " ").capitalize()
    if asked.kind == "explicit":
        spoken = thought((), composer.persona.person, asked.at, tool.api, composer.draw)
    elif asked.relation:
        spoken = f"{app} holds what the {asked.relation} is in."
    else:
        spoken = f"It is among what {app} keeps."
    return LabelledRequest(
        Request(asked.text, asked.at, "home"),
        Labels(
            kind=asked.kind,
            chain_of_thought=spoken,
            relevant=tuple(one.id for one in asked.relevant),
            tools=(tool.api, *(one.api for one in beside))[:3],
            plan=LabelledPlan(tool.api, asked.arguments),
        ),
    )


def _gives_away(asked: _Asked, app: str) -> bool:
    """Whether a text names the application although its kind is not explicit."""
    names = set(plain_words(app.replace("_", " ")))
    names |= {name.removesuffix("s") for name in names}
    return asked.kind != "explicit" and bool(names & set(plain_words(asked.text)))


def _words(item: Item) -> set[str]:
    return {word for name in item.fields for word in _said_words(item, name)}


def _said_words(item: Item, name: str) -> list[str]:
    value = item.fields[name]
    return plain_words(value) if isinstance(value, str) else []


def _time(item: Item, names: Sequence[str]) -> datetime:
    return (item.time(names[0]) if names else None) or datetime.min


def _on(moment: datetime | None, day: datetime) -> bool:
    return moment is not None and moment.date() == day.date()


def _day(moment: datetime, at: datetime) -> str:
    days = (moment.date() - at.date()).days
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    if -7 < days < 7:
        return near.get(days, f"{moment:%A}")
    return f"{moment.day} {moment:%B}"


def _moment(moment: datetime, at: datetime) -> str:
    return f"{_day(moment, at)} at {moment:%H:%M}"


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")
