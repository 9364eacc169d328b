"""Reading session files: requests of an assistant and decisions of an agent's session."""

import json
from collections.abc import Iterator
from pathlib import Path

from ctrag.agents.session.events import Event
from ctrag.assistant.record import RecordedTurn
from ctrag.errors import InputError


def read_session(path: Path, left_out: list[str] | None = None) -> Iterator[RecordedTurn | Event]:
    """The turns and events of a session file, in order.

    Args:
        path: The file.
        left_out: Takes place and reason of each line that is neither; None raises at the first.

    Raises:
        ValueError: A line is neither; the message names it.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode("utf-8"))
                kind = Event if isinstance(value, dict) and "event" in value else RecordedTurn
                record = kind.model_validate(value)
            except (ValueError, RecursionError) as error:  # pydantic's and JSON's are ValueErrors
                reason = str(error).splitlines()[0]
                problem = f"{path}:{number}: not a turn of a session: {reason}"
                if left_out is None:
                    raise InputError(problem) from None
                left_out.append(problem)
            else:
                yield record
