"""What plain requests are made with: the words of `phrases.yaml`, and what is said and written."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TypeAlias

from stores.people.dataset import Kind
from stores.people.items import Item
from synth.offline.asking import Asking, Entry, phrases
from synth.offline.moments import Moment
from synth.offline.wording import sentence
from synth.provider import LabelledRequest, Level

Way: TypeAlias = Callable[[Asking], Iterator[LabelledRequest]]
"""One way of asking about, or of ordering something with, an item of the person's."""


def pair(asking: Asking, entry: Entry, text: str) -> tuple[str, str]:
    """What is said and what is to be written, of `said => written`; `=` is the same words."""
    said, _, written = text.partition(" => ")
    taken: list[str] = []
    drawn: dict[str, str] = {}
    said = entry.words.text(said, taken, drawn)
    if written == "=":
        return said, said
    return said, sentence(entry.words.text(written, taken, drawn))


def made(
    asking: Asking,
    name: str,
    entry: Entry | None,
    arguments: dict[str, str],
    relevant: list[Item],
    asked: datetime | None = None,
    text: str | None = None,
    playing: str | None = None,
    gaps: Mapping[str, str | Moment] | None = None,
    **more: str | Moment,
) -> Iterator[LabelledRequest]:
    """One request in the words of `phrases.yaml`."""
    level: Level = "ask" if name.startswith("ask") else "tell"
    kind: Kind = "mismatch" if level == "ask" else "write"
    asked = asked or asking.soon()
    if asked is None:
        return
    words = (entry.words if entry else asking.words).with_values({**(gaps or {}), **more}, asked)
    if text is None:
        text = words.text(asking.draw.choice(phrases("phrases")[name]))
    yield asking.made(
        text, asked, name.split()[1], arguments, relevant, kind=kind, level=level, playing=playing
    )


def is_coming(asking: Asking, entry: Entry) -> bool:
    """Whether what an item is about lies ahead."""
    return entry.moment is not None and entry.moment > asking.now
