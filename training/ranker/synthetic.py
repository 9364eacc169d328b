"""The value of synthetic people: training on them, on the reference, on both; testing on dev.

Every row is trained the same way from an untuned encoder, so that only the data differs. Finished
steps are kept in the work folder, where a later run resumes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ctrag.models import packages
from ctrag.models.encoder import load_encoder
from ctrag.settings import settings
from eval.context.run import run_context
from eval.core.experiment import data_sha256, versions
from eval.planner.run import run_planner
from eval.tools.run import run_tools
from stores.compressed import read_kept
from stores.files import write_text
from stores.people.dataset import PERSONAS, QUERIES, Dataset, load_dataset
from synth.checks import normal_text
from synth.reference import split_folder
from training.api_classifier.examples import seen_requests
from training.api_classifier.network import ENCODERS, ApiClassifierSettings
from training.api_classifier.train import train_classifier
from training.core.checkpoints import CHECKPOINTS
from training.core.cross_fitted import CrossFitted, cross_fit, prepare
from training.ranker.settings import RankerSettings
from training.ranker.train import final_ranker
from training.values.value_ranker import ValueRankerSettings, choices, train_arguments

_BY_CHANCE = 3
"""Longest text, in words, that two people may share by chance."""
MIXES = ("synthetic", "reference", "both")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Settings of a comparison."""

    work: Path
    """Keeps data, artefacts and finished rows."""
    limit: int | None = None
    """People of each data set to learn from; all when None."""
    requests: int | None = None
    """Requests of dev to test on; all when None."""
    seed: int = 1
    threads: int = 2
    progress: Progress = lambda _: None

    def rows(
        self, synthetic: Path, methods: Sequence[str]
    ) -> Mapping[str, Mapping[str, JsonValue]]:
        """Figures on dev by training data.

        Args:
            synthetic: The synthetic data set; its first `limit` people are used.
            methods: `ranker`, `tools` (the API classifier), `planner` (classifier and
                ranker of values, plans decoded under the grammar).
        """
        self.work.mkdir(parents=True, exist_ok=True)
        found: dict[str, dict[str, JsonValue]] = {}
        for mix in MIXES:
            folder = self._mixed(mix, synthetic)
            self._step(folder, "ranker", partial(self._train_ranker, folder))
            found[mix] = {}
            if "ranker" in methods:
                found[mix] |= self._step(folder, "dev-ranker", partial(self._ranks, folder))
            if "tools" in methods or "planner" in methods:
                self._step(folder, "tools", partial(self._train_tools, folder))
            if "tools" in methods:
                found[mix] |= self._step(folder, "dev-tools", partial(self._names, folder))
            if "planner" in methods:
                found[mix] |= self._step(folder, "dev-planner", partial(self._plans, folder))
        return found

    def _mixed(self, mix: str, synthetic: Path) -> Path:
        """A folder with the mix's people; its name has a hash of what it depends on."""
        reference = split_folder("train")
        sources = {
            "synthetic": [synthetic],
            "reference": [reference],
            "both": [reference, synthetic],
        }[mix]
        content = [data_sha256(one) for one in sources]
        key = sha256(f"{content}|{self.limit}|{self.seed}|{settings().encoder}".encode())
        folder = self.work / f"{mix}-{key.hexdigest()[:10]}"
        folder.mkdir(exist_ok=True)
        if not (folder / QUERIES).exists():
            people = [
                line for one in sources for line in islice(_lines(one / PERSONAS), self.limit)
            ]
            queries = [line for one in sources for line in _lines(one / QUERIES)]
            ids = {_owner(line) for line in people}
            if mix == "both":
                ids -= _rewritten(queries, load_dataset(reference))
            write_text(folder / PERSONAS, "".join(one for one in people if _owner(one) in ids))
            write_text(folder / QUERIES, "".join(one for one in queries if _owner(one) in ids))
        return folder

    def _step(
        self, folder: Path, name: str, run: Callable[[], dict[str, JsonValue]]
    ) -> dict[str, JsonValue]:
        """A step's result, from its file if it has already run."""
        tested = f"-{self.requests}" if name.startswith("dev") and self.requests else ""
        path = folder / f"{name}{tested}.json"
        if not path.exists():
            self.progress(f"{folder.name}: {name}")
            write_text(path, json.dumps(run()))
        done: dict[str, JsonValue] = json.loads(path.read_text(encoding="utf-8"))
        return done

    def _options(self) -> RankerSettings:
        return RankerSettings(seed=self.seed, threads=self.threads)

    def _fitted(self, folder: Path) -> CrossFitted:
        encoder = load_encoder(settings().encoder)
        options = self._options()
        return cross_fit(
            prepare(folder, encoder, options, None, self.progress), options, self.progress
        )

    def _train_ranker(self, folder: Path) -> dict[str, JsonValue]:
        encoder = load_encoder(settings().encoder)
        fitted = self._fitted(folder)
        final_ranker(fitted, [folder], encoder, self._options(), self.progress).save(folder)
        return {"requests": len(fitted.examples)}

    def _train_tools(self, folder: Path) -> dict[str, JsonValue]:
        fitted = self._fitted(folder)
        card: dict[str, Any] = {
            "command": "ctrag eval synth --methods tools",
            "data": folder.name,
            "data_sha256": data_sha256(folder),
            "seed": self.seed,
            "versions": versions(),
        }
        learned = fitted.examples, fitted.scores
        train_arguments(
            choices(*learned), [], ValueRankerSettings(seed=self.seed, threads=self.threads), card
        ).save(folder)
        # The large encoder takes four times as long and adds the same to every row.
        encoders = tuple(one for one in ENCODERS if one.name == packages.ENCODER)
        train_classifier(
            seen_requests(*learned),
            [],
            ApiClassifierSettings(towers=encoders, seed=self.seed, threads=self.threads),
            {**card, "encoder": settings().encoder},
            folder / CHECKPOINTS,
            self.progress,
        ).save(folder)
        return {"requests": len(fitted.examples)}

    def _ranks(self, folder: Path) -> dict[str, JsonValue]:
        found = run_context(
            split_folder("dev"), model=folder, methods=["lambdamart_rrf"], limit=self.requests
        )
        figures: Any = found.figures["lambdamart_rrf"]
        return {name: figures[name] for name in ("recall@3", "recall@5", "recall@10", "ndcg@10")}

    def _names(self, folder: Path) -> dict[str, JsonValue]:
        found = run_tools(
            split_folder("dev"), model=folder, methods=["with_context"], limit=self.requests
        )
        figures: Any = found.figures["with_context"]
        return {f"tool_{name}": figures[name] for name in ("recall@1", "recall@3", "recall@5")}

    def _plans(self, folder: Path) -> dict[str, JsonValue]:
        found = run_planner(
            split_folder("dev"),
            model=folder,
            methods=["context_tuned_rag"],
            limit=self.requests,
            free=False,
            progress=self.progress,
            resume=folder / "plans.rows.jsonl",
        )
        figures: Any = found.figures["context_tuned_rag"]
        return {name: figures[name] for name in ("ast_accuracy", "exact_match_closed")}


def _lines(path: Path) -> list[str]:
    return read_kept(path).decode("utf-8").splitlines(keepends=True)


def _owner(line: str) -> str:
    return str(json.loads(line)["persona_id"])


def _rewritten(queries: Sequence[str], reference: Dataset) -> set[str]:
    """Synthetic people with the same requests as a reference person: they may be rewritten from
    that person, and must not be in a different fold."""
    own = {one.person.person_id for one in reference.personas}
    known = {normal_text(one.request.text) for one in reference.requests}
    asked = [(_owner(line), normal_text(json.loads(line)["text"])) for line in queries]
    return {
        person
        for person, text in asked
        if person not in own and text in known and len(text.split()) > _BY_CHANCE
    }
