"""The embedded planner: a small Llama model on the CPU, decoding under a request's grammar."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.interface import Planned, PlanRequest
from ctrag.assistant.planning.plan import NONE, Plan, PlanSyntaxError
from ctrag.assistant.planning.planner_prompt import PlannerPrompt
from ctrag.extras import need
from ctrag.models import packages
from ctrag.models.chat_markup import closing, opening
from ctrag.models.lm_engine import Engine, EngineName, Logits, open_engine
from ctrag.models.lm_weights import planner_folder

LONGEST_PLAN = 600
"""Tokens of a plan under a grammar at most, which the grammar's own bounds keep it below."""
_HEADS = 2
"""Beginnings of prompts that are remembered: what calls are chosen and filled in by."""
LONGEST_FREE = 120
"""Tokens of a freely decoded answer at most."""


class EmbeddedPlanner:
    """A causal language model from the Llama family, loaded when first used."""

    def __init__(
        self,
        name_or_path: str | None = None,
        threads: int = 2,
        adapter: Path | None = None,
        engine: EngineName | None = None,
        write_text: bool | None = None,
    ) -> None:
        self._name = name_or_path
        self._threads = threads
        need("the embedded planner", "torch", "transformers", "llguidance", extra="assistant")
        self._write_text = write_text
        self.adapter = adapter
        """Folder of the LoRA adapter that is merged in; None for the base as it is."""
        packaged = name_or_path in (None, packages.PLANNER)
        self.engine_name: EngineName = engine or ("onnxruntime" if packaged else "transformers")
        """What runs the model: unless said otherwise, the fast engine for the packaged model."""
        self._read_last: tuple[list[int], Logits, Any] | None = None
        self._read_heads: list[tuple[list[int], Any]] = []

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

    @property
    def best_only(self) -> bool:
        """True: the model is too small to choose values."""
        return True

    @property
    def brief(self) -> bool:
        """Whether it knows the packaged APIs by training."""
        return self.adapter is not None

    @property
    def writes_text(self) -> bool:
        """With an adapter, unless the constructor was told otherwise."""
        return self.adapter is not None if self._write_text is None else self._write_text

    @property
    def writes_outward(self) -> bool:
        """Only where the constructor was told so: the small model invents facts there."""
        return bool(self._write_text)

    def plan(self, request: PlanRequest) -> Planned:
        """Decode one plan, greedily.

        With preferences, the best API that the grammar allows is called and the model fills in its
        arguments; without them the model chooses the API too. It is not asked for what the grammar
        leaves no choice in.
        """
        began = time.perf_counter()
        prompt = _PromptIds(lambda: self._prompt_ids(request.prompt()))
        grammar, preferences = request.grammar, request.preferences
        alternative = None
        if grammar is None:
            tokens, confidence, _ = self._free(prompt())
            made = self._parsed(tokens)
        elif preferences is None:
            tokens, confidence, _ = self.bound(prompt, grammar.lark)
            made = self._parsed(tokens)
            confidence *= 1.0 if made.plan is None else grammar.belief.get(made.plan.api, 1.0)
        else:
            api, confidence = _choice(grammar, preferences)
            confidence *= grammar.belief.get(api, 1.0)
            made = self._call(api, grammar, prompt)
            if confidence < request.sure:
                rest = {one: preferences[one] for one in preferences if one not in (api, NONE.api)}
                second, _ = _choice(grammar, rest)
                if second != NONE.api:
                    alternative = self._call(second, grammar, prompt).plan
        return Planned(
            made.plan,
            made.text,
            confidence,
            len(prompt.ids),
            made.tokens,
            time.perf_counter() - began,
            self.engine_name if prompt.ids else "",
            alternative,
        )

    def _call(self, api: str, grammar: PlanGrammar, prompt: "_PromptIds") -> "_Decoded":
        """The call of one API, or `none()`."""
        if api == NONE.api:
            return _Decoded(NONE, str(NONE), 0)
        return self._parsed(self.bound(prompt, grammar.lark, f"{api}(")[0])

    def _parsed(self, tokens: list[int]) -> "_Decoded":
        text = self._tokenizer.decode(tokens).strip()
        try:
            return _Decoded(Plan.parse(text), text, len(tokens))
        except PlanSyntaxError:
            return _Decoded(None, text, len(tokens))

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def engine(self) -> Engine:
        """The engine with the model in it; opened on the first call."""
        return open_engine(self.engine_name, self.folder, self._threads, self.adapter)

    def read(self, prompt: list[int], shared: int = 0) -> tuple[Logits, Any]:
        """Logits after a prompt, and its cache; the last prompt's are remembered.

        Args:
            prompt: What the model reads, at least one token.
            shared: How many tokens other prompts begin with too, fewer than all: they are read
                once as long as they stay the same.
        """
        last = self._read_last
        if last is None or last[0] != prompt:
            begun = self._begun(prompt[:shared]) if shared else None
            last = (prompt, *self.engine.forward(prompt[shared:], begun))
            self._read_last = last
        return last[1], last[2]

    def _begun(self, head: list[int]) -> Any:
        known = next((one for one in self._read_heads if one[0] == head), None)
        if known is None:
            known = (head, self.engine.forward(head)[1])
        others = [one for one in self._read_heads if one is not known]
        self._read_heads = [known, *others][:_HEADS]
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

    def _prompt_ids(self, prompt: PlannerPrompt) -> list[int]:
        text = opening(prompt.system) + closing(prompt.user)
        return self.encode(text)

    def bound(
        self,
        prompt: list[int] | Callable[[], list[int]],
        lark: str,
        begin: str = "",
        shared: int = 0,
    ) -> tuple[list[int], float, bool]:
        """Decode greedily under a grammar.

        Args:
            prompt: Tokens that the model reads first, or what makes them once it is asked.
            lark: The grammar of all answers, for llguidance.
            begin: How the answer begins.
            shared: See `read`.

        Returns:
            The answer's tokens, the probability of its text up to the first "(", and whether the
            model had to be asked at all.

        Raises:
            ValueError: The grammar is none, or no answer under it begins that way.
        """
        import llguidance
        import llguidance.numpy

        matcher = llguidance.LLMatcher(self._guide, llguidance.LLMatcher.grammar_from_lark(lark))
        if matcher.is_error():
            raise ValueError(f"grammar: {matcher.get_error()}")
        mask = llguidance.numpy.allocate_token_bitmask(1, self._vocabulary)
        plan: list[int] = self.encode(begin) if begin else []
        if plan and not matcher.consume_tokens(plan):
            raise ValueError(f"grammar: no plan begins with {begin!r}")
        confidence = 1.0
        named = bool(plan)
        fresh, cache = list(plan), None
        while not matcher.is_stopped() and len(plan) < LONGEST_PLAN:
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
            token = _unrepeated(after, plan)
            if not named:
                confidence *= _probability(after, token)
            matcher.consume_token(token)
            if token in self._ends:
                break
            plan.append(token)
            fresh = [token]
            named = named or "(" in self._tokenizer.decode(plan)
        return plan, confidence, cache is not None

    def _free(self, prompt: list[int]) -> tuple[list[int], float, bool]:
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


@dataclass(frozen=True, slots=True)
class _Decoded:
    plan: Plan | None
    text: str
    tokens: int


class _PromptIds:
    """Tokens of a prompt, made when they are first needed."""

    def __init__(self, make: Callable[[], list[int]]) -> None:
        self._make = make
        self.ids: list[int] = []
        """Empty as long as nobody has needed them."""

    def __call__(self) -> list[int]:
        if not self.ids:
            self.ids = self._make()
        return self.ids


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


def _choice(grammar: PlanGrammar, preferences: Mapping[str, float]) -> tuple[str, float]:
    """The best API (or `none`) that the grammar allows, and its share of all of them."""
    possible = [api for api in (*grammar.apis, NONE.api) if api in preferences]
    if not possible:
        return NONE.api, 1.0
    scores = np.array([preferences[api] for api in possible])
    shares = np.exp(scores - scores.max())
    best = int(scores.argmax())
    return possible[best], float(shares[best] / shares.sum())


def _probability(logits: "np.ndarray[Any, Any]", token: int) -> float:
    finite = logits - logits[token]
    return float(1.0 / np.exp(finite[np.isfinite(finite)]).sum())
