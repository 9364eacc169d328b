"""Claims about writing data sets: atomic, and identical however the work is shared."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from stores.people.dataset import Kind, Persona
from synth.dataset import make_dataset
from synth.offline import OfflineProvider
from synth.provider import LabelledRequest, ProviderError, Talk
from synth.workers import in_order


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Failing:
    """A provider that fails at its third person."""

    workers = 1

    def __init__(self) -> None:
        self.inner = OfflineProvider()
        self.count = 0

    @classmethod
    def whole(cls) -> "Failing":
        """One that does not fail."""
        made = cls()
        made.count = 10
        return made

    def person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        self.count += 1
        if self.count == 3:
            raise ProviderError("no answer")
        return self.inner.person(person_id, counts, seed)

    def requests(
        self, persona: Persona, kinds: Sequence[Kind], seed: int, avoid: Sequence[str] = ()
    ) -> list[LabelledRequest]:
        return self.inner.requests(persona, kinds, seed, avoid)

    def talks(self, persona: Persona, several: int, dialogues: int, seed: int) -> list[Talk]:
        return self.inner.talks(persona, several, dialogues, seed)


def test_a_run_that_fails_shows_nothing_and_a_rerun_goes_on(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no answer"):
        make_dataset(Failing(), tmp_path / "out", 5)
    assert not (tmp_path / "out").exists()
    provider = Failing()
    provider.count = 10  # past the person at which it fails
    said: list[str] = []
    make_dataset(provider, tmp_path / "out", 5, progress=said.append)
    assert said[0] == "going on after 2 of 5 people"
    assert provider.count == 10 + 3
    make_dataset(Failing.whole(), tmp_path / "whole", 5)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "whole"]


def test_what_is_left_of_another_run_is_thrown_away(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no answer"):
        make_dataset(Failing(), tmp_path / "out", 5, seed=1)
    make_dataset(Failing.whole(), tmp_path / "out", 5, seed=2)
    make_dataset(Failing.whole(), tmp_path / "whole", 5, seed=2)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_half_written_person_is_written_anew(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no answer"):
        make_dataset(Failing(), tmp_path / "out", 5)
    queries = tmp_path / ".out.growing" / "train" / "queries.jsonl"
    with queries.open("a", encoding="utf-8") as file:
        file.write('{"query_id": "s00003-q1", "persona_id": "s00003", "text": "cut of')
    make_dataset(Failing.whole(), tmp_path / "out", 5)
    make_dataset(Failing.whole(), tmp_path / "whole", 5)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_folder_that_holds_a_data_set_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    with pytest.raises(ValueError, match="holds train already"):
        make_dataset(OfflineProvider(), tmp_path, 2)
    with pytest.raises(ValueError, match="personas: must be 1 or more, not 0"):
        make_dataset(OfflineProvider(), tmp_path / "other", 0)


@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_writes_the_same_bytes(tmp_path: Path) -> None:
    alone = make_dataset(OfflineProvider(), tmp_path / "alone", 25, workers=1)
    shared = make_dataset(OfflineProvider(), tmp_path / "shared", 25, scheduler="local", workers=1)
    assert contents(tmp_path / "alone") == contents(tmp_path / "shared")
    assert set(contents(tmp_path / "alone")) == {
        f"{part}/{name}"
        for part in ("train", "test")
        for name in (
            "personas.jsonl", "queries.jsonl", "several.jsonl", "dialogues.jsonl", "levels.json",
        )
    }  # fmt: skip
    assert (alone.personas, alone.requests) == (shared.personas, shared.requests)
    assert alone.as_json()["parts"] == shared.as_json()["parts"]


def test_threads_return_results_in_order() -> None:
    assert list(in_order(lambda number: number * number, range(50), 8, None, None)) == [
        number * number for number in range(50)
    ]


def test_workers_must_be_a_positive_number() -> None:
    with pytest.raises(ValueError, match="workers: must be 1 or more, not 0"):
        list(in_order(abs, range(3), 1, None, 0))


@pytest.mark.skipif(find_spec("distributed") is not None, reason="Dask is installed")
def test_without_dask_the_error_names_what_to_install() -> None:
    with pytest.raises(ValueError, match="pip install 'ctrag"):
        list(in_order(abs, range(3), 1, "local", 1))
