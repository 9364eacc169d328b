"""The embedded planner: a small Llama model on the CPU, decoding under a request's grammar."""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.planner.grammar import PlanGrammar
from ctrag.planner.plan import Plan, PlanSyntaxError
from ctrag.planner.weights import load, planner_folder
from ctrag.prompt.planner import PlannerPrompt

LONGEST_PLAN = 120
"""Tokens of a plan at most."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a planner answered."""

    plan: Plan | None
    """None when the answer was no plan; under the grammar that cannot happen."""
    text: str
    """The answer as it came."""
    confidence: float
    """Probability (0 to 1, not calibrated) that the model gave to this API among the possible
    plans, or to the answer's first words when decoding was free."""
    prompt_tokens: int
    plan_tokens: int
    seconds: float


class EmbeddedPlanner:
    """A causal language model from the Llama family, loaded when first used."""

    def __init__(self, name_or_path: str | None = None, threads: int = 2) -> None:
        self._name = name_or_path
        self._threads = threads

    @cached_property
    def folder(self) -> Path:
        """Where the weights are; a packaged GGUF is converted on the first call."""
        return planner_folder(self._name) if self._name else planner_folder()

    def count_tokens(self, text: str) -> int:
        """Tokens of a text in the model's vocabulary."""
        return len(self._tokenizer.encode(text).ids)

    def plan(self, prompt: PlannerPrompt, grammar: PlanGrammar | None) -> Planned:
        """Decode one plan, greedily.

        Args:
            prompt: What the model reads.
            grammar: All plans that are possible; None decodes freely, up to a line break.
        """
        began = time.perf_counter()
        ids = self._prompt_ids(prompt)
        if grammar is None:
            tokens, confidence = self._free(ids)
        else:
            tokens, confidence = self._bound(ids, grammar)
        text = self._tokenizer.decode(tokens).strip()
        try:
            plan = Plan.parse(text)
        except PlanSyntaxError:
            plan = None
        return Planned(plan, text, confidence, len(ids), len(tokens), time.perf_counter() - began)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load(self.folder, self._threads)

    @cached_property
    def _guide(self) -> Any:
        import llguidance.hf

        model, tokenizer = self._loaded
        return llguidance.hf.from_tokenizer(tokenizer, n_vocab=model.config.vocab_size)

    def _prompt_ids(self, prompt: PlannerPrompt) -> list[int]:
        text = (
            f"<|im_start|>system\n{_escaped(prompt.system)}<|im_end|>\n"
            f"<|im_start|>user\n{_escaped(prompt.user)}<|im_end|>\n"
            "<|im_start|>assistant\n"
        )
        return list(self._tokenizer.encode(text).ids)

    def _bound(self, ids: list[int], grammar: PlanGrammar) -> tuple[list[int], float]:
        import llguidance
        import llguidance.numpy
        import torch

        model, _ = self._loaded
        matcher = llguidance.LLMatcher(
            self._guide, llguidance.LLMatcher.grammar_from_lark(grammar.lark)
        )
        if matcher.is_error():
            raise ValueError(f"grammar: {matcher.get_error()}")
        size = model.config.vocab_size
        mask = llguidance.numpy.allocate_token_bitmask(1, size)
        plan: list[int] = []
        confidence = 1.0
        named = False
        fresh, cache = ids, None
        with torch.inference_mode():
            while not matcher.is_stopped() and len(plan) < LONGEST_PLAN:
                forced = [] if not plan and cache is None else matcher.compute_ff_tokens()
                if forced:
                    matcher.consume_tokens(forced)
                    plan += forced
                    fresh = fresh + forced
                    continue
                output = model(
                    input_ids=torch.tensor([fresh]),
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                cache = output.past_key_values
                llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
                allowed = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")
                logits = output.logits[0, -1].numpy()
                logits = np.where(allowed[0, : len(logits)], logits, -np.inf)
                token = int(logits.argmax())
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
        import torch

        model, _ = self._loaded
        plan: list[int] = []
        confidence = 1.0
        fresh, cache = ids, None
        with torch.inference_mode():
            while len(plan) < LONGEST_PLAN:
                output = model(
                    input_ids=torch.tensor([fresh]),
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                cache = output.past_key_values
                logits = output.logits[0, -1].numpy()
                token = int(logits.argmax())
                text = self._tokenizer.decode([*plan, token])
                if token in self._ends or (text.strip() and "\n" in text):
                    break
                if "(" not in text:
                    confidence *= _probability(logits, token)
                plan.append(token)
                fresh = [token]
        return plan, confidence

    @cached_property
    def _ends(self) -> frozenset[int]:
        model, tokenizer = self._loaded
        ends = model.generation_config.eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        return frozenset(
            token for token in [*listed, tokenizer.eos_token_id] if isinstance(token, int)
        )


def _probability(logits: "np.ndarray[Any, Any]", token: int) -> float:
    finite = logits - logits[token]
    return float(1.0 / np.exp(finite[np.isfinite(finite)]).sum())


def _escaped(text: str) -> str:
    """Text of items cannot end the user's turn."""
    return text.replace("<|", "< |")
