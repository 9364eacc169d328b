"""Which of the exposed tools a language model calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ctrag.errors import InputError
from ctrag.errors import WindowExceeded as WindowExceeded
from ctrag.models.chat_markup import END, closing, opening
from ctrag.models.lm_weights import load, planner_folder
from eval.instructions.name_choice import Logs, Ways, likeliest, ways_of

ASK = "Which tool is called next? Answer with its name alone."


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model's choice."""

    name: str
    """Likeliest as a whole: what decoding bound to the names would say."""
    prompt_tokens: int
    """Of the whole prompt in the model's vocabulary."""
    computed_tokens: int
    """Those that it does not begin with as the prompt asked before did."""


class ToolChooser(Protocol):
    """Anything that names one of the tools in a prompt."""

    @property
    def model(self) -> str:
        """Distinguishes the choices of one model from those of another."""
        ...

    def choose(self, system: str, user: str, names: Sequence[str]) -> Chosen:
        """One of `names`; an empty name when the model gave none of them.

        Args:
            system: The system's turn.
            user: The user's.
            names: What may be said.
        """
        ...


class EmbeddedChooser:
    """The embedded planner's base model; what two prompts in a row share is read once."""

    def __init__(self, name_or_path: str | None = None, threads: int = 2) -> None:
        self._name = name_or_path
        self._threads = threads
        self._ids: list[int] = []
        """Of the prompt that is in the cache."""
        self._asked: list[int] = []
        """Of the prompt that was asked before."""
        self._cache: Any = None

    @property
    def model(self) -> str:
        """See `ToolChooser.model`."""
        return self._name or "embedded"

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
            raise InputError("names: there is none to choose from")
        tokenizer = self._loaded[1]
        ids = self._tokens(system, user)
        spelled = {
            name: tuple(tokenizer(name + END, add_special_tokens=False).input_ids) for name in names
        }
        ways = ways_of(spelled)
        longest = len(ids) + max(len(one) for one in spelled.values())
        if longest > self.window:
            raise WindowExceeded(f"{longest} tokens for a window of {self.window}")
        asked, self._asked = self._asked, ids
        name = likeliest(spelled, self._after(ids, ways))
        return Chosen(name, len(ids), len(ids) - _shared(ids, asked))

    def _tokens(self, system: str, user: str) -> list[int]:
        text = opening(system) + closing(user)
        return list(self._loaded[1](text, add_special_tokens=False).input_ids)

    def _after(self, ids: list[int], ways: Ways) -> Logs:
        """What follows a prompt wherever names go on, all in one reading.

        What names begin with hangs on the prompt as a tree: each token sees the prompt and its own
        path.
        """
        import torch
        from transformers import DynamicCache

        model, _ = self._loaded
        if self._cache is None:
            self._cache = DynamicCache()
        same = _shared(ids, self._ids)
        beyond = self._cache.get_seq_length() - same
        if beyond > 0:
            self._cache.crop(-beyond)
        nodes = sorted({path[:at] for path in ways for at in range(1, len(path) + 1)}, key=len)
        rows = {node: row for row, node in enumerate([(), *nodes])}
        # Row 0 is the prompt's last token.
        sees = torch.zeros(len(rows), len(ids) + len(nodes), dtype=torch.bool)
        sees[:, : len(ids)] = True
        for node, row in rows.items():
            for at in range(1, len(node) + 1):
                sees[row, len(ids) - 1 + rows[node[:at]]] = True
        least = torch.finfo(torch.float32).min
        with torch.inference_mode():
            if same < len(ids) - 1:  # without a mask, which makes long readings slow
                model.model(
                    input_ids=torch.tensor([ids[same:-1]]),
                    cache=self._cache,
                    use_cache=True,
                )
            found = model(
                input_ids=torch.tensor([[ids[-1], *(node[-1] for node in nodes)]]),
                position_ids=torch.tensor([[len(ids) - 1 + len(node) for node in rows]]),
                attention_mask=torch.zeros(1, 1, *sees.shape).masked_fill(~sees, least),
                cache=self._cache,
                use_cache=True,
                logits_to_keep=torch.tensor([rows[path] for path in ways]),
            ).logits[0]
            sums = found.logsumexp(dim=-1).tolist()
        self._ids = ids
        return {
            path: {token: float(row[token]) - whole for token in some}
            for (path, some), row, whole in zip(ways.items(), found, sums, strict=True)
        }


def _shared(ids: Sequence[int], others: Sequence[int]) -> int:
    """Tokens that two prompts begin with; at least one of the first is left to read."""
    most = min(len(ids) - 1, len(others))
    return next((at for at in range(most) if ids[at] != others[at]), most)


class EndpointChooser:
    """Any chat-completions endpoint; a name that is not among the tools counts as none."""

    def __init__(self, base_url: str, model: str, api_key: str, timeout: float = 60.0) -> None:
        self._base_url, self._model = base_url, model
        self._api_key, self._timeout = api_key, timeout

    @property
    def model(self) -> str:
        """See `ToolChooser.model`."""
        return f"{self._model} at {self._base_url}"

    def choose(self, system: str, user: str, names: Sequence[str]) -> Chosen:
        """See `ToolChooser.choose`.

        Raises:
            EndpointError: The endpoint cannot be reached or refuses.
        """
        import openai

        from ctrag.assistant.planning.endpoint import EndpointError

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
                reply = (answer.choices[0].message.content or "").strip().strip("`")
            except (openai.OpenAIError, AttributeError, IndexError, TypeError) as error:
                raise EndpointError(f"{type(error).__name__}: {error}") from error
        used = getattr(answer, "usage", None)
        tokens = int(getattr(used, "prompt_tokens", 0) or 0)
        name = reply.partition("(")[0].strip()
        return Chosen(name if name in names else "", tokens, tokens)


def whole_prompt(system: str, user: str) -> str:
    """Both turns of a step, by which choices are distinguished."""
    return f"{system}\n{user}"


def asking(instruction: str, calls: Sequence[str]) -> str:
    """The user's turn of a step."""
    so_far = "; ".join(one if len(one) <= 90 else f"{one[:89]}…" for one in calls) or "none"
    return f"{instruction}\nCalls so far: {so_far}\n{ASK}"
