"""The append-only log of observed requests; a line is complete or not there."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from filelock import FileLock
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from ctrag.agents.next_tool.demonstrations import END, checked_text
from ctrag.errors import InputError, NotFound, reading
from stores.files import append_private, sync


def checked_calls(calls: Sequence[str]) -> tuple[str, ...]:
    """The calls, if each is a valid tool name.

    Raises:
        ValueError: They are one name instead of a list, or one is blank, not Unicode or `END`.
    """
    if isinstance(calls, str):
        raise InputError(f"must be a list of tools, not the text {calls!r}")
    for name in calls:
        checked_text(name)
    if END in calls:
        raise InputError(f"no tool may be called {END!r}, which ends a plan")
    return tuple(calls)


@dataclass(frozen=True, slots=True)
class Observation:
    """A request and the tools that were called for it, in order."""

    request: str
    calls: tuple[str, ...]
    before: tuple[str, ...] = ()
    """Calls of the same task before the request."""
    session: str = ""
    """The recorded session that it is from; empty for others. A session is on one side of a
    split, and is observed once."""

    @classmethod
    def checked(
        cls, request: str, calls: Sequence[str], before: Sequence[str], session: str
    ) -> "Observation":
        """An observation by valid names, of a text that was checked.

        Raises:
            ValueError: See `checked_calls`.
        """
        try:
            return cls(request, checked_calls(calls), checked_calls(before), session)
        except ValueError as error:
            raise InputError(f"calls: {error}") from None


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore")
    request: Annotated[str, AfterValidator(checked_text)]
    calls: Annotated[list[str], AfterValidator(checked_calls)]
    before: Annotated[list[str], AfterValidator(checked_calls)] = []
    session: str = ""


def append(path: Path, one: Observation) -> None:
    """Append a line and wait until it is on disk; safe for several processes.

    A line that a crash left incomplete was never confirmed to anybody and is truncated first.

    Raises:
        FileNotFoundError: The folder is missing.
        OSError: The file cannot be written.
    """
    if not path.parent.is_dir():  # the lock would create it
        raise NotFound(2, "no such folder", str(path.parent))
    row: dict[str, object] = {"request": one.request, "calls": one.calls}
    row |= {key: value for key in ("before", "session") if (value := getattr(one, key))}
    line = json.dumps(row, ensure_ascii=False) + "\n"
    with FileLock(path.with_name(f".{path.name}.lock")):
        fresh = not path.exists()
        append_private(path, "")  # what people asked is their own; rights that are there stay
        with path.open("ab+") as file:
            file.truncate(_complete_bytes(path))
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        if fresh:
            sync(path.parent)


def read(path: Path) -> list[Observation]:
    """All complete lines, in order; none where there is no file.

    Raises:
        ValueError: A complete line is not an observation: something else wrote here. File, line,
            field and rule are named.
    """
    if not path.exists():
        return []
    found = []
    with reading(path):
        lines = path.read_bytes()[: _complete_bytes(path)].decode().split("\n")[:-1]
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}: no observation: {error}") from None
        try:
            row = _Line.model_validate(value)
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(map(str, problem["loc"])) or "line"
            rule = problem["msg"].removeprefix("Value error, ")
            raise InputError(f"{path}:{number}: no observation: {field}: {rule}") from None
        calls, before = tuple(row.calls), tuple(row.before)
        found.append(Observation(row.request, calls, before, row.session))
    return found


def _complete_bytes(path: Path) -> int:
    """Bytes up to the end of the last complete line."""
    return path.read_bytes().rfind(b"\n") + 1
