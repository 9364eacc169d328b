"""A data set with its labels, as the rankers see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import Floats, PersonView, encode_items
from ctrag.assistant.spoken import as_order
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder
from ctrag.models.request_adapter import Adapter, RequestEncoder
from stores.people.app_spec import known_apps
from stores.people.dataset import Dataset, DatasetRequest, load_dataset, load_labels
from stores.people.items import Item, Labels


@dataclass(frozen=True, slots=True)
class RankingExample:
    """One labelled request: its context, and which candidates are relevant."""

    asked: DatasetRequest
    context: FeatureContext
    labels: Labels
    relevance: Floats
    """1 for the items that a careful assistant needs, else 0."""

    @property
    def relevant_items(self) -> list[Item]:
        """The items that a careful assistant needs, in the order of the context."""
        context = self.context
        return [context.view.items[row] for row in context.rows[np.flatnonzero(self.relevance)]]


def load_examples(
    folder: Path, encoder: Encoder, adapter: Adapter | None = None
) -> list[RankingExample]:
    """Every request of a data set that says which items are relevant.

    Args:
        folder: The data set.
        encoder: Makes the vectors of items and requests.
        adapter: Makes the tuned readings of requests; without one contexts have none.

    Raises:
        ValueError: The data set breaks a rule, or has no such label.
    """
    dataset = load_dataset(folder)
    labels = load_labels(folder)
    views = load_views(dataset, encoder)
    request_encoder = RequestEncoder(encoder, adapter)
    orders = [as_order(asked.request) for asked in dataset.requests]
    readings = request_encoder.read([order.text for order in orders])
    examples = []
    for asked, order, (vector, tuned) in zip(dataset.requests, orders, readings, strict=True):
        known = labels[asked.query_id]
        if known.relevant is None:
            continue
        view = views[asked.person_id]
        relevance = np.isin(view.ids, list(known.relevant)).astype(np.float32)
        context = FeatureContext(view, order, vector, np.arange(len(view)), tuned)
        examples.append(RankingExample(asked, context, known, relevance))
    if not examples:
        raise InputError(f"{folder}: no request says which items are relevant")
    return examples


def load_views(dataset: Dataset, encoder: Encoder) -> dict[str, PersonView]:
    """Person id → the person's items, grouped by application as the stores group them."""
    owned = [
        (persona.person, item)
        for persona in dataset.personas
        for item in in_stores_order(persona.items)
    ]
    vectors = encode_items(encoder, owned)
    views = {}
    start = 0
    for persona in dataset.personas:
        stop = start + len(persona.items)
        items = tuple(item for _, item in owned[start:stop])
        views[persona.person.person_id] = PersonView(persona.person, items, vectors[start:stop])
        start = stop
    return views


def in_stores_order(items: Sequence[Item]) -> tuple[Item, ...]:
    """A person's items grouped by application, as the stores group them."""
    order = {app.name: position for position, app in enumerate(known_apps())}
    return tuple(sorted(items, key=lambda item: order[item.app]))
