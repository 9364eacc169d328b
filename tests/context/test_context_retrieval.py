"""Claims about candidates and about how retrieval joins the rankings."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from ctrag.context import retrieve
from ctrag.context.ranker import Ranker
from ctrag.context.retrieve import PER_STORE, ContextRetriever, candidates
from ctrag.context.scene import Scene, bm25_scores
from ctrag.context.signals import SIGNALS
from ctrag.context.view import PersonView
from ctrag.context.words import terms
from ctrag.encoder import load_encoder
from eval.examples import load_examples
from eval.ranking import recall_at
from stores.items import Item, Person, Profile, Request
from stores.spec import packaged_apps
from synth.reference import split_folder
from tests.context.conftest import ADA, ASKED, NOW, AxisEncoder, made, used, view_of

NAME = Ranker.packaged().card.encoder
ENCODER = AxisEncoder(NAME, 384)
MANY = Request("the dentist thing about jazz at 6 pm", NOW, "home", "music-7")


@pytest.fixture(scope="module")
def retriever() -> ContextRetriever:
    return ContextRetriever(ENCODER, Ranker.packaged())


@pytest.fixture(scope="module")
def ada() -> PersonView:
    return view_of(encoder=ENCODER)


def random_item(app: str, number: int, drawn: np.random.Generator) -> Item:
    word = str(drawn.choice("dentist jazz bus rent tax soup paint lamp".split()))
    # Of the events only a few lie ahead; the music was all played long ago.
    hours = drawn.uniform(-9_000, -5_000 if app == "music" else 10)
    at = (NOW + timedelta(hours=float(hours))).replace(second=0, microsecond=0)
    kinds = {"string": word, "text": f"{word} {number}", "datetime": at, "boolean": False}
    kinds |= {"integer": 1, "strings": ("Mia Quist",)}
    spec = next(one for one in packaged_apps() if one.name == app)
    values = [one.values[0] if one.values else kinds[one.type] for one in spec.fields]
    hour = int(drawn.integers(24))
    usage = used(int(drawn.integers(200)), None, (hour,), None)
    return made(app, f"{app}-{number}", *values, usage=usage)


@pytest.fixture(scope="module")
def large() -> PersonView:
    """3,000 items in seven applications, each with a random direction."""
    drawn = np.random.default_rng(3)
    sizes = {"mail": 1_500, "calendar": 600, "google": 400, "notes": 300, "music": 150}
    sizes |= {"reminders": 40, "phonecall": 10}
    items = [
        random_item(app, number, drawn) for app, size in sizes.items() for number in range(size)
    ]
    vectors = drawn.normal(size=(len(items), 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    person = Person("max", NOW, Profile("Max"))
    return PersonView(person, tuple(items), vectors)


def vector_of(request: Request) -> np.ndarray:
    return AxisEncoder().encode([request.text])[0]


def looks(view: PersonView, request: Request) -> dict[str, list[float | None]]:
    """Each way of looking, item by item; None where it says nothing."""
    vector = vector_of(request)
    gaps = [
        None if np.isnan(start) else float(start) - (request.asked_at - datetime(1970, 1, 1)).total_seconds() / 3600
        for start in view.starts
    ]  # fmt: skip
    return {
        "meaning": [float(one @ vector) for one in view.vectors],
        "words": [float(one) for one in bm25_scores(view, terms(request.text))],
        "habit": [
            np.log1p(item.usage.opens_30d) * (1.2 if request.asked_at.hour in item.usage.usual_hours else 0.2)
            for item in view.items
        ],
        "ahead": [-gap if gap is not None and gap >= 0 else None for gap in gaps],
        "behind": [gap if gap is not None and gap <= 0 else None for gap in gaps],
    }  # fmt: skip


def test_a_small_person_is_looked_at_as_a_whole(ada: PersonView) -> None:
    assert list(candidates(ada, ASKED, vector_of(ASKED))) == list(range(len(ada)))


def test_from_each_store_of_a_large_person_come_the_best_of_each_look(large: PersonView) -> None:
    chosen = set(candidates(large, MANY, vector_of(MANY)))
    for name, scores in looks(large, MANY).items():
        for app in range(len(packaged_apps())):
            rows = [row for row in np.flatnonzero(large.apps == app) if scores[row] is not None]
            best = sorted((float(scores[row] or 0) for row in rows), reverse=True)[:PER_STORE]
            if not best:
                continue
            kept = [
                row for row in rows if row in chosen and float(scores[row] or 0) >= best[-1] - 1e-6
            ]
            above = [row for row in rows if float(scores[row] or 0) > best[-1] + 1e-5]
            assert set(above) <= chosen, (name, app)
            assert len(kept) >= len(best), (name, app)


def test_what_no_look_puts_among_the_best_is_no_candidate(large: PersonView) -> None:
    allowed = {large.row["music-7"]}
    for scores in looks(large, MANY).values():
        for app in range(len(packaged_apps())):
            rows = [row for row in np.flatnonzero(large.apps == app) if scores[row] is not None]
            best = sorted((float(scores[row] or 0) for row in rows), reverse=True)[:PER_STORE]
            allowed |= {row for row in rows if float(scores[row] or 0) >= best[-1] - 1e-5}
    chosen = set(candidates(large, MANY, vector_of(MANY)))
    assert len(chosen) < len(large) / 2
    assert chosen <= allowed


def test_a_look_that_says_nothing_of_a_store_adds_nothing(
    large: PersonView, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No music lies ahead: with one song for each look, four looks find at most four songs.
    monkeypatch.setattr(retrieve, "PER_STORE", 1)
    silent = replace(MANY, playing=None)
    chosen = candidates(large, silent, vector_of(silent))
    assert sum(large.apps[chosen] == large.app_names.index("music")) <= 4


def test_the_song_that_plays_is_always_a_candidate(large: PersonView) -> None:
    song = large.row["music-7"]
    silent = candidates(large, replace(MANY, playing=None), vector_of(MANY))
    plays = candidates(large, MANY, vector_of(MANY))
    assert song in plays
    assert set(silent) <= set(plays) <= set(silent) | {song}


def test_candidates_are_rows_in_order_each_once(large: PersonView) -> None:
    chosen = candidates(large, MANY, vector_of(MANY))
    assert list(chosen) == sorted(set(chosen))


def test_the_order_is_that_of_the_three_rankings_fused_by_hand(
    retriever: ContextRetriever, ada: PersonView
) -> None:
    card = retriever.ranker.card
    scene = Scene(ada, ASKED, ENCODER.encode([ASKED.text])[0], np.arange(len(ada)))
    scores = {
        "lambdamart": retriever.ranker.scores(scene),
        "dense": scene.cosine,
        "bm25": scene.bm25,
    }
    fused = dict.fromkeys(range(len(ada)), 0.0)
    for name, values in scores.items():
        for rank, row in enumerate(sorted(fused, key=lambda row: -values[row]), start=1):
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


def test_a_vector_that_is_known_is_not_made_again(ada: PersonView) -> None:
    encoder = AxisEncoder(NAME, 384)
    retriever = ContextRetriever(encoder, Ranker.packaged())
    made_here = retriever.retrieve(ada, ASKED)
    assert encoder.asked == [ASKED.text]
    given = retriever.retrieve(ada, ASKED, vector=made_here.vector)
    assert encoder.asked == [ASKED.text]
    assert given.items == made_here.items


def test_a_person_without_items_gets_none_and_hears_which_stores_are_silent(
    retriever: ContextRetriever,
) -> None:
    view = PersonView(ADA.person, (), np.empty((0, 384), np.float32), {"mail": "locked"})
    found = retriever.retrieve(view, ASKED)
    assert (found.items, found.candidates, found.unavailable) == ((), 0, {"mail": "locked"})
    assert len(found.vector) == 384


def test_reasons_are_signals_with_the_strongest_first_and_only_when_asked_for(
    retriever: ContextRetriever, ada: PersonView
) -> None:
    plain = retriever.retrieve(ada, ASKED).items
    explained = retriever.retrieve(ada, ASKED, explain=True).items
    assert all(one.reasons == () for one in plain)
    assert [replace(one, reasons=()) for one in explained] == list(plain)
    names = {signal.name for signal in SIGNALS}
    for one in explained:
        assert len(one.reasons) == 4
        assert {name for name, _ in one.reasons} <= names
        added = [value for _, value in one.reasons]
        assert added == sorted(added, reverse=True)
    assert explained[0].reasons[0][1] > 0


def test_a_ranker_of_another_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match=f"trained with {NAME}, not axes"):
        ContextRetriever(AxisEncoder(), Ranker.packaged())


@pytest.fixture(scope="module")
def some_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    people = (split_folder("dev") / "personas.jsonl").read_text(encoding="utf-8").splitlines()[:5]
    known = {json.loads(line)["persona_id"] for line in people}
    asked = (split_folder("dev") / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [line for line in asked if json.loads(line)["persona_id"] in known]
    for name, lines in (("personas", people), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


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
            scene = one.scene
            found = retriever.retrieve(scene.view, scene.request, 10, vector=scene.vector)
            ids = [item.item.id for item in found.items]
            recalls.append(100 * recall_at(ids, one.labels.relevant or (), 10))
            shares.append(100 * found.candidates / len(scene.view))
        return float(np.mean(recalls)), float(np.mean(shares))

    exhaustive, everything = look()
    assert everything == 100
    monkeypatch.setattr(retrieve, "EXHAUSTIVE", 10)
    # Each has about eight items in a store: 8 cut next to nothing, 2 cut a quarter.
    for per_store, most, cost in ((8, 100, 1), (2, 90, 4)):
        monkeypatch.setattr(retrieve, "PER_STORE", per_store)
        recall, share = look()
        assert share < most
        assert recall >= exhaustive - cost
