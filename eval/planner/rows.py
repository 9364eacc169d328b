"""What each planning setting shows the planner, and the plans that it decodes from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from ctrag.assistant.api_choice.retrieve import RankedTools, ToolRetriever
from ctrag.assistant.artefacts import Artefacts
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.confidence import Evidence
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.interface import Planned, Planner, PlanRequest
from ctrag.assistant.planning.planner_prompt import planner_prompt
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.slot_filler import SlotFiller
from ctrag.settings import Settings
from ctrag.toolbox import Tool, Toolbox
from eval.core.examples import RankingExample
from eval.core.rows import KeptRows
from stores.people.items import Item


class PlanRow(BaseModel):
    """One decoded plan; a resumed run reads it instead of decoding again."""

    model_config = ConfigDict(extra="forbid")
    run: str
    """Hash of what the plan depends on besides the request."""
    setting: str
    free: bool
    query_id: str
    text: str
    seconds: float
    missed: str
    """`item`, `tool` or nothing: what retrieval did not return."""
    confidence: float
    evidence: Evidence | None = None
    others: list[str] = []
    """The next best plans, where the confidence is below `Settings.sure`."""


@dataclass(frozen=True, slots=True)
class PlannerInput:
    """What one setting shows the planner."""

    sources: ValueSources
    """The items in the prompt, and what else values may come from."""
    tools: list[Tool]
    """Tools in the prompt."""
    callable_tools: list[Tool]
    """Tools in the grammar: all of them where the prompt names none."""
    preferences: dict[str, float] | None
    """What tool retrieval says of them; None where there is no retrieval."""

    @property
    def items(self) -> Sequence[Item]:
        """Items in the prompt, best first."""
        return self.sources.items


class PlannerInputs:
    """Decides what each setting shows the planner."""

    def __init__(
        self,
        retriever: ContextRetriever,
        tools: ToolRetriever,
        toolbox: Toolbox,
        options: Settings,
        artefacts: Artefacts,
    ) -> None:
        self.artefacts = artefacts
        self._retriever = retriever
        self._encoder = retriever.ranker.card.encoder
        self._tools = tools
        self._toolbox = toolbox
        self._options = options

    def plain(self, example: RankingExample) -> float:
        """Probability that the request says its own values."""
        vector, plainness = example.context.vector, self.artefacts.plainness
        return plainness.of(vector) if plainness.card.encoder == self._encoder else 1.0

    def __call__(self, example: RankingExample, setting: str) -> PlannerInput:
        """Items and tools of one setting, labelled ones only where its name says so."""
        context, labels = example.context, example.labels
        view, request = context.view, context.request
        items: list[Item] = []
        further: Sequence[Item] = ()
        relevance = np.zeros(0, np.float32)
        if setting == "context_tuned_rag":
            found = self._retriever.retrieve(
                view, request, self._options.items, encoded=(context.vector, context.tuned)
            )
            items, further = [one.item for one in found.items], found.further
            relevance = found.relevance
        elif setting == "context_tuned_upper_bound":
            items = example.relevant_items
            relevance = np.zeros(len(items), np.float32)
        sources = ValueSources.of(request, view.person, items, relevance, view.items, further)
        if setting == "lower_bound":
            return PlannerInput(sources, [], list(self._toolbox), None)
        search = partial(self._tools.search, request, items, relevance=relevance, context=context)
        if setting.endswith("upper_bound"):
            # Retrieval orders the labelled tools: their own order is the answer.
            ranked = search(len(self._toolbox))
            kept = tuple(one for one in ranked.tools if one.tool.api in (labels.tools or ()))
            ranked = RankedTools(kept, ranked.none)
        else:
            ranked = search(self._options.tools)
        tools = [one.tool for one in ranked.tools]
        return PlannerInput(sources, tools, tools, ranked.preferences)


class PlanRows:
    """Decoded plans, in memory and in a file."""

    def __init__(self, path: Path | None, run: str) -> None:
        self._rows = KeptRows(path, PlanRow, run, lambda row: (row.setting, row.free, row.query_id))

    def has(self, setting: str, free: bool, example: RankingExample) -> bool:
        """Whether the request is decoded already."""
        return (setting, free, example.asked.query_id) in self._rows

    def get(self, setting: str, free: bool, example: RankingExample) -> PlanRow:
        """What was decoded for the request; KeyError when nothing was."""
        return self._rows[setting, free, example.asked.query_id]

    def add(self, row: PlanRow) -> None:
        """Keep a row, in the file too."""
        self._rows.add(row)


def decode(
    example: RankingExample,
    setting: str,
    free: bool,
    show: PlannerInputs,
    planner: Planner,
    filler: SlotFiller | None,
    options: Settings,
    run: str,
) -> PlanRow:
    """Decode one request in one setting, as a row.

    Args:
        example, setting, free, show, planner, filler, options: As for `planned`.
        run: Hash of what the plan depends on besides the request.
    """
    made, missed = planned(example, setting, free, show, planner, filler, options)
    return PlanRow(
        run=run,
        setting=setting,
        free=free,
        query_id=example.asked.query_id,
        text=made.text,
        seconds=round(made.seconds, 3),
        missed=missed,
        confidence=round(made.confidence, 4),
        evidence=made.evidence,
        others=[str(one) for one in made.alternatives],
    )


def planned(
    example: RankingExample,
    setting: str,
    free: bool,
    show: PlannerInputs,
    planner: Planner,
    filler: SlotFiller | None,
    options: Settings,
) -> tuple[Planned, str]:
    """Decode one request in one setting.

    Args:
        example: The request with its context and labels.
        setting: Which items and tools are shown.
        free: Whether to decode without the grammar.
        show: Finds items and tools.
        planner: Decodes.
        filler: Reads what the request says of a call's slots.
        options: Prompt budget and whether free text is written.

    Returns:
        What was planned, and what retrieval did not return: `item`, `tool` or nothing.
    """
    shown = show(example, setting)
    exposed, sources = shown.callable_tools, shown.sources
    prompt = partial(
        planner_prompt,
        sources.request,
        sources.person,
        shown.items,
        shown.tools,
        planner.count_tokens,
        options.prompt_budget,
        brief=planner.brief,
    )
    # Without items in the prompt there may be nothing to ground a value in: then it is open.
    grammar = (
        None
        if free
        else plan_grammar(
            exposed,
            sources,
            best_only=planner.best_only,
            write_text=planner.writes_text,
            write_outward=planner.writes_outward,
            open_when_empty=not shown.items,
            fillable=filler is not None,
            values=rank_values(
                exposed, sources, show.artefacts.arguments if planner.best_only else None
            ),
        )
    )

    def slots(tool: Tool) -> Mapping[str, FilledSlot]:
        assert filler is not None
        return filler.fill(sources.request, tool, shown.items)

    made = planner.plan(
        PlanRequest(
            exposed,
            grammar,
            prompt,
            shown.preferences,
            options.sure,
            slots=None if filler is None else slots,
            sources=sources,
            choice=show.artefacts.choice,
            plain=show.plain(example),
            calls=None if filler is None else show.artefacts.calls,
            confidence=None if filler is None else show.artefacts.confidence,
        )
    )
    return made, _missed(example, shown)


def _missed(example: RankingExample, shown: PlannerInput) -> str:
    gold = example.labels.plan
    if gold is not None and gold.api not in {tool.api for tool in shown.callable_tools}:
        return "tool"
    relevant = {
        example.context.view.ids[row] for row in example.context.rows[example.relevance > 0]
    }
    return "item" if relevant - {item.id for item in shown.items} else ""
