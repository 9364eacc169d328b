"""People and requests by a language model."""

import json
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_line import item_line
from ctrag.assistant.planning.plan import Plan
from ctrag.models.endpoint import ChatEndpoint
from ctrag.settings import Settings
from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec
from stores.people.dataset import Kind, Persona
from stores.people.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request
from stores.people.local_time import format_local_time
from synth.openai import forms
from synth.openai.answers import Answers
from synth.openai.asking import Asker, Unusable
from synth.openai.cost_budget import CostBudget, Prices
from synth.openai.prompts import Prompts
from synth.openai.sketch import KIND_DESCRIPTIONS, moment, sketch
from synth.provider import LabelledRequest, Talk

ATTEMPTS = 3
"""Failed attempts at a person after which the model is given up."""

Faults = Callable[[Persona, LabelledRequest], Sequence[str]]
"""Finds faults of a request, first without and then with its plan; the model may repair both."""


@dataclass(frozen=True, slots=True)
class OpenAIProvider:
    """Makes people and requests by asking an endpoint; see `synth.provider.Provider`."""

    asker: Asker
    apps: tuple[AppSpec, ...]
    toolbox: Toolbox
    workers: int = 8
    faults: Faults = lambda persona, labelled: ()

    def person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        """See `Provider.person`; restarted with another seed when the model fails."""
        keys: list[str] = []
        for attempt in range(ATTEMPTS):
            try:
                return self._person(person_id, counts, seed + attempt * 1_000_003)
            except Unusable as error:
                keys += error.keys
                last = error
        self.asker.answers.drop(keys)  # the run ends here; a rerun asks again
        raise last

    def requests(
        self, persona: Persona, kinds: Sequence[Kind], seed: int, avoid: Sequence[str] = ()
    ) -> list[LabelledRequest]:
        """See `Provider.requests`; requests that the model cannot get right are left out."""
        if not kinds:
            return []
        form = forms.requests_form(
            persona, kinds, avoid, lambda one: self.faults(persona, _unplanned(one))
        )
        prompt = self._text(
            "requests",
            form,
            person=persona.person,
            now=_moment(persona.person.now),
            until=_moment(persona.person.now + forms.ASKED_WITHIN),
            items=_lines(persona.items),
            kinds=[(kind, KIND_DESCRIPTIONS[kind]) for kind in kinds],
            avoid=list(avoid),
        )
        try:
            drawn = self.asker.ask(prompt, form, seed)
        except Unusable:
            return []
        made = (self._labelled(persona, one, seed) for one in drawn)
        return [one for one in made if one is not None]

    def talks(self, persona: Persona, several: int, dialogues: int, seed: int) -> list[Talk]:
        """See `Provider.talks`; a model is not asked for any."""
        return []

    def _person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        generator = random.Random(seed)
        drawn, now = sketch(generator), moment(generator)
        form = forms.persona_form()
        prompt = self._text("persona", form, sketch=drawn, now=_moment(now))
        answer = self.asker.ask(prompt, form, seed)
        profile = answer.profile.model_dump()
        person = Person(
            person_id,
            now,
            Profile(**{**profile, "hobbies": tuple(profile["hobbies"])}),
            tuple(Contact(**one.model_dump()) for one in answer.contacts),
        )
        items: list[Item] = []
        for app in self.apps:
            if counts.get(app.name, 0) > 0:
                items += self._items(person, answer.routines, app, counts[app.name], items, seed)
        return Persona(person, tuple(items))

    def _items(
        self,
        person: Person,
        routines: Sequence[str],
        app: AppSpec,
        count: int,
        known: Sequence[Item],
        seed: int,
    ) -> list[Item]:
        contacts = [one.name for one in person.contacts]
        form = forms.items_form(app, person.person_id, count, person.now, known=contacts)
        prompt = self._text(
            "items",
            form,
            person=person,
            routines=list(routines),
            app=app,
            count=count,
            now=_moment(person.now),
            items=_lines(known),
        )
        return self.asker.ask(prompt, form, seed)

    def _labelled(
        self, persona: Persona, drawn: forms.RequestAnswer, seed: int
    ) -> LabelledRequest | None:
        unplanned = _unplanned(drawn)
        request, relevant = unplanned.request, unplanned.labels.relevant or ()
        try:
            tools = self._tools(persona, request, relevant, seed)
            if (drawn.kind == "no_tool") != (not tools):
                return None
            thought = self._thought(request, seed)
            labels = Labels(drawn.kind, thought, relevant, tools)
            plan = self._plan(persona, LabelledRequest(request, labels), seed) if tools else None
        except Unusable:
            return None
        return LabelledRequest(request, Labels(drawn.kind, thought, relevant, tools, plan))

    def _tools(
        self, persona: Persona, request: Request, relevant: Sequence[str], seed: int
    ) -> tuple[str, ...]:
        form = forms.tools_form(self.toolbox)
        prompt = self._text(
            "tools",
            form,
            toolbox=self.toolbox,
            request=request,
            now=_moment(request.asked_at),
            items=_lines(_chosen(persona, relevant)),
        )
        tools = self.asker.ask(prompt, form, seed)
        return tuple(tools)

    def _thought(self, request: Request, seed: int) -> str:
        form = forms.thought_form()
        prompt = self._text(
            "thought",
            form,
            apps=[app.name for app in self.apps],
            request=request,
            now=_moment(request.asked_at),
        )
        return self.asker.ask(prompt, form, seed)

    def _plan(self, persona: Persona, drawn: LabelledRequest, seed: int) -> LabelledPlan:
        labels = drawn.labels
        tool = self.toolbox.get((labels.tools or ("",))[0])
        assert tool is not None  # tools_form lets only known APIs through

        def problems(plan: Plan) -> list[str]:
            with_plan = Labels(
                labels.kind,
                labels.chain_of_thought,
                labels.relevant,
                labels.tools,
                LabelledPlan(plan.api, plan.arguments),
            )
            return list(self.faults(persona, LabelledRequest(drawn.request, with_plan)))

        form = forms.plan_form(tool, problems)
        prompt = self._text(
            "plan",
            form,
            person=persona.person,
            tool=tool,
            request=drawn.request,
            now=_moment(drawn.request.asked_at),
            items=_lines(_chosen(persona, labels.relevant or ())),
        )
        plan = self.asker.ask(prompt, form, seed)
        return LabelledPlan(plan.api, plan.arguments)

    def _text(self, name: str, form: Any, **values: Any) -> str:
        schema = json.dumps(form.schema, ensure_ascii=False)
        return self.asker.prompts.text(name, schema=schema, **values)


def open_asker(
    options: Settings, cache: Path, prompts: Path | None, max_cost: float | None
) -> Asker:
    """An asker for the endpoint in the settings.

    Args:
        options: Address, model, key (else `OPENAI_API_KEY`), time-out, prices and concurrency.
        cache: Folder of answers; runs with the same one never pay twice.
        prompts: Folder of templates that override the packaged ones.
        max_cost: The most money that this run may spend.

    Raises:
        ValueError: A setting is missing or a template is unknown.
        FileNotFoundError: There is no such folder of prompts.
    """
    key = options.openai_api_key.get_secret_value() or os.environ.get("OPENAI_API_KEY", "")
    prompt, completion = options.openai_price_prompt, options.openai_price_completion
    prices = None if prompt is None or completion is None else Prices(prompt, completion)
    endpoint = ChatEndpoint(
        options.openai_base_url,
        options.openai_model,
        key,
        options.openai_timeout,
        options.openai_retries,
    )
    return Asker(
        endpoint,
        Answers(cache),
        CostBudget(prices, max_cost),
        Prompts(prompts),
        workers=options.openai_concurrency,
    )


def _unplanned(drawn: forms.RequestAnswer) -> LabelledRequest:
    """A request that has only its items so far."""
    return LabelledRequest(
        Request(drawn.text, drawn.asked_at, drawn.place or None, drawn.playing),
        Labels(drawn.kind, relevant=tuple(dict.fromkeys(drawn.relevant))),
    )


def _chosen(persona: Persona, ids: Sequence[str]) -> list[Item]:
    return [item for item in persona.items if item.id in ids]


def _lines(items: Sequence[Item]) -> list[str]:
    """One line per item: its id, content and usage."""
    lines = []
    for item in items:
        usage = item.usage
        hours = ", ".join(f"{hour}:00" for hour in usage.usual_hours)
        used = f" [opened {usage.opens_30d} times" + (f", usually at {hours}" if hours else "")
        used += f", {usage.usual_place}]" if usage.usual_place else "]"
        times = "".join(
            f"; {role} {_moment(found)}"
            for role in ("time", "end")
            if (found := item_text.time_of(item, role)) is not None
        )
        lines.append(f"{item.id}: {item_line(item, 300)}{times}{used}")
    return lines


def _moment(moment: datetime) -> str:
    return f"{format_local_time(moment)} ({moment:%A})"
