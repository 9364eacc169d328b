"""The small language model: text in and out, greedily, also under a grammar."""

import json
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.errors import InputError
from ctrag.extras import need
from ctrag.models import packages
from ctrag.models.lm_engine import CPU, Engine, EngineName, Logits, open_engine
from ctrag.models.lm_tokenizer import LmTokenizer
from ctrag.models.lm_weights import planner_folder
from ctrag.models.placement import Placement
from ctrag.models.tokenizer_files import load_tokenizer

_TURNS, _SHORTEST_LOOP = 3, 15
"""Turns that make a loop, of at least so many tokens: "ha ha ha" and "555 555 555" are none."""
LONGEST_BOUND = 600
"""Tokens of an answer under a grammar at most; the grammar's own bounds are tighter."""
LONGEST_FREE = 120
"""Tokens of a freely decoded answer at most."""
_PREFIXES = 2
"""Shared prefixes whose caches are kept."""
_RESUMABLE = 4
"""Readings whose caches are kept to go on from."""


class LanguageModel:
    """A causal language model of the Llama family, loaded when first used.

    `bits` is the precision of the graph's weights, 8 or None for float32; `placement` is where
    transformers runs the model.
    """

    def __init__(
        self,
        name_or_path: str | None = None,
        threads: int = 2,
        adapter: Path | None = None,
        engine: EngineName | None = None,
        bits: int | None = None,
        placement: Placement = CPU,
    ) -> None:
        need("the language model", "torch", "transformers", "llguidance", extra="assistant")
        self.name = name_or_path or packages.PLANNER
        """Name, folder or hub name of the model."""
        self._threads = threads
        self.adapter = adapter
        """Folder of the LoRA adapter that is merged in; None for the plain base model."""
        self._bits = bits
        self._placement = placement
        packaged = name_or_path in (None, packages.PLANNER, packages.INSTRUCT)
        self.engine_name: EngineName = engine or ("onnxruntime" if packaged else "transformers")
        """Engine of the model: by default, the fast one for packaged models."""
        if self.engine_name == "onnxruntime" and not placement.here:
            raise InputError(
                f"device {placement.device}, bits {placement.bits}: the onnxruntime engine runs on "
                "the processor; set CTRAG_PLANNER_ENGINE=transformers"
            )
        self._read_last: tuple[list[int], Logits, Any] | None = None
        self._read_prefixes: list[tuple[list[int], Any]] = []
        self._resumable: list[tuple[list[int], Any]] = []

    @cached_property
    def folder(self) -> Path:
        """Where the weights are; a packaged GGUF is converted on the first call."""
        return planner_folder(self.name)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text in the model's vocabulary."""
        return len(self.encode(text))

    def begin(self, text: str) -> list[int]:
        """Tokens of a text that nothing stands before, as prompts are read."""
        return self.tokenizer.prompt(text)

    def encode(self, text: str) -> list[int]:
        """Tokens of a text that goes on from another."""
        return self.tokenizer.encode(text)

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens."""
        return self.tokenizer.decode(tokens)

    @cached_property
    def tokenizer(self) -> LmTokenizer:
        """The model's tokenizer."""
        written = max((one.stat().st_mtime_ns for one in self.folder.iterdir()), default=0)
        return _tokenizer_of(self.folder, written)

    @cached_property
    def engine(self) -> Engine:
        """The engine with the model in it; opened on the first call."""
        return open_engine(
            self.engine_name,
            self.folder,
            self._threads,
            self.adapter,
            self._bits,
            self._placement,
        )

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

    def _read_on(self, tokens: list[int], shared: int) -> tuple[Logits, Any]:
        """Logits after tokens, and their cache; only what follows the longest beginning that was
        read since `forget` is read now."""
        read = [(_same(tokens[:-1], one), cache) for one, cache in self._resumable]
        length, cache = max(read, key=lambda one: one[0], default=(0, None))
        if length > shared:
            return self.engine.forward(tokens[length:], self.engine.cut(cache, length))
        begun = self._prefix(tokens[:shared]) if shared else None
        return self.engine.forward(tokens[shared:], begun)

    def forget(self) -> None:
        """Forget what `bound` has read to go on from."""
        self._resumable = []

    @cached_property
    def _guide(self) -> Any:
        return self.tokenizer.guide(self._vocabulary, sorted(self._ends))

    @cached_property
    def _config(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "config.json").read_text())
        return found

    @property
    def _vocabulary(self) -> int:
        return max(int(self._config["vocab_size"]), self.tokenizer.size)

    def bound(
        self,
        prompt: list[int] | Callable[[], list[int]],
        lark: str,
        begin: str = "",
        shared: int = 0,
        until: str | None = "(",
        resume: bool = False,
    ) -> tuple[list[int], float, bool]:
        """Decode greedily under a grammar.

        Args:
            prompt: The prompt's tokens, or a function that makes them when the model is run.
            lark: The grammar of all answers, for llguidance.
            begin: How the answer begins.
            shared: See `read`.
            until: Where the part of the answer ends whose probability is returned; None for all
                of it. Then what it begins with may also be repeated.
            resume: Whether to go on from what was read since `forget`, prompts and answers.

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
        plan: list[int] = self.tokenizer.spell(begin) if begin else []
        given = len(plan) if until is None else 0
        if plan and not matcher.consume_tokens(plan):
            raise ValueError(f"grammar: no plan begins with {begin!r}")
        confidence = 1.0
        named = bool(plan) and until is not None
        fresh, cache = list(plan), None
        read: list[int] = []
        while not matcher.is_stopped() and len(plan) < LONGEST_BOUND:
            forced = matcher.compute_ff_tokens() if plan else []
            if forced:
                matcher.consume_tokens(forced)
                plan += forced
                fresh += forced
                continue
            if cache is None:
                asked = prompt() if callable(prompt) else prompt
                read = [*asked]
                if resume:
                    read += fresh
                    logits, cache = self._read_on(read, shared)
                    fresh = []
                else:
                    logits, cache = self.read(asked, shared)
            if fresh:
                logits, cache = self.engine.forward(fresh, cache)
                read += fresh
            llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
            allowed = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")[0]
            after = np.where(allowed[: logits.shape[1]], logits[-1], -np.inf)
            if not np.isfinite(after).any():
                break  # what must follow has signs that the vocabulary cannot spell
            token = (_unlooped if until is None else _unrepeated)(after, plan[given:])
            if not named:
                confidence *= _probability(after, token)
            matcher.consume_token(token)
            if token in self._ends:
                break
            plan.append(token)
            fresh = [token]
            named = named or (until is not None and until in self.decode(plan))
        if resume and cache is not None:
            self._resumable = [(read, cache), *self._resumable][:_RESUMABLE]
        return plan, confidence, cache is not None

    def free(self, prompt: list[int]) -> tuple[list[int], float, bool]:
        """Decode greedily up to a line break; see `bound` for what it returns."""
        plan: list[int] = []
        confidence = 1.0
        logits, cache = self.read(prompt)
        while len(plan) < LONGEST_FREE:
            token = int(logits[-1].argmax())
            text = self.decode([*plan, token])
            if token in self._ends or (text.strip() and "\n" in text):
                break
            if "(" not in text:
                confidence *= _probability(logits[-1], token)
            plan.append(token)
            logits, cache = self.engine.forward([token], cache)
        return plan, confidence, True

    @cached_property
    def _ends(self) -> frozenset[int]:
        ends = self._config.get("eos_token_id")
        found = set(ends if isinstance(ends, list) else [] if ends is None else [ends])
        found.update(self.tokenizer.end)
        if not found:
            raise InputError(f"{self.folder}: neither config.json nor the tokenizer names an end")
        return frozenset(found)


@lru_cache(maxsize=4)
def _tokenizer_of(folder: Path, written: int) -> LmTokenizer:
    """Read once for all models of a process, as it takes a third of a second; nobody changes it."""
    return load_tokenizer(folder)


def _same(tokens: list[int], others: list[int]) -> int:
    """How many tokens two sequences begin with alike."""
    pairs = enumerate(zip(tokens, others, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(tokens), len(others)))


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


def _unlooped(logits: "np.ndarray[Any, Any]", plan: list[int]) -> int:
    """The likeliest token that does not go round in a circle, if there is one.

    A text may say "the 3rd but not the 4th", whose numbers are single digits; three times the
    same in a row are a loop.
    """
    fresh = logits
    while True:
        token = int(fresh.argmax())
        if not _loops([*plan, token]):
            return token
        if fresh is logits:
            fresh = logits.copy()
        fresh[token] = -np.inf
        if not np.isfinite(fresh).any():
            return int(logits.argmax())


def _loops(plan: list[int]) -> bool:
    for size in range(1, len(plan) // _TURNS + 1):
        turns = max(_TURNS, -(-_SHORTEST_LOOP // size))
        last = plan[-size:]
        if len(plan) >= size * turns and all(
            plan[-size * (turn + 1) : -size * turn] == last for turn in range(1, turns)
        ):
            return True
    return False


def _probability(logits: "np.ndarray[Any, Any]", token: int) -> float:
    finite = logits - logits[token]
    return float(1.0 / np.exp(finite[np.isfinite(finite)]).sum())
