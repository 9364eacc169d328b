"""Dialogues and requests for several calls, as a user meets them: each turn is said after the
assistant's own earlier calls, which were carried out, right or wrong.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.answer import Answer
from ctrag.assistant.assistant import Assistant
from ctrag.assistant.context.item_arrays import encode_items
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from eval.core.intervals import bootstrap_interval
from eval.core.plans import accepted, done_right, labelled_plan, normalise
from eval.planner.steps import PlanningSteps
from stores.people.app_spec import apps_of
from stores.people.dataset import load_dataset
from stores.people.dialogues import (
    Dialogue,
    LabelledTurn,
    SeveralCalls,
    load_dialogues,
    load_several,
)
from stores.people.items import LabelledPlan
from stores.people.stores import Stores

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one turn, or on one request for several calls."""

    accepted: bool
    """Whether every call is one that is right; texts by presence, as for AST accuracy."""
    done_right: bool
    """Whether all that the calls write is right, too."""
    plans: tuple[Plan, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Scored:
    """The verdicts on one dialogue, or the one on a request for several calls."""

    query_id: str
    person_id: str
    verdicts: tuple[Verdict, ...]


@dataclass(slots=True)
class Conversations:
    """Plays dialogues with one set of models on stores of the data set's people."""

    steps: PlanningSteps
    toolbox: Toolbox
    stores: Stores
    dialogues: Sequence[Dialogue]
    several: Sequence[SeveralCalls]
    _open: dict[str, Assistant] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(
        cls, data: Path, steps: PlanningSteps, toolbox: Toolbox
    ) -> "Iterator[Conversations | None]":
        """With the people of a data set folder in stores that are erased afterwards; None where the
        folder has neither dialogues nor requests for several calls."""
        personas = {one.person.person_id: one for one in load_dataset(data).personas}
        dialogues, several = load_dialogues(data, personas), load_several(data, personas)
        if not dialogues and not several:
            yield None
            return
        needed = {one.person_id for one in dialogues} | {one.person_id for one in several}
        with tempfile.TemporaryDirectory() as folder:
            stores = Stores(Path(folder) / "stores", apps_of(data))
            stores.import_personas(
                [one for key, one in personas.items() if key in needed],
                lambda owned: encode_items(steps.encoder, list(owned)),
                steps.encoder.name,
            )
            yield cls(steps, toolbox, stores, dialogues, several)

    def play(self, dialogue: Dialogue) -> Scored:
        """Say every turn; changes are taken back at the end."""
        request = dialogue.request
        made: dict[str, str] = {}
        verdicts = []
        with self._changed(dialogue.person_id) as assistant:
            talk = assistant.conversation()
            for turn in dialogue.turns:
                answer = talk.say(
                    turn.text,
                    request.asked_at,
                    request.place,
                    playing=request.playing,
                    run=True,
                    confirm=lambda question: True,
                )
                if answer.question is not None and answer.question.choices:
                    taken = talk.say("1", request.asked_at, run=True, confirm=lambda question: True)
                    answer = answer if taken.plan.is_none else taken
                verdicts.append(self._verdict(answer, turn, made))
                made |= _made(answer, turn)
        return Scored(dialogue.query_id, dialogue.person_id, tuple(verdicts))

    def ask(self, several: SeveralCalls) -> Scored:
        """Ask for several calls at once, and carry them out; changes are taken back."""
        request = several.request
        with self._changed(several.person_id) as assistant:
            answer = assistant.ask(
                request.text,
                request.asked_at,
                request.place,
                playing=request.playing,
                run=True,
                confirm=lambda question: True,
            )
        return Scored(several.query_id, several.person_id, (self._in_order(answer, several),))

    def _verdict(self, answer: Answer, turn: LabelledTurn, made: Mapping[str, str]) -> Verdict:
        labels = [labelled_plan(renamed(one, made)) for one in (turn.plan, *turn.also)]
        return _verdict([answer], [(labels[0], labels[1:])], self.toolbox)

    def _in_order(self, answer: Answer, several: SeveralCalls) -> Verdict:
        gold = [labelled_plan(one) for one in several.plans]
        instead = stand_ins(several.plans, several.also, self.toolbox)
        labels = [
            (plan, list(map(labelled_plan, one))) for plan, one in zip(gold, instead, strict=True)
        ]
        return _verdict(answer.parts, labels, self.toolbox)

    @contextmanager
    def _changed(self, person_id: str) -> Iterator[Assistant]:
        """The person's assistant; what it changes is taken back."""
        assistant = self._open.get(person_id)
        if assistant is None:
            steps = self.steps
            assistant = self._open[person_id] = Assistant(
                self.stores,
                person_id,
                encoder=steps.encoder,
                artefacts=steps.artefacts,
                planner=steps.planner,
                slots=steps.filler,
                toolbox=self.toolbox,
                options=steps.options,
                frozen_clock=True,
            )
        try:
            yield assistant
        finally:
            while self.stores.changes(person_id):
                self.stores.undo(person_id)


def _verdict(
    answers: Sequence[Answer],
    labels: Sequence[tuple[Plan | None, Sequence[Plan | None]]],
    toolbox: Toolbox,
) -> Verdict:
    plans = tuple(one.plan for one in answers)
    whole = len(plans) == len(labels)
    pairs = list(zip(plans, labels, strict=False))
    return Verdict(
        whole and all(accepted(plan, gold, also, toolbox) for plan, (gold, also) in pairs),
        whole and all(done_right(plan, gold, also, toolbox) for plan, (gold, also) in pairs),
        plans,
        sum(step.milliseconds for one in answers for step in one.trace.steps) / 1000,
    )


def stand_ins(
    plans: Sequence[LabelledPlan], also: Iterable[LabelledPlan], toolbox: Toolbox
) -> list[list[LabelledPlan]]:
    """For each call, the single calls that may stand in for it: each goes with the call of its API,
    else of its application, else of its effect."""
    found: list[list[LabelledPlan]] = [[] for _ in plans]

    def kind(plan: LabelledPlan) -> tuple[str, str, str]:
        tool = toolbox.get(plan.api)
        return (plan.api, tool.app, tool.effect) if tool else (plan.api, "", "")

    for one in also:
        alike = [
            [place for place, plan in enumerate(plans) if kind(plan)[grade] == kind(one)[grade]]
            for grade in range(3)
        ]
        places = next((found for found in alike if found), list(range(len(plans))))
        for place in places:
            found[place].append(one)
    return found


def renamed(label: LabelledPlan | None, made: Mapping[str, str]) -> LabelledPlan | None:
    """The label, naming what the assistant itself made as the assistant named it."""
    if label is None:
        return None
    values = {
        name: made.get(str(normalise(value)), value) if isinstance(value, str) else value
        for name, value in label.arguments.items()
    }
    return LabelledPlan(label.api, values)


def _made(answer: Answer, turn: LabelledTurn) -> dict[str, str]:
    """Title in a label → title of what the assistant made in that turn."""
    plan = answer.plan
    if not plan.api.startswith("create_") or "title" not in plan.arguments:
        return {}
    titles = [one.arguments.get("title") for one in (turn.plan, *turn.also) if one is not None]
    own = str(plan.arguments["title"])
    return {str(normalise(title)): own for title in titles if isinstance(title, str)}


CONVERSATIONS = ("several", "later_turns", "whole_dialogues")
"""What is figured of dialogues and of requests for several calls."""


def conversation_figures(
    data: Path,
    steps: PlanningSteps,
    toolbox: Toolbox,
    limit: int | None = None,
    progress: Progress = lambda _: None,
) -> dict[str, Any]:
    """`figures` of a data set folder; nothing where it has no dialogues and no such requests.

    Args:
        data: The folder.
        steps: The models.
        toolbox: The APIs.
        limit: Only the first so many dialogues, and requests for several calls.
        progress: Called with progress messages.
    """
    with Conversations.open(data, steps, toolbox) as talks:
        if talks is None:
            return {}
        played, asked = [], []
        for one in talks.dialogues[:limit]:
            played.append(talks.play(one))
            progress(f"{len(played)}/{len(talks.dialogues[:limit])} dialogues")
        for several in talks.several[:limit]:
            asked.append(talks.ask(several))
            progress(f"{len(asked)}/{len(talks.several[:limit])} requests for several calls")
        return figures(played, asked)


def figures(dialogues: Sequence[Scored], several: Sequence[Scored]) -> dict[str, Any]:
    """`several`, `later_turns` and `whole_dialogues` in percent, each with its interval; those for
    which the data set has something."""
    found: dict[str, Any] = {}
    later = [(one.person_id, verdict) for one in dialogues for verdict in one.verdicts[1:]]
    groups = {
        "several": [(one.person_id, [one.verdicts[0]]) for one in several],
        "later_turns": [(person, [verdict]) for person, verdict in later],
        "whole_dialogues": [(one.person_id, list(one.verdicts)) for one in dialogues],
    }
    for name, rows in groups.items():
        if not rows:
            continue
        people = [person for person, _ in rows]
        right = [100.0 * all(one.accepted for one in verdicts) for _, verdicts in rows]
        done = [100.0 * all(one.done_right for one in verdicts) for _, verdicts in rows]
        bounds = bootstrap_interval(right, people)
        found[name] = {
            "right": round(float(np.mean(right)), 2),
            "interval": None if bounds is None else [round(bounds.low, 2), round(bounds.high, 2)],
            "done_right": round(float(np.mean(done)), 2),
            "count": len(rows),
        }
    if later:
        found["later_turns"]["seconds_p50"] = round(
            float(np.median([verdict.seconds for _, verdict in later])), 3
        )
    return found
