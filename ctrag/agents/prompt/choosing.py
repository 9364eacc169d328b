"""From scores to the units of a prompt: standing rules, limits, pinned tools, recall, budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.gains import Gains
from ctrag.agents.prompt.retrieval import Scores, shares
from ctrag.agents.prompt.selection import SelectionCandidate, greedy
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.errors import InputError

T = TypeVar("T")
Floats = NDArray[np.float64]
INSTRUCTION, TOOL = "instruction", "tool"
ANYWHERE = "*"
"""As a domain of pinned tools: any domain."""
_LEAST = 1e-9
_DOMAIN_SHARE = 0.5
"""Least probability of a domain for its pinned tools to be included."""


@dataclass(frozen=True, slots=True)
class ChosenUnits:
    """The units of a prompt, best first."""

    fragments: tuple[Fragment, ...]
    tools: tuple[ToolDocument, ...]
    """Shown with whole documents."""
    signatures: tuple[ToolDocument, ...]
    """Shown in one line each, pinned ones first."""
    dropped: tuple[str, ...]
    """Fragments that hold for every request, and pinned tools, that did not fit."""
    chances: dict[str, float]
    """Probability of each chosen unit within its corpus, by id."""


class Chooser:
    """Chooses among the fragments and tools of one builder."""

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument],
        costs: Mapping[str, int],
        brief_costs: Sequence[int],
        settings: PromptSettings,
        gains: Gains,
        pinned: Mapping[str, Sequence[str]],
    ) -> None:
        """Check the pinned tools.

        Args:
            fragments: All there are.
            tools: All there are.
            costs: Tokens of each tool's document, by id.
            brief_costs: Tokens of each tool's signature, in the order of the tools.
            settings: See `PromptSettings`.
            gains: Feedback of earlier steps.
            pinned: Domain (or `*`) → ids of tools.

        Raises:
            ValueError: A pinned tool is unknown.
        """
        self._fragments, self._tools = fragments, tools
        self._costs, self._settings, self._gains = costs, settings, gains
        self._brief_costs = list(brief_costs)
        self._rows = {tool.id: row for row, tool in enumerate(tools)}
        standing = [row for row, one in enumerate(fragments) if one.always]
        self._standing = sorted(standing, key=lambda row: (-fragments[row].priority, row))
        self._pinned = {domain: tuple(ids) for domain, ids in pinned.items()}
        for domain, ids in self._pinned.items():
            for one in ids:
                if one not in self._rows:
                    raise InputError(f"pinned: {one!r} of domain {domain!r} is no tool")

    def choose(self, scores: Scores, room: int, domain: str, short: int) -> ChosenUnits:
        """The best units for `room` tokens: fragments that hold for every request, tools, their
        signatures, then other fragments.

        Args:
            scores: Of every unit.
            room: Tokens for units alone.
            domain: Where the request belongs, if known; empty if not.
            short: Most tools to show by their signature.
        """
        fragment_probs, tool_probs = shares(scores.instructions), shares(scores.tools)
        ranked = self._ranked(tool_probs)
        others = best_rows(scores.instructions, len(self._fragments))
        rows = [row for row in others if not self._fragments[row].always]
        rows = rows[: self._settings.candidates]
        if scores.matter is not None:
            rows = [row for row in rows if scores.matter[row]]
        documented = self._documented(ranked[: self._settings.candidates], tool_probs)
        docs = self._options(TOOL, documented, tool_probs)
        texts = self._options(INSTRUCTION, rows, fragment_probs)
        always, room = self._always(room, documented)
        pinned, room, dropped = self._pins(scores, domain, room)
        kept = self._kept(texts, room)
        limits = {TOOL: self._settings.tools}  # tools before fragments: a missing tool ends a step
        whole = greedy(docs, room - kept, limits) or greedy(docs, room, limits)
        room -= sum(docs[at].tokens for at in whole)
        shown = [documented[at] for at in whole]
        room += sum(self._brief_costs[row] for row in pinned if row in shown)
        pinned = [row for row in pinned if row not in shown]
        rest = [row for row in ranked if row not in shown and row not in pinned][:short]
        brief, left = as_fit(rest, [self._brief_costs[row] for row in rest], room - kept)
        picked = greedy(texts, left + kept, {INSTRUCTION: self._settings.instructions})
        likely = sorted((rows[at] for at in picked), key=lambda row: -fragment_probs[row])
        fragments = [*always, *likely]
        missed = [self._fragments[row].id for row in self._standing if row not in always]
        chances = {self._fragments[row].id: float(fragment_probs[row]) for row in fragments}
        chances |= {
            self._tools[row].id: float(tool_probs[row]) for row in (*shown, *pinned, *brief)
        }
        return ChosenUnits(
            tuple(self._fragments[row] for row in fragments),
            tuple(self._tools[row] for row in shown),
            tuple(self._tools[row] for row in (*pinned, *brief)),
            (*missed, *dropped),
            chances,
        )

    def _always(self, room: int, documented: Sequence[int]) -> tuple[list[int], int]:
        """Rows of the fragments that hold for every request and fit beside the likeliest tool, and
        the room left; they do not count among `PromptSettings.instructions`."""
        if not self._settings.instructions:
            return [], room
        ways = [(self._costs[self._tools[row].id], self._brief_costs[row]) for row in documented]
        held = next((cost for cost in (ways[0] if ways else ()) if cost <= room), 0)
        costs = [self._fragments[row].tokens + 2 for row in self._standing]
        kept, left = as_fit(self._standing, costs, room - held)
        return kept, left + held

    def _documented(self, ranked: Sequence[int], tool_probs: Floats) -> list[int]:
        """The first tool, and those likely enough for their whole document."""
        least = self._settings.whole_share
        return [row for at, row in enumerate(ranked) if not at or tool_probs[row] >= least]

    def _ranked(self, tool_probs: Floats) -> list[int]:
        """Rows of all tools, highest gain first."""
        factors = np.array([self._gains.factor(tool.id) for tool in self._tools])
        return best_rows(tool_probs * factors, len(self._tools))

    def _options(self, kind: str, rows: Sequence[int], chances: Floats) -> list[SelectionCandidate]:
        return [self._option(kind, row, float(chances[row])) for row in rows]

    def _option(self, kind: str, row: int, chance: float) -> SelectionCandidate:
        if kind == TOOL:
            unit, tokens = self._tools[row].id, self._costs[self._tools[row].id]
        else:
            unit, tokens = self._fragments[row].id, self._fragments[row].tokens + 2
        return SelectionCandidate(
            unit, kind, max(chance, _LEAST) * self._gains.factor(unit), tokens
        )

    def _kept(self, texts: Sequence[SelectionCandidate], room: int) -> int:
        """Tokens reserved for the likeliest fragment, however many tools are chosen."""
        if not self._settings.instructions:
            return 0
        fitting = [one for one in texts if one.tokens <= room]
        best = max(fitting, key=lambda one: one.gain, default=None)
        return 0 if best is None else best.tokens

    def _pins(
        self, scores: Scores, domain: str, room: int
    ) -> tuple[list[int], int, tuple[str, ...]]:
        """Rows of the pinned tools that fit as signatures, the room left, ids of the others."""
        if not self._pinned:
            return [], room, ()
        open_to = {ANYWHERE, domain} | {
            name for name, share in scores.domains.items() if share >= _DOMAIN_SHARE
        }
        wanted = [ids for name, ids in self._pinned.items() if name in open_to]
        rows = [self._rows[one] for one in dict.fromkeys(one for ids in wanted for one in ids)]
        pinned, room = as_fit(rows, [self._brief_costs[row] for row in rows], room)
        return pinned, room, tuple(self._tools[row].id for row in rows if row not in pinned)


def best_rows(scores: Floats, count: int) -> list[int]:
    """Rows of the highest scores, best first; ties keep their order."""
    return [int(row) for row in np.argsort(-scores, kind="stable")[:count]]


def as_fit(units: Sequence[T], costs: Sequence[int], room: int) -> tuple[list[T], int]:
    """Those units that fit, in order, and the room left over."""
    kept = []
    for unit, cost in zip(units, costs, strict=True):
        if cost <= room:
            kept.append(unit)
            room -= cost
    return kept, room
