"""The small language model: text in and out, greedily, also under a grammar."""

import json
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.extras import need
from ctrag.models import packages
from ctrag.models.lm_engine import Engine, EngineName, Logits, open_engine
from ctrag.models.lm_weights import planner_folder

LONGEST_BOUND = 600
"""Tokens of an answer under a grammar at most; the grammar's own bounds are tighter."""
LONGEST_FREE = 120
"""Tokens of a freely decoded answer at most."""
_PREFIXES = 2
"""Shared prefixes whose caches are kept."""


class LanguageModel:
    """A causal language model of the Llama family, loaded when first used.

    `bits` is the precision of the graph's weights, 8 or None for float32.
    """

    def __init__(
        self,
        name_or_path: str | None = None,
        threads: int = 2,
        adapter: Path | None = None,
        engine: EngineName | None = None,
        bits: int | None = None,
    ) -> None:
        need("the language model", "torch", "transformers", "llguidance", extra="assistant")
        self._name = name_or_path
        self._threads = threads
        self.adapter = adapter
        """Folder of the LoRA adapter that is merged in; None for the plain base model."""
        self._bits = bits
        packaged = name_or_path in (None, packages.PLANNER, packages.INSTRUCT)
        self.engine_name: EngineName = engine or ("onnxruntime" if packaged else "transformers")
        """Engine of the model: by default, the fast one for packaged models."""
        self._read_last: tuple[list[int], Logits, Any] | None = None
        self._read_prefixes: list[tuple[list[int], Any]] = []

    @cached_property
    def folder(self) -> Path:
        """Where the weights are; a packaged GGUF is converted on the first call."""
        return planner_folder(self._name) if self._name else planner_folder()

    def count_tokens(self, text: str) -> int:
        """Tokens of a text in the model's vocabulary."""
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """The text's tokens."""
        return list(self._tokenizer.encode(text).ids)

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens."""
        text: str = self._tokenizer.decode(tokens)
        return text

    @cached_property
    def _tokenizer(self) -> Any:
        file = self.folder / "tokenizer.json"
        return _tokenizer_of(file, file.stat().st_mtime_ns)

    @cached_property
    def engine(self) -> Engine:
        """The engine with the model in it; opened on the first call."""
        return open_engine(self.engine_name, self.folder, self._threads, self.adapter, self._bits)

    def read(self, prompt: list[int], shared: int = 0) -> tuple[Logits, Any]:
        """Logits after a prompt, and its cache; the last prompt's are remembered.

        Args:
            prompt: The tokens, at least one.
            shared: Length of the prefix shared with other prompts, shorter than the prompt: it is
                read once while it stays the same.
        """
        last = self._read_last
        if last is None or last[0] != prompt:
            begun = self._prefix(prompt[:shared]) if shared else None
            last = (prompt, *self.engine.forward(prompt[shared:], begun))
            self._read_last = last
        return last[1], last[2]

    def _prefix(self, head: list[int]) -> Any:
        known = next((one for one in self._read_prefixes if one[0] == head), None)
        if known is None:
            known = (head, self.engine.forward(head)[1])
        others = [one for one in self._read_prefixes if one is not known]
        self._read_prefixes = [known, *others][:_PREFIXES]
        return known[1]

    @cached_property
    def _guide(self) -> Any:
        import llguidance

        path = self.folder / "tokenizer.json"
        return llguidance.LLTokenizer(
            str(path), n_vocab=self._vocabulary, eos_token=min(self._ends)
        )

    @cached_property
    def _config(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "config.json").read_text())
        return found

    @property
    def _vocabulary(self) -> int:
        return int(self._config["vocab_size"])

    def bound(
        self,
        prompt: list[int] | Callable[[], list[int]],
        lark: str,
        begin: str = "",
        shared: int = 0,
        until: str | None = "(",
    ) -> tuple[list[int], float, bool]:
        """Decode greedily under a grammar.

        Args:
            prompt: The prompt's tokens, or a function that makes them when the model is run.
            lark: The grammar of all answers, for llguidance.
            begin: How the answer begins.
            shared: See `read`.
            until: Where the part of the answer ends whose probability is returned; None for all
                of it. Then what it begins with may also be repeated.

        Returns:
            The answer's tokens, the probability of what was decoded up to the first `until`, and
            whether the model was run at all.

        Raises:
            ValueError: The grammar is invalid, or no answer under it begins that way.
        """
        import llguidance
        import llguidance.numpy

        matcher = llguidance.LLMatcher(self._guide, llguidance.LLMatcher.grammar_from_lark(lark))
        if matcher.is_error():
            raise ValueError(f"grammar: {matcher.get_error()}")
        mask = llguidance.numpy.allocate_token_bitmask(1, self._vocabulary)
        plan: list[int] = self.encode(begin) if begin else []
        given = len(plan) if until is None else 0
        if plan and not matcher.consume_tokens(plan):
            raise ValueError(f"grammar: no plan begins with {begin!r}")
        confidence = 1.0
        named = bool(plan) and until is not None
        fresh, cache = list(plan), None
        while not matcher.is_stopped() and len(plan) < LONGEST_BOUND:
            forced = matcher.compute_ff_tokens() if plan else []
            if forced:
                matcher.consume_tokens(forced)
                plan += forced
                fresh += forced
                continue
            if cache is None:
                logits, cache = self.read(prompt() if callable(prompt) else prompt, shared)
            if fresh:
                logits, cache = self.engine.forward(fresh, cache)
            llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
            allowed = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")
            after = np.where(allowed[0, : logits.shape[1]], logits[-1], -np.inf)
            token = _unrepeated(after, plan[given:])
            if not named:
                confidence *= _probability(after, token)
            matcher.consume_token(token)
            if token in self._ends:
                break
            plan.append(token)
            fresh = [token]
            named = named or (until is not None and until in self._tokenizer.decode(plan))
        return plan, confidence, cache is not None

    def free(self, prompt: list[int]) -> tuple[list[int], float, bool]:
        """Decode greedily up to a line break; see `bound` for what it returns."""
        plan: list[int] = []
        confidence = 1.0
        logits, cache = self.read(prompt)
        while len(plan) < LONGEST_FREE:
            token = int(logits[-1].argmax())
            text = self._tokenizer.decode([*plan, token])
            if token in self._ends or (text.strip() and "\n" in text):
                break
            if "(" not in text:
                confidence *= _probability(logits[-1], token)
            plan.append(token)
            logits, cache = self.engine.forward([token], cache)
        return plan, confidence, True

    @cached_property
    def _ends(self) -> frozenset[int]:
        ends = self._config["eos_token_id"]
        return frozenset(ends if isinstance(ends, list) else [ends])


@lru_cache(maxsize=4)
def _tokenizer_of(file: Path, written: int) -> Any:
    """Read once for all models of a process, as it takes a third of a second; nobody changes it."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(file))


def _unrepeated(logits: "np.ndarray[Any, Any]", plan: list[int]) -> int:
    """The likeliest token that does not repeat three tokens in a row, if there is one."""
    token = int(logits.argmax())
    pairs = list(pairwise(plan))
    if not pairs:
        return token
    followed = {plan[at + 2] for at, pair in enumerate(pairs[:-1]) if pair == pairs[-1]}
    if token not in followed:
        return token
    fresh = logits.copy()
    fresh[list(followed)] = -np.inf
    return int(fresh.argmax()) if np.isfinite(fresh).any() else token


def _probability(logits: "np.ndarray[Any, Any]", token: int) -> float:
    finite = logits - logits[token]
    return float(1.0 / np.exp(finite[np.isfinite(finite)]).sum())
