"""User errors, as one tree; any other exception is a defect of ctrag.

- CtragError (Exception)
  - InputError (ValueError)
    - PlanSyntaxError
    - ToolRefused
    - UnknownPerson
    - UnknownSession
    - WindowExceeded
  - NotFound (FileNotFoundError)
  - MissingExtra (ImportError, ValueError)
  - ModelMissing (RuntimeError)
  - StoreUnavailable
  - EndpointError (RuntimeError)
  - ProviderError (RuntimeError)
    - Unusable
  - BudgetSpent (RuntimeError)

In parentheses: the builtin class by which each can be caught too.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal

from stores.errors import CtragError, InputError, NotFound, StoreUnavailable, UnknownPerson

__all__ = [
    "BudgetSpent",
    "CtragError",
    "EndpointError",
    "InputError",
    "MissingExtra",
    "ModelMissing",
    "NotFound",
    "PlanSyntaxError",
    "ProviderError",
    "StoreUnavailable",
    "ToolRefused",
    "UnknownPerson",
    "UnknownSession",
    "Unusable",
    "WindowExceeded",
]


class PlanSyntaxError(InputError):
    """A text is not a plan; the message names the problem."""


class ToolRefused(InputError):
    """A call that is not allowed; the message is for the calling model."""

    WHY: ClassVar = {
        "not_surfaced": "{tool!r} is not available in this session; call search_tools to find it",
        "evicted": "{tool!r} was taken away because it was called again and again; "
        "call search_tools for another way",
        "not_allowed": "{tool!r} may no longer be used; call search_tools for another way",
    }

    def __init__(
        self, tool_id: str, reason: Literal["not_surfaced", "evicted", "not_allowed"]
    ) -> None:
        super().__init__(self.WHY[reason].format(tool=tool_id))
        self.tool_id = tool_id
        self.reason = reason


class UnknownSession(InputError):
    """No such session, or another principal's: the message is the same."""


class WindowExceeded(InputError):
    """A prompt exceeds the model's context window."""


class MissingExtra(CtragError, ImportError, ValueError):
    """An optional dependency is not installed; the message has the command for it."""


class ModelMissing(CtragError, RuntimeError):
    """Weights are not on this machine; the message names what to install or fetch."""


class EndpointError(CtragError, RuntimeError):
    """The endpoint failed or did not answer with a chat completion; the message is one line."""

    def __init__(
        self, message: str, status: int | None = None, *, unreadable: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of a refusal, or None."""
        self.unreadable = unreadable
        """Whether the response was not a chat completion."""


class ProviderError(CtragError, RuntimeError):
    """The provider failed repeatedly; the message is one line."""


class Unusable(ProviderError):
    """All answers to a prompt broke its rules; another prompt may succeed."""

    def __init__(self, message: str, keys: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.keys = tuple(keys)
        """Keys of the cached answers, to drop where the run ends here: a rerun then asks again."""


class BudgetSpent(CtragError, RuntimeError):
    """The provider's budget is spent; results so far are kept and a rerun continues."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn a parser's error about a user's file into an `InputError` that names the file."""
    try:
        yield
    except CtragError:
        raise
    except RecursionError:
        raise InputError(f"{path}: nested too deep") from None
    except ValueError as error:
        # pydantic appends its own types and URLs to the rule
        message = " ".join(str(error).partition(" [type=")[0].split())
        raise InputError(f"{path}: {message}") from error
