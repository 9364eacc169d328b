"""A call made from what a request says and from ranked values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.addressee import addressee, reaches_others
from ctrag.assistant.planning.candidate_values import PLACES, ValueSources
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.in_vain import in_vain, unasked
from ctrag.assistant.planning.mentions import mention_words, mentioned
from ctrag.assistant.planning.messages import dictated, sent_text, subject_of, without_frame
from ctrag.assistant.planning.note_edit import added_text
from ctrag.assistant.planning.plan import Plan, Value
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.assistant.planning.repairs import repaired
from ctrag.assistant.planning.said import SaidChoice, SaidEvidence
from ctrag.assistant.planning.searches import as_searched, named_whole
from ctrag.assistant.planning.slot_values import FoundValue, is_new, known_name, names_day, value_of
from ctrag.assistant.planning.slots import OWNED, OWNED_GROUPS, SAID
from ctrag.assistant.planning.titles import (
    as_titled,
    called,
    invited,
    whole_title,
    with_purpose,
    with_verb,
)
from ctrag.text.words import terms, words
from ctrag.toolbox import Argument, Tool
from stores.people.items import Contact, Item

_KINDS = frozenset(terms("note notes reminder reminders event events mail mails email emails"))
"""Stems that name a kind of thing and no thing: "delete my note" is not "Meeting notes"."""
_WHEN = frozenset(
    terms(
        "monday tuesday wednesday thursday friday saturday sunday today tonight tomorrow yesterday "
        "day week weekend month year morning afternoon evening night noon hour time new old last "
        "next first"
    )
)
"""Stems of when, which many titles share."""
_SUBJECT = ("send_mail", "subject")
_LEADING = re.compile(r"^(?:(?:the|a|an|my)\W+)+", re.IGNORECASE)
_DEFINITE = frozenset("the that this these those my our her his their it there here same".split())


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
    vain: bool = False
    """Whether it cannot be done with what the person has."""


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
    new = any(is_new(argument, values, slots.get(argument.name)) for argument in tool.arguments)
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
        unsaid = slot is not None and slot.value is None and not argument.required
        if new and unsaid and not names_day(argument, sources.request):
            continue  # an item's artist does not go with an album that is not the item's
        about = _about(tool, arguments, sources)
        found = value_of(tool, argument, values, slot, sources, about, when, plain)
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
            instead = value_of(tool, argument, values, before, sources, about, when, plain)
            odds = (1 - slot.probability) / max(slot.probability, SAID)
            others.append((argument.name, instead.value, odds))
    if tool.api == "append_to_note" and (added := added_text(sources.request.text, arguments)):
        arguments["text"] = added
    arguments |= _one_way(arguments, values, read)
    text, contacts = sources.request.text, sources.person.contacts
    whom = addressee(text, contacts)
    titles = [item_text.title(one) for one in sources.ranked]
    arguments |= _as_sent(tool, arguments, text, whom, contacts, titles)
    arguments |= as_searched(tool, arguments, text)
    arguments |= named_whole(tool, arguments, text)
    if tool.api == "create_event" and plain > SAID:
        arguments = invited(arguments, text)
    arguments |= _whole_title(tool, arguments, slots, sources.request.text)
    if not arguments and plain < SAID:
        arguments |= _searched(tool, sources)
    arguments |= _named_instead(tool, arguments, sources, plain)
    plan = Plan(tool.api, arguments)
    said = tuple(slot.value for slot in slots.values() if slot.value is not None)
    named = _named(tool, arguments, text, contacts)
    variants = _variants(tool, arguments, others)
    astray = reaches_others(plan, whom, contacts, sources.ranked, text)
    return Composed(
        plan,
        tuple(beliefs),
        variants,
        said,
        named,
        astray,
        in_vain(plan, sources.owned) or unasked(plan, tool, text, contacts),
    )


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


def _named(
    tool: Tool, arguments: Mapping[str, Value], request: str, contacts: Sequence[Contact]
) -> float:
    """Share of the names of what the person has that the request says in part; 1 without any."""
    said = set(terms(request)) - _KINDS
    owned = [
        bool(said & set(terms(str(arguments[one.name]))))
        for one in tool.arguments
        if one.name in (*OWNED, *OWNED_GROUPS) and one.match == "value" and one.name in arguments
    ]
    if tool.api == "block_caller":
        meant = [one for one in contacts if one.name == arguments.get("contact")]
        owned += [bool(set(words(request)) & mention_words(one)) for one in meant]
    return sum(owned) / len(owned) if owned else 1.0


def _named_instead(
    tool: Tool, arguments: Mapping[str, Value], sources: ValueSources, plain: float
) -> dict[str, Value]:
    """Another title where a plain request has no word of the chosen one and words of one other
    alone: "the note about the lake" is "Packing for the lake", not the "Meeting notes"."""
    names = [one.name for one in tool.arguments if one.name in OWNED and one.match == "value"]
    ends = tool.api.startswith(
        ("cancel_", "delete_", "complete_")
    )  # a question may only hint at its note
    if not ends or plain < SAID or len(names) != 1 or names[0] not in arguments:
        return {}
    said = set(terms(sources.request.text)) - _KINDS - _WHEN
    if said & set(terms(str(arguments[names[0]]))):
        return {}
    titles = {item_text.title(one) for one in sources.owned if one.app == tool.app}
    named = [title for title in titles if said & set(terms(title))]
    return {names[0]: named[0]} if len(named) == 1 else {}


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
    if argument.name == "genre" and plain > SAID:
        return slot  # one that nobody has is played, too: "some drum and bass"
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
        known = known_name(said, values, argument.name) in have
        if argument.name in PLACES:
            kind = "place"
        elif argument.name in OWNED_GROUPS:
            kind = "owned"
    return SaidEvidence(
        plain=plain,
        said=slot.probability,
        ranked=values.beliefs.get(argument.name, 0.0),
        known=known,
        capital=_LEADING.sub("", said)[:1].isupper(),
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


def _is_a_place(found: FoundValue, read: Mapping[str, FilledSlot], request: str) -> bool:
    """Whether those whom nobody named only share a word with a place: "Orchard Lane" invites no
    Ann Lane."""
    names = found.value if isinstance(found.value, list) else [str(found.value or "")]
    there = set(words(request)) & {word for name in names for word in words(name)}
    places = (slot.value or "" for name, slot in read.items() if name in PLACES)
    return bool(there) and there <= {word for place in places for word in words(place)}


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


def _as_sent(
    tool: Tool,
    arguments: Mapping[str, Value],
    request: str,
    whom: str,
    contacts: Sequence[Contact],
    titles: Sequence[str],
) -> dict[str, Value]:
    """Texts that go to others, as they are sent."""
    if tool.effect != "outward":
        return {}
    found: dict[str, Value] = {}
    for name in ("body", "message"):
        text = arguments.get(name)
        if isinstance(text, str):
            read = without_frame(text, request, whom, contacts)
            found[name] = dictated(request, titles) or sent_text(read, request)
    subject = arguments.get("subject")
    if whom and isinstance(subject, str) and (found.get("body") or "") != arguments.get("body"):
        subject = without_frame(subject, request, whom, contacts)
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
    title = as_titled(title)
    if tool.api == "create_reminder":
        title = with_verb(title, request)
    return {"title": with_purpose(title, request, said)}


def _about(tool: Tool, arguments: Mapping[str, Value], sources: ValueSources) -> Item | None:
    """The item that the call is about, by the title that was chosen."""
    titles = [arguments[name] for name in OWNED if name in arguments]
    for item in sources.ranked:
        if item.app == tool.app and item_text.title(item) in titles:
            return item
    return None
