"""The root of all user errors, and those that stores raise; the whole tree is in `ctrag.errors`,
which this package may not import."""

from collections.abc import Sequence


class CtragError(Exception):
    """A user error; the message is one line for the user."""


class InputError(CtragError, ValueError):
    """An argument, a setting or a file breaks a rule; the message names it, the rule, the value."""


class NotFound(CtragError, FileNotFoundError):
    """A named file or folder does not exist."""


class StoreUnavailable(CtragError):
    """A store cannot be used now; `reason` is one line for the user."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"the {name} store is {reason}")
        self.name = name
        self.reason = reason


class UnknownPerson(InputError):
    """The stores have no person of that id."""

    def __init__(self, person_id: str, known: Sequence[str]) -> None:
        some = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
        hint = f"known: {some}" if known else "the stores are empty: run `ctrag import` first"
        super().__init__(f"persona: {person_id!r} is unknown; {hint}")
