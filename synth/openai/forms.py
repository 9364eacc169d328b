"""Forms of answers: JSON schemas, and rules that a schema cannot express."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.plan import Plan, check
from ctrag.errors import InputError
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.app_spec import AppSpec
from stores.people.dataset import Kind, Persona
from stores.people.item_objects import item_model, read_item
from stores.people.items import Item
from stores.people.local_time import parse_local_time
from synth.openai.asking import Form

ASKED_WITHIN = timedelta(days=3)
"""Requests are made within this time after the person's `now`."""
_BEFORE, _AFTER = timedelta(days=400), timedelta(days=200)
"""Items lie within this time of the person's `now`; past events, not after it."""
_HAPPENED = frozenset({"mail", "google", "notes", "music", "phonecall"})
"""Applications whose items lie in the past; unknown for custom ones."""
_TOKENS_AN_ITEM = 260
_Read = TypeVar("_Read", bound=BaseModel)

_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
_LocalTime = Annotated[datetime, BeforeValidator(parse_local_time)]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ProfileAnswer(_Answer):
    """Who somebody is; every field is told."""

    name: _Text
    age: Annotated[int, Field(ge=12, le=105)]
    profession: _Text
    city: _Text
    timezone: _Text
    home: _Text
    work: _Text
    favorite_music_genre: _Text
    favorite_movie_genre: _Text
    favorite_cuisine: _Text
    favorite_sport: _Text
    hobbies: Annotated[list[_Text], Field(min_length=2, max_length=6)]
    household: _Text


class ContactAnswer(_Answer):
    """Somebody whom the person knows."""

    name: _Text
    relation: _Text
    phone: str | None = None
    email: str | None = None


class PersonaAnswer(_Answer):
    """A person without their items."""

    profile: ProfileAnswer
    contacts: Annotated[list[ContactAnswer], Field(min_length=4, max_length=15)]
    routines: Annotated[list[_Text], Field(min_length=3, max_length=10)]
    """Sentences on what they do when and where; items and usage follow from them."""


class RequestAnswer(_Answer):
    """A request and the items that it is about."""

    kind: Kind
    text: Annotated[str, StringConstraints(min_length=3, max_length=300, strip_whitespace=True)]
    asked_at: _LocalTime
    place: str | None = None
    playing: str | None = None
    relevant: list[str]


class RequestsAnswer(_Answer):
    """Requests in the order of the wanted kinds."""

    requests: list[RequestAnswer]


class ToolsAnswer(_Answer):
    """Three fitting APIs, best first; none when nothing fits."""

    tools: list[str]


class ThoughtAnswer(_Answer):
    """Where to look and why."""

    thought: Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]


def persona_form() -> Form[PersonaAnswer]:
    """A person with contacts of different names."""

    def rules(answer: PersonaAnswer) -> list[str]:
        names = [answer.profile.name, *(one.name for one in answer.contacts)]
        return [f"contacts: {name!r} appears twice" for name in _repeated(names)]

    return _form("persona", PersonaAnswer, rules, 2500)


def items_form(
    app: AppSpec,
    person_id: str,
    count: int,
    now: datetime,
    avoid: Sequence[Item] = (),
    known: Collection[str] = (),
) -> Form[list[Item]]:
    """`count` different items of an application, validated like items of a data set.

    Args:
        app: The application.
        person_id: Prefix of the items' ids.
        count: How many; extra items of an answer are dropped.
        now: When the phone's contents are captured.
        avoid: Items that must not be repeated.
        known: Names of the contacts. If the items name several people, at least one must be a
            contact; () turns the check off.
    """
    schema = item_model(app).model_json_schema(by_alias=True)
    schema["properties"].pop("id", None)
    schema["required"] = [name for name in schema.get("required", ()) if name != "id"]
    definitions = schema.pop("$defs", {})

    def read(raw: Any) -> list[Item]:
        rows = raw.get("items") if isinstance(raw, Mapping) else None
        if not isinstance(rows, list) or len(rows) < count:
            found = len(rows) if isinstance(rows, list) else "none"
            raise InputError(f"items: a list of {count} is needed, not {found}")
        items: list[Item] = []
        problems: list[str] = []
        for place, row in enumerate(rows[:count]):
            where = f"items.{place}"
            if not isinstance(row, Mapping):
                problems.append(f"{where}: must be an object")
                continue
            try:
                item = read_item({**row, "id": f"{person_id}-{app.name}-{place + 1}"}, app, where)
            except ValueError as error:
                problems.append(str(error))
                continue
            problems += (f"{where}: {rule}" for rule in _item_faults(item, app, now))
            if any(_same(item, other) for other in (*items, *avoid)):
                problems.append(f"{where}: is an earlier item again: {item_text.title(item)!r}")
            items.append(item)
        if not problems and known and not _somebody_known(items, app, known):
            problems.append(f"items: nobody in them is a contact; some must be: {', '.join(known)}")
        if problems:
            raise InputError("\n".join(problems))
        return items

    whole = {
        "type": "object",
        "properties": {"items": {"type": "array", "minItems": count, "items": schema}},
        "required": ["items"],
        **({"$defs": definitions} if definitions else {}),
    }
    return Form(f"{app.name}_items", whole, read, 600 + _TOKENS_AN_ITEM * count)


def requests_form(
    persona: Persona,
    kinds: Sequence[Kind],
    avoid: Sequence[str],
    faults: Callable[[RequestAnswer], Sequence[str]],
) -> Form[list[RequestAnswer]]:
    """One request of each kind, about the person's items.

    Args:
        persona: Who asks.
        kinds: The wanted kinds, in their order.
        avoid: Texts that must not come again.
        faults: Further checks of a request that satisfies all other rules.
    """
    items = {item.id: item for item in persona.items}
    now = persona.person.now
    known = {_flat(text) for text in avoid}

    def own_rules(one: RequestAnswer) -> list[str]:
        """Problems of a single request, each prefixed with its field."""
        problems = []
        if _flat(one.text) in known:
            problems.append(f".text: {one.text!r} is known already")
        if not now <= one.asked_at <= now + ASKED_WITHIN:
            problems.append(f".asked_at: must lie within three days after {now}")
        unknown = [name for name in one.relevant if name not in items]
        problems += [f".relevant: no item has the id {name!r}" for name in unknown]
        if not one.relevant and one.kind not in ("explicit", "no_tool"):
            problems.append(f".relevant: a request of kind {one.kind} needs an item")
        apps = {items[name].app for name in one.relevant if name in items}
        if one.kind == "multi" and len(apps) < 2 and not unknown:
            problems.append(".relevant: kind multi needs items of two applications")
        playing = items.get(one.playing or "")
        if one.playing is not None and (playing is None or playing.app != "music"):
            problems.append(f".playing: {one.playing!r} is no song of the person")
        return problems

    def rules(answer: RequestsAnswer) -> list[str]:
        problems = []
        kinds_given = [one.kind for one in answer.requests]
        if kinds_given != list(kinds):
            problems.append(f"requests: the kinds must be {', '.join(kinds)}, not {kinds_given}")
        texts = [_flat(one.text) for one in answer.requests]
        problems += [f"requests: {text!r} appears twice" for text in _repeated(texts)]
        for place, one in enumerate(answer.requests):
            problems += [f"requests.{place}{problem}" for problem in own_rules(one)]
        return problems or [
            f"requests.{place}: {fault}"
            for place, one in enumerate(answer.requests)
            for fault in faults(one)
        ]

    def salvage(raw: Any) -> list[RequestAnswer]:
        """The valid requests, at most one for each wanted kind."""
        rows = raw.get("requests") if isinstance(raw, Mapping) else None
        left, kept = Counter(kinds), list[RequestAnswer]()
        for row in rows if isinstance(rows, list) else ():
            try:
                one = RequestAnswer.model_validate(row)
            except ValidationError:
                continue
            again = _flat(one.text) in {_flat(other.text) for other in kept}
            if left[one.kind] and not again and not own_rules(one) and not faults(one):
                left[one.kind] -= 1
                kept.append(one)
        if not kept:
            raise InputError("requests: none is right")
        return kept

    form = _form("requests", RequestsAnswer, rules, 600 + 250 * len(kinds))
    return replace(_mapped(form, lambda answer: answer.requests), salvage=salvage)


def tools_form(toolbox: Toolbox) -> Form[list[str]]:
    """Three APIs of the toolbox, or none."""

    def rules(answer: ToolsAnswer) -> list[str]:
        problems = [f"tools: there is no API {api!r}" for api in answer.tools if api not in names]
        problems += [f"tools: {api} appears twice" for api in _repeated(answer.tools)]
        if len(answer.tools) not in (0, 3):
            problems.append(f"tools: three are needed or none, not {len(answer.tools)}")
        return problems

    names = set(toolbox.names)
    return _mapped(_form("tools", ToolsAnswer, rules, 300), lambda answer: answer.tools)


def plan_form(tool: Tool, problems_of: Callable[[Plan], list[str]]) -> Form[Plan]:
    """The arguments of one API.

    Args:
        tool: The API.
        problems_of: Further checks of a plan that matches the API's schema.
    """
    required = [argument.name for argument in tool.arguments if argument.required]
    schema = {
        "type": "object",
        "properties": {one.name: _argument_schema(one) for one in tool.arguments},
        "required": required,
        "additionalProperties": False,
    }

    def read(raw: Any) -> Plan:
        if not isinstance(raw, Mapping):
            raise InputError("the answer must be an object of arguments")
        # Models write null for arguments that they leave out.
        plan = Plan(tool.api, {name: value for name, value in raw.items() if value is not None})
        problems = check(plan, Toolbox([tool])) or problems_of(plan)
        if problems:
            raise InputError("\n".join(problems))
        return plan

    return Form("arguments", schema, read, 600)


def thought_form() -> Form[str]:
    """One or two sentences."""
    form = _form("thought", ThoughtAnswer, lambda answer: [], 300)
    return _mapped(form, lambda answer: answer.thought)


def _form(
    name: str, model: type[_Read], rules: Callable[[_Read], list[str]], longest: int
) -> Form[_Read]:
    def read(raw: Any) -> _Read:
        try:
            answer = model.model_validate(raw)
        except ValidationError as error:
            raise InputError("\n".join(_problem_line(one) for one in error.errors())) from None
        problems = rules(answer)
        if problems:
            raise InputError("\n".join(problems))
        return answer

    return Form(name, model.model_json_schema(), read, longest)


_From = TypeVar("_From")
_To = TypeVar("_To")


def _mapped(form: Form[_From], take: Callable[[_From], _To]) -> Form[_To]:
    return Form(form.name, form.schema, lambda raw: take(form.read(raw)), form.longest)


def _problem_line(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"]) or "answer"
    return f"{where}: {problem['msg'].removeprefix('Value error, ')}"


def _somebody_known(items: Sequence[Item], app: AppSpec, known: Collection[str]) -> bool:
    """Whether an item names a contact, or fewer than two people are named, who may be
    strangers."""
    named = {
        name for item in items for field in app.named("person") for name in _names(item, field)
    }
    return len(named) < 2 or bool(named & set(known))


def _names(item: Item, field: str) -> Sequence[str]:
    value = item.fields.get(field)
    return value if isinstance(value, tuple) else ((str(value),) if value else ())


def _item_faults(item: Item, app: AppSpec, now: datetime) -> list[str]:
    faults = []
    start, end = item_text.time_of(item), item_text.time_of(item, "end")
    for moment in (start, end):
        if moment is not None and not now - _BEFORE <= moment <= now + _AFTER:
            faults.append(f"{moment} lies too far from {now}")
    if start is not None and start > now and app.name in _HAPPENED:
        faults.append(f"{start} lies after {now}; what is in {app.name} has happened already")
    if start is not None and end is not None and end < start:
        faults.append(f"ends at {end}, before it begins")
    opened = item.usage.last_opened
    if opened is not None and opened > now:
        faults.append(f"usage.last_opened: {opened} lies after {now}")
    if item.usage.opens_30d and opened is None:
        faults.append("usage.last_opened: is needed where opens_30d is not 0")
    return faults


def _same(one: Item, other: Item) -> bool:
    """Whether two items have the same title, text and time."""
    return (
        one.app == other.app
        and item_text.searched_text(one).casefold() == item_text.searched_text(other).casefold()
        and item_text.time_of(one) == item_text.time_of(other)
    )


def _argument_schema(argument: Argument) -> dict[str, Any]:
    types: dict[str, dict[str, Any]] = {
        "integer": {"type": "integer"},
        "contacts": {"type": "array", "items": _STRING},
    }
    schema = {**types.get(argument.type, _STRING), "description": argument.description}
    if argument.values:
        schema["enum"] = list(argument.values)
    if argument.type in ("datetime", "date"):
        pattern = "YYYY-MM-DDTHH:MM" if argument.type == "datetime" else "YYYY-MM-DD"
        schema["description"] += f" ({pattern})"
    return schema


_STRING: dict[str, Any] = {"type": "string"}


def _repeated(values: Sequence[str]) -> list[str]:
    folded = [value.casefold() for value in values]
    return [value for place, value in enumerate(values) if value.casefold() in folded[:place]]


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()
