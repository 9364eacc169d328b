"""The sessions of a serving process, bounded in number and age.

A session is opened by a handle that only its owner knows. The registry stores only a hash of it,
so neither events nor files give access.
"""

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from ctrag.agents.session.binding import Clock
from ctrag.agents.session.session_tools import Resolve
from ctrag.agents.session.state import SessionState
from ctrag.agents.session.tool_session import ToolSession
from ctrag.errors import InputError
from ctrag.errors import UnknownSession as UnknownSession
from stores.files import write_text

MakeSession = Callable[[str, str], ToolSession]
"""(session id, principal) → a new session."""


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid")
    opened_at: FiniteFloat
    session: SessionState


class _SavedSessions(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sessions: list[_Saved]


@dataclass(frozen=True, slots=True)
class _Open:
    session: ToolSession
    opened_at: float


class SessionRegistry:
    """Sessions by handle; safe for several threads.

    Args:
        make: Creates a session, see `MakeSession`.
        maximum: Sessions at most; a new one ends the oldest.
        max_age: Seconds after which a session ends.
        per_principal: Sessions of one principal at most; a new one ends its oldest; None for no
            limit.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        make: MakeSession,
        *,
        maximum: int = 1000,
        max_age: float = 86_400.0,
        per_principal: int | None = None,
        clock: Clock = time.time,
    ) -> None:
        for name, value in (("maximum", maximum), ("per_principal", per_principal)):
            if value is not None and value < 1:
                raise InputError(f"{name}: must be at least 1, not {value}")
        if not max_age > 0:
            raise InputError(f"max_age: must be above 0 seconds, not {max_age}")
        self._make, self._clock = make, clock
        self._maximum, self._max_age, self._per_principal = maximum, max_age, per_principal
        self._open: OrderedDict[str, _Open] = OrderedDict()  # oldest first
        self._lock = threading.RLock()

    def __len__(self) -> int:
        """Number of open sessions."""
        with self._lock:
            self._collect()
            return len(self._open)

    def open(self, principal: str = "") -> tuple[str, ToolSession]:
        """A new session and its handle, which is a secret."""
        handle = secrets.token_urlsafe(24)
        session = self._make(_id_of(handle), principal)
        with self._lock:
            self._add([_Open(session, self._clock())])
        return handle, session

    def get(self, handle: str, principal: str = "") -> ToolSession:
        """The session of a handle.

        Raises:
            UnknownSession: There is none, it is too old, or it is another principal's.
        """
        with self._lock:
            self._collect()
            found = self._open.get(_id_of(handle))
            if found is None or found.session.principal != principal:
                raise UnknownSession("session: unknown or ended; open a new one by searching")
            return found.session

    def close(self, handle: str, principal: str = "") -> bool:
        """End a session; False if there was none of this principal's."""
        with self._lock:
            try:
                session = self.get(handle, principal)
            except UnknownSession:
                return False
            self._end(session.id, "closed")
            return True

    def save(self, path: Path) -> None:
        """Write all sessions atomically; the file shows who has found which tools.

        Raises:
            OSError: The file cannot be written.
        """
        with self._lock:
            self._collect()
            saved = [
                _Saved(opened_at=one.opened_at, session=one.session.state())
                for one in self._open.values()
            ]
        text = _SavedSessions(sessions=saved).model_dump_json(indent=1) + "\n"
        write_text(path, text, private=True)

    def load(self, path: Path, resolve: Resolve) -> int:
        """Restore saved sessions beside those open now; returns how many.

        Args:
            path: What `save` wrote.
            resolve: Returns each tool's current definition, see `ToolSession.resume`.

        Raises:
            ValueError: The file is damaged; then no session is restored.
            OSError: The file cannot be read.
        """
        try:
            saved = _SavedSessions.model_validate_json(path.read_bytes()).sessions
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise InputError(f"{path}: not a file of saved sessions: {reason}") from None
        with self._lock:
            restored = []
            for one in saved:
                session = self._make(one.session.id, one.session.principal)
                session.resume(one.session, resolve)
                restored.append(_Open(session, one.opened_at))
            self._add(restored)
        return len(saved)

    def _add(self, opened: Sequence[_Open]) -> None:
        """Add sessions, keeping the order by age, and end the oldest ones over the limits."""
        self._open |= {one.session.id: one for one in opened}
        by_age = sorted(self._open.items(), key=lambda item: item[1].opened_at)
        self._open = OrderedDict(by_age)
        self._collect()
        for principal in {one.session.principal for one in opened}:
            own = [name for name, one in self._open.items() if one.session.principal == principal]
            most = len(own) if self._per_principal is None else self._per_principal
            for session_id in own[:-most]:
                self._end(session_id, "too_many")
        while len(self._open) > self._maximum:
            self._end(next(iter(self._open)), "too_many")

    def _collect(self) -> None:
        """End the sessions that are too old."""
        before = self._clock() - self._max_age
        while self._open and next(iter(self._open.values())).opened_at < before:
            self._end(next(iter(self._open)), "too_old")

    def _end(self, session_id: str, why: str) -> None:
        self._open.pop(session_id).session.closed(why)


def _id_of(handle: str) -> str:
    """A session's id in events and files."""
    return hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest()[:24]
