"""One person's conversation with the assistant."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ctrag.assistant.answer import Answer, Question, in_words
from ctrag.assistant.conversation.focus import NOTHING_KNOWN, Focus
from ctrag.assistant.conversation.follow_up import read
from ctrag.assistant.conversation.orders import requests_in
from ctrag.assistant.conversation.preferences import Preferences, mention_of, taught
from ctrag.assistant.conversation.questions import (
    YES_OR_NO,
    Pending,
    answers_a_question,
    between,
    chosen,
    reaching_the_named,
)
from ctrag.assistant.conversation.reading import Reading
from ctrag.assistant.conversation.references import thing_meant
from ctrag.assistant.conversation.rewriting import requests_of_turn
from ctrag.assistant.conversation.small_talk import (
    agrees,
    drops_all,
    leaves_it,
    small_talk,
    without_leaving,
)
from ctrag.assistant.conversation.state import State
from ctrag.assistant.conversation.undoing import taken_back
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.spoken import check_words
from ctrag.text.false_starts import as_meant
from stores.people.items import Request
from stores.people.turns import keep_turn, turn_of

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant

Confirm = Callable[[str], bool]
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
    _preferences: Preferences | None = None
    _last_planned: tuple[object, Answer] | None = None

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
        check_words(text, place, playing)
        text = as_meant(text)
        request = assistant.request(text, at, place, playing)
        act = _Acts(run, confirm, explain, later)
        pending, self.pending = self.pending, None
        self._last_planned = None
        if pending is not None:
            answered = self._answered(pending, request, act)
            if answered is not None:
                return answered
        words = small_talk(text)
        if words is None and pending is None and answers_a_question(text):
            words = "I have asked nothing."
        if words is None and leaves_it(text) and not self._plays(request):
            last = self.state.turns[-1] if self.state.turns and pending is None else None
            done = last is not None and last.change is not None and last.change in self.changes[0]
            words = (
                "It is done already; “undo that” takes it back." if done else "Nothing was done."
            )
        if words is None and (lesson := taught(text, assistant.person.contacts)):
            self.preferences.prefer(*lesson)
            words = f"From now on, “{lesson[0]}” is {lesson[1]}."
        if words is not None:
            return in_words(request, words)
        if requests_in(wanted := without_leaving(text)):
            request = replace(request, text=wanted)
        return self._all(self.requests(request), request, act)

    def requests(self, request: Request) -> list[str]:
        """The requests of a turn, each said whole; see `requests_of_turn`."""
        assistant = self.assistant

        def known(parts: Sequence[str]) -> bool:
            read = [self._read(replace(request, text=part)) for part in parts]
            plain = [one for one in read if not (one.focus.plan or one.undo or one.say or one.ask)]
            if len(plain) != 1 or len(parts) != 1:
                return not plain
            return assistant.sure(self._planned(plain[0], request, explain=False))

        return requests_of_turn(
            request.text, self.state, assistant.view(), assistant.person, assistant.slots, known
        )

    def answer_each(
        self,
        parts: Sequence[str],
        request: Request,
        *,
        run: bool = False,
        confirm: Confirm = lambda question: False,
        explain: bool = False,
    ) -> Answer:
        """Answer the requests of one turn in order; arguments as for `say`."""
        return self._all(parts, request, _Acts(run, confirm, explain, later=False))

    def undo(self, turns: int = 1) -> str:
        """Take back all that the last turn changed, or the latest turns, and say so."""
        return taken_back(self.assistant.stores, self.assistant.person.person_id, turns)

    def copy(self) -> "Conversation":
        """The conversation as it is now; what is said in the one is not known to the other."""
        state = State(self.state.turns.copy())
        return replace(self, state=state, _asked=set(self._asked))

    @property
    def changes(self) -> tuple[frozenset[int], frozenset[int]]:
        """Ids of the person's changes that `undo` takes back next, and of those before."""
        stores, person = self.assistant.stores, self.assistant.person.person_id
        found = [one.change_id for one in stores.changes(person)]
        newest = turn_of(stores.root, person, found[0]) if found else frozenset[int]()
        return newest & set(found), frozenset(found) - newest

    @property
    def preferences(self) -> Preferences:
        """What the person taught; read when it is first needed."""
        if self._preferences is None:
            root, person = self.assistant.stores.root, self.assistant.person.person_id
            self._preferences = Preferences.load(root, person)
        return self._preferences

    def _all(
        self,
        parts: Sequence[str],
        request: Request,
        act: "_Acts",
        done: Sequence[int] = (),
        undone: Sequence[bool] = (),
    ) -> Answer:
        """Answer the requests of one turn in order.

        Args:
            parts: The requests.
            request: The turn.
            act: How it is carried out.
            done: Ids of the changes that the turn made before.
            undone: Whether each request leans on one that was declined; none does when empty.
        """
        answers: list[Answer] = []
        group = list(done)
        leaning: list[bool] = []
        for place, part in enumerate(parts):
            asked = replace(request, text=part)
            reading = self._read(asked)
            failed = next((one for one in answers if _failed(one)), None)
            leans = reading.focus != NOTHING_KNOWN
            if (failed is not None and leans) or any(undone[place : place + 1]):
                answers.append(
                    in_words(asked, "Not done, because what it depends on was not done.")
                )
                continue
            if self.pending is not None:
                # What comes after an open question is planned, and done when it is answered.
                leaning.append(leans)
                answers.append(self._one(reading, asked, replace(act, run=False, waits=True)))
                continue
            answer = self._one(reading, asked, act)
            if answer.plan.is_none and not answer.said and not answers and len(parts) > 1:
                return self._all([" ".join(request.text.split())], request, act, done)
            answers.append(answer)
            group += _changes(answer)
            if answer.question is not None and self.pending is not None:
                rest = tuple(parts[place + 1 :])
                self.pending = replace(self.pending, rest=rest, done=tuple(group))
        if self.pending is not None:
            self.pending = replace(self.pending, leaning=tuple(leaning))
        self._together(group)
        return replace(answers[0], further=tuple(answers[1:]))

    def _together(self, changes: Sequence[int]) -> None:
        """Changes of one turn are one undo."""
        if len(changes) > 1:
            keep_turn(self.assistant.stores.root, self.assistant.person.person_id, changes)

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
            would = "The last change would be undone."
            return in_words(request, self.undo(reading.undo) if act.run else would)
        if reading.say:
            return in_words(request, reading.say)
        if reading.ask and act.waits:
            return in_words(request, reading.ask)
        if reading.ask and reading.ask not in self._asked:
            self._asked.add(reading.ask)
            question = Question(reading.ask)
            self._open(Pending(question, request, wants="text"))
            return replace(in_words(request, reading.ask), question=question)
        answer = self._planned(reading, request, act.explain)
        leans = reading.focus != NOTHING_KNOWN  # then its words say little by themselves
        answer = replace(answer, request=request, ranked=() if leans else answer.ranked)
        doubt = self._doubts(answer, request) if act.run else None
        if doubt is not None:
            self._keep(answer)  # what comes after it may lean on it
            return replace(answer, question=doubt)
        if act.run:
            wrong = self._undone_wrong(answer) if reading.corrects else ""
            answer = self._carried_out(answer, act)
            if wrong and answer.result is not None:
                told = f"{wrong}\n{answer.result.answer}"
                answer = replace(answer, result=replace(answer.result, answer=told))
        if reading.corrects and self.state.last is not None and not answer.plan.is_none:
            self._learn(self.state.last.plan, answer.plan, request)
            self.assistant.usage.correct(self.state.last.text, answer)
        self._keep(answer)
        return answer

    def _planned(self, reading: Reading, request: Request, explain: bool) -> Answer:
        """The answer to what was read, not carried out; within a turn the last is remembered until
        something changes."""
        asked = replace(request, text=reading.text)
        key = (asked, reading.focus, explain, self.assistant.stores.signature())
        if self._last_planned is None or self._last_planned[0] != key:
            found = self.assistant.answer(asked, explain=explain, focus=reading.focus)
            if reading.focus == NOTHING_KNOWN and self.state.last is not None:
                tool = self.assistant.toolbox.get(found.plan.api)
                view = self.assistant.view()
                meant = thing_meant(reading.text, found.plan, tool, self.state, view)
                if meant is not None:
                    found = self.assistant.answer(asked, explain=explain, focus=meant)
            self._last_planned = (key, found)
        return self._last_planned[1]

    def _undone_wrong(self, answer: Answer) -> str:
        """What the last turn did to the wrong thing, taken back and said; "" where the correction
        is of something else, or of what has left the phone."""
        last = self.state.last
        if last is None or last.tool is None or last.change is None:
            return ""
        same = last.plan.api == answer.plan.api and last.plan != answer.plan
        if not same or last.tool.effect != "write" or last.change not in self.changes[0]:
            return ""
        return self.undo()

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
        self._open(Pending(question, answer.request, act=answer))
        return replace(answer, question=question)

    def _open(self, pending: Pending) -> None:
        """Ask, and remember what was talked about before."""
        self.pending = replace(pending, turns=tuple(self.state.turns))

    def _close(self, pending: Pending) -> None:
        """What was asked about was not done, nor what was planned to come after it."""
        self.state.turns.clear()
        self.state.turns.extend(pending.turns)

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
        previews = reaching_the_named(request.text, self.assistant.person.contacts, previews)
        if len(previews) < 2:
            return None
        plans = tuple(previews.values())
        question = between(plans, tuple(previews))
        key = f"{question.text} {question.choices}"
        if key in self._asked:
            return None
        self._asked.add(key)
        ids = tuple(one.item.id for one in answer.items)
        self._open(Pending(question, request, tuple(Focus(ids, plan=one) for one in plans)))
        return question

    def _answered(self, pending: Pending, request: Request, act: "_Acts") -> Answer | None:
        """What an answer to the open question does; None where it is none."""
        if pending.wants == "text" and not leaves_it(request.text):
            text = f"{pending.request.text.rstrip('.!? ')} {request.text}"
            if requests_in(request.text) and not re.match(
                r"(?:at|on|to|that)\b", request.text, re.I
            ):
                return None
            self._close(pending)
            return self._all([text, *pending.rest], replace(request, text=text), act, pending.done)
        if pending.act is not None:
            return self._agreed(pending, pending.act, request, act)
        found = chosen(pending, request.text)
        if found is None:
            return None
        self._close(pending)
        if found == "nothing":
            return self._declined(pending, request, act)
        plan = found.plan
        assert plan is not None
        first = pending.choices[0].plan
        if first is not None and plan != first:
            self._learn(first, plan, pending.request)
        asked = replace(pending.request, asked_at=request.asked_at, place=request.place)
        answer = self.assistant.answer(asked, explain=act.explain, focus=found)
        return self._done(answer, pending, request, act)

    def _agreed(
        self, pending: Pending, asked: Answer, request: Request, act: "_Acts"
    ) -> Answer | None:
        """What a yes or a no to an act that was asked about does; None where it is neither."""
        declined = leaves_it(request.text)
        if not declined and not agrees(request.text):
            return None
        self._close(pending)
        if declined:
            return self._declined(pending, request, act)
        now = replace(asked.request, asked_at=request.asked_at, place=request.place)
        answer = replace(asked, request=now)
        return self._done(answer, pending, request, act, pending.question.text)

    def _declined(self, pending: Pending, request: Request, act: "_Acts") -> Answer:
        """What a no to a question does: the other requests of its breath are done, except for those
        that lean on what was asked about; a "never mind" drops them, too."""
        words = f"Nothing{' more' if pending.done else ''} was done."
        if not pending.rest or drops_all(request.text):
            return in_words(request, words)
        rest = self._all(pending.rest, request, act, pending.done, pending.leaning)
        return replace(in_words(request, "That was not done."), further=rest.parts)

    def _done(
        self,
        answer: Answer,
        pending: Pending,
        request: Request,
        act: "_Acts",
        agreed: str = "",
    ) -> Answer:
        """The answer carried out, and then the requests that waited for it."""
        answer = self._carried_out(answer, act, agreed) if act.run else answer
        self._keep(answer)
        done = (*pending.done, *_changes(answer))
        self._together(done)
        if self.pending is not None:  # a question again: what waited waits for this one
            self.pending = replace(self.pending, rest=pending.rest, done=done)
            return answer
        if not pending.rest:
            return answer
        rest = self._all(pending.rest, request, act, done)
        return replace(answer, further=rest.parts)

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
    waits: bool = False
    """Whether it comes after an open question."""


def _changes(answer: Answer) -> list[int]:
    """Id of the change that an answer made, if any."""
    change = None if answer.result is None else answer.result.change
    return [] if change is None else [change.change_id]


def _failed(answer: Answer) -> bool:
    return answer.result is not None and answer.result.status in _NOT_DONE
