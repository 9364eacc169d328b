"""What the slot filler learns from: a request, a tool and what the request says of its slots."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.mentions import mention_words
from ctrag.assistant.planning.slot_filler import (
    allowed_words,
    is_text,
    said_words,
    shown_items,
    slot_line,
    slot_prompt,
)
from ctrag.assistant.planning.slots import slots_of
from ctrag.models.encoder import load_encoder
from ctrag.settings import settings
from ctrag.text.words import fold, telling_words, words
from ctrag.toolbox import Argument, Tool, Toolbox
from eval.spoken.scores import spoken_rows
from stores.people.dataset import fingerprints
from stores.people.items import Item, LabelledPlan, Labels, Person, Request
from training.core.datasets import load_with_memory

_PARTS = re.compile(
    r"\n|[,.;:!?](?=[\s,.;:!?]|$)|'s(?=\W|$)|(?:(?![,.;:!?]+(?:\s|$)|'s(?:\W|$))\S)+"
)
_MARKS = frozenset(",.;:!?")
_LONGEST_PHRASE = 9
"""Words of a phrase for a moment at most."""
_TIME_WORDS = frozenset(
    "am pm a.m p.m m o'clock oclock sharp morning afternoon evening night tonight today tomorrow "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_TIMES = re.compile(r"\d|\w{2}")
_WHEN = ("date", "timeofday", "time")
_ENTITIES: dict[str, tuple[tuple[str, str, dict[str, tuple[str, ...]]], ...]] = {
    # intent: (API, entity that must be there, slot → entities that say it), the first that fits
    "play_music": (
        ("play_song", "song_name", {"song_name": ("song_name",), "artist": ("artist_name",)}),
        ("play_artist", "artist_name", {"artist": ("artist_name",)}),
        ("play_playlist", "playlist_name", {"playlist_name": ("playlist_name",)}),
        ("play_genre", "music_genre", {"genre": ("music_genre",)}),
    ),
    "weather_query": (
        ("google_weather", "place_name", {"location": ("place_name",), "date": ("date",)}),
        ("google_weather", "", {"date": ("date",)}),
    ),
    "news_query": (("google_news", "news_topic", {"topic": ("news_topic",)}),),
    "recommendation_locations": (
        (
            "google_nearby",
            "business_type",
            {"category": ("business_type",), "near": ("place_name",)},
        ),
    ),
    "transport_traffic": (("google_directions", "place_name", {"destination": ("place_name",)}),),
    "calendar_set": (
        (
            "create_event",
            "event_name",
            {
                "title": ("event_name",),
                "start": _WHEN,
                "location": ("place_name",),
                "attendees": ("person", "relation"),
            },
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class SlotExample:
    """One request, the tool that is called, and what the request says."""

    request: Request
    tool: Tool
    items: tuple[Item, ...]
    """As `shown_items` returns them."""
    answer: str
    """As the model should write it."""

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return slot_prompt(self.request, self.tool, self.items)


def slot_examples(
    request: Request,
    labels: Labels,
    items: Sequence[Item],
    person: Person,
    toolbox: Toolbox,
    oblique: bool = False,
) -> list[SlotExample]:
    """The labelled call as an example, and one more for a call of another API that is as right.

    Args:
        request: What was said, and when.
        labels: Its labels.
        items: Retrieved items, best first.
        person: Whose request it is.
        toolbox: The APIs.
        oblique: Whether the request only hints; see `learned_examples`.
    """
    found: list[SlotExample] = []
    sources = ValueSources(request, person, items)
    apis: set[str] = set()
    for plan in (labels.plan, *labels.also):
        tool = None if plan is None else toolbox.get(plan.api)
        if plan is None or tool is None or tool.api in apis or len(found) == 2:
            continue
        if apis and tool.effect == "read":
            continue  # another search for the same thing teaches nothing new
        apis.add(tool.api)
        shown = tuple(shown_items(tool, items))
        answer = _answer(sources, tool, shown, plan, oblique)
        if answer:
            found.append(SlotExample(request, tool, shown, answer))
    return found


def learned_examples(
    folders: Sequence[Path],
    held_out: Container[str],
    progress: Callable[[str], None] = lambda _: None,
    oblique: bool = False,
    most: int | None = None,
    seed: int = 1,
) -> list[SlotExample]:
    """The requests of data sets with the items that the packaged retrieval finds.

    The ranker may have learned from these people; the slot filler only sees which two items came
    first, not their scores.

    Args:
        folders: Data sets.
        held_out: Fingerprints of people who are left out.
        progress: Called with a message per data set.
        oblique: Whether the requests only hint. They teach which values are not said; their texts
            are learned only where the request itself has the words, because they tell what items
            say, and a text should tell what was said.
        most: Requests of each data set at most, drawn by the seed; all when None.
        seed: See `most`.
    """
    options = settings()
    encoder = load_encoder(options.encoder)
    artefacts = load_artefacts(options.artefacts)
    retriever = ContextRetriever(encoder, artefacts.ranker, artefacts.adapter)
    toolbox = Toolbox.packaged()
    found: list[SlotExample] = []
    for folder in folders:
        known = fingerprints(folder)
        asked = [
            one
            for one in load_with_memory(folder, encoder)
            if known[one.asked.person_id] not in held_out and one.labels.plan is not None
        ]
        if most is not None and most < len(asked):
            draw = np.random.default_rng(seed)
            asked = [asked[at] for at in sorted(draw.choice(len(asked), most, replace=False))]
        for one in asked:
            context = one.context
            items = retriever.retrieve(context.view, context.request).items
            found += slot_examples(
                context.request,
                one.labels,
                [ranked.item for ranked in items],
                context.view.person,
                toolbox,
                oblique,
            )
        progress(f"{folder}: {len(found)} examples")
    return found


def strangers_examples(file: Path) -> list[SlotExample]:
    """Requests with marked entities (`SOURCE.md` beside the file) whose intent is one API here.

    Args:
        file: JSON lines with `text`, `intent` and `entities`.
    """
    toolbox, at = Toolbox.packaged(), datetime(2024, 5, 14, 10, 0)
    found = []
    for row in spoken_rows(file):
        marked: dict[str, list[str]] = {}
        for one in row.entities:
            marked.setdefault(one.type, []).append(one.text)
        for api, needed, slots in _ENTITIES.get(row.intent, ()):
            tool = toolbox.get(api)
            if tool is None or (needed and needed not in marked):
                continue
            known = {entity for entities in slots.values() for entity in entities}
            if all(len(marked.get(entity, ())) < 2 for entity in known):
                lines = [
                    slot_line(slot.name, _covering(row.text, marked, slots.get(slot.name, ())))
                    for slot in slots_of(tool)
                ]
                found.append(SlotExample(Request(row.text, at), tool, (), "".join(lines)))
            break
    return found


def _covering(
    text: str, marked: Mapping[str, Sequence[str]], entities: Sequence[str]
) -> str | None:
    """The run of the text from the first of these entities to the last, or None."""
    said = said_words(text)
    runs = [run_of(text, marked[one][0]) for one in entities if one in marked]
    places = [place for run in runs if run for place in _places(said, run.split())]
    if not places or max(places) - min(places) >= _LONGEST_PHRASE:
        return None
    return " ".join(said[min(places) : max(places) + 1])


def _places(said: Sequence[str], run: Sequence[str]) -> Sequence[int]:
    starts = (at for at in range(len(said)) if list(said[at : at + len(run)]) == list(run))
    begin = next(starts)
    return range(begin, begin + len(run))


def _answer(
    sources: ValueSources,
    tool: Tool,
    items: Sequence[Item],
    plan: LabelledPlan,
    oblique: bool,
) -> str:
    """What the model should write; empty where there is nothing to fill or it cannot be said."""
    request = sources.request
    allowed = allowed_words(request, () if oblique else items)
    lines = ""
    for slot in slots_of(tool):
        value = plan.arguments.get(slot.name)
        said: str | None = None
        if slot.type in ("contact", "contacts", "datetime", "date"):
            if slot.type in ("contact", "contacts") and value is not None:
                said = mention_of(value if isinstance(value, list) else [str(value)], sources)
            elif value is not None:
                said = phrase_of(str(value), slot, sources)
        elif isinstance(value, str) and is_text(slot):
            said = written(value, allowed)
            if said is None and slot.match == "text":
                return ""
        elif isinstance(value, str):
            said = run_of(request.text, value)
            if said is None and set(telling_words(value)) <= set(words(request.text)):
                return ""  # it is said, and not in one piece
        lines += slot_line(slot.name, said)
    return lines


def mention_of(names: Sequence[str], sources: ValueSources) -> str | None:
    """The run of the request that mentions these contacts, or None."""
    known: set[str] = set()
    for name in names:
        contact = sources.person.contact(name)
        known |= set(words(name)) if contact is None else mention_words(contact)
    said = said_words(sources.request.text)
    fits = [bool(set(words(word.removesuffix("'s"))) & known) for word in said]
    if len(names) > 1:
        places = [place for place, fit in enumerate(fits) if fit]
        return " ".join(said[places[0] : places[-1] + 1]) if places else None
    best: tuple[int, int] = (0, 0)
    begin = 0
    for place in range(len(fits) + 1):
        if place == len(fits) or not fits[place]:
            best = max(best, (place - begin, -begin))
            begin = place + 1
    size, start = best[0], -best[1]
    return " ".join(said[start : start + size]).removesuffix("'s") if size else None


def phrase_of(value: str, slot: Argument, sources: ValueSources) -> str | None:
    """The shortest run of the request that means this moment, or None.

    One that means it first is better than one that may mean it.
    """
    said = said_words(sources.request.text)
    may: str | None = None
    for size in range(1, min(len(said), _LONGEST_PHRASE) + 1):
        for at in range(len(said) - size + 1):
            run = " ".join(said[at : at + size])
            read = sources.moments(run, slot) if _TIMES.search(run) else []
            if read[:1] == [value]:
                return _whole(said, at, at + size, value, slot, sources)
            if may is None and value in read:
                may = run
    return may


def _whole(
    said: Sequence[str], begin: int, end: int, value: str, slot: Argument, sources: ValueSources
) -> str:
    """The run with neighbouring words for time that leave its meaning: "pm", "in the evening"."""
    for more in (3, 2, 1):
        longer = said[begin : end + more]
        of_time = len(longer) == end - begin + more and longer[-1].casefold() in _TIME_WORDS
        if of_time and sources.moments(" ".join(longer), slot)[:1] == [value]:
            return " ".join(longer)
    return " ".join(said[begin:end])


def run_of(text: str, value: str) -> str | None:
    """The value as the text says it, or None when it does not."""
    said = said_words(text)
    keys = [fold(word) for word in said]
    wanted = [fold(word) for word in said_words(value)]
    for at in range(len(keys) - len(wanted) + 1) if wanted else ():
        if keys[at : at + len(wanted)] == wanted:
            return " ".join(said[at : at + len(wanted)])
    return None


def written(value: str, allowed: Sequence[str]) -> str | None:
    """The text in the words that the model may write; None where one of them is missing."""
    known: Mapping[str, str] = {word: word for word in allowed}
    folded = {fold(word): word for word in reversed(allowed)}
    text = ""
    for part in _PARTS.findall(value.replace("’", "'")):
        if part == "\n" or part in _MARKS or part == "'s":
            text = text.rstrip(" ") + part if text and text[-1] not in "\n" else text
            continue
        bare = said_words(part)
        if not bare:
            continue
        word = known.get(bare[0]) or folded.get(fold(bare[0]))
        if word is None:
            return None
        text += word if not text or text.endswith("\n") else f" {word}"
    # No mark follows another, and none stands first.
    return re.sub(r"([,.;:!?])[,.;:!?]+", r"\1", text).strip() or None
