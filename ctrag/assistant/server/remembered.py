"""Conversations that are known by the messages of them that a client sends.

A chat client keeps no session: each request has all messages so far. What was said and answered
leads to the conversation as it was then, so that a client may also edit a message and go on from
there.
"""

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctrag.assistant.conversation.conversation import Conversation
from ctrag.assistant.conversation.small_talk import agrees, leaves_it
from ctrag.assistant.server.door import Door
from ctrag.assistant.server.told import as_markdown, asked, in_full

KEPT = 1_000
"""States of conversations that are remembered."""
REPEATED = 30.0
"""Seconds in which the same first message is taken for a repetition of the request."""
UNREAD = 600.0
"""Seconds in which an answer that a client did not wait for still counts in its conversation."""
FORGOTTEN = (
    "I no longer know what that answers (the server was started anew, an answer was stopped, or "
    "earlier messages were changed), so nothing was done. Please ask again."
)

Said = tuple[str, str]
"""Who said it, `user` or `assistant`, and what."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the assistant answers to a message."""

    text: str
    """Markdown in which nothing of an item is more than text."""
    asks: bool = False
    """Whether it waits for an answer."""


@dataclass(frozen=True, slots=True)
class _Given:
    reply: Reply
    changed: bool
    at: float


@dataclass(frozen=True, slots=True)
class _State:
    """A conversation as it is after its messages, and since when."""

    talk: Conversation
    at: float


@dataclass(slots=True)
class Remembered:
    """What was said behind one door, by messages.

    Example::

        talks = Remembered(door)
        first = talks.say([], "when is sparring")
        said = [("user", "when is sparring"), ("assistant", first.text)]
        talks.say(said, "make it half six")
    """

    door: Door
    clock: Callable[[], float] = time.monotonic
    _after: "OrderedDict[str, _State]" = field(default_factory=OrderedDict)
    _given: "OrderedDict[str, _Given]" = field(default_factory=OrderedDict)

    def say(self, history: Sequence[Said], text: str) -> Reply:
        """The answer to what is said after these messages; the caller sees to it that no two
        turns are answered at once.

        A turn that changed something is not carried out again where a client repeats its request:
        the same answer is given. Another conversation that begins with the same words has been
        answered up to here since then, by which it is known as one. A message that got no answer,
        as the person stopped it or the server failed, counts as not said unless it was carried out.
        """
        answers = agrees(text) or leaves_it(text) or text.isdigit()
        whole = len(history)
        history = self._answered(history)
        turn = [*history, ("user", text)]
        before, known = self._given.get(_key(turn)), self._known(history)
        if before is not None and before.changed and self._repeats(before, history, known):
            return before.reply
        if answers and (len(history) < whole or (known is None and history)):
            return Reply(FORGOTTEN)
        talk = self.door.begin() if known is None else known.talk.copy()
        stores = self.door.assistant.stores
        unchanged = stores.signature()
        answer = self.door.say(talk, text)
        reply = Reply(as_markdown(in_full(answer)), asked(answer) is not None)
        now = self.clock()
        _keep(self._given, _key(turn), _Given(reply, stores.signature() != unchanged, now))
        said = [*turn, ("assistant", reply.text)]
        for key in (_key(said), _key(said[-2:])):
            _keep(self._after, key, _State(talk, now))
        return reply

    def _answered(self, history: Sequence[Said]) -> list[Said]:
        """The messages with their answers; without those that have none.

        An answer that the client does not have was not read by the person. What it told is true
        all the same; what it asked was not seen, and nothing may agree to it.
        """
        found: list[Said] = []
        for number, (who, text) in enumerate(history):
            after = history[number + 1] if number + 1 < len(history) else ("user", "")
            if who == "assistant":
                if text.strip():
                    found.append((who, text))
            elif after[0] == "assistant" and after[1].strip():
                found.append((who, text))
            elif (given := self._unread([*found, (who, text)])) is not None:
                found += [(who, text), ("assistant", given.text)]
        return found

    def _unread(self, turn: Sequence[Said]) -> Reply | None:
        given = self._given.get(_key(turn))
        if given is None or given.reply.asks or self.clock() - given.at > UNREAD:
            return None
        return given.reply

    def _known(self, history: Sequence[Said]) -> _State | None:
        """The conversation after these messages; by the last two where a client cuts the rest."""
        whole = self._after.get(_key(history))
        return whole if whole is not None else self._after.get(_key(history[-2:]))

    def _repeats(self, before: _Given, history: Sequence[Said], known: _State | None) -> bool:
        if not history:
            return self.clock() - before.at < REPEATED
        return known is None or known.at <= before.at


def _key(said: Sequence[Said]) -> str:
    """Messages as a key; clients trim and wrap texts."""
    flat = [[who, " ".join(text.split())] for who, text in said]
    return hashlib.sha256(json.dumps(flat).encode()).hexdigest()


def _keep(kept: "OrderedDict[str, Any]", key: str, value: Any) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > KEPT:
        kept.popitem(last=False)
