"""One person's conversation as a page shows it: turns that are worked on beside the page.

The conversation is here and not in a tab: a page that is loaded again, or twice, shows the same.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ctrag.assistant.trace import watched
from ctrag.errors import CtragError, InputError
from ctrag.text.terminal import note, visible
from ctrag.web.turns import PATIENCE, Confirmation, Turn

if TYPE_CHECKING:
    from ctrag.assistant.answer import Question
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.conversation.conversation import Conversation

DECLINING = 20.0
"""Seconds that a declined turn has to end before something else is said."""
KEPT = 200
"""Turns that are shown; older ones are dropped."""


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
                raise InputError(
                    "the request before this one is not answered yet; send this one after it"
                )
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

    def answer(self, text: str, asked: tuple[int, int]) -> bool:
        """Take what is written while a confirmation is open as its answer: a plain yes agrees, and
        anything else declines and is waited for.

        Args:
            text: What is written.
            asked: Numbers of the turn and the confirmation that the page showed.

        Returns:
            Whether that was all that was said.

        Raises:
            ValueError: A yes to what is not asked any more.
        """
        from ctrag.assistant.conversation.small_talk import agrees, leaves_it

        turn = self.working
        if turn is None or turn.asking is None:
            return False
        if agrees(text):
            if asked != (turn.number, len(turn.confirmations)):
                raise InputError("that question was answered already")
            self.decide(*asked, agreed=True)
            return True
        ends = time.monotonic() + DECLINING
        while turn.working and time.monotonic() < ends:
            self.decide(turn.number, len(turn.confirmations), agreed=False)
            time.sleep(0.02)
        return leaves_it(text)

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

        def begun(step: str) -> None:
            turn.steps.append(step)
            self._changed()

        try:
            with self._models, watched(begun):
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
            doubt = str(getattr(question, "doubt", ""))
            asked = Confirmation(
                visible(question.removeprefix(doubt).strip()),
                visible(doubt),
                tuple(getattr(question, "strangers", ())),
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
