"""What the slot filler learns from: a request, a tool and what the request says of its slots."""

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.context.retrieve import ContextRetriever
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
from ctrag.text.words import fold
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.items import Item, LabelledPlan, Labels, Request
from training.core.datasets import load_with_memory

_PARTS = re.compile(
    r"\n|[,.;:!?](?=[\s,.;:!?]|$)|'s(?=\W|$)|(?:(?![,.;:!?]+(?:\s|$)|'s(?:\W|$))\S)+"
)
_MARKS = frozenset(",.;:!?")
_SHORT_OF = 0.75
"""Share of a text's words that must be allowed; the others are left out of the answer."""
_ENTITIES: dict[str, tuple[tuple[str, str, dict[str, str]], ...]] = {
    # intent: (API, entity that must be there, entity → slot), the first that fits
    "play_music": (
        ("play_song", "song_name", {"song_name": "song_name", "artist_name": "artist"}),
        ("play_artist", "artist_name", {"artist_name": "artist"}),
        ("play_playlist", "playlist_name", {"playlist_name": "playlist_name"}),
        ("play_genre", "music_genre", {"music_genre": "genre"}),
    ),
    "weather_query": (
        ("google_weather", "place_name", {"place_name": "location"}),
        ("google_weather", "", {}),
    ),
    "news_query": (("google_news", "news_topic", {"news_topic": "topic"}),),
    "recommendation_locations": (
        ("google_nearby", "business_type", {"business_type": "category", "place_name": "near"}),
    ),
    "transport_traffic": (("google_directions", "place_name", {"place_name": "destination"}),),
    "calendar_set": (
        ("create_event", "event_name", {"event_name": "title", "place_name": "location"}),
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
    request: Request, labels: Labels, items: Sequence[Item], toolbox: Toolbox
) -> list[SlotExample]:
    """The labelled call as an example, and one more for a call of another API that is as right.

    Args:
        request: What was said, and when.
        labels: Its labels.
        items: Retrieved items, best first.
        toolbox: The APIs.
    """
    found: list[SlotExample] = []
    apis: set[str] = set()
    for plan in (labels.plan, *labels.also):
        tool = None if plan is None else toolbox.get(plan.api)
        if plan is None or tool is None or tool.api in apis or len(found) == 2:
            continue
        if apis and tool.effect == "read":
            continue  # another search for the same thing teaches nothing new
        apis.add(tool.api)
        shown = tuple(shown_items(tool, items))
        answer = _answer(request, tool, shown, plan)
        if answer:
            found.append(SlotExample(request, tool, shown, answer))
    return found


def learned_examples(
    folders: Sequence[Path],
    held_out: Container[str],
    progress: Callable[[str], None] = lambda _: None,
) -> list[SlotExample]:
    """The requests of data sets with the items that the packaged retrieval finds.

    The ranker may have learned from these people; the slot filler only sees which two items came
    first, not their scores.

    Args:
        folders: Data sets.
        held_out: Ids of people who are left out.
        progress: Called with a message per data set.
    """
    options = settings()
    encoder = load_encoder(options.encoder)
    artefacts = load_artefacts(options.artefacts)
    retriever = ContextRetriever(encoder, artefacts.ranker, artefacts.adapter)
    toolbox = Toolbox.packaged()
    found: list[SlotExample] = []
    for folder in folders:
        for one in load_with_memory(folder, encoder):
            if one.asked.person_id in held_out or one.labels.plan is None:
                continue
            context = one.context
            items = retriever.retrieve(context.view, context.request).items
            found += slot_examples(
                context.request, one.labels, [ranked.item for ranked in items], toolbox
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
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        marked: dict[str, list[str]] = {}
        for one in row["entities"]:
            marked.setdefault(one["type"], []).append(one["text"])
        for api, needed, slots in _ENTITIES.get(row["intent"], ()):
            tool = toolbox.get(api)
            if tool is None or (needed and needed not in marked):
                continue
            if any(len(marked.get(entity, ())) > 1 for entity in slots):
                break
            values = {slot: marked[entity][0] for entity, slot in slots.items() if entity in marked}
            request = Request(row["text"], at)
            answer = _answer(request, tool, (), LabelledPlan(api, dict(values)))
            if answer:
                found.append(SlotExample(request, tool, (), answer))
            break
    return found


def _answer(request: Request, tool: Tool, items: Sequence[Item], plan: LabelledPlan) -> str:
    """What the model should write; empty where there is nothing to fill or it cannot be said."""
    lines = ""
    for slot in slots_of(tool):
        value = plan.arguments.get(slot.name)
        said = None if not isinstance(value, str) else _said(request, items, slot, value)
        if said is None and isinstance(value, str) and slot.match == "text":
            return ""
        lines += slot_line(slot.name, said)
    return lines


def _said(request: Request, items: Sequence[Item], slot: Argument, value: str) -> str | None:
    if is_text(slot):
        return written(value, allowed_words(request, items))
    return run_of(request.text, value)


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
    """The text in the words that the model may write; None where too many are missing."""
    known: Mapping[str, str] = {word: word for word in allowed}
    folded = {fold(word): word for word in reversed(allowed)}
    text, missing, words = "", 0, 0
    for part in _PARTS.findall(value.replace("’", "'")):
        if part == "\n" or part in _MARKS or part == "'s":
            text = text.rstrip(" ") + part if text and text[-1] not in "\n" else text
            continue
        bare = said_words(part)
        if not bare:
            continue
        words += 1
        word = known.get(bare[0]) or folded.get(fold(bare[0]))
        if word is None:
            missing += 1
            continue
        text += word if not text or text.endswith("\n") else f" {word}"
    if not words or missing > (1 - _SHORT_OF) * words:
        return None
    # No mark follows another, and none stands first.
    return re.sub(r"([,.;:!?])[,.;:!?]+", r"\1", text).strip()
