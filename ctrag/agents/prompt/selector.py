"""Selecting what a step is shown, with a discovery step where the tools may not be enough."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.agents.prompt.assembly import Likely, Parts, Prompt
from ctrag.agents.prompt.choosing import Chooser, ChosenUnits
from ctrag.agents.prompt.fitting import LIKELY_TOKENS, Fitter
from ctrag.agents.prompt.forms import Form, document_tokens, signature_tokens
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.gains import Gains
from ctrag.agents.prompt.retrieval import Scores
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.sufficiency import Sufficiency
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.models.tokens import CountTokens


@dataclass(frozen=True, slots=True)
class _Shape:
    """Chooser and fitter of one prompt form."""

    chooser: Chooser
    fitter: Fitter


@dataclass(frozen=True, slots=True)
class Selection:
    """The units chosen for a step; shared by all prompts with the same signature."""

    choice: ChosenUnits
    sufficiency: float
    """Probability that the tools are enough."""
    discovered: bool
    """Whether the discovery step was taken."""
    domain: str
    likely: Likely | None
    """The tool that the routing note may name."""


class Selector:
    """Selects for each step among the fragments and tools of one builder."""

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument],
        *,
        overlay: str,
        settings: PromptSettings,
        gains: Gains,
        pinned: Mapping[str, Sequence[str]],
        sufficiency: Sufficiency,
        count: CountTokens,
    ) -> None:
        """Check the pinned tools.

        Args:
            fragments: All there are.
            tools: All there are.
            overlay: First in every prompt and never cut.
            settings: See `PromptSettings`.
            gains: Feedback of earlier steps.
            pinned: Domain (or `*`) → ids of tools.
            sufficiency: Estimates whether the tools are enough.
            count: Tokens of a text.

        Raises:
            ValueError: A pinned tool is unknown.
        """
        self._fragments, self._tools = fragments, tools
        self._overlay, self._settings, self._gains = overlay, settings, gains
        self._pinned, self._sufficiency, self._count = pinned, sufficiency, count
        self._rows = {tool.id: row for row, tool in enumerate(tools)}
        self._shapes: dict[Form, _Shape] = {}
        self._shape("text")

    def fitter(self, form: Form) -> Fitter:
        """The fitter of a form; made on first use."""
        return self._shape(form).fitter

    def select(
        self, scores: Scores, budget: int, domain: str, rated: float | None, form: Form
    ) -> Selection:
        """The best units, extended by `PromptSettings.discovery` where the tools may not be enough.

        Args:
            scores: Of every unit.
            budget: Tokens of the prompt.
            domain: Where the request belongs, if known; empty if not.
            rated: The model's own probability that the tools suffice, if it was asked.
            form: Of the prompt.
        """
        choice = self._choose(scores, budget, domain, self._settings.signatures, form)
        rows = [self._rows[tool.id] for tool in (*choice.tools, *choice.signatures)]
        enough = self._sufficiency.probability(scores.tools, rows, rated, scores.request)
        if enough >= self._settings.tau or self._settings.discovery == "off":
            return Selection(choice, enough, False, domain, self._likely(scores, choice))
        if self._settings.discovery == "widen":
            choice = self._choose(scores.wide, budget, domain, self._widest(), form)
        return Selection(choice, enough, True, domain, self._likely(scores, choice))

    def discovered(self, prompt: Prompt, scores: Scores, budget: int) -> Selection:
        """The discovery step of a prompt whose tools were not enough.

        Args:
            prompt: What the step had.
            scores: Of every unit.
            budget: Tokens of the prompt.
        """
        choice = self._choose(scores.wide, budget, prompt.domain, self._widest(), prompt.form)
        likely = self._likely(scores, choice)
        return Selection(choice, prompt.sufficiency or 0.0, True, prompt.domain, likely)

    def assembled(
        self,
        text: str,
        history: tuple[str, ...],
        selection: Selection,
        budget: int,
        previous: Prompt | None,
        form: Form,
    ) -> Prompt:
        """The prompt for a selection, within its budget.

        Args:
            text: The request.
            history: Ids of the tools called so far.
            selection: For this budget and form.
            budget: Tokens of the prompt.
            previous: The previous step's prompt, whose order is kept.
            form: Of the prompt.
        """
        choice, fitter = selection.choice, self._shape(form).fitter
        chosen = Parts(choice.fragments, choice.tools, choice.signatures, likely=selection.likely)
        parts, tokens = fitter.fitted(chosen, budget, previous)
        if selection.discovered and self._settings.discovery == "summary":
            parts, tokens = fitter.summarised(parts, self._tools, budget)
        shown = [one.id for one in (*parts.tools, *parts.signatures)]
        lost = [one.id for one in choice.fragments if one.always and one not in parts.fragments]
        return Prompt(
            request=text,
            history=history,
            overlay=self._overlay,
            fragments=tuple(parts.fragments),
            tools=tuple(parts.tools),
            tokens=tokens,
            budget=budget,
            form=form,
            signatures=tuple(parts.signatures),
            summary=tuple(parts.summary),
            sufficiency=selection.sufficiency,
            discovered=selection.discovered,
            domain=selection.domain,
            dropped=(*lost, *choice.dropped),
            scores={
                unit: round(choice.chances[unit], 6)
                for unit in (*(one.id for one in parts.fragments), *shown)
            },
            likely=parts.likely,
        )

    def _shape(self, form: Form) -> _Shape:
        if form not in self._shapes:
            chooser = Chooser(
                self._fragments,
                self._tools,
                {tool.id: document_tokens(form, tool, self._count) for tool in self._tools},
                [signature_tokens(form, tool, self._count) for tool in self._tools],
                self._settings,
                self._gains,
                self._pinned,
            )
            self._shapes[form] = _Shape(chooser, Fitter(self._overlay, self._count, form))
        return self._shapes[form]

    def _choose(
        self, scores: Scores, budget: int, domain: str, short: int, form: Form
    ) -> ChosenUnits:
        shape = self._shape(form)
        room = shape.fitter.room(budget)
        if scores.predicted and self._settings.likely:
            room -= LIKELY_TOKENS
        return shape.chooser.choose(scores, room, domain, short)

    def _likely(self, scores: Scores, choice: ChosenUnits) -> Likely | None:
        """The likeliest of all tools, where the next-tool model predicts one and it was chosen."""
        if not (scores.predicted and self._settings.likely):
            return None
        best = self._tools[int(np.argmax(scores.tools))]
        if best not in (*choice.tools, *choice.signatures):
            return None
        return Likely(best.id, best.name, choice.chances[best.id])

    def _widest(self) -> int:
        """Signatures of a discovery step."""
        return max(self._settings.discovery_tools - self._settings.tools, self._settings.signatures)
