"""Claims about how retrieval joins the rankings."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.context import candidates
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.context.retrieve import FURTHER, ContextRetriever
from ctrag.models.encoder import load_encoder
from eval.core.examples import load_examples
from eval.core.ranking import recall_at
from stores.compressed import read_kept
from synth.reference import split_folder
from tests.assistant.context.conftest import ADA, ASKED, AxisEncoder, view_of

NAME = Ranker.packaged().card.encoder
ENCODER = AxisEncoder(NAME, 1152)


@pytest.fixture(scope="module")
def retriever() -> ContextRetriever:
    return ContextRetriever(ENCODER, Ranker.packaged())


@pytest.fixture(scope="module")
def ada() -> PersonView:
    return view_of(encoder=ENCODER)


def test_the_order_is_that_of_the_three_rankings_fused_by_hand(
    retriever: ContextRetriever, ada: PersonView
) -> None:
    card = retriever.ranker.card
    context = FeatureContext(ada, ASKED, ENCODER.encode([ASKED.text])[0], np.arange(len(ada)))
    scores = {
        "lambdamart": retriever.ranker.scores(context),
        "dense": context.cosine,
        "bm25": context.bm25,
    }
    silent = {row for row in range(len(ada)) if not context.bm25[row]}  # no word is shared
    fused = dict.fromkeys(range(len(ada)), 0.0)
    for name, values in scores.items():
        for rank, row in enumerate(sorted(fused, key=lambda row: -values[row]), start=1):
            if name != "bm25" or row not in silent:
                fused[row] += card.fusion_weights[name] / (card.fusion_k + rank)
    order = sorted(fused, key=lambda row: -fused[row])
    found = retriever.retrieve(ada, ASKED, limit=50)
    assert [one.item.id for one in found.items] == [ada.ids[row] for row in order]
    assert [one.score for one in found.items] == pytest.approx([fused[row] for row in order])
    assert found.candidates == len(ada)


def test_parts_are_weight_over_k_plus_rank_and_sum_to_the_score(
    retriever: ContextRetriever, ada: PersonView
) -> None:
    card = retriever.ranker.card
    for one in retriever.retrieve(ada, ASKED).items:
        parts = {
            name: card.fusion_weights[name] / (card.fusion_k + rank)
            for name, rank in one.ranks.items()
            if card.fusion_weights[name]  # what weighs nothing is no part
        }
        assert one.parts == pytest.approx(parts)
        assert one.score == pytest.approx(sum(one.parts.values()))


@pytest.mark.parametrize("limit", [1, 3, 20, 100])
def test_the_limit_cuts_the_same_order(
    retriever: ContextRetriever, ada: PersonView, limit: int
) -> None:
    every = retriever.retrieve(ada, ASKED, limit=1_000).items
    assert retriever.retrieve(ada, ASKED, limit=limit).items == every[:limit]
    assert len(every) == len(ada)


def test_what_follows_the_limit_goes_along_for_values(
    retriever: ContextRetriever, ada: PersonView
) -> None:
    every = [one.item for one in retriever.retrieve(ada, ASKED, limit=1_000).items]
    found = retriever.retrieve(ada, ASKED, limit=2)
    assert list(found.further) == every[2 : 2 + FURTHER]
    assert len(found.relevance) == 2 + len(found.further)


def test_a_vector_that_is_known_is_not_made_again(ada: PersonView) -> None:
    encoder = AxisEncoder(NAME, 1152)
    retriever = ContextRetriever(encoder, Ranker.packaged())
    made_here = retriever.retrieve(ada, ASKED)
    assert encoder.asked == [ASKED.text]
    given = retriever.retrieve(ada, ASKED, encoded=(made_here.vector, None))
    assert encoder.asked == [ASKED.text]
    assert given.items == made_here.items


def test_a_person_without_items_gets_none_and_hears_which_stores_are_silent(
    retriever: ContextRetriever,
) -> None:
    view = PersonView(ADA.person, (), np.empty((0, 1152), np.float32), {"mail": "locked"})
    found = retriever.retrieve(view, ASKED)
    assert (found.items, found.candidates, found.unavailable) == ((), 0, {"mail": "locked"})
    assert len(found.vector) == 1152


def test_reasons_are_signals_with_the_strongest_first_and_only_when_asked_for(
    retriever: ContextRetriever, ada: PersonView
) -> None:
    plain = retriever.retrieve(ada, ASKED).items
    explained = retriever.retrieve(ada, ASKED, explain=True).items
    assert all(one.reasons == () for one in plain)
    assert [replace(one, reasons=(), because=()) for one in explained] == list(plain)
    names = {feature.name for feature in FEATURES}
    for one in explained:
        assert len(one.reasons) == 4
        assert {name for name, _ in one.reasons} <= names
        added = [value for _, value in one.reasons]
        assert added == sorted(added, reverse=True)
    assert explained[0].reasons[0][1] > 0


def test_a_ranker_of_another_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape(f"trained with {NAME}, not axes")):
        ContextRetriever(AxisEncoder(), Ranker.packaged())


@pytest.fixture(scope="module")
def some_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    people = read_kept(split_folder("dev") / "personas.jsonl").decode().splitlines()[:5]
    known = {json.loads(line)["persona_id"] for line in people}
    asked = read_kept(split_folder("dev") / "queries.jsonl").decode().splitlines()
    asked = [line for line in asked if json.loads(line)["persona_id"] in known]
    for name, lines in (("personas", people), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_cutting_the_candidates_hardly_costs_recall(
    some_people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_encoder()
    retriever = ContextRetriever(encoder, Ranker.packaged())
    examples = [one for one in load_examples(some_people, encoder) if one.labels.relevant]

    def look() -> tuple[float, float]:
        """Recall@10 and the mean share of a person's items that are candidates, in percent."""
        recalls, shares = [], []
        for one in examples:
            context = one.context
            found = retriever.retrieve(
                context.view, context.request, 10, encoded=(context.vector, context.tuned)
            )
            ids = [item.item.id for item in found.items]
            recalls.append(100 * recall_at(ids, one.labels.relevant or (), 10))
            shares.append(100 * found.candidates / len(context.view))
        return float(np.mean(recalls)), float(np.mean(shares))

    exhaustive, everything = look()
    assert everything == 100
    monkeypatch.setattr(candidates, "EXHAUSTIVE", 10)
    # Each has about eight items in a store: 8 cut next to nothing, 2 cut a quarter.
    for per_store, most, cost in ((8, 100, 1), (2, 90, 4)):
        for depth in ("PER_STORE", "HABITS", "RECENT"):
            monkeypatch.setattr(candidates, depth, per_store)
        recall, share = look()
        assert share < most
        assert recall >= exhaustive - cost
