"""Labelled requests with what retrieval returns for them, by models that never saw their people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.features import compute
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.models.request_adapter import RequestEncoder, TunedRequest
from eval.core.examples import RankingExample
from eval.core.experiment import data_sha256
from stores.people.dataset import fingerprints
from training.core.cross_fitted import cross_fit, prepare
from training.core.datasets import load_together, of_same_people
from training.core.origin import held_out_ids, people_in, people_of
from training.core.retrieved_examples import RetrievedExamples
from training.ranker.settings import RankerSettings
from training.ranker.tuned_encoder import TunedEncoder, with_readings

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Retrieves for labelled requests, each by models that never saw its person."""

    data: Path
    """The training data of the ranker: it is cross-fitted by person here, and the first fold of
    its people is held out."""
    more: Sequence[Path]
    """Further requests of the people of `data`, and data sets of other people. Those of people whom
    the ranker learned from, by its card, and those of the people of `data` are cross-fitted with
    it; nothing of other people is held out."""
    tuned: TunedEncoder
    """Has read the requests of `data` by adapters that never saw their people, and perhaps those
    of `more`; requests that it never saw are read by its adapter of everybody."""
    ranker: Ranker
    """Retrieves for those of `more` whose people it never saw."""
    settings: RankerSettings
    """Folds and seed."""
    served: bool = False
    """Retrieve for everybody as it is served, though ranker and adapter may have learned from other
    requests of the same people: for plain requests, which name what they are about."""

    @property
    def new(self) -> bool:
        """Whether nobody was read out of fold, since neither `tuned` nor `ranker` ever saw anybody.

        They then retrieve for `data` as for `more`, and nothing is cross-fitted.
        """
        return not self.tuned.readings

    @property
    def key(self) -> str:
        """A hash of everything that retrieval depends on, including the code."""
        own = Path(__file__).parents[2]
        code = [
            *sorted((own / "ctrag" / "assistant" / "context").glob("*.py")),
            own / "ctrag" / "text" / "courtesy.py",
            own / "ctrag" / "text" / "false_starts.py",
            own / "eval" / "core" / "examples.py",
        ]
        parts = [
            *(data_sha256(one) for one in (self.data, *self.more)),
            self.tuned.adapter.digest,
            self.ranker.card.model_dump_json(),
            repr((self.settings, self.new, self.served)),
            *(path.read_text(encoding="utf-8") for path in (*code, Path(__file__))),
        ]
        return sha256("\0".join(parts).encode()).hexdigest()[:16]

    def once(self, folder: Path, progress: Progress = lambda _: None) -> RetrievedExamples:
        """The result of `run`, cached in `folder` by data, models and code.

        Encoding ten thousand requests takes minutes, and several models are trained on the same
        ones.
        """
        path = folder / f"{self.key}.npz"
        if path.exists():
            return RetrievedExamples.read(path, (self.data, *self.more))
        found = self.run(progress)
        folder.mkdir(parents=True, exist_ok=True)
        found.write(path)
        return found

    def run(self, progress: Progress = lambda _: None) -> RetrievedExamples:
        """What retrieval returns for every labelled request.

        The first fold of the people of `data` is held out, whichever data set their requests are
        in.

        Raises:
            ValueError: A model would retrieve for somebody it was trained on, or a card does not
                name its people; two data sets have other items of a person, or one breaks a rule.
        """
        encoder: Encoder = load_encoder(self.tuned.adapter.card.encoder)
        apart = self._apart()
        others = [one for one in (self.data, *self.more) if one not in apart]
        examples: list[RankingExample] = []
        scores: list[Floats] = []
        sources: list[Path] = []
        if apart:
            prepared = prepare(self.data, encoder, self.settings, self.tuned, progress, apart[1:])
            fitted = cross_fit(prepared, self.settings, progress)
            examples += fitted.examples
            scores += fitted.scores
            for folder, size in zip(apart, fitted.sizes, strict=True):
                sources += [folder] * size
        added, new_scores, new_sources = self._by_ranker(others, encoder, progress)
        examples += added
        scores += new_scores
        sources += new_sources
        names = [one.name for one in sources]
        return RetrievedExamples(
            examples, scores, self._held_out(examples, sources), encoder.name, names
        )

    def _apart(self) -> list[Path]:
        """Data sets that are cross-fitted, `data` first; none when everybody is new or served."""
        if self.served:
            return []
        learned = people_in(self.ranker.card, "CTRAG_ARTEFACTS: the ranker in use")
        if not self.new:
            same = of_same_people(self.data, self.more)
            return [
                self.data,
                *(one for one in self.more if one in same or people_of([one]) & learned),
            ]
        learned |= people_in(self.tuned.adapter.card, "CTRAG_ARTEFACTS: the adapter in use")
        for folder in (self.data, *self.more):
            seen = len(people_of([folder]) & learned)
            if seen:
                raise InputError(
                    f"--encoder: the artefacts in use learned from {seen} people of {folder}, for "
                    "whom they cannot retrieve as for strangers; give a `ctrag train encoder` run, "
                    "which read everybody apart"
                )
        return []

    def _held_out(
        self, examples: Sequence[RankingExample], sources: Sequence[Path]
    ) -> NDArray[np.bool_]:
        """People whose requests must not be trained on: of `data`, independent of `more`; where
        everybody is served, of each data set."""
        out: set[str] = set()
        for folder in (self.data, *(self.more if self.served else ())):
            people = [
                one.asked.person_id
                for one, source in zip(examples, sources, strict=True)
                if source == folder
            ]
            out |= held_out_ids(people, self.settings.folds, self.settings.seed)
        return np.array([one.asked.person_id in out for one in examples], dtype=bool)

    def _by_ranker(
        self, folders: Sequence[Path], encoder: Encoder, progress: Progress
    ) -> tuple[list[RankingExample], list[Floats], list[Path]]:
        """Examples of people whom the ranker never saw, their scores, and their data sets."""
        progress("encoding items and requests")
        parts = load_together(folders, encoder)
        sources = [folder for folder, part in zip(folders, parts, strict=True) for _ in part]
        read = self._read([one for part in parts for one in part], sources, encoder)
        scores = [
            self.ranker.scores_of(one.context, compute(one.context, self.ranker.learned))
            for one in read
        ]
        return read, scores, sources

    def _read(
        self, examples: Sequence[RankingExample], sources: Sequence[Path], encoder: Encoder
    ) -> list[RankingExample]:
        """The examples with readings by adapters that never saw the person."""
        readings = {} if self.new or self.served else self._out_of_fold(examples, sources)
        new = [one for one in examples if one.asked.query_id not in readings]
        texts = [one.context.request.text for one in new]
        read = RequestEncoder(encoder, self.tuned.adapter).read(texts)
        readings |= {
            one.asked.query_id: tuned
            for one, (_, tuned) in zip(new, read, strict=True)
            if tuned is not None
        }
        return with_readings(examples, readings)

    def _out_of_fold(
        self, examples: Sequence[RankingExample], sources: Sequence[Path]
    ) -> dict[str, TunedRequest]:
        """Readings of the requests of people that the adapter was trained on.

        Raises:
            ValueError: One of them was not read: the adapter of everybody knows the person.
        """
        learned = people_in(self.tuned.adapter.card, "--encoder")
        people = {folder: fingerprints(folder) for folder in dict.fromkeys(sources)}
        found = {}
        for one, folder in zip(examples, sources, strict=True):
            if people[folder][one.asked.person_id] not in learned:
                continue  # a request of another person may have the same id
            query = one.asked.query_id
            if query not in self.tuned.readings:
                raise InputError(
                    f"--encoder: it learned from {one.asked.person_id} of {folder}, but has not "
                    f"read {query} apart; train it with this data set too"
                )
            found[query] = self.tuned.readings[query]
        return found
