"""One person's conversation with the assistant."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ctrag.assistant.answer import Answer, Question
from ctrag.assistant.conversation.focus import NOTHING_KNOWN, Focus
from ctrag.assistant.conversation.follow_up import read
from ctrag.assistant.conversation.preferences import Preferences, mention_of, taught
from ctrag.assistant.conversation.questions import (
    YES_OR_NO,
    Pending,
    agrees,
    between,
    chosen,
)
from ctrag.assistant.conversation.reading import Reading
from ctrag.assistant.conversation.small_talk import leaves_it, small_talk
from ctrag.assistant.conversation.split import requests_in, split
from ctrag.assistant.conversation.state import State
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.assistant.trace import Trace
from ctrag.errors import CtragError
from stores.people.items import Request

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant

Confirm = Callable[[str], bool]
_DROPPED = re.compile(
    r"^\W*(?:(?:oh|ah|och|ach|no|ok|okay|actually|well|and)\W+)*(?:leave it|never ?mind"
    r"|forget (?:it|that)"
    r"|drop it|scrap that|don'?t bother)\s*[,.;!–—-]+\s*(?:and |then |just )*",
    re.IGNORECASE,
)
_NOT_DONE = ("refused", "declined", "nothing")


@dataclass(slots=True)
class Conversation:
    """Turns that may lean on earlier ones, and requests for several calls.

    Example::

        talk = assistant.conversation()
        talk.say("what's on tomorrow", run=True)
        print(talk.say("move the second one to four", run=True).plan)
    """

    assistant: "Assistant"
    state: State = field(default_factory=State)
    pending: Pending | None = None
    """The question that is open."""
    _asked: set[str] = field(default_factory=set)
    _groups: list[list[int]] = field(default_factory=list)
    _preferences: Preferences | None = None

    def say(
        self,
        text: str,
        at: datetime | None = None,
        place: str | None = None,
        *,
        playing: str | None = None,
        run: bool = False,
        confirm: Confirm = lambda question: False,
        later: bool = False,
        explain: bool = False,
    ) -> Answer:
        """Answer what is said next; arguments and errors as for `Assistant.ask`.

        A turn that is unsure between two calls is answered by a question with choices; the next
        turn may answer it, or be about something else. Where something was asked for that reaches
        others, `confirm` is asked for each call.

        Args:
            later: Whether what `confirm` would be asked is a question of the answer instead, for
                who can be asked only by a message: the next turn does it by a plain yes, and by
                nothing else.
        """
        assistant = self.assistant
        request = assistant.request(text, at, place, playing)
        act = _Acts(run, confirm, explain, later)
        pending, self.pending = self.pending, None
        if pending is not None:
            answered = self._answered(pending, request, act)
            if answered is not None:
                return answered
        words = small_talk(text)
        if words is None and leaves_it(text) and not self._plays(request):
            words = "Nothing was done."
        if words is None and (lesson := taught(text, assistant.person.contacts)):
            self.preferences.prefer(*lesson)
            words = f"From now on, “{lesson[0]}” is {lesson[1]}."
        if words is not None:
            return _words(request, words)
        dropped = _DROPPED.match(text)
        if dropped and requests_in(text[dropped.end() :]):
            text = text[dropped.end() :]
        return self._all(split(text), request, act)

    def undo(self) -> str:
        """Take back all that the last turn changed, and say so."""
        stores, person = self.assistant.stores, self.assistant.person.person_id
        group = self._groups.pop() if self._groups else []
        told: list[str] = []
        for _ in range(max(len(group), 1)):
            newest = stores.changes(person)
            if group and (not newest or newest[0].change_id not in group):
                break
            try:
                undone = stores.undo(person)
            except CtragError as error:
                return str(error)
            if undone.sent:
                told.append(
                    f"{undone.summary.rstrip('?')}: that has left the phone and cannot be taken "
                    "back; only the record of it is removed."
                )
            else:
                told.append(f"Taken back: {undone.summary}")
        return "\n".join(told) if told else "There is nothing to take back."

    def copy(self) -> "Conversation":
        """The conversation as it is now; what is said in the one is not known to the other."""
        state = State(self.state.turns.copy())
        groups = [list(one) for one in self._groups]
        return replace(self, state=state, _asked=set(self._asked), _groups=groups)

    @property
    def changes(self) -> tuple[tuple[int, ...], ...]:
        """Ids of the changes that `undo` takes back, those of each turn together, newest last."""
        return tuple(tuple(group) for group in self._groups)

    @property
    def preferences(self) -> Preferences:
        """What the person taught; read when it is first needed."""
        if self._preferences is None:
            root, person = self.assistant.stores.root, self.assistant.person.person_id
            self._preferences = Preferences.load(root, person)
        return self._preferences

    def _all(self, parts: Sequence[str], request: Request, act: "_Acts") -> Answer:
        answers: list[Answer] = []
        group: list[int] = []
        for place, part in enumerate(parts):
            asked = replace(request, text=part)
            reading = self._read(asked)
            failed = next((one for one in answers if _failed(one)), None)
            if failed is not None and reading.focus != NOTHING_KNOWN:
                answers.append(_words(asked, "Not done, because what it depends on was not done."))
                continue
            waits = bool(answers) and self.pending is not None
            # What comes after an open question is planned, and done when it is answered.
            answer = self._one(reading, asked, replace(act, run=False) if waits else act)
            if answer.plan.is_none and not answer.said and not answers and len(parts) > 1:
                return self._all([" ".join(request.text.split())], request, act)
            answers.append(answer)
            if answer.result is not None and answer.result.change is not None:
                group.append(answer.result.change.change_id)
            if answer.question is not None and self.pending is not None:
                self.pending = replace(self.pending, rest=tuple(parts[place + 1 :]))
        if group:
            self._groups.append(group)
        return replace(answers[0], further=tuple(answers[1:]))

    def _read(self, request: Request) -> Reading:
        assistant = self.assistant
        text = self.preferences.spelled_out(request.text)
        return read(
            text,
            self.state,
            assistant.view(),
            assistant.person,
            request.asked_at,
            assistant.toolbox,
            request.playing,
        )

    def _one(self, reading: Reading, request: Request, act: "_Acts") -> Answer:
        if reading.undo:
            return _words(request, self.undo() if act.run else "The last change would be undone.")
        if reading.ask and reading.ask not in self._asked:
            self._asked.add(reading.ask)
            question = Question(reading.ask)
            self.pending = Pending(question, request, wants="text")
            return replace(_words(request, reading.ask), question=question)
        asked = replace(request, text=reading.text)
        answer = self.assistant.answer(asked, explain=act.explain, focus=reading.focus)
        answer = replace(answer, request=request)
        doubt = self._doubts(answer, request) if act.run else None
        if doubt is not None:
            self._keep(answer)  # what comes after it may lean on it
            return replace(answer, question=doubt)
        if act.run:
            answer = self._carried_out(answer, act)
        if reading.corrects and self.state.last is not None and not answer.plan.is_none:
            self._learn(self.state.last.plan, answer.plan, request)
        self._keep(answer)
        return answer

    def _carried_out(self, answer: Answer, act: "_Acts", agreed: str = "") -> Answer:
        """The answer with what its call did, or with the question that comes before.

        Args:
            agreed: The question to which the person has said yes. Stores may have changed since:
                only an act that still asks the very same is done.
        """
        if not act.later:
            return self.assistant.carry_out(answer, act.confirm)
        asked: list[str] = []

        def confirm(question: str) -> bool:
            if question != agreed:
                asked.append(question)
            return question == agreed

        done = self.assistant.carry_out(answer, confirm)
        if not asked:
            return done
        question = Question(str(asked[0]), YES_OR_NO, confirms=True)
        self.pending = Pending(question, answer.request, act=answer)
        return replace(answer, question=question)

    def _keep(self, answer: Answer) -> None:
        tool = self.assistant.toolbox.get(answer.plan.api)
        self.state.keep(answer, tool, self.assistant.view(), self.assistant.person)

    def _doubts(self, answer: Answer, request: Request) -> Question | None:
        """The question between calls of which each may be meant.

        None where the first is sure or changes nothing, or the same was asked before.
        """
        tool = self.assistant.toolbox.get(answer.plan.api)
        if tool is None or tool.effect == "read" or self.assistant.sure(answer):
            return None
        previews: dict[str, Plan] = {}
        for plan in (answer.plan, *answer.others):
            found = self.assistant.preview(replace(answer, plan=plan))
            if found.changes:
                previews.setdefault(found.text.splitlines()[0].rstrip("?"), plan)
            elif not previews:
                return None  # there is no choice where the first cannot be done
        if len(previews) < 2:
            return None
        plans = tuple(previews.values())
        question = between(plans, tuple(previews))
        key = f"{question.text} {question.choices}"
        if key in self._asked:
            return None
        self._asked.add(key)
        ids = tuple(one.item.id for one in answer.items)
        self.pending = Pending(question, request, tuple(Focus(ids, plan=one) for one in plans))
        return question

    def _answered(self, pending: Pending, request: Request, act: "_Acts") -> Answer | None:
        """What an answer to the open question does; None where it is none."""
        if pending.wants == "text" and not leaves_it(request.text):
            text = f"{pending.request.text.rstrip('.!? ')} {request.text}"
            if requests_in(request.text) and not re.match(
                r"(?:at|on|to|that)\b", request.text, re.I
            ):
                return None
            return self._all([text, *pending.rest], replace(request, text=text), act)
        if pending.act is not None:
            return self._agreed(pending, pending.act, request, act)
        found = chosen(pending, request.text)
        if found is None:
            return None
        if pending.choices and self.state.turns:
            self.state.turns.pop()  # what was asked about was not done
        if found == "nothing":
            return _words(request, "Nothing was done.")
        plan = found.plan
        assert plan is not None
        first = pending.choices[0].plan
        if first is not None and plan != first:
            self._learn(first, plan, pending.request)
        asked = replace(pending.request, asked_at=request.asked_at, place=request.place)
        answer = self.assistant.answer(asked, explain=act.explain, focus=found)
        return self._done(answer, pending.rest, request, act)

    def _agreed(
        self, pending: Pending, asked: Answer, request: Request, act: "_Acts"
    ) -> Answer | None:
        """What a yes or a no to an act that was asked about does; None where it is neither."""
        declined = leaves_it(request.text)
        if not declined and not agrees(request.text):
            return None
        if self.state.turns:
            self.state.turns.pop()  # it was not done
        if declined:
            return _words(request, "Nothing was done.")
        now = replace(asked.request, asked_at=request.asked_at, place=request.place)
        answer = replace(asked, request=now)
        return self._done(answer, pending.rest, request, act, pending.question.text)

    def _done(
        self,
        answer: Answer,
        rest: Sequence[str],
        request: Request,
        act: "_Acts",
        agreed: str = "",
    ) -> Answer:
        """The answer carried out, and then the requests that waited for it."""
        answer = self._carried_out(answer, act, agreed) if act.run else answer
        self._keep(answer)
        if answer.result is not None and answer.result.change is not None:
            self._groups.append([answer.result.change.change_id])
        if self.pending is not None:  # a question again: they wait for this one
            self.pending = replace(self.pending, rest=tuple(rest))
            return answer
        return replace(answer, further=self._all(rest, request, act).parts) if rest else answer

    def _learn(self, wrong: Plan, right: Plan, request: Request) -> None:
        if wrong == right or wrong.is_none:
            return
        self.preferences.correct(request, right, wrong)
        for name, value in right.arguments.items():
            before = wrong.arguments.get(name)
            if not isinstance(value, str) or not isinstance(before, str) or before == value:
                continue
            last = self.state.last
            texts = [request.text, *([last.text] if last else [])]
            for text in texts:
                mention = mention_of(text, value, before, self.assistant.person.contacts)
                if mention is not None:
                    self.preferences.prefer(mention, value)
                    break

    def _plays(self, request: Request) -> bool:
        last = self.state.last
        return request.playing is not None or (last is not None and last.app == "music")


@dataclass(frozen=True, slots=True)
class _Acts:
    """How a turn is carried out."""

    run: bool
    confirm: Confirm
    explain: bool
    later: bool


def _failed(answer: Answer) -> bool:
    return answer.result is not None and answer.result.status in _NOT_DONE


def _words(request: Request, words: str) -> Answer:
    """An answer in words, without a call."""
    return Answer((), (), NONE, 1.0, None, Trace(), request, said=words)
