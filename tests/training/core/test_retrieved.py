"""Claims about retrieving for training requests, and caching the result."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from ctrag.assistant.artefacts import load_context_artefacts
from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.encoder import EncoderEnsemble, load_encoder
from ctrag.models.request_adapter import Adapter, RequestEncoder, TunedRequest
from eval.core.examples import RankingExample, load_examples
from stores.people.dataset import load_dataset
from synth.reference import scenes_folder
from tests.training.conftest import copy_people, halves
from training.core.folds import folds_by_person
from training.core.origin import people_of
from training.core.retrieved import Retrieval
from training.core.retrieved_examples import RetrievedExamples
from training.encoder.network import EncoderSettings
from training.encoder.train import train_encoder
from training.ranker.learned_features import fit_learned_features
from training.ranker.settings import FIRST, SECOND, RankerSettings
from training.ranker.tuned_encoder import TunedEncoder

pytestmark = pytest.mark.training


class _Named:
    """Stands in for an adapter; only the digest is used."""

    digest = "one"


class _Tuned:
    adapter = _Named()
    readings: ClassVar = {"q": "read out of fold"}


@pytest.fixture
def ask(
    examples: list[RankingExample], dozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Asks for what retrieval brings; `ask.times` counts how often it really was retrieved."""

    learned = fit_learned_features(examples)

    def retrieve(*_: Any) -> RetrievedExamples:
        asked.times += 1
        some = examples[:6]
        for one in some:  # intermediate results are not kept
            compute(one.context, learned)
        scores = [one.relevance for one in some]
        return RetrievedExamples(
            some, scores, np.array([True, *[False] * 5]), "bins", [dozen.name] * 6
        )

    def asked(settings: RankerSettings | None = None) -> RetrievedExamples:
        tuned = cast(TunedEncoder, _Tuned())
        options = settings or RankerSettings()
        return Retrieval(dozen, [], tuned, Ranker.packaged(), options).once(tmp_path)

    monkeypatch.setattr(Retrieval, "run", retrieve)
    asked.times = 0  # type: ignore[attr-defined]
    return asked


def test_retrieval_for_the_same_requests_runs_once(ask: Any) -> None:
    first, again = ask(), ask()
    assert ask.times == 1
    assert [one.asked for one in first.examples] == [one.asked for one in again.examples]
    for one, other in zip(first.examples, again.examples, strict=True):
        assert np.array_equal(one.relevance, other.relevance)
        assert one.context.request == other.context.request
        assert np.array_equal(one.context.vector, other.context.vector)
        assert one.context.view.items == other.context.view.items
        assert np.array_equal(one.context.view.vectors, other.context.view.vectors)
    for one_score, other_score in zip(first.scores, again.scores, strict=True):
        assert np.array_equal(one_score, other_score)
    assert len(again.kept_back()[0]) == 1


def test_another_seed_retrieves_again(ask: Any) -> None:
    ask(), ask(RankerSettings(seed=2))
    assert ask.times == 2


def test_a_cache_file_with_other_content_is_refused(ask: Any, tmp_path: Path) -> None:
    ask()
    [path] = tmp_path.glob("*.npz")
    whole = path.read_bytes()
    pickled = BytesIO()
    np.savez(pickled, queries=np.array([{"an": "object"}], dtype=object))
    for content in (b"nothing", whole[:-99], pickled.getvalue()):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="holds no retrieved requests of these data sets"):
            ask()


def test_a_share_draws_requests_and_repeats_them(ask: Any, dozen: Path) -> None:
    found, name = ask(), dozen.name
    asked = [one.asked.query_id for one in found.examples[1:]]
    assert [one.asked.query_id for one in found.learned()[0]] == asked
    twice = [one.asked.query_id for one in found.learned({name: 2})[0]]
    assert twice == [query for query in asked for _ in range(2)]
    assert found.learned({"another": 0.1})[0] == found.learned()[0]
    assert [len(part) for part in found.learned({name: 1e-9})] == [0, 0]


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four people whom the ranker in use learned from."""
    return copy_people("dev", 4, tmp_path_factory.mktemp("known") / "others")


@pytest.fixture(scope="module")
def unused(others: Path) -> Ranker:
    """A ranker that learned from `others` and raises when it is asked."""
    ranker = Ranker.packaged()
    card = ranker.card.model_copy(update={"people": sorted(people_of([others]))})
    return replace(ranker, model="no trees: it raises when it is asked", card=card)


@pytest.fixture(scope="module")
def cross_fitted(
    dozen: Path, others: Path, unused: Ranker, tmp_path_factory: pytest.TempPathFactory
) -> RetrievedExamples:
    """Twelve people, further requests of theirs, and other people whom the ranker learned from."""
    folder = tmp_path_factory.mktemp("cross-fitted")
    own, further = halves(dozen, folder)
    quick = EncoderSettings(folds=2, epochs=1, rank=2, threads=1, half=False)
    tuned = train_encoder(
        own, EncoderEnsemble(packages.ENCODER), quick, folder / "encoder", more=[further, others]
    )
    settings = RankerSettings(
        folds=3, first=replace(FIRST, rounds=10), second=replace(SECOND, rounds=5), threads=1
    )
    return Retrieval(own, [further, others], tuned, unused, settings).run()


def test_further_requests_of_held_out_people_are_held_out_too(
    cross_fitted: RetrievedExamples,
) -> None:
    held = {one.asked.person_id for one in cross_fitted.kept_back()[0]}
    learned = {one.asked.person_id for one in cross_fitted.learned()[0]}
    assert held
    assert learned
    assert not held & learned
    by = zip(cross_fitted.data, cross_fitted.held_out, strict=True)
    assert {name for name, held_out in by if held_out} == {"even", "odd"}


def test_people_whom_the_ranker_learned_from_are_retrieved_for_without_it(
    cross_fitted: RetrievedExamples, unused: Ranker
) -> None:
    with pytest.raises(InputError, match="damaged model of trees"):
        unused.first_scores(np.zeros((1, len(FEATURES)), np.float32))
    by_data: dict[str, set[str]] = {}
    for name, example, scores in zip(
        cross_fitted.data, cross_fitted.examples, cross_fitted.scores, strict=True
    ):
        assert np.isfinite(scores).all()
        assert len(scores) == len(example.context)
        by_data.setdefault(name, set()).add(example.asked.person_id)
    assert by_data["even"] == by_data["odd"]
    assert len(by_data["even"]) == 12
    assert len(by_data["others"]) == 4
    assert not by_data["even"] & by_data["others"]


def test_the_held_out_people_do_not_depend_on_further_data(
    cross_fitted: RetrievedExamples, dozen: Path
) -> None:
    people = sorted({one.person_id for one in load_dataset(dozen).requests})
    first = np.flatnonzero(folds_by_person(people, 3, 1) == 0)
    held = {one.asked.person_id for one in cross_fitted.kept_back()[0]}
    assert held == {people[place] for place in first}


def test_people_whom_no_artefact_saw_are_retrieved_for_by_the_artefacts_in_use(
    tmp_path: Path,
) -> None:
    three = copy_people("dev", 3, tmp_path / "train")  # a name that tells nothing
    own, further = halves(three, tmp_path)
    ranker, adapter = load_context_artefacts(None)
    assert adapter is not None
    tuned, settings = TunedEncoder(adapter, {}, {}), RankerSettings(folds=3, threads=1)
    found = Retrieval(own, [further], tuned, ranker, settings).run()
    held = {one.asked.person_id for one in found.kept_back()[0]}
    assert len(held) == 1  # a third of the people, in whichever half their requests stand
    assert not held & {one.asked.person_id for one in found.learned()[0]}
    out = {name for name, held_out in zip(found.data, found.held_out, strict=True) if held_out}
    assert out == {"even", "odd"}
    first = found.examples[0]
    request_encoder = RequestEncoder(load_encoder(adapter.card.encoder), adapter)
    [(_, read)] = request_encoder.read([first.context.request.text])
    assert first.context.tuned is not None
    assert read is not None
    assert first.context.tuned.aim == pytest.approx(read.aim, abs=1e-4)
    table = compute(first.context, ranker.learned)
    assert found.scores[0] == pytest.approx(ranker.scores_of(first.context, table))


def in_use(data: Path, *more: Path, **changes: Any) -> Retrieval:
    """Retrieval by the packaged artefacts, with changes to the cards of both."""
    ranker, adapter = load_context_artefacts(None)
    assert adapter is not None
    ranker = replace(ranker, card=ranker.card.model_copy(update=changes))
    card = adapter.card.model_copy(update=changes)
    tuned = TunedEncoder(Adapter(adapter.arrays, card), {}, {})
    return Retrieval(data, more, tuned, ranker, RankerSettings(folds=3, threads=1))


def test_people_that_the_artefacts_in_use_learned_from_are_known_in_any_folder(
    tmp_path: Path,
) -> None:
    copied = copy_people("train", 3, tmp_path / "strangers")
    others = copy_people("dev", 3, tmp_path / "others")
    for retrieval in (in_use(copied), in_use(others, copied)):
        with pytest.raises(ValueError, match=r"learned from 3 people of .*strangers"):
            retrieval.run()


def test_people_of_the_adapter_alone_are_known_too(tmp_path: Path) -> None:
    scenes = scenes_folder()
    ranker, adapter = load_context_artefacts(None)
    assert adapter is not None
    people = people_of([scenes])
    assert not people & set(ranker.card.people or ())
    with pytest.raises(ValueError, match=f"learned from {len(people)} people of .*scenes"):
        in_use(scenes).run()


def test_artefacts_that_do_not_name_their_people_retrieve_for_nobody(tmp_path: Path) -> None:
    others = copy_people("dev", 3, tmp_path / "others")
    with pytest.raises(ValueError, match="ranker in use: its card does not name the people"):
        in_use(others, people=None).run()


def test_a_request_of_somebody_whom_the_adapter_knows_must_have_been_read_apart(
    dozen: Path, tmp_path: Path
) -> None:
    own, further = halves(dozen, tmp_path)
    others = copy_people("dev", 3, tmp_path / "train")
    quick = EncoderSettings(folds=2, epochs=1, rank=2, threads=1, half=False)
    tuned = train_encoder(own, EncoderEnsemble(packages.ENCODER), quick, tmp_path / "encoder")
    unlearned = Ranker.packaged()
    card = unlearned.card.model_copy(update={"people": []})
    settings = RankerSettings(folds=3, threads=1)
    retrieval = Retrieval(others, [further], tuned, replace(unlearned, card=card), settings)
    with pytest.raises(ValueError, match=r"encoder: it never saw 3 people of .*train; train it on"):
        retrieval.run()
    examples = load_examples(further, EncoderEnsemble(packages.ENCODER))
    with pytest.raises(ValueError, match=r"it learned from p.* has not read .* apart"):
        retrieval._out_of_fold(examples, [further] * len(examples))
    same_ids = {one.asked.query_id: TunedRequest(*(np.zeros(1),) * 3) for one in examples}
    strangers = load_examples(others, EncoderEnsemble(packages.ENCODER))
    tuned = replace(
        tuned, readings=same_ids | {strangers[0].asked.query_id: next(iter(same_ids.values()))}
    )
    assert replace(retrieval, tuned=tuned)._out_of_fold(strangers, [others] * len(strangers)) == {}
