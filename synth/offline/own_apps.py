"""Things and requests of applications that a user declared, from their fields' roles alone."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ctrag.apps.toolbox import Argument, Tool, Toolbox
from stores.dataset import Kind, Persona
from stores.items import Item, LabelledPlan, Labels, Person, Request, Usage, Value
from stores.spec import AppSpec, FieldSpec, packaged_apps
from synth.offline.composer import Composer
from synth.offline.life import entries, gaps
from synth.offline.sources import letters
from synth.offline.thoughts import thought
from synth.provider import LabelledRequest
from synth.shape import OTHER_ITEMS

_GROUPS = ("Family", "Work", "Friends", "Other")
_SAY = (
    "I'm on my way", "the keys are with the neighbours", "dinner is at eight", "we need milk",
    "I'll be there on Saturday", "the answer is yes", "bring the big umbrella", "it went well",
    "I can't make it tonight", "the parcel is here", "thanks for the help", "start without me",
)  # fmt: skip
_READ = (
    "what did my {rel} want there", "show me what came from my {rel}",
    "my {rel} and that thing, open it",
    "what was the last from my {rel}", "anything new from my {rel}",
)  # fmt: skip
_TELL = ("let my {rel} know {say}", "tell my {rel} {say}", "my {rel} should hear that {say}")
_DO = ("{do}, I mean my {rel}'s", "for my {rel}: {do}", "{do}, the one with my {rel}")
_BARE = ("{do}, you know which", "{do}, the usual one", "please {do}")


def own_items(
    apps: Sequence[AppSpec], person: Person, counts: Mapping[str, int], draw: random.Random
) -> list[Item]:
    """Items of the declared applications: texts, people, places and times by the fields' roles."""
    found = []
    for app in apps:
        if app in packaged_apps():
            continue
        wanted = counts.get(app.name, round(OTHER_ITEMS))
        for number in range(wanted):
            found.append(_item(app, f"own-{app.name}-{number}", person, draw))
    return found


def own_requests(
    apps: Sequence[AppSpec], toolbox: Toolbox, persona: Persona, draw: random.Random
) -> list[LabelledRequest]:
    """A request for each tool of the declared applications, in random order."""
    known = {app.name: app for app in apps if app not in packaged_apps()}
    tools = [tool for tool in toolbox if tool.app in known]
    draw.shuffle(tools)
    composer = Composer(persona, draw)
    found = []
    for tool in tools:
        items = composer.of(tool.app)
        if items:
            beside = [one.api for one in tools if one.app == tool.app and one.api != tool.api]
            found.append(_request(tool, beside, known[tool.app], items[0], composer))
    return found


def _item(app: AppSpec, item_id: str, person: Person, draw: random.Random) -> Item:
    moment = person.now - timedelta(minutes=draw.randint(5, 12 * 24 * 60))
    fields = {field.name: _value(field, person, moment, draw) for field in app.fields}
    opens = draw.choice((0, 0, 1, 2, 4))
    hour = max(moment, person.now - timedelta(days=3))
    usage = Usage(opens, hour, (hour.hour,), "home") if opens else Usage()
    return Item(item_id, app.name, fields, usage)


def _value(field: FieldSpec, person: Person, moment: datetime, draw: random.Random) -> Value:
    if field.values:
        return draw.choice(field.values)
    values = gaps(person, draw)
    match field.type:
        case "datetime":
            return moment + timedelta(hours=1) if field.role == "end" else moment
        case "boolean":
            return draw.random() < 0.3
        case "integer":
            return draw.randint(0, 300)
        case "strings":
            return (values["c"],)
    texts = {
        "person": values["c"],
        "place": person.profile.home or values["city"],
        "group": draw.choice(_GROUPS),
        "title": draw.choice(entries("contact_mails")).parts[0],
        "text": draw.choice(entries("contact_mails")).parts[1].format(**values),
    }
    return texts.get(field.role, field.default if isinstance(field.default, str) else "")


def _request(
    tool: Tool, beside: Sequence[str], app: AppSpec, item: Item, composer: Composer
) -> LabelledRequest:
    draw, person, at = composer.draw, composer.persona.person, composer.soon()
    say = draw.choice(_SAY)
    arguments = {
        one.name: _argument(one, app, item, at, say, draw)
        for one in tool.arguments
        if one.required or draw.random() < 0.5
    }
    names = app.named("person")
    relation = composer.related(item.text(names[0])) if names else None
    speaks = any(one.match == "text" for one in tool.arguments)
    action = tool.description.partition("is used to ")[2].rstrip(".") or tool.api.replace("_", " ")
    if relation is None:
        text = draw.choice(_BARE).format(do=action)
    elif tool.effect == "read":
        text = draw.choice(_READ).format(rel=relation)
    else:
        text = draw.choice(_TELL if speaks else _DO).format(rel=relation, say=say, do=action)
    relevant = [item]
    if tool.does == "find" and arguments and set(arguments) <= set(item.fields):
        relevant = [
            one
            for one in composer.of(tool.app)
            if all(one.text(name) == value for name, value in arguments.items())
        ]
    kind: Kind = "reference" if tool.effect == "read" else "write"
    spoken = thought((), person, at, tool.api, draw) if not relation else (
        f"{app.name.capitalize()} holds what the {relation} is in."
    )  # fmt: skip
    return LabelledRequest(
        Request(text, at, "home"),
        Labels(
            kind=kind,
            chain_of_thought=spoken,
            relevant=tuple(one.id for one in relevant),
            tools=(tool.api, *beside)[:3],
            plan=LabelledPlan(tool.api, arguments),
        ),
    )


def _argument(
    argument: Argument, app: AppSpec, item: Item, at: datetime, say: str, draw: random.Random
) -> str | int | list[str]:
    people = [item.text(name) for name in app.named("person")]
    moments = [item.time(name) for name in app.named("time")]
    words = [word for name in (*app.named("title"), *app.named("text"))
             for word in letters(item.text(name))]  # fmt: skip
    if argument.name == "query" and words:
        return max(words, key=len)
    if argument.type == "date" and moments and moments[0]:
        return moments[0].date().isoformat()
    if argument.name in item.fields and argument.match == "value" and argument.type == "string":
        return item.text(argument.name)
    match argument.type:
        case "contact":
            return people[0] if people else say
        case "contacts":
            return people or [say]
        case "datetime":
            return (at + timedelta(hours=1)).isoformat(timespec="minutes")
        case "date":
            return at.date().isoformat()
        case "integer":
            return draw.randint(1, 5)
        case "enum":
            return draw.choice(argument.values)
    titles = [item.text(name) for name in (*app.named("title"), *app.named("text"))]
    return say if argument.match == "text" or not titles else titles[0]
