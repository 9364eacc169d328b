"""Claims about tuning the encoder, with the small encoder alone, six people and one epoch."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.context.learned_features import tuned_scores
from ctrag.models import packages
from ctrag.models.encoder import EncoderEnsemble
from ctrag.models.request_adapter import Adapter, RequestEncoder
from eval.core.examples import load_examples
from tests.training.conftest import copy_people, halves
from training.core.checkpoints import CHECKPOINTS
from training.core.cross_fitted import prepare
from training.core.folds import folds_by_person
from training.core.origin import people_of
from training.encoder.network import EncoderSettings, make_network
from training.encoder.train import train_encoder
from training.ranker.settings import FIRST, SECOND, RankerSettings
from training.ranker.train import train_ranker
from training.ranker.tuned_encoder import TunedEncoder, with_readings

QUICK = EncoderSettings(folds=2, epochs=1, rank=2, threads=1, half=False)
UNMASKED = replace(QUICK, dropout=0.0)


@pytest.fixture(scope="module")
def small() -> EncoderEnsemble:
    return EncoderEnsemble(packages.ENCODER)


def _parted(data: Path, people: int, folder: Path) -> list[Path]:
    """The first so many people of a data set, and the others."""
    lines = (data / "personas.jsonl").read_text().splitlines(keepends=True)
    queries = (data / "queries.jsonl").read_text().splitlines(keepends=True)
    parts = []
    for name, own in (("first", lines[:people]), ("second", lines[people:])):
        part = folder / name
        part.mkdir()
        ids = {json.loads(line)["persona_id"] for line in own}
        asked = [line for line in queries if json.loads(line)["persona_id"] in ids]
        (part / "personas.jsonl").write_text("".join(own))
        (part / "queries.jsonl").write_text("".join(asked))
        parts.append(part)
    return parts


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_people("train", 6, tmp_path_factory.mktemp("people") / "six")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture(scope="module")
def tuned(six: Path, small: EncoderEnsemble, folder: Path) -> TunedEncoder:
    """Also saved in `folder`, for further training."""
    trained = train_encoder(six, small, QUICK, folder / CHECKPOINTS)
    trained.save(folder)
    return trained


@pytest.fixture(scope="module")
def parted(six: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four of the people, and the other two."""
    return _parted(six, 4, tmp_path_factory.mktemp("parted"))


@pytest.fixture(scope="module")
def of_four(parted: list[Path], small: EncoderEnsemble, folder: Path) -> TunedEncoder:
    """Trained on the four, from checkpoints in `folder / "four"`."""
    return train_encoder(parted[0], small, UNMASKED, folder / "four" / CHECKPOINTS)


def test_every_request_is_read_by_an_adapter_that_never_saw_its_person(
    tuned: TunedEncoder, six: Path, small: EncoderEnsemble
) -> None:
    examples = load_examples(six, small)
    fold = folds_by_person([one.asked.person_id for one in examples], QUICK.folds, QUICK.seed)
    assert tuned.fold == {
        one.asked.query_id: place for one, place in zip(examples, fold, strict=True)
    }
    assert set(tuned.readings) == set(tuned.fold)


def test_the_adapter_reads_as_it_was_trained(
    tuned: TunedEncoder, six: Path, small: EncoderEnsemble
) -> None:
    # The served graph has 8-bit weights; in training they are whole.
    examples = load_examples(six, small, tuned.adapter)[:10]
    served = [tuned_scores(one.context) for one in examples]
    plain = [one.context.cosine / QUICK.temperature for one in examples]
    for one, other in zip(served, plain, strict=True):
        assert np.isfinite(one).all()
        assert np.corrcoef(one, other)[0, 1] > 0.3  # one epoch of rank 2 stays near its start


def test_a_second_run_uses_the_checkpoints(
    tuned: TunedEncoder, six: Path, small: EncoderEnsemble, folder: Path
) -> None:
    steps: list[str] = []
    again = train_encoder(six, small, QUICK, folder / CHECKPOINTS, steps.append)
    assert not [step for step in steps if "min left" in step]
    assert again.adapter.digest == tuned.adapter.digest


def test_training_twice_gives_the_same_adapter(
    tuned: TunedEncoder, six: Path, small: EncoderEnsemble, tmp_path: Path
) -> None:
    again = train_encoder(six, small, QUICK, tmp_path)
    assert again.adapter.digest == tuned.adapter.digest


def test_saved_readings_are_loaded_for_the_ranker(tuned: TunedEncoder, tmp_path: Path) -> None:
    tuned.save(tmp_path)
    loaded = TunedEncoder.load(tmp_path)
    assert loaded.fold == tuned.fold
    for query, reading in tuned.readings.items():
        assert np.array_equal(loaded.readings[query].aim, reading.aim)


def test_a_ranker_on_requests_without_readings_is_refused(
    tuned: TunedEncoder, six: Path, small: EncoderEnsemble
) -> None:
    missing = next(iter(tuned.readings))
    some = {query: one for query, one in tuned.readings.items() if query != missing}
    with pytest.raises(ValueError, match=f"no reading of {missing} and 0 other requests"):
        prepare(six, small, RankerSettings(threads=1), replace(tuned, readings=some))


def test_people_of_further_data_are_trained_on_and_read(
    parted: list[Path], of_four: TunedEncoder, small: EncoderEnsemble, tmp_path: Path
) -> None:
    four, two = parted
    both = train_encoder(four, small, UNMASKED, tmp_path / "both", more=[two])
    assert both.adapter.digest != of_four.adapter.digest
    further = set(both.readings) - set(of_four.readings)
    assert further == {one.asked.query_id for one in load_examples(two, small)}
    assert both.adapter.card.data == "first+second"
    assert both.adapter.card.people == sorted(people_of([four, two]))


def test_duplicate_requests_are_refused(six: Path, small: EncoderEnsemble, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"stands in .*six and .*six"):
        train_encoder(six, small, QUICK, tmp_path, more=[six])


def test_further_training_keeps_folds_and_readings(
    tuned: TunedEncoder, folder: Path, six: Path, small: EncoderEnsemble, tmp_path: Path
) -> None:
    own, others = halves(six, tmp_path)
    after = train_encoder(own, small, UNMASKED, tmp_path / "after", start=folder)
    assert after.adapter.digest != tuned.adapter.digest
    assert set(after.readings) == set(tuned.readings)
    kept = {one.asked.query_id for one in load_examples(others, small)}
    for query, reading in tuned.readings.items():
        assert np.array_equal(after.readings[query].aim, reading.aim) == (query in kept)
    person = {one.asked.query_id: one.asked.person_id for one in load_examples(six, small)}
    folds = {(person[query], place) for query, place in after.fold.items()}
    assert len(folds) == len(set(person.values()))  # nobody is in two folds
    assert after.adapter.card.people == sorted(people_of([six]))


def test_the_mean_of_before_and_after_lies_between_them(
    tuned: TunedEncoder, folder: Path, six: Path, small: EncoderEnsemble, tmp_path: Path
) -> None:
    mean = train_encoder(six, small, UNMASKED, tmp_path / "on", start=folder)
    # The mean is taken of what was learned: the last weights come from the same checkpoints.
    last = train_encoder(
        six, small, replace(UNMASKED, average=False), tmp_path / "on", start=folder
    )
    for name, array in mean.adapter.arrays.items():
        assert not np.array_equal(array, last.adapter.arrays[name])
        middle = (tuned.adapter.arrays[name] + last.adapter.arrays[name]) / 2
        assert np.allclose(array, middle, atol=1e-6)


def test_people_unknown_to_the_previous_run_are_refused(
    parted: list[Path], of_four: TunedEncoder, small: EncoderEnsemble, folder: Path, tmp_path: Path
) -> None:
    four, two = parted
    before = folder / "four"
    of_four.save(before)
    with pytest.raises(ValueError, match="--start: it never saw"):
        train_encoder(two, small, UNMASKED, tmp_path / "after", start=before)
    with pytest.raises(ValueError, match="--start: it has 2 folds, not 3"):
        train_encoder(four, small, replace(UNMASKED, folds=3), tmp_path / "after", start=before)


@pytest.mark.parametrize(("dropout", "same"), [(0.0, True), (0.1, False)])
def test_without_dropout_no_layer_draws_a_mask(
    small: EncoderEnsemble, dropout: float, same: bool
) -> None:
    network = make_network(small.members[0], QUICK, dropout, apis=3)
    network.train()
    below = [small.members[0].run("can't make the 6 o'clock thing")[1][0]]
    first, second = (network(below)[0].detach().numpy() for _ in range(2))
    assert np.array_equal(first, second) == same


def test_a_ranker_learns_from_the_readings(
    tuned: TunedEncoder, six: Path, small: EncoderEnsemble
) -> None:
    quick = RankerSettings(
        folds=2, first=replace(FIRST, rounds=10), second=replace(SECOND, rounds=5), threads=1
    )
    ranker = train_ranker(six, small, quick, tuned)
    assert ranker.card.people == tuned.adapter.card.people
    prepared = prepare(six, small, quick, tuned)
    contexts = [one.context for one in with_readings(prepared.examples, tuned.readings)]
    assert all(np.isfinite(tuned_scores(context)).all() for context in contexts)


def test_the_served_reading_is_the_adapters(tuned: TunedEncoder, small: EncoderEnsemble) -> None:
    request_encoder = RequestEncoder(small, tuned.adapter)
    [(_, first)], [(_, again)] = (
        request_encoder.read(["dentist"]),
        request_encoder.read(["dentist"]),
    )
    assert first is not None
    assert again is not None
    assert np.array_equal(first.aim, again.aim)
    assert isinstance(tuned.adapter, Adapter)
