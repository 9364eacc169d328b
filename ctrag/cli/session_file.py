"""Reading session files: requests of an assistant and decisions of an agent's session."""

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ctrag.agents.session.events import Event
from ctrag.agents.session.recording import recorded_files
from ctrag.assistant.record import RecordedTurn
from ctrag.errors import InputError

_KEYS = frozenset({"event", *RecordedTurn.model_fields} - {"text", "tools"})
_OTHER = (
    "no event of `--record` and no turn of `ctrag chat --record`; conversations that other tools "
    "recorded can teach: `ctrag train dependency --data FILE`, `--traces FILE`"
)


def read_session(path: Path, left_out: list[str] | None = None) -> Iterator[RecordedTurn | Event]:
    """The turns and events of a session file, in order; or of a folder's `.jsonl` files, by name.

    Args:
        path: The file or folder.
        left_out: Takes place and reason of each line that is neither; None raises at the first.

    Raises:
        ValueError: A line is neither, and the message names it; or the folder has no such file.
    """
    if not path.is_dir():
        yield from _of_file(path, left_out)
        return
    files = recorded_files(path)
    if not files:
        raise InputError(f"{path}: holds no .jsonl file")
    for one in files:
        yield from _of_file(one, left_out)


def _of_file(path: Path, left_out: list[str] | None) -> Iterator[RecordedTurn | Event]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                kind = Event if isinstance(value, dict) and "event" in value else RecordedTurn
                if not isinstance(value, dict) or _KEYS.isdisjoint(value):
                    raise InputError(_OTHER)
                record = kind.model_validate(value)
            except (ValueError, RecursionError) as error:  # pydantic's and JSON's are ValueErrors
                problem = f"{path}:{number}: not a turn of a session: {_reason(error)}"
                if left_out is None:
                    raise InputError(problem) from None
                left_out.append(problem)
            else:
                yield record


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error).splitlines()[0]
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}".splitlines()[0]
