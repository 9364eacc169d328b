"""Who writes thoughts: the embedded planner's model, or an OpenAI-compatible endpoint."""

import copy
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from ctrag.assistant.planning.endpoint import bare
from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.endpoint import ChatEndpoint
from ctrag.models.lm_weights import load, planner_folder
from ctrag.settings import Settings
from eval.context.thought import ThoughtWriter

LONGEST_THOUGHT = 40
"""Tokens at most."""
BATCH = 16
"""Prompts that are answered at once."""


def thought_writer(name: str, options: Settings) -> ThoughtWriter:
    """The writer of that name, `embedded` or `openai`, as the planner of that name is set.

    Raises:
        ModelMissing: The embedded model is not on this machine.
        ValueError: There is no such writer, or the endpoint has no model name.
    """
    if name == "embedded":
        return EmbeddedThoughts(options.planner_model, options.threads)
    if name == "openai":
        key = options.openai_api_key.get_secret_value() or os.environ.get("OPENAI_API_KEY", "")
        return EndpointThoughts(
            options.openai_base_url, options.openai_model, key, options.openai_timeout
        )
    raise InputError(f"planner: must be embedded or openai, not {name!r}")


class EmbeddedThoughts:
    """A small causal language model, decoding greedily up to a line break."""

    def __init__(self, name_or_path: str = packages.PLANNER, threads: int = 2) -> None:
        """Nothing is loaded before the first thought.

        Raises:
            ModelMissing: The weights are not on this machine.
        """
        self.name = Path(name_or_path).name
        self.identity = f"{name_or_path} {_stamp(packages.find(name_or_path))} {LONGEST_THOUGHT}"
        self._name_or_path = name_or_path
        self._threads = threads

    def write(self, prompts: Sequence[str]) -> Iterator[list[str]]:
        """See `ThoughtWriter.write`; what all prompts begin with is read by the model once."""
        _, tokenizer = self._loaded
        ids: list[list[int]] = [tokenizer(prompt)["input_ids"] for prompt in prompts]
        shared = _shared(ids)
        prefix = self._prefix(ids[0][:shared])
        for start in range(0, len(ids), BATCH):
            yield self._decode([row[shared:] for row in ids[start : start + BATCH]], shared, prefix)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load(planner_folder(self._name_or_path), self._threads)

    def _prefix(self, ids: list[int]) -> Any:
        """The model's keys and values of `ids`; None when there are none."""
        import torch

        if not ids:
            return None
        model, _ = self._loaded
        with torch.inference_mode():
            read = model(input_ids=torch.tensor([ids]), use_cache=True, logits_to_keep=1)
        return read.cache

    def _decode(self, rows: list[list[int]], shared: int, prefix: Any) -> list[str]:
        """Greedy continuations of several prompts, of which `prefix` holds `shared` tokens."""
        import torch

        model, tokenizer = self._loaded
        longest = max(map(len, rows))
        # Filled up on the left, between the prefix and the rest: the last tokens stand aligned.
        fresh = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
        seen = torch.tensor(
            [[1] * shared + [0] * (longest - len(row)) + [1] * len(row) for row in rows]
        )
        places = (seen.cumsum(1) - 1).clamp(min=0)[:, shared:]
        cache = copy.deepcopy(prefix)
        if cache is not None:
            cache.batch_repeat_interleave(len(rows))
        ends = {tokenizer.eos_token_id}
        answers: list[list[int]] = [[] for _ in rows]
        with torch.inference_mode():
            for _ in range(LONGEST_THOUGHT):
                read = model(
                    input_ids=fresh,
                    attention_mask=seen,
                    position_ids=places,
                    cache=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                cache = read.cache
                chosen = read.logits[:, -1].argmax(-1)
                for answer, token in zip(answers, chosen.tolist(), strict=True):
                    answer.append(token)
                if all(_ended(answer, ends, tokenizer) for answer in answers):
                    break
                fresh = chosen[:, None]
                seen = torch.cat([seen, seen.new_ones(len(rows), 1)], dim=1)
                places = places[:, -1:] + 1
        return [
            tokenizer.decode(list(takewhile(lambda token: token not in ends, answer)))
            for answer in answers
        ]


class EndpointThoughts:
    """Asks a chat-completions endpoint, one prompt after the other."""

    def __init__(self, base_url: str, model: str, api_key: str, timeout: float = 60.0) -> None:
        """As the endpoint planner.

        Raises:
            ValueError: `model` is empty.
        """
        self.name = model
        self.identity = f"{base_url} {model}"
        self._endpoint = ChatEndpoint(base_url, model, api_key, timeout)

    def write(self, prompts: Sequence[str]) -> Iterator[list[str]]:
        """See `ThoughtWriter.write`.

        Raises:
            EndpointError: The endpoint cannot be reached or refuses.
        """
        for prompt in prompts:
            chat = [{"role": "user", "content": prompt}]
            yield [bare(self._endpoint.complete(chat, temperature=0, max_tokens=200).text)]


def _stamp(folder: Path) -> str:
    """Tells weights that were put in the place of others."""
    held = sorted([*folder.glob("*.safetensors"), *folder.glob("*.gguf")])
    return " ".join(f"{one.name}:{one.stat().st_size}:{one.stat().st_mtime_ns}" for one in held)


def _shared(rows: Sequence[list[int]]) -> int:
    """How many tokens all rows begin with, one less than the shortest row at most."""
    first, last = min(rows), max(rows)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return min(sum(1 for _ in alike), len(first) - 1, min(map(len, rows)) - 1)


def _ended(answer: list[int], ends: set[int], tokenizer: Any) -> bool:
    if not ends.isdisjoint(answer):
        return True
    text: str = tokenizer.decode(answer)
    return bool(text.strip()) and "\n" in text.lstrip()
