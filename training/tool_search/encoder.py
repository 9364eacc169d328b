"""Tuning the encoder of tool search on requests, the tools that they need, and hard negatives.

`ctrag train tool-encoder`; see `training.tool_search.tuning`.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.encoder import Matrix
from ctrag.models.onnx_encoder import load_model
from ctrag.models.tool_encoder import ToolEncoderCard, ToolEncoderWeights
from ctrag.models.weights import encoder_folder
from eval.discovery.data import Benchmark, read_folder
from training.core.origin import origin
from training.tool_search.tokenised import TokenisedBenchmark
from training.tool_search.tuning import (
    PairTuning,
    make_network,
    tune_pairs,
)

Progress = Callable[[str], None]
CHECKPOINT = "tool-encoder.pt"


@dataclass(frozen=True, slots=True)
class ToolEncoderSettings(PairTuning):
    """How the encoder is tuned."""

    tower: str = packages.ENCODER
    longest: int = 128
    """Maximum tokens of a text."""
    start: str | None = None
    """Folder of the changes that are learned further; None begins with none."""
    threads: int = 2


def train_tool_encoder(
    data: Sequence[Path],
    held_out: Sequence[Path],
    settings: ToolEncoderSettings,
    checkpoints: Path,
    progress: Progress = lambda _: None,
    before: ToolEncoderWeights | None = None,
) -> ToolEncoderWeights:
    """Low-rank changes of the encoder, with figures of the held-out catalogues before and after.

    Args:
        data: Folders with tools and requests to train on, or recordings.
        held_out: Folders for evaluation. Where there are none, a fifth of each recording's sessions
            is, and is not learned from.
        settings: See `ToolEncoderSettings`.
        checkpoints: Folder of the checkpoint that a rerun goes on from.
        progress: Called with progress messages.
        before: Changes that are learned further, with the settings' layers and rank.

    Raises:
        ValueError: A file breaks a rule, no request needs a tool, or `before` has other layers.
    """
    import torch

    sources, tests = tokenised(data, held_out, settings)
    start = None if before is None else changes_of(before, settings)
    model = load_model(settings.tower)
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    network = make_network(model, settings)
    if start is not None:
        network.take(start)
    tuning = PairTuning.of(settings)
    learned = tune_pairs(network, sources, tests, tuning, checkpoints / CHECKPOINT, progress)
    return ToolEncoderWeights(
        {f"{settings.tower}/{name}": array for name, array in network.arrays().items()},
        ToolEncoderCard(
            **origin(data, settings.seed),
            settings=asdict(settings),
            figures=learned.figures,
            tower=settings.tower,
            layers=settings.layers,
            scale=settings.scale,
            before=None if before is None else before.card.command,
        ),
    )


def tokenised(
    data: Sequence[Path], held_out: Sequence[Path], settings: ToolEncoderSettings
) -> tuple[list[TokenisedBenchmark], dict[str, TokenisedBenchmark]]:
    """What is learned from, and what gives the figures, by name.

    Raises:
        ValueError: A file breaks a rule, or no request needs a tool.
    """
    tests = {folder.name: read_folder(folder) for folder in held_out}
    sources = {folder: read_folder(folder) for folder in data}
    if not tests:
        for folder, source in sources.items():
            sources[folder], kept = _without_a_fifth(source)
            if kept.needs:
                tests[folder.name] = kept
    learned = [_in_tokens(one, settings) for one in sources.values()]
    if not any(one.requests for one in learned):
        raise InputError("data: no request needs a tool, there is nothing to learn")
    measured = {name: _in_tokens(one, settings) for name, one in tests.items()}
    return learned, {name: one for name, one in measured.items() if one.requests}


def _in_tokens(benchmark: Benchmark, settings: ToolEncoderSettings) -> TokenisedBenchmark:
    """The requests that need a tool, and all tools."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(encoder_folder(settings.tower) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.longest)

    def rows(texts: list[str]) -> list[list[int]]:
        return [one.ids for one in tokenizer.encode_batch(texts)]

    number = {one.id: place for place, one in enumerate(benchmark.tools)}
    needs = [one for one in benchmark.needs if one.tools]
    return TokenisedBenchmark(
        rows([one.text for one in benchmark.tools]),
        rows([one.text for one in needs]),
        [frozenset(number[tool] for tool in one.tools) for one in needs],
    )


def changes_of(before: ToolEncoderWeights, settings: ToolEncoderSettings) -> dict[str, Matrix]:
    """The changes that are learned further, by the network's names.

    Raises:
        ValueError: They are of another encoder, of other layers or of another rank.
    """
    found = {
        name.removeprefix(f"{settings.tower}/"): one
        for name, one in before.arrays.items()
        if name.startswith(f"{settings.tower}/")
    }
    ranks = {one.shape[0] for name, one in found.items() if name.endswith(".A")}
    if before.card.layers != settings.layers or ranks != {settings.rank}:
        raise InputError("start: was trained on other layers or with another rank")
    return found


def _without_a_fifth(benchmark: Benchmark) -> tuple[Benchmark, Benchmark]:
    """What is learned of a recording, and a fifth of its sessions by hash; all of other data."""
    out = {
        one.group
        for one in benchmark.needs
        if one.group and sha256(one.group.encode()).digest()[0] % 5 == 0
    }
    kept = [one for one in benchmark.needs if one.group not in out]
    held = [one for one in benchmark.needs if one.group in out]
    return Benchmark(benchmark.tools, kept), Benchmark(benchmark.tools, held)
