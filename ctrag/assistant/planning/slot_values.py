"""The value of one argument: what was said of it where that holds, else the best ranked one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.candidate_values import PLACES, CandidateValue, ValueSources
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.mentions import grouped, mentioned, shortened, told_apart
from ctrag.assistant.planning.note_edit import edited_note, says_whole, without_rest
from ctrag.assistant.planning.other_times import without_other_times
from ctrag.assistant.planning.plan import Value
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.assistant.planning.slots import OWNED_GROUPS, SAID
from ctrag.text.dates.clock_words import ClockExpression, find_clocks
from ctrag.text.dates.day_words import find_days
from ctrag.text.dates.half_days import nearest_half
from ctrag.text.dates.temporal_expressions import find_expressions
from ctrag.text.dates.usual_times import as_usual
from ctrag.text.words import telling_words, terms, words
from ctrag.toolbox import Argument, Tool
from stores.people.items import Item, Request
from stores.people.local_time import format_local_time

_AND = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", re.IGNORECASE)
_INVITED = 0.6
"""Belief from which somebody whom a plain request does not name takes part."""
_MOSTLY_LOST = 0.3
"""Belief in a text that would replace most of another without being said to be the whole."""
_UNDATED = re.compile(r"\b(?:no|without a|any) (?:due )?(?:date|deadline|time)\b", re.IGNORECASE)
_LATER = re.compile(r"\b(?:push|postpone|delay|defer|put\s+off|snooze|later)\b", re.IGNORECASE)
_HALF_OF_DAY = re.compile(
    r"\b(?:morning|afternoon|evening|night|tonight|noon|midday|midnight|dawn|lunch\w*|breakfast|"
    r"dinner|supper|am|pm|a\.m|p\.m|later|earlier|hours?)\b",
    re.IGNORECASE,
)
_TO_THE_MINUTE = 16
"""Characters of a moment; days have fewer."""
_MOMENT = 0.9
"""Probability at least of a moment that was said."""
_SHORTENED = 0.7
"""How sure it is that "jo" is the one Joanna."""
_UNKNOWN_PERSON = 0.3
"""Belief in a name that fits no contact."""

_TIMED = ("calendar", "reminders")
_ENDS = ("end", "new_end")


@dataclass(frozen=True, slots=True)
class FoundValue:
    """The value of an argument."""

    value: Value | None
    """None leaves it out."""
    sure: float
    others: tuple[tuple[Value | None, float], ...] = ()
    """Other values (None leaves it out), each with how likely it is beside this one."""


def is_new(argument: Argument, values: ToolValues, slot: FilledSlot | None) -> bool:
    """Whether a name was said that nothing of the person's has."""
    if slot is None or slot.value is None:
        return False
    if argument.type != "string" or argument.match != "value":
        return False
    known = {one.value for one in values.candidates.get(argument.name, ()) if one.how != "said"}
    return known_name(slot.value, values, argument.name) not in known


def names_day(argument: Argument, request: Request) -> bool:
    """Whether a request names the day of an optional argument, whatever was read: "weather Bergen
    sat"."""
    if argument.type != "date" or argument.required:
        return False
    asked = request.asked_at
    return bool(find_days(as_usual(request.text, asked), asked.date(), (), False))


def value_of(
    tool: Tool,
    argument: Argument,
    values: ToolValues,
    slot: FilledSlot | None,
    sources: ValueSources,
    about: Item | None,
    when: Sequence[str],
    plain: float,
) -> FoundValue:
    """The value of an argument: what was said, else the best ranked one.

    Args:
        tool: The tool that is called.
        argument: One of its arguments.
        values: The tool's ranked values.
        slot: What the request says of it; None where it cannot say it.
        sources: Where values come from.
        about: The item that the call changes or answers.
        when: Phrases of the request that say when, which no title repeats.
        plain: Probability that the request is plain.
    """
    said = None if slot is None else slot.value
    if slot is not None and said is not None:
        if argument.type in ("contact", "contacts"):
            found = _people(argument, said, values, sources)
        elif argument.type in ("datetime", "date"):
            found = FoundValue(_moment(argument, said, sources, about), 1.0)
            # The whole request was read: where the phrase ends does not matter.
            slot = replace(slot, probability=max(slot.probability, _MOMENT))
        elif argument.match == "value":
            found = FoundValue(known_name(said, values, argument.name), 1.0)
        elif about is not None and _replaces(tool, argument, about):
            found = _edited(about.text(argument.name), said, sources)
        else:
            found = FoundValue(said if argument.name != "title" else _timeless(said, when), 1.0)
        if found.value is not None:
            more = (*found.others, *_instead(argument, values, found.value, slot.probability))
            return replace(found, sure=slot.probability * found.sure, others=more)
    if argument.match == "text":
        return FoundValue(sources.own_words(tool, argument) if argument.required else None, 1.0)
    if argument.name == "since" and (begins := sources.moments(sources.request.text, argument)):
        return FoundValue(begins[0], 1.0 if slot is None else max(slot.probability, SAID))
    if plain > SAID and names_day(argument, sources.request):
        days = sources.moments(sources.request.text, argument)
        return FoundValue(days[0] if days else None, SAID)
    sure = values.beliefs.get(argument.name, 1.0)
    candidates = values.candidates.get(argument.name, ())
    if _is_unsaid(argument, slot, candidates, sure, sources, plain):
        return FoundValue(None, SAID if slot is None else max(slot.probability, SAID))
    others: tuple[tuple[Value | None, float], ...] = ()
    if argument.name in values.others:
        other, share = values.others[argument.name]
        others = ((_typed(argument, other), share / max(sure, share)),)
    if argument.name in values.absent or not candidates:
        return FoundValue(None, sure, others)
    best = candidates[0].value
    if argument.type == "datetime" and argument.required:
        if slot is not None and plain > SAID and (own := _named_moment(argument, sources, about)):
            return FoundValue(own, max(sure, SAID))
        offered = [best, *sources.moments(sources.request.text, argument, about)]
        best = _on_its_half(offered, about, sources.request)
    return FoundValue(_typed(argument, best), sure, others)


def _is_unsaid(
    argument: Argument,
    slot: FilledSlot | None,
    candidates: Sequence[CandidateValue],
    sure: float,
    sources: ValueSources,
    plain: float,
) -> bool:
    """Whether a plain request says nothing of an optional argument: whom it does not name is not
    invited, a list that it does not name is not the one, and without a time nothing is due."""
    if argument.required or plain <= SAID or not candidates:
        return False
    said = set(words(sources.request.text))
    if argument.name in OWNED_GROUPS:
        return not said & set(words(candidates[0].value))
    if slot is None or sure >= _INVITED:
        return argument.name == "due" and _UNDATED.search(sources.request.text) is not None
    if argument.type in ("contact", "contacts"):
        return not said & set(words(candidates[0].value))
    return argument.name == "due" and not sources.moments(sources.request.text, argument)


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


def _replaces(tool: Tool, argument: Argument, item: Item) -> bool:
    """Whether the argument is written in place of a text of the item."""
    return tool.api.startswith("update_") and bool(item.text(argument.name))


def _edited(old: str, said: str, sources: ValueSources) -> FoundValue:
    """A text that is stored in place of another: one that is changed in part keeps the rest."""
    request = sources.request.text
    if made := edited_note(old, request):
        return FoundValue(made, 1.0)
    lost = set(terms(old)) - set(terms(said))
    certain = says_whole(request) or 2 * len(lost) <= len(set(terms(old)))
    return FoundValue(without_rest(said), 1.0 if certain else _MOSTLY_LOST)


def _people(
    argument: Argument, mention: str, values: ToolValues, sources: ValueSources
) -> FoundValue:
    """Full names of those who are mentioned; equal ones are told apart by the ranked values."""
    names: list[str] = []
    sure, other = 1.0, ""
    ranked = [one.value for one in values.candidates.get(argument.name, ())]
    labels = dict(zip(sources.person.contacts, sources.person.labels(), strict=True))
    several = argument.type == "contacts"
    for part in _AND.split(mention) if several else [mention]:
        if several and (group := grouped(part, sources.person.contacts)):
            names += [labels[one] for one in group]
            continue
        meant = mentioned(part, sources.person.contacts)
        fitting = [labels[one] for one in told_apart(meant, sources.request.text)]
        fitting.sort(key=lambda name: _place(name, ranked))
        if fitting:
            sure /= len(fitting)
            other = fitting[1] if len(fitting) > 1 else other
            names.append(fitting[0])
            continue
        if (short := shortened(part, sources.person.contacts)) is not None:
            names.append(labels[short])
            sure *= _SHORTENED
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
        return FoundValue(None, 1.0)
    if argument.type == "contacts":
        return FoundValue(names, sure)
    return FoundValue(names[0], sure, ((other, 1.0),) if other else ())


def _moment(
    argument: Argument, phrase: str, sources: ValueSources, about: Item | None
) -> str | None:
    """The moment that was said.

    The whole request is read: it tells morning from evening, and what was corrected. The phrase is
    read where the request as a whole means nothing. Times of other things are none of it: "push it
    to half nine, nobody is here at nine".
    """
    whole = sources.request.text
    if argument.name not in _ENDS:
        whole = without_other_times(whole, phrase, sources.request.asked_at)
    for text in (whole, phrase):
        found = sources.moments(text, argument, about)
        pushed = about is not None and _LATER.search(sources.request.text) is not None
        if found and about is not None and pushed and not _clocks(sources.request):
            return _after(found, about)
        if found:
            return _on_its_half(found, about, sources.request)
    return None


def _named_moment(argument: Argument, sources: ValueSources, about: Item | None) -> str | None:
    """The moment that a plain request names, where it is not the item's own: "the boiler can
    wait until the 3rd" orders nothing that reads like a phrase for when."""
    request = sources.request
    if about is None or not find_expressions(request.text, request.asked_at):
        return None
    its_own = item_text.time_of(about)
    found = sources.moments(request.text, argument, about)
    if not found or (its_own is not None and datetime.fromisoformat(found[0]) == its_own):
        return None
    return _on_its_half(found, about, request)


def _clocks(request: Request) -> list[ClockExpression]:
    return find_clocks(as_usual(request.text, request.asked_at))


def _on_its_half(found: Sequence[str], about: Item | None, request: Request) -> str:
    """The first moment, on the half of the day that suits an event: "make it six" of a boat at five
    in the morning is no evening, and of a dentist at ten it is."""
    its_own = None if about is None or about.app not in _TIMED else item_text.time_of(about)
    if its_own is None or len(found[0]) < _TO_THE_MINUTE or _HALF_OF_DAY.search(request.text):
        return found[0]
    first = datetime.fromisoformat(found[0])
    if any(one.exact for one in _clocks(request)):
        return found[0]
    halves = [first, *(first + timedelta(hours=one) for one in (-12, 12))]
    offered = [
        one for one in halves if format_local_time(one) in found and one.date() == first.date()
    ]
    return format_local_time(nearest_half(offered, its_own)[0])


def _after(found: Sequence[str], about: Item) -> str:
    """The first moment after the item's own: what is pushed to Wednesday is not due earlier."""
    now = item_text.time_of(about)
    if now is None:
        return found[0]
    moments = [datetime.fromisoformat(one) for one in found]
    later = [text for text, one in zip(found, moments, strict=True) if one > now]
    if later and later[0] == found[0]:
        return found[0]
    if moments[0].date() == now.date():  # the same weekday a week on, at the hour that it had
        return format_local_time(now + timedelta(days=7))
    return later[0] if later else found[0]


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


def known_name(said: str, values: ToolValues, name: str) -> str:
    """The candidate that was said in other words or letters: "the planets" names "Holst: The
    Planets"; otherwise what was said."""
    candidates = [one.value for one in values.candidates.get(name, ()) if one.how != "said"]
    same = next((one for one in candidates if words(one) == words(said)), None)
    wanted = set(telling_words(said)) or set(words(said))
    if same is not None or name in PLACES or not wanted:  # a town is not the street in it
        return said if same is None else same
    return next((one for one in candidates if wanted <= set(words(one))), said)
