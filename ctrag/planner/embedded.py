"""The embedded planner: a small Llama model on the CPU, decoding under a request's grammar."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.planner.grammar import PlanGrammar
from ctrag.planner.plan import NONE, Plan, PlanSyntaxError
from ctrag.planner.weights import load, planner_folder
from ctrag.prompt.chat import closing, opening
from ctrag.prompt.planner import PlannerPrompt

LONGEST_PLAN = 600
"""Tokens of a plan under a grammar at most, which the grammar's own bounds keep it below."""
LONGEST_FREE = 120
"""Tokens of a freely decoded answer at most."""
VALUES_COUNT = 0.5
"""What the logarithm of the belief in an API's values counts beside that of the API itself; chosen
on people of the training data that were held out (docs/log.md)."""
_LEAST = 1e-3


@dataclass(frozen=True, slots=True)
class Planned:
    """What a planner answered."""

    plan: Plan | None
    """None when the answer was no plan; under the grammar that cannot happen."""
    text: str
    """The answer as it came."""
    confidence: float
    """Probability, 0 to 1, of the plan: of its API among the possible ones (from tool retrieval
    where it chose, else the model's own) times that of its arguments' values."""
    prompt_tokens: int
    plan_tokens: int
    seconds: float


class EmbeddedPlanner:
    """A causal language model from the Llama family, loaded when first used."""

    def __init__(
        self, name_or_path: str | None = None, threads: int = 2, adapter: Path | None = None
    ) -> None:
        self._name = name_or_path
        self._threads = threads
        self.adapter = adapter
        """Folder of the LoRA adapter that is merged in; None for the base as it is."""

    @cached_property
    def folder(self) -> Path:
        """Where the weights are; a packaged GGUF is converted on the first call."""
        return planner_folder(self._name) if self._name else planner_folder()

    def count_tokens(self, text: str) -> int:
        """Tokens of a text in the model's vocabulary."""
        return len(self._tokenizer.encode(text).ids)

    def plan(
        self,
        prompt: PlannerPrompt,
        grammar: PlanGrammar | None,
        preferences: Mapping[str, float] | None = None,
    ) -> Planned:
        """Decode one plan, greedily.

        Args:
            prompt: What the model reads.
            grammar: All plans that are possible; None decodes freely, up to a line break.
            preferences: Log-scale score of each API and of `none`, from tool retrieval: the best
                one that the grammar allows is called, and the model fills in its arguments. With
                None the model chooses the API too.
        """
        began = time.perf_counter()
        if grammar is not None and preferences is not None:
            api, chosen = _choice(grammar, preferences)
            if api == NONE.api:
                return Planned(NONE, str(NONE), chosen, 0, 0, time.perf_counter() - began)
            ids = self._prompt_ids(prompt)
            tokens, _ = self._bound(ids, grammar, f"{api}(")
            confidence = chosen * grammar.belief.get(api, 1.0)
        else:
            ids = self._prompt_ids(prompt)
            tokens, confidence = (
                self._free(ids) if grammar is None else self._bound(ids, grammar, "")
            )
        text = self._tokenizer.decode(tokens).strip()
        try:
            plan = Plan.parse(text)
        except PlanSyntaxError:
            plan = None
        if grammar is not None and preferences is None and plan is not None:
            confidence *= grammar.belief.get(plan.api, 1.0)
        return Planned(plan, text, confidence, len(ids), len(tokens), time.perf_counter() - began)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load(self.folder, self._threads, self.adapter)

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
        return list(self._tokenizer.encode(text).ids)

    def _bound(self, ids: list[int], grammar: PlanGrammar, begin: str) -> tuple[list[int], float]:
        import llguidance
        import llguidance.numpy

        matcher = llguidance.LLMatcher(
            self._guide, llguidance.LLMatcher.grammar_from_lark(grammar.lark)
        )
        if matcher.is_error():
            raise ValueError(f"grammar: {matcher.get_error()}")
        mask = llguidance.numpy.allocate_token_bitmask(1, self._vocabulary)
        plan: list[int] = list(self._tokenizer.encode(begin).ids) if begin else []
        if plan and not matcher.consume_tokens(plan):
            raise ValueError(f"grammar: no plan begins with {begin!r}")
        confidence = 1.0
        named = bool(plan)
        fresh, cache = ids + plan, None
        while not matcher.is_stopped() and len(plan) < LONGEST_PLAN:
            forced = [] if not plan and cache is None else matcher.compute_ff_tokens()
            if forced:
                matcher.consume_tokens(forced)
                plan += forced
                fresh = fresh + forced
                continue
            logits, cache = self._forward(fresh, cache)
            llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
            allowed = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")
            logits = np.where(allowed[0, : len(logits)], logits, -np.inf)
            token = _unrepeated(logits, plan)
            if not named:
                confidence *= _probability(logits, token)
            matcher.consume_token(token)
            if token in self._ends:
                break
            plan.append(token)
            fresh = [token]
            named = named or "(" in self._tokenizer.decode(plan)
        return plan, confidence

    def _free(self, ids: list[int]) -> tuple[list[int], float]:
        plan: list[int] = []
        confidence = 1.0
        fresh, cache = ids, None
        while len(plan) < LONGEST_FREE:
            logits, cache = self._forward(fresh, cache)
            token = int(logits.argmax())
            text = self._tokenizer.decode([*plan, token])
            if token in self._ends or (text.strip() and "\n" in text):
                break
            if "(" not in text:
                confidence *= _probability(logits, token)
            plan.append(token)
            fresh = [token]
        return plan, confidence

    def _forward(self, tokens: list[int], cache: Any) -> tuple[Any, Any]:
        """Logits after the last token, and the cache that holds all tokens so far."""
        import torch

        model, _ = self._loaded
        with torch.inference_mode():
            output = model(
                input_ids=torch.tensor([tokens]),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        return output.logits[0, -1].numpy(), output.past_key_values

    @cached_property
    def _ends(self) -> frozenset[int]:
        ends = self._config["eos_token_id"]
        return frozenset(ends if isinstance(ends, list) else [ends])


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
    """The best API (or `none`) that the grammar allows, and its share of all of them.

    An API whose arguments are hard to fill in is the less likely one: what retrieval says of it and
    the belief in its values are weighed together (`VALUES_COUNT`).
    """
    possible = [api for api in (*grammar.apis, NONE.api) if api in preferences]
    if not possible:
        return NONE.api, 1.0
    scores = np.array([preferences[api] for api in possible])
    beliefs = np.array([grammar.belief.get(api, 1.0) for api in possible])
    shares = np.exp(scores - scores.max())
    best = int((scores + VALUES_COUNT * np.log(np.maximum(beliefs, _LEAST))).argmax())
    return possible[best], float(shares[best] / shares.sum())


def _probability(logits: "np.ndarray[Any, Any]", token: int) -> float:
    finite = logits - logits[token]
    return float(1.0 / np.exp(finite[np.isfinite(finite)]).sum())
