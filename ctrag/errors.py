"""What a user can mend, as one tree; anything else that is raised is a defect of ctrag.

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
    """A text is no plan; the message says what is wrong with it."""


class ToolRefused(InputError):
    """A call that may not be made; the message is for the model that wanted it."""

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
    """No such session, or not this principal's: the words are the same."""


class WindowExceeded(InputError):
    """A prompt is longer than the model can read."""


class MissingExtra(CtragError, ImportError, ValueError):
    """An optional dependency is not installed; the message has the command for it."""


class ModelMissing(CtragError, RuntimeError):
    """Weights are not on this machine; the message says what to install or fetch."""


class EndpointError(CtragError, RuntimeError):
    """The endpoint did not answer as an endpoint should; the message is one line."""

    def __init__(
        self, message: str, status: int | None = None, *, unreadable: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of a refusal, or None."""
        self.unreadable = unreadable
        """Whether something came back that is no chat completion."""


class ProviderError(CtragError, RuntimeError):
    """The provider cannot answer, again and again; the message is one line."""


class Unusable(ProviderError):
    """All answers to a question broke its rules; another question may fare better."""

    def __init__(self, message: str, keys: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.keys = tuple(keys)
        """Of the answers, to drop them where the run ends here: a rerun then asks anew."""


class BudgetSpent(CtragError, RuntimeError):
    """The provider may spend no more; what is made so far is kept and a rerun goes on."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Within it, whatever a parser says of a user's file becomes an `InputError` that names it."""
    try:
        yield
    except CtragError:
        raise
    except ValueError as error:
        # pydantic adds its own types and addresses behind the rule
        told = " ".join(str(error).partition(" [type=")[0].split())
        raise InputError(f"{path}: {told}") from error
