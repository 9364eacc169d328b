"""What every assistant of a test would open or compute again, once a worker: it is the same."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.models.encoder import EncoderEnsemble, Matrix

ENCODE, ENCODE_BRIEFLY = EncoderEnsemble.encode, EncoderEnsemble.encode_briefly
"""As they are, for tests of the encoder itself."""
MOST = 20_000
"""Vectors that are kept: 92 MB."""


@pytest.fixture(scope="session", autouse=True)
def opened_once() -> Iterator[None]:
    """Whatever opens the same graph or vocabulary again gets the one that is open: neither keeps
    anything of a request. On one thread each, as there is a worker for every core."""
    import llguidance
    import onnxruntime

    open_session, open_vocabulary = onnxruntime.InferenceSession, llguidance.LLTokenizer

    @lru_cache(maxsize=16)
    def session_of(graph: str, written: int, size: int, without: tuple[str, ...]) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return open_session(
            graph,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=list(without) or None,
        )

    @lru_cache(maxsize=8)
    def vocabulary_of(path: str, written: int, more: tuple[tuple[str, int], ...]) -> Any:
        return open_vocabulary(path, **dict(more))

    def session(graph: str | bytes, *options: Any, **further: Any) -> Any:
        if isinstance(graph, bytes):  # made for one test
            return open_session(graph, *options, **further)
        found, without = Path(graph).stat(), tuple(further.get("disabled_optimizers") or ())
        return session_of(graph, found.st_mtime_ns, found.st_size, without)

    def vocabulary(path: Any, **more: int) -> Any:
        if not isinstance(path, str):  # pieces of a SentencePiece model
            return open_vocabulary(path, **more)
        written = Path(path).stat().st_mtime_ns if Path(path).exists() else 0
        return vocabulary_of(path, written, tuple(more.items()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnxruntime, "InferenceSession", session)
        patch.setattr(llguidance, "LLTokenizer", vocabulary)
        yield


@pytest.fixture(scope="session", autouse=True)
def encoded_once() -> Iterator[None]:
    """A text's vector does not depend on the others (tests/models), so that items of packaged
    people and descriptions of APIs are encoded once a worker, not once an assistant."""
    vectors: dict[tuple[str, str, str], Matrix] = {}

    def once(encode: Callable[[EncoderEnsemble, Sequence[str]], Matrix]) -> Any:
        def encoded(self: EncoderEnsemble, texts: Sequence[str]) -> Matrix:
            kind = (self.name, encode.__name__)
            rows = {text: vectors.get((*kind, text)) for text in texts}
            new = [text for text, row in rows.items() if row is None]
            made = encode(self, new) if new or not rows else ()
            if not rows:
                return np.asarray(made)
            rows.update(zip(new, made, strict=True))
            if len(vectors) > MOST:
                vectors.clear()
            vectors.update({(*kind, text): rows[text] for text in new})
            return np.stack([rows[text] for text in texts])

        return encoded

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EncoderEnsemble, "encode", once(ENCODE))
        patch.setattr(EncoderEnsemble, "encode_briefly", once(ENCODE_BRIEFLY))
        yield


@pytest.fixture
def encoding_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of this test are encoded whether or not they were before."""
    monkeypatch.setattr(EncoderEnsemble, "encode", ENCODE)
    monkeypatch.setattr(EncoderEnsemble, "encode_briefly", ENCODE_BRIEFLY)


@pytest.fixture(scope="session", autouse=True)
def slots_filled_once() -> Iterator[None]:
    """The same prompt under the same grammar has the same answer: the slot filler decodes it once a
    worker, whichever test asks."""
    from ctrag.assistant.planning.slot_filler import SlotFiller

    bound, answers = SlotFiller.bound, dict[tuple[Any, ...], Any]()

    def bound_once(self: SlotFiller, prompt: list[int], lark: str, *how: Any, **more: Any) -> Any:
        model = (self.folder, self.adapter, self.engine_name)
        key = (*model, tuple(prompt), lark, how, tuple(sorted(more.items())))
        if key not in answers:
            answers[key] = bound(self, prompt, lark, *how, **more)
        tokens, sure, ran = answers[key]
        return list(tokens), sure, ran

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SlotFiller, "bound", bound_once)
        yield
