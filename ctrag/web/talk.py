"""One person's conversation as a page shows it: turns that are worked on beside the page.

The conversation is here and not in a tab: a page that is loaded again, or twice, shows the same.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from ctrag.errors import CtragError, InputError
from ctrag.text.terminal import note, visible

if TYPE_CHECKING:
    from ctrag.assistant.answer import Answer, Question
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.conversation.conversation import Conversation

PATIENCE = 900.0
"""Seconds after which a question before an act counts as declined."""
KEPT = 200
"""Turns that are shown; older ones are dropped."""


@dataclass(slots=True)
class Confirmation:
    """What is asked before an act: its exact text, and whom it reaches."""

    text: str
    strangers: tuple[str, ...] = ()
    """Recipients that are no contacts."""
    sure: bool = True
    agreed: bool | None = None
    _decided: threading.Event = field(default_factory=threading.Event)

    def decide(self, agreed: bool) -> None:
        """Answer it, once."""
        if self.agreed is None:
            self.agreed = agreed
        self._decided.set()

    def wait(self, patience: float = PATIENCE) -> bool:
        """The answer; no when none comes."""
        self._decided.wait(patience)
        self.decide(False)
        return bool(self.agreed)


@dataclass(slots=True)
class Turn:
    """What was said, and what became of it."""

    number: int
    """From 1."""
    text: str
    place: str | None = None
    at: datetime | None = None
    answer: "Answer | None" = None
    error: str = ""
    confirmations: list[Confirmation] = field(default_factory=list)
    seconds: float = 0.0
    """How long it took, without waiting for the person."""
    working: bool = True
    note: str = ""
    """What an undo said of it."""

    @property
    def asking(self) -> Confirmation | None:
        """The confirmation that is waited for."""
        last = self.confirmations[-1] if self.confirmations else None
        return last if last is not None and last.agreed is None else None

    @property
    def changes(self) -> tuple[int, ...]:
        """Ids of what it changed."""
        parts = () if self.answer is None else self.answer.parts
        results = [one.result for one in parts]
        return tuple(
            one.change.change_id for one in results if one is not None and one.change is not None
        )


class Talk:
    """A conversation whose turns run one after the other, each in a thread of its own.

    Args:
        assistant: Whose conversation it is.
        patience: Seconds that a confirmation is waited for.
        models: Held while models work, as several conversations share them; not while the person
            is asked.
    """

    def __init__(
        self,
        assistant: "Assistant",
        patience: float = PATIENCE,
        models: threading.Semaphore | None = None,
    ) -> None:
        self.assistant = assistant
        self.turns: list[Turn] = []
        self.revision = 0
        """Grows with everything that a page would show."""
        self.place = ""
        """Where the person said last that they are."""
        self._conversation: Conversation = assistant.conversation()
        self._count = 0
        self._lock = threading.RLock()
        self._patience = patience
        self._models = models or threading.Semaphore()
        self._closed = False

    @property
    def working(self) -> Turn | None:
        """The turn that is not done yet."""
        return self.turns[-1] if self.turns and self.turns[-1].working else None

    @property
    def question(self) -> "Question | None":
        """The assistant's question that is open."""
        pending = self._conversation.pending
        return None if pending is None else pending.question

    @property
    def undoable(self) -> Turn | None:
        """The turn whose changes an undo would take back."""
        if self.working is not None:
            return None
        newest, _ = self._conversation.changes
        return next((one for one in reversed(self.turns) if newest & set(one.changes)), None)

    def taken_back(self, turn: Turn) -> bool:
        """Whether a turn changed something that is undone by now."""
        left = frozenset().union(*self._conversation.changes)
        return bool(turn.changes) and not left.intersection(turn.changes)

    def turn(self, number: int) -> Turn | None:
        """The turn of that number."""
        return next((one for one in self.turns if one.number == number), None)

    def say(
        self,
        text: str,
        at: datetime | None = None,
        place: str | None = None,
        playing: str | None = None,
        *,
        shown: str | None = None,
    ) -> Turn:
        """Begin a turn; arguments as for `Conversation.say`.

        Args:
            text, at, place, playing: What is said, when, where, with what playing.
            shown: What the page shows in place of `text`: of a choice its words.

        Raises:
            ValueError: The last turn is not done, or the text is empty or too long.
        """
        with self._lock:
            if self.working is not None:
                raise InputError("the request before this one is not answered yet")
            request = self.assistant.request(text, at, place, playing)
            self._count += 1
            turn = Turn(self._count, shown or text, place, request.asked_at)
            self.turns = [*self.turns[-KEPT + 1 :], turn]
            self.place = place or ""
            self._changed()
        run = lambda: self._work(turn, text, request.asked_at, place, playing)  # noqa: E731
        threading.Thread(target=run, name=f"turn {turn.number}", daemon=True).start()
        return turn

    def decide(self, number: int, question: int, agreed: bool) -> None:
        """Answer the confirmation of that number, from 1, of a turn; one that is not open any more
        is passed over, so that a second click agrees to nothing that was not shown."""
        turn = self.turn(number)
        asking = None if turn is None else turn.asking
        if turn is not None and asking is not None and question == len(turn.confirmations):
            asking.decide(agreed)
            self._changed()

    def undo(self, number: int) -> None:
        """Take back what the turn changed, if it is still the latest change."""
        with self._lock:
            turn = self.undoable
            if turn is not None and turn.number == number:
                turn.note = self._conversation.undo()
                self._changed()

    def forget(self) -> None:
        """Begin a new conversation; what was changed stays."""
        with self._lock:
            if self.working is not None:
                raise InputError("the request before this one is not answered yet")
            self._conversation = self.assistant.conversation()
            self.turns = []
            self._changed()

    def reset(self) -> int:
        """Begin anew and take back all that calls changed; how much it was."""
        self.forget()
        stores, person = self.assistant.stores, self.assistant.person.person_id
        count = 0
        while stores.changes(person):
            stores.undo(person)
            count += 1
        return count

    def close(self) -> None:
        """Decline whatever is asked, now and later."""
        self._closed = True
        for turn in self.turns:
            for one in turn.confirmations:
                one.decide(False)

    def _work(
        self,
        turn: Turn,
        text: str,
        at: datetime,
        place: str | None,
        playing: str | None,
    ) -> None:
        began = time.monotonic()
        waited = [0.0]  # for the person
        confirm = self._confirming(turn, waited)
        try:
            with self._models:
                turn.answer = self._conversation.say(
                    text, at, place, playing=playing, run=True, confirm=confirm, explain=True
                )
        except (CtragError, OSError) as error:
            turn.error = str(error)
        except Exception as error:  # a defect costs the turn, not the conversation
            turn.error = f"Something is wrong in ctrag: {type(error).__name__}: {error}"
            note(turn.error)
        finally:
            with self._lock:
                turn.seconds = time.monotonic() - began - waited[0]
                turn.working = False
                self._changed()

    def _confirming(self, turn: Turn, waited: list[float]) -> Callable[[str], bool]:
        def confirm(question: str) -> bool:
            began = time.monotonic()
            asked = Confirmation(
                visible(question),
                tuple(getattr(question, "strangers", ())),
                bool(getattr(question, "sure", True)),
            )
            turn.confirmations.append(asked)
            self._changed()
            if self._closed:
                asked.decide(False)
            self._models.release()
            try:
                agreed = asked.wait(self._patience)
            finally:
                self._models.acquire()
            waited[0] += time.monotonic() - began
            self._changed()
            return agreed

        return confirm

    def _changed(self) -> None:
        with self._lock:
            self.revision += 1
