"""What a conversation knows of a call before it is planned."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ctrag.assistant.api_choice.retrieve import RankedTools
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.retrieve import FoundItem, RetrievedContext
from ctrag.assistant.planning.candidate_values import CandidateValue
from ctrag.assistant.planning.plan import Plan, Value
from ctrag.assistant.planning.ranked_values import ToolValues

_LIFT = 3.0
"""How far the least of the items in focus is above all others, on LambdaMART's scale."""
SURE_READING = 0.95
"""Confidence in a call that follows from the one before it by a rule."""


@dataclass(frozen=True, slots=True)
class Focus:
    """What was talked about, as far as it decides the next call."""

    items: tuple[str, ...] = ()
    """Ids of items that come before those that retrieval finds, best first."""
    apis: tuple[str, ...] = ()
    """The APIs that can be meant; any when empty."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """Arguments whose value is known; only with `apis`."""
    plan: Plan | None = None
    """The whole call, where nothing of it is open."""

    def first(self, found: RetrievedContext, view: PersonView) -> RetrievedContext:
        """What was retrieved, behind the items in focus."""
        rows = set(found.context.rows.tolist())
        ids = [one for one in self.items if one in view.row and view.row[one] in rows]
        if not ids:
            return found
        ranked = [*(one.item for one in found.items), *found.further]
        known = dict(zip((item.id for item in ranked), found.relevance.tolist(), strict=True))
        shown = {one.item.id: one for one in found.items}
        top = max(known.values(), default=0.0) + _LIFT
        items = [shown.get(one) or FoundItem(view.items[view.row[one]], 1.0, {}, {}) for one in ids]
        kept = max(len(found.items), len(items))
        items += [one for one in found.items if one.item.id not in ids][: kept - len(items)]
        within = {one.item.id for one in items}
        further = tuple(item for item in found.further if item.id not in within)
        scores = [top + len(ids) - place for place in range(len(ids))]
        scores += [known[one.item.id] for one in items[len(ids) :]]
        scores += [known[item.id] for item in further]
        relevance = np.asarray(scores, dtype=np.float32)
        return replace(found, items=tuple(items), further=further, relevance=relevance)

    def only(self, tools: RankedTools) -> RankedTools:
        """The tools that can be meant, without "no API can do it" where these are known."""
        if not self.apis:
            return tools
        kept = tuple(one for one in tools.tools if one.tool.api in self.apis)
        return RankedTools(kept, min((one.score for one in kept), default=0.0) - 10)

    def fix(self, values: Mapping[str, ToolValues]) -> Mapping[str, ToolValues]:
        """The ranked values, with those in place of which a value is known."""
        return {api: self._fixed(one) for api, one in values.items()} if self.values else values

    def _fixed(self, values: ToolValues) -> ToolValues:
        known = {
            name: (CandidateValue(str(value), "conversation", "field", 0),)
            for name, value in self.values.items()
            if name in values.candidates and isinstance(value, str | int)
        }
        return replace(
            values,
            candidates={**values.candidates, **known},
            absent=values.absent - set(known),
            beliefs={**values.beliefs, **dict.fromkeys(known, 1.0)},
        )

    def settle(self, plan: Plan) -> Plan:
        """The plan with the known values, where a text said something else."""
        if not self.apis or plan.api not in self.apis:
            return plan
        return Plan(plan.api, {**plan.arguments, **self.values})


NOTHING_KNOWN = Focus()
"""For a request that stands by itself."""
