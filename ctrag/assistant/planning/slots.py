"""Slots: arguments whose value a request itself can say, and a call made from what it says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.addressee import addressee, reaches_others
from ctrag.assistant.planning.candidate_values import PLACES, ValueSources
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.mentions import mentioned, told_apart
from ctrag.assistant.planning.messages import sent_text, subject_of
from ctrag.assistant.planning.note_edit import edited_note, says_whole, without_rest
from ctrag.assistant.planning.plan import Plan, Value
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.assistant.planning.repairs import repaired
from ctrag.assistant.planning.said import SaidChoice, SaidEvidence
from ctrag.assistant.planning.titles import called, whole_title, with_purpose
from ctrag.text.words import telling_words, terms, words
from ctrag.toolbox import Argument, Tool
from stores.people.items import Item

OWNED = ("title", "subject")
"""Arguments that name something the person has, when they are values."""
_MENTIONED = ("contact", "contacts", "datetime", "date")
"""Types of which the request has words to be read, and not the value itself."""
_SUBJECT = ("send_mail", "subject")
_AND = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", re.IGNORECASE)
OWNED_GROUPS = ("playlist_name", "list", "folder")
"""Arguments that name a group of the person's items."""
_DEFINITE = frozenset("the that this these those my our her his their it there here same".split())
SAID = 0.5
"""Probability from which what was said is taken."""
_INVITED = 0.6
"""Belief from which somebody whom a plain request does not name takes part."""
_MOSTLY_LOST = 0.3
"""Belief in a text that would replace most of another without being said to be the whole."""
_MOMENT = 0.9
"""Probability at least of a moment that was said."""
_UNKNOWN_PERSON = 0.3
"""Belief in a name that fits no contact."""


def slots_of(tool: Tool) -> list[Argument]:
    """The arguments of which a request can say something: all but choices, numbers and names of
    what the person has."""
    return [
        argument
        for argument in tool.arguments
        if argument.match == "text"
        or argument.type in _MENTIONED
        or (argument.type == "string" and argument.name not in (*OWNED, "number"))
    ]


@dataclass(frozen=True, slots=True)
class Composed:
    """A call and how sure its arguments are."""

    plan: Plan | None
    """None when a required argument has no value."""
    beliefs: tuple[float, ...]
    """Probability, 0 to 1, that each argument is right."""
    variants: tuple[tuple[Plan, float], ...] = ()
    """The same call with another value of one argument, and how likely it is beside this one (1:
    as likely), likeliest first."""
    said: tuple[str, ...] = ()
    """The parts of the request that values were read from."""
    named: float = 1.0
    """Share of the arguments that name what the person has of which the request has a word."""
    astray: bool = False
    """Whether it sends to others than the one whom the request addresses."""


def compose(
    tool: Tool,
    values: ToolValues,
    slots: Mapping[str, FilledSlot],
    sources: ValueSources,
    choice: SaidChoice | None = None,
    plain: float = 1.0,
) -> Composed:
    """The call of a tool: what was said where it was said, else the best ranked values.

    Args:
        tool: The tool that is called.
        values: Its ranked values.
        slots: What the request says of its slots.
        sources: For a text that nobody said: the request's own words.
        choice: Decides between what was said and the best ranked value; None takes what was said.
        plain: Probability that the request is plain.
    """
    slots = repaired(tool, slots, sources.request.text, sources.person.contacts)
    read = slots
    if choice is not None:
        slots = {
            name: _chosen(tool.arguments_by_name[name], slot, values, sources, choice, plain)
            for name, slot in slots.items()
        }
    new = any(_is_new(argument, values, slots.get(argument.name)) for argument in tool.arguments)
    when = [
        slot.value
        for name, slot in slots.items()
        if slot.value is not None and tool.arguments_by_name[name].type in ("date", "datetime")
    ]
    arguments: dict[str, Value] = {}
    beliefs: list[float] = []
    others: list[tuple[str, Value | None, float]] = []
    for argument in tool.arguments:
        slot = slots.get(argument.name)
        if new and slot is not None and slot.value is None and not argument.required:
            continue  # an item's artist does not go with an album that is not the item's
        about = _about(tool, arguments, sources)
        found = _value(tool, argument, values, slot, sources, about, when, plain)
        if argument.type == "contacts" and _is_a_place(found, read, sources.request.text):
            found = replace(found, value=None)
        if (tool.api, argument.name) != _SUBJECT:  # which has no one wording
            beliefs.append(found.sure)
        if found.value is None and argument.required:
            return Composed(None, (0.0,))
        if found.value is not None:
            arguments[argument.name] = found.value
        others += [(argument.name, value, odds) for value, odds in found.others]
        before = read.get(argument.name)
        if before is not None and slot is not None and before.value and slot.value is None:
            instead = _value(tool, argument, values, before, sources, about, when, plain)
            odds = (1 - slot.probability) / max(slot.probability, SAID)
            others.append((argument.name, instead.value, odds))
    arguments |= _one_way(arguments, values, read)
    arguments |= _as_sent(tool, arguments, sources.request.text)
    arguments |= _whole_title(tool, arguments, slots, sources.request.text)
    if not arguments and plain < SAID:
        arguments |= _searched(tool, sources)
    plan = Plan(tool.api, arguments)
    said = tuple(slot.value for slot in slots.values() if slot.value is not None)
    named = _named(tool, arguments, sources.request.text)
    variants = _variants(tool, arguments, others)
    text, contacts = sources.request.text, sources.person.contacts
    whom = addressee(text, contacts)
    astray = reaches_others(plan, whom, contacts, sources.ranked, text)
    return Composed(plan, tuple(beliefs), variants, said, named, astray)


def covered(request: str, made: Composed) -> float:
    """Share of the request's telling words that the call's values have or were read from.

    1 where the request has none.
    """
    wanted = set(terms(request))
    values = () if made.plan is None else made.plan.arguments.values()
    texts = [" ".join(one) if isinstance(one, list) else str(one) for one in values]
    there = {word for text in (*texts, *made.said) for word in terms(text)}
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _variants(
    tool: Tool,
    arguments: Mapping[str, Value],
    others: Sequence[tuple[str, Value | None, float]],
) -> tuple[tuple[Plan, float], ...]:
    """The call with one argument changed or left out, likeliest first."""
    found = []
    for name, value, odds in sorted(others, key=lambda one: -one[2]):
        if value is not None:
            found.append((Plan(tool.api, {**arguments, name: value}), odds))
        elif not tool.arguments_by_name[name].required:
            kept = {one: had for one, had in arguments.items() if one != name}
            found.append((Plan(tool.api, kept), odds))
    return tuple(one for one in found if dict(one[0].arguments) != dict(arguments))


def _named(tool: Tool, arguments: Mapping[str, Value], request: str) -> float:
    """Share of the names of what the person has that the request says in part; 1 without any."""
    said = set(terms(request))
    owned = [
        bool(said & set(terms(str(arguments[one.name]))))
        for one in tool.arguments
        if one.name in (*OWNED, *OWNED_GROUPS) and one.match == "value" and one.name in arguments
    ]
    return sum(owned) / len(owned) if owned else 1.0


def _chosen(
    argument: Argument,
    slot: FilledSlot,
    values: ToolValues,
    sources: ValueSources,
    choice: SaidChoice,
    plain: float,
) -> FilledSlot:
    """The slot, or an empty one where what was said is not the value."""
    instead = values.candidates.get(argument.name)
    if slot.value is None or argument.match == "text" or (argument.required and not instead):
        return slot
    evidence = evidence_of(argument, slot, values, sources, plain)
    share = choice.of(evidence)
    # A playlist that nobody has cannot be played: some other words of the request were read.
    missing = evidence.kind == "owned" and not evidence.known and instead
    if share < SAID or missing:
        return FilledSlot(None, 1 - share)
    return replace(slot, probability=min(slot.probability, share))


def evidence_of(
    argument: Argument, slot: FilledSlot, values: ToolValues, sources: ValueSources, plain: float
) -> SaidEvidence:
    """What is known of an argument of whose slot the request says something."""
    said = slot.value or ""
    request = words(sources.request.text)
    first = words(said)[:1]
    at = request.index(first[0]) if first and first[0] in request else 0
    before = request[at - 1] if at else ""
    kind, known = "value", False
    if argument.type in ("contact", "contacts"):
        kind, known = "person", bool(mentioned(said, sources.person.contacts))
    elif argument.type in ("datetime", "date"):
        kind, known = "moment", bool(sources.moments(said, argument))
    else:
        have = {one.value for one in values.candidates.get(argument.name, ()) if one.how != "said"}
        known = _known(said, values, argument.name) in have
        if argument.name in PLACES:
            kind = "place"
        elif argument.name in OWNED_GROUPS:
            kind = "owned"
    return SaidEvidence(
        plain=plain,
        said=slot.probability,
        ranked=values.beliefs.get(argument.name, 0.0),
        known=known,
        capital=said[:1].isupper(),
        definite=bool({before, *first} & _DEFINITE),
        kind=kind,
        optional=not argument.required,
    )


def _searched(tool: Tool, sources: ValueSources) -> dict[str, Value]:
    """What to look for where a request only hints at it: the title of the best item there."""
    texts = [one for one in tool.arguments if one.match == "text" and not one.required]
    if (
        tool.effect != "read"
        or len(texts) != 1
        or not any(i.app == tool.app for i in sources.items)
    ):
        return {}
    return {texts[0].name: sources.own_words(tool, texts[0])}


@dataclass(frozen=True, slots=True)
class _Found:
    """The value of an argument."""

    value: Value | None
    """None leaves it out."""
    sure: float
    others: tuple[tuple[Value | None, float], ...] = ()
    """Other values (None leaves it out), each with how likely it is beside this one."""


def _is_new(argument: Argument, values: ToolValues, slot: FilledSlot | None) -> bool:
    """Whether a name was said that nothing of the person's has."""
    if slot is None or slot.value is None:
        return False
    if argument.type != "string" or argument.match != "value":
        return False
    known = {one.value for one in values.candidates.get(argument.name, ()) if one.how != "said"}
    return _known(slot.value, values, argument.name) not in known


def _value(
    tool: Tool,
    argument: Argument,
    values: ToolValues,
    slot: FilledSlot | None,
    sources: ValueSources,
    about: Item | None,
    when: Sequence[str],
    plain: float,
) -> _Found:
    said = None if slot is None else slot.value
    if slot is not None and said is not None:
        if argument.type in ("contact", "contacts"):
            found = _people(argument, said, values, sources)
        elif argument.type in ("datetime", "date"):
            found = _Found(_moment(argument, said, sources, about), 1.0)
            # The whole request was read: where the phrase ends does not matter.
            slot = replace(slot, probability=max(slot.probability, _MOMENT))
        elif argument.match == "value":
            found = _Found(_known(said, values, argument.name), 1.0)
        elif about is not None and _replaces(tool, argument, about):
            found = _edited(about.text(argument.name), said, sources)
        else:
            found = _Found(said if argument.name != "title" else _timeless(said, when), 1.0)
        if found.value is not None:
            more = (*found.others, *_instead(argument, values, found.value, slot.probability))
            return replace(found, sure=slot.probability * found.sure, others=more)
    if argument.match == "text":
        return _Found(sources.own_words(tool, argument) if argument.required else None, 1.0)
    if argument.name == "since" and (begins := sources.moments(sources.request.text, argument)):
        return _Found(begins[0], 1.0 if slot is None else max(slot.probability, SAID))
    sure = values.beliefs.get(argument.name, 1.0)
    candidates = values.candidates.get(argument.name, ())
    unsaid = slot is not None and plain > SAID and sure < _INVITED
    if unsaid and not argument.required and argument.type in ("contact", "contacts"):
        return _Found(None, max(slot.probability, SAID) if slot is not None else SAID)
    others: tuple[tuple[Value | None, float], ...] = ()
    if argument.name in values.others:
        other, share = values.others[argument.name]
        others = ((_typed(argument, other), share / max(sure, share)),)
    if argument.name in values.absent or not candidates:
        return _Found(None, sure, others)
    return _Found(_typed(argument, candidates[0].value), sure, others)


def _typed(argument: Argument, value: str | None) -> Value | None:
    """A ranked value as the argument wants it; None where it cannot be."""
    if value is None:
        return None
    if argument.type == "contacts":
        return [value]
    if argument.type == "integer":  # what is no whole number, such as a phone number, is none
        return int(value) if value.isascii() and value.isdigit() else None
    return value


def _instead(
    argument: Argument, values: ToolValues, said: Value, probability: float
) -> tuple[tuple[Value | None, float], ...]:
    """The best ranked value in place of what was said with a probability."""
    candidates = values.candidates.get(argument.name, ())
    if argument.match == "text" or not candidates or argument.name in values.absent:
        return ()
    other = _typed(argument, candidates[0].value)
    if other is None or other == said:
        return ()
    likely = (1 - probability) * values.beliefs.get(argument.name, 1.0)
    return ((other, min(1.0, likely / max(probability, 0.01))),)


def _is_a_place(found: _Found, read: Mapping[str, FilledSlot], request: str) -> bool:
    """Whether those whom nobody named only share a word with a place: "Orchard Lane" invites no
    Ann Lane."""
    names = found.value if isinstance(found.value, list) else [str(found.value or "")]
    there = set(words(request)) & {word for name in names for word in words(name)}
    places = (slot.value or "" for name, slot in read.items() if name in PLACES)
    return bool(there) and there <= {word for place in places for word in words(place)}


def _replaces(tool: Tool, argument: Argument, item: Item) -> bool:
    """Whether the argument is written in place of a text of the item."""
    return tool.api.startswith("update_") and bool(item.text(argument.name))


def _edited(old: str, said: str, sources: ValueSources) -> _Found:
    """A text that is stored in place of another: one that is changed in part keeps the rest."""
    request = sources.request.text
    if made := edited_note(old, request):
        return _Found(made, 1.0)
    lost = set(terms(old)) - set(terms(said))
    certain = says_whole(request) or 2 * len(lost) <= len(set(terms(old)))
    return _Found(without_rest(said), 1.0 if certain else _MOSTLY_LOST)


def _one_way(
    arguments: Mapping[str, Value], values: ToolValues, slots: Mapping[str, FilledSlot]
) -> dict[str, Value]:
    """Another value for one of origin and destination that are the same place."""
    ends = [str(arguments.get(name, "")) for name in ("origin", "destination")]
    if not all(ends) or words(ends[0]) != words(ends[1]):
        return {}
    slot = slots.get("origin")
    name = "destination" if slot is not None and slot.value is not None else "origin"
    others = (one.value for one in values.candidates.get(name, ()))
    other = next((one for one in others if not set(words(one)) & set(words(ends[0]))), None)
    return {} if other is None else {name: other}


def _as_sent(tool: Tool, arguments: Mapping[str, Value], request: str) -> dict[str, Value]:
    """Texts that go to others, as they are sent."""
    if tool.effect != "outward":
        return {}
    found: dict[str, Value] = {}
    for name in ("body", "message"):
        text = arguments.get(name)
        if isinstance(text, str):
            found[name] = sent_text(text, request)
    subject = arguments.get("subject")
    if isinstance(subject, str) and tool.arguments_by_name["subject"].match == "text":
        found["subject"] = subject_of(subject, str(found.get("body", "")), request)
    return found


def _whole_title(
    tool: Tool, arguments: Mapping[str, Value], slots: Mapping[str, FilledSlot], request: str
) -> dict[str, Value]:
    """The title of what is made, with the words that nothing else of the call has."""
    title = arguments.get("title")
    if not isinstance(title, str) or tool.arguments_by_name["title"].match != "text":
        return {}
    text = arguments.get("body")
    if isinstance(text, str):
        if made := called(request):
            return dict(zip(("title", "body"), made, strict=True))
        return {"title": whole_title(title, text, request)}
    said = [slot.value for name, slot in slots.items() if slot.value and name != "title"]
    return {"title": with_purpose(title, request, said)}


def _people(argument: Argument, mention: str, values: ToolValues, sources: ValueSources) -> _Found:
    """Full names of those who are mentioned; equal ones are told apart by the ranked values."""
    names: list[str] = []
    sure, other = 1.0, ""
    ranked = [one.value for one in values.candidates.get(argument.name, ())]
    labels = dict(zip(sources.person.contacts, sources.person.labels(), strict=True))
    for part in _AND.split(mention) if argument.type == "contacts" else [mention]:
        meant = mentioned(part, sources.person.contacts)
        fitting = [labels[one] for one in told_apart(meant, sources.request.text)]
        fitting.sort(key=lambda name: _place(name, ranked))
        if fitting:
            sure /= len(fitting)
            other = fitting[1] if len(fitting) > 1 else other
            names.append(fitting[0])
            continue
        wanted = set(telling_words(part))
        alike = [one for one in ranked if wanted and wanted <= set(words(one))]
        if alike:
            names.append(alike[0])
        elif telling_words(part):
            names.append(part)  # an unknown person is said to be unknown when the call is made
            sure *= _UNKNOWN_PERSON
    names = list(dict.fromkeys(names))
    if not names:
        return _Found(None, 1.0)
    if argument.type == "contacts":
        return _Found(names, sure)
    return _Found(names[0], sure, ((other, 1.0),) if other else ())


def _about(tool: Tool, arguments: Mapping[str, Value], sources: ValueSources) -> Item | None:
    """The item that the call is about, by the title that was chosen."""
    titles = [arguments[name] for name in OWNED if name in arguments]
    for item in sources.ranked:
        if item.app == tool.app and item_text.title(item) in titles:
            return item
    return None


def _moment(
    argument: Argument, phrase: str, sources: ValueSources, about: Item | None
) -> str | None:
    """The moment that was said.

    The whole request is read: it tells morning from evening, and what was corrected. The phrase is
    read where the request as a whole means nothing.
    """
    for text in (sources.request.text, phrase):
        found = sources.moments(text, argument, about)
        if found:
            return found[0]
    return None


def _timeless(title: str, when: Sequence[str]) -> str:
    """A title without the phrases that say when; as it is where nothing else is in it."""
    left = title
    for phrase in when:
        apart = r"\W+".join(re.escape(word) for word in phrase.split())
        left = re.sub(rf"(?<!\w){apart}(?!\w)", " ", left, flags=re.IGNORECASE)
    left = " ".join(left.split()).strip(" ,;-")
    return left if telling_words(left) else title


def _place(value: str, ranked: Sequence[str]) -> int:
    return ranked.index(value) if value in ranked else len(ranked)


def _known(said: str, values: ToolValues, name: str) -> str:
    """The candidate that was said in other words or letters: "the planets" names "Holst: The
    Planets"; otherwise what was said."""
    candidates = [one.value for one in values.candidates.get(name, ()) if one.how != "said"]
    same = next((one for one in candidates if words(one) == words(said)), None)
    wanted = set(telling_words(said)) or set(words(said))
    if same is not None or name in PLACES or not wanted:  # a town is not the street in it
        return said if same is None else same
    return next((one for one in candidates if wanted <= set(words(one))), said)
