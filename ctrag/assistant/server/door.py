"""One assistant for any number of conversations, one turn at a time."""

import threading
from dataclasses import dataclass, field
from datetime import datetime

from ctrag.assistant.answer import Answer
from ctrag.assistant.assistant import Assistant
from ctrag.assistant.context.retrieve import FoundItem
from ctrag.assistant.conversation.conversation import Conversation

WARMING = "remind me to drink water at six"
"""A request that every model reads; it is not carried out."""


@dataclass(slots=True)
class Door:
    """An assistant that runs plans on its person's stores.

    What needs a confirmation is asked as a question of the answer; a plain yes that is said next
    does it.
    """

    assistant: Assistant
    at: datetime | None = None
    """When requests are made; now when None."""
    place: str | None = None
    """Where, for requests that name no place of their own."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def warm(self) -> None:
        """Load what the first request would wait for, by answering one that changes nothing."""
        with self._lock:
            self.assistant.ask(WARMING)

    def begin(self) -> Conversation:
        """A conversation in which nothing was said yet."""
        return self.assistant.conversation()

    def say(self, talk: Conversation, text: str, place: str | None = None) -> Answer:
        """Answer what is said next; errors as for `Assistant.ask`."""
        with self._lock:
            return talk.say(text, self.at, place or self.place, run=True, later=True)

    def undo(self, talk: Conversation) -> str:
        """Take back what the last turn changed, or without one the person's last change."""
        with self._lock:
            return talk.undo()

    def find(self, text: str, limit: int) -> tuple[tuple[FoundItem, ...], dict[str, str]]:
        """The person's items that a text is about, best first, and the stores that do not answer.

        Raises:
            ValueError: The text is empty or too long.
        """
        with self._lock:
            assistant = self.assistant
            request = assistant.request(text, self.at, self.place)
            found = assistant.retriever.retrieve(assistant.view(), request, limit, explain=True)
        return found.items, found.unavailable
