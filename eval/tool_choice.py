"""Which of the exposed tools a language model calls: the one whose name is likeliest as a whole."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ctrag.planner.weights import load, planner_folder
from ctrag.prompt.chat import END, closing, opening

ASK = "Which tool is called next? Answer with its name alone."


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model's choice."""

    name: str
    prompt_tokens: int
    """Of the whole prompt in the model's vocabulary."""
    computed_tokens: int
    """Those that were not in the cache of the prompt before."""


class ToolChooser(Protocol):
    """Anything that names one of the tools in a prompt."""

    def choose(self, system: str, user: str, names: Sequence[str]) -> Chosen:
        """One of `names`; an empty name when the model gave none of them."""
        ...


class WindowExceeded(ValueError):
    """A prompt is longer than the model can read."""


class EmbeddedChooser:
    """The embedded planner's base model; what two prompts in a row share is read once."""

    def __init__(self, name_or_path: str | None = None, threads: int = 2) -> None:
        self._name = name_or_path
        self._threads = threads
        self._ids: list[int] = []
        self._cache: Any = None

    @cached_property
    def folder(self) -> Path:
        """Where the weights are."""
        return planner_folder(self._name) if self._name else planner_folder()

    @cached_property
    def window(self) -> int:
        """Tokens that the model reads at most."""
        return int(self._loaded[0].config.max_position_embeddings)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load(self.folder, self._threads)

    def opening_tokens(self, system: str, user: str) -> int:
        """Tokens of a prompt that begins so, up to here."""
        return len(self._loaded[1](opening(system, user), add_special_tokens=False).input_ids)

    def choose(self, system: str, user: str, names: Sequence[str]) -> Chosen:
        """See `ToolChooser.choose`.

        Raises:
            ValueError: There is no name.
            WindowExceeded: The prompt is too long.
        """
        if not names:
            raise ValueError("names: there is none to choose from")
        tokenizer = self._loaded[1]
        ids = list(tokenizer(opening(system) + closing(user), add_special_tokens=False).input_ids)
        spelled = {
            name: tuple(tokenizer(name + END, add_special_tokens=False).input_ids) for name in names
        }
        longest = len(ids) + max(len(one) for one in spelled.values())
        if longest > self.window:
            raise WindowExceeded(f"{longest} tokens for a window of {self.window}")
        same = self._shared(ids)
        known = {(): self._read(ids[same:], same)}
        self._ids = list(ids)

        def after(path: tuple[int, ...], keep: int) -> NDArray[np.float64]:
            return known[path] if path in known else self._read(path, len(ids), keep)

        return Chosen(likeliest(spelled, after), len(ids), len(ids) - same)

    def _shared(self, ids: Sequence[int]) -> int:
        most = min(len(ids) - 1, len(self._ids))
        return next((at for at in range(most) if ids[at] != self._ids[at]), most)

    def _read(self, tokens: Sequence[int], since: int, keep: int = 1) -> NDArray[np.float64]:
        """Log-probabilities after the last `keep` tokens, which stand behind `since` others."""
        import torch
        from transformers import DynamicCache

        model, _ = self._loaded
        if self._cache is None:
            self._cache = DynamicCache()
        beyond = self._cache.get_seq_length() - since
        if beyond > 0:
            self._cache.crop(-beyond)
        with torch.inference_mode():
            found = model(
                input_ids=torch.tensor([list(tokens)]),
                past_key_values=self._cache,
                use_cache=True,
                logits_to_keep=keep,
            )
            logs = torch.log_softmax(found.logits[0].double(), dim=-1)
        return np.asarray(logs.numpy())


def likeliest(
    spelled: Mapping[str, tuple[int, ...]],
    after: Callable[[tuple[int, ...], int], NDArray[np.float64]],
) -> str:
    """The name with the highest log-probability, summed over all its tokens; exact.

    Whatever begins a name is followed in the order of its probability. A name only gets less
    likely with every token, so that the first one that is complete is the best.

    Args:
        spelled: Tokens of each name; none begins with all tokens of another.
        after: Log-probabilities of the next token after each of the last so many tokens of a
            path, (so many, vocabulary); the path begins behind the prompt.
    """
    names = list(spelled)
    if len(names) == 1:
        return names[0]
    heap: list[tuple[float, tuple[int, ...], list[str]]] = [(0.0, (), names)]
    while True:
        minus, path, left = heapq.heappop(heap)
        whole = spelled[left[0]]
        if len(path) == len(whole):
            return left[0]
        if len(left) == 1:
            rest = whole[len(path) :]
            rows = after(whole[:-1], len(rest))
            told = float(rows[np.arange(len(rest)), rest].sum())
            heapq.heappush(heap, (minus - told, whole, left))
            continue
        [row] = after(path, 1)
        for token in sorted({spelled[name][len(path)] for name in left}):
            through = [name for name in left if spelled[name][len(path)] == token]
            heapq.heappush(heap, (minus - float(row[token]), (*path, token), through))


class EndpointChooser:
    """Any chat-completions endpoint; a name that is not among the tools counts as none."""

    def __init__(self, base_url: str, model: str, api_key: str, timeout: float = 60.0) -> None:
        self._base_url, self._model = base_url, model
        self._api_key, self._timeout = api_key, timeout

    def choose(self, system: str, user: str, names: Sequence[str]) -> Chosen:
        """See `ToolChooser.choose`.

        Raises:
            EndpointError: The endpoint cannot be reached or refuses.
        """
        import openai

        from ctrag.planner.endpoint import EndpointError

        with openai.OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout,
            max_retries=3,
        ) as client:
            try:
                answer: Any = client.chat.completions.create(
                    model=self._model,
                    messages=[
                        {"role": "system", "content": system},
                        {"role": "user", "content": user},
                    ],
                    temperature=0,
                    max_tokens=40,
                )
                said = (answer.choices[0].message.content or "").strip().strip("`")
            except (openai.OpenAIError, AttributeError, IndexError, TypeError) as error:
                raise EndpointError(f"{type(error).__name__}: {error}") from error
        used = getattr(answer, "usage", None)
        tokens = int(getattr(used, "prompt_tokens", 0) or 0)
        name = said.partition("(")[0].strip()
        return Chosen(name if name in names else "", tokens, tokens)


def asking(instruction: str, calls: Sequence[str]) -> str:
    """The user's turn of a step."""
    so_far = "; ".join(one if len(one) <= 90 else f"{one[:89]}…" for one in calls) or "none"
    return f"{instruction}\nCalls so far: {so_far}\n{ASK}"
