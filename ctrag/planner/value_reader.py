"""The reader of values: which of the values on offer a request means, read from their words.

An encoder tuned to read a request, the argument that is to be filled and the values on offer with
what they stand in, all in one text, so that each is read beside its rivals. What it believes is
weighed with what the ranker of values does (`ctrag.planner.arguments`).
"""

from collections.abc import Sequence
from datetime import date, datetime
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from ctrag.apps.toolbox import Argument, Tool
from ctrag.array_artefact import ArrayArtefact
from ctrag.arrays import arrays_digest, low_rank_changes
from ctrag.cards import Card
from ctrag.context.item_line import item_words, one_line, said_day, said_time
from ctrag.context.view import Floats
from ctrag.encoder import Matrix, open_session
from ctrag.planner.values import Grounds, Offer
from ctrag.tools.reader import gelu, log_softmax, tokens_of

WEIGHTS, CARD = "values.npz", "values-card.json"
MOST_READ = 12
"""Offers that are read; the right one is among them in 99 of 100."""
REQUEST, LINE, LONGEST = 64, 24, 288
"""Tokens of the request, of an offer's line and of a whole text at most."""
_LINE_SIGNS = 120
_APART = ("date", "datetime", "enum", "contact", "contacts")
"""Types of arguments whose lines do not say which item they are about."""


class ValueReaderCard(Card):
    """Where a reader of values comes from."""

    tower: str
    """The encoder."""
    layers: int
    """Layers, counted from the last, that are tuned."""
    scale: float
    """Factor of the low-rank products."""


class ValueReader(ArrayArtefact[ValueReaderCard]):
    """Log shares of the values on offer.

    Arrays: `tower/layer.map.A` and `.B`, and the head's weights as `tower/head.part`.
    """

    weights_file, card_file, card_class = WEIGHTS, CARD, ValueReaderCard

    def log_shares(
        self, grounds: Grounds, tool: Tool, argument: Argument, offers: Sequence[Offer]
    ) -> Floats:
        """(offers,): logarithms of shares that sum to 1 over the offers that are read; NaN for the
        others. At least one offer."""
        return self.log_shares_of(value_text(grounds, tool, argument, offers), len(offers))

    def log_shares_of(self, text: str, count: int) -> Floats:
        """What `log_shares` gives for a `value_text` of so many offers."""
        found = np.full(count, np.nan, dtype=np.float32)
        whole, lines = self._read(text)
        found[: len(lines)] = log_softmax(self._scores(whole, lines))
        return found

    def prepare(self) -> None:
        """Make what the first request would otherwise wait for: graph and open session."""
        self._read("ready\na\nb")

    @cached_property
    def digest(self) -> str:
        """Tells readers apart."""
        return arrays_digest(f"{self.card.scale}|{self.card.tower}", self.arrays)

    def _scores(self, whole: Matrix, lines: Matrix) -> Matrix:
        """Scores of the lines: the twin of the head in `training.value_reader`."""

        def part(name: str) -> Matrix:
            return self.arrays[f"{self.card.tower}/head.{name}"]

        inner = lines @ part("line.weight").T + part("line.bias") + part("request.weight") @ whole
        found: Matrix = gelu(inner) @ part("out.weight")[0]
        return found

    @cached_property
    def _read(self) -> Any:
        from ctrag.graphs import whole_graph

        card = self.card
        deltas = partial(low_rank_changes, self.arrays, card.tower, card.scale)
        session = open_session(whole_graph(card.tower, card.layers, deltas, self.digest))
        encode = tokens_of(card.tower, REQUEST, LINE, LONGEST)

        @lru_cache(maxsize=512)
        def read(text: str) -> tuple[Matrix, Matrix]:
            tokens = encode(text)
            vector, states = session.run(None, {"input": np.array([tokens.ids], dtype=np.int64)})
            means = np.stack([states[begin:end].mean(axis=0) for begin, end in tokens.lines])
            size = np.sqrt(len(vector))
            lines = means / np.linalg.norm(means, axis=1, keepdims=True) * size
            return np.asarray(vector * size, np.float32), np.asarray(lines, np.float32)

        return read


def value_text(grounds: Grounds, tool: Tool, argument: Argument, offers: Sequence[Offer]) -> str:
    """What the encoder reads: the argument, the moment and the request; a line for each offer."""
    request = grounds.request
    name = f"{tool.api} {argument.name}".replace("_", " ")
    asked = f"{request.asked_at:%a %H:%M}".lower()
    first = f"{name}; {asked}; {' '.join(request.text.split())}"
    if argument.type in _APART and grounds.ranked:
        first += f"; about: {item_words(grounds.ranked[0], grounds.person, request.asked_at, 80)}"
    return "\n".join([first, *(_line(grounds, argument, one) for one in offers[:MOST_READ])])


def _line(grounds: Grounds, argument: Argument, offer: Offer) -> str:
    asked_at = grounds.request.asked_at
    if offer.how == "absent":
        return "nothing"
    if argument.type == "datetime":
        return said_time(datetime.fromisoformat(offer.value), asked_at)
    if argument.type == "date":
        return said_day(date.fromisoformat(offer.value), asked_at)
    parts = [offer.value]
    contact = grounds.person.contact(offer.value)
    if contact is not None and contact.relation:
        parts.append(f"({contact.relation})")
    if 0 <= offer.rank < len(grounds.ranked):
        item = grounds.ranked[offer.rank]
        said = item_words(item, grounds.person, asked_at, _LINE_SIGNS)
        parts = [said] if said.startswith(offer.value) else [*parts, f"in {item.app}:", said]
    return one_line(" ".join(parts), _LINE_SIGNS)
