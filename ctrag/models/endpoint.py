"""Any OpenAI-compatible chat endpoint: one question, one answer, its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ctrag.errors import EndpointError as EndpointError
from ctrag.errors import InputError
from ctrag.extras import need

if TYPE_CHECKING:
    import openai

RETRIES = 3


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer and what it took."""

    text: str
    prompt_tokens: int | None
    """As the endpoint counted; None when it did not say."""
    completion_tokens: int | None
    cut: bool = False
    """Whether the answer ended because it was too long."""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and JSON arguments of the tools that it calls."""


class ChatEndpoint:
    """Asks for chat completions; 408, 409, 429, 5xx, time-outs and broken connections are tried
    again with growing pauses, or after what `Retry-After` says."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str,
        timeout: float = 60.0,
        retries: int = RETRIES,
    ) -> None:
        """Nothing is sent before the first question.

        Raises:
            ValueError: `model` is empty.
        """
        need("an endpoint", "openai", extra="assistant")
        if not model:
            raise InputError("model: the endpoint needs a model name; set CTRAG_OPENAI_MODEL")
        self.base_url = base_url
        self.model = model
        self._api_key = api_key
        self._timeout = timeout
        self._retries = retries

    def complete(self, messages: Sequence[dict[str, str]], **options: Any) -> Completion:
        """The answer to a conversation; several threads may ask at once.

        Args:
            messages: `role` and `content` each.
            options: Of the chat-completions request, such as `temperature` and `max_tokens`.

        Raises:
            EndpointError: The endpoint cannot be reached, refuses, or answers something else.
        """
        import openai

        chat: Any = list(messages)
        try:
            answer: Any = self._client.chat.completions.create(
                model=self.model, messages=chat, **options
            )
        except openai.APIStatusError as error:
            raise self._error(f"{type(error).__name__}: {error}", error.status_code) from error
        except openai.OpenAIError as error:
            raise self._error(f"{type(error).__name__}: {error}") from error
        except ValueError as error:  # the body is declared as JSON but does not parse
            reason = f"no chat completion came back: {error}"
            raise self._error(reason, unreadable=True) from error
        # Anything may answer at an address, and the client passes on what it cannot parse.
        choices = getattr(answer, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(first, "message", None)
        content = getattr(message, "content", None)
        if message is None or not isinstance(content, str | None):
            raise self._error("no chat completion came back", unreadable=True)
        counts = (
            getattr(getattr(answer, "usage", None), name, None)
            for name in ("prompt_tokens", "completion_tokens")
        )
        asked, answered = (count if isinstance(count, int) else None for count in counts)
        cut = getattr(first, "finish_reason", None) == "length"
        functions = [getattr(one, "function", None) for one in _list_of(message, "tool_calls")]
        calls = tuple(
            (name, given)
            for one in functions
            if isinstance(name := getattr(one, "name", None), str)
            and isinstance(given := getattr(one, "arguments", None), str)
        )
        return Completion(content or "", asked, answered, cut, calls)

    @cached_property
    def _client(self) -> "openai.OpenAI":
        import openai

        return openai.OpenAI(
            base_url=self.base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout,
            max_retries=self._retries,
        )

    def _error(
        self, reason: str, status: int | None = None, *, unreadable: bool = False
    ) -> EndpointError:
        """One line, without the key: servers quote what they reject."""
        line = " ".join(f"{self.base_url}: {reason}".split())
        line = line.replace(self._api_key, "***") if self._api_key else line
        return EndpointError(line, status, unreadable=unreadable)


def _list_of(message: Any, name: str) -> list[Any]:
    found = getattr(message, name, None)
    return found if isinstance(found, list) else []


def chat_endpoint() -> ChatEndpoint:
    """The endpoint that the settings name; its key may also be in OPENAI_API_KEY."""
    import os

    from ctrag.settings import settings

    options = settings()
    key = options.openai_api_key.get_secret_value() or os.environ.get("OPENAI_API_KEY", "")
    return ChatEndpoint(
        options.openai_base_url,
        options.openai_model,
        key,
        options.openai_timeout,
        options.openai_retries,
    )
