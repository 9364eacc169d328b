"""From scores to the units of a prompt: limits, pinned tools, recall first, budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ctrag.prompt.fragments import Fragment
from ctrag.prompt.gains import Gains
from ctrag.prompt.retrieval import Scores, shares
from ctrag.prompt.selection import Candidate, greedy
from ctrag.prompt.tool_documents import ToolDocument

T = TypeVar("T")
INSTRUCTION, TOOL = "instruction", "tool"
ANYWHERE = "*"
"""As a domain of pinned tools: wherever the request belongs."""
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """How prompts are chosen; the defaults are the paper's."""

    instructions: int = 4
    """K_A: fragments at most."""
    tools: int = 2
    """K_B: tools at most, pinned ones not counted."""
    candidates: int = 20
    """M_A and M_B: units of each corpus that are re-ranked and may be chosen."""
    tools_first: bool = True
    """Recall first: tools are chosen before fragments, which get what is left of the budget."""
    rerank: bool = True
    tau: float = 0.5
    """Below this probability that a right tool is exposed, one discovery step is taken."""
    discovery: str = "widen"
    """widen: more tools; summary: one line for each hidden tool; off."""
    discovery_tools: int = 10
    """K_B of a discovery step that widens."""
    domain_share: float = 0.5
    """Share of the chances from which on a domain's pinned tools are in."""
    prior_weight: float = 0.0
    """Weight of the tool prior's log probability; 0 turns it off."""
    window: int | None = None
    """Tokens of the full prompt that the circuit breaker falls back to; None for no bound."""

    def __post_init__(self) -> None:
        for name in ("instructions", "tools", "discovery_tools"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: must not be negative, is {getattr(self, name)}")
        if self.candidates < 1:
            raise ValueError(f"candidates: must be at least 1, not {self.candidates}")
        if self.discovery not in ("widen", "summary", "off"):
            raise ValueError(f"discovery: must be widen, summary or off, not {self.discovery!r}")
        if not 0 <= self.tau <= 1:
            raise ValueError(f"tau: must lie between 0 and 1, not {self.tau}")


@dataclass(frozen=True, slots=True)
class Choice:
    """The units of a prompt, best first, pinned tools before all others."""

    fragments: tuple[Fragment, ...]
    tools: tuple[ToolDocument, ...]
    dropped: tuple[str, ...]
    """Pinned tools for which there was no room."""
    chances: dict[str, float]
    """Share of its corpus's chances, by id of each unit chosen."""


class Chooser:
    """Chooses among the fragments and tools of one builder."""

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument],
        costs: Mapping[str, int],
        settings: PromptSettings,
        gains: Gains,
        pinned: Mapping[str, Sequence[str]],
    ) -> None:
        """Get ready to choose.

        Args:
            fragments: All there are.
            tools: All there are.
            costs: Tokens of each tool, by id.
            settings: See `PromptSettings`.
            gains: Feedback of earlier steps.
            pinned: Domain (or `*`) → ids of tools.

        Raises:
            ValueError: A pinned tool is unknown.
        """
        self._fragments, self._tools = fragments, tools
        self._costs, self._settings, self._gains = costs, settings, gains
        self._by_id = {tool.id: tool for tool in tools}
        self._pinned = {domain: tuple(ids) for domain, ids in pinned.items()}
        for domain, ids in self._pinned.items():
            for one in ids:
                if one not in self._by_id:
                    raise ValueError(f"pinned: {one!r} of domain {domain!r} is no tool")

    def choose(self, scores: Scores, room: int, domain: str, most: int) -> Choice:
        """The best units for `room` tokens.

        Args:
            scores: Of every unit.
            room: Tokens for units alone.
            domain: Where the request belongs, if known; empty if not.
            most: Tools at most, pinned ones not counted.
        """
        pinned, room, dropped = self._pins(scores, domain, room)
        said, told = shares(scores.instructions), shares(scores.tools)
        few = self._settings.candidates
        rows = best_rows(scores.tools, few + len(pinned))
        tools = [row for row in rows if self._tools[row] not in pinned][:few]
        texts = best_rows(scores.instructions, few)
        options = [
            *(self._option(TOOL, self._tools[row].id, told[row]) for row in tools),
            *(self._option(INSTRUCTION, self._fragments[row].id, said[row], row) for row in texts),
        ]
        limits = {TOOL: most, INSTRUCTION: self._settings.instructions}
        picked = self._picked(options, room, limits)
        shown = [self._tools[tools[at]] for at in picked if at < len(tools)]
        rest = [texts[at - len(tools)] for at in picked if at >= len(tools)]
        fragments = sorted(rest, key=lambda row: -said[row])
        rows_of = {tool.id: row for row, tool in enumerate(self._tools)}
        chances = {self._fragments[row].id: float(said[row]) for row in fragments}
        chances |= {tool.id: float(told[rows_of[tool.id]]) for tool in (*pinned, *shown)}
        return Choice(
            tuple(self._fragments[row] for row in fragments), (*pinned, *shown), dropped, chances
        )

    def _picked(
        self, options: Sequence[Candidate], room: int, limits: Mapping[str, int]
    ) -> list[int]:
        if not self._settings.tools_first:
            return greedy(options, room, limits)
        # However many tools come in, the likeliest fragment keeps its room beside one tool.
        said = [one for one in options if one.kind == INSTRUCTION and one.tokens <= room]
        best = max(said, key=lambda one: one.gain, default=None)
        kept = best.tokens if best is not None and limits[INSTRUCTION] else 0
        picked = greedy(options, room - kept, {TOOL: limits[TOOL]})
        picked = picked or greedy(options, room, {TOOL: limits[TOOL]})
        room -= sum(options[at].tokens for at in picked)
        return picked + greedy(options, room, {INSTRUCTION: limits[INSTRUCTION]})

    def _option(self, kind: str, unit: str, chance: float, row: int = -1) -> Candidate:
        tokens = self._fragments[row].tokens + 2 if kind == INSTRUCTION else self._costs[unit]
        return Candidate(unit, kind, max(float(chance), _LEAST) * self._gains.factor(unit), tokens)

    def _pins(
        self, scores: Scores, domain: str, room: int
    ) -> tuple[list[ToolDocument], int, tuple[str, ...]]:
        if not self._pinned:
            return [], room, ()
        likely = scores.domain_shares(self._fragments, self._tools)
        open_to = {ANYWHERE, domain} | {
            name for name, share in likely.items() if share >= self._settings.domain_share
        }
        wanted = [ids for name, ids in self._pinned.items() if name in open_to]
        tools = [self._by_id[one] for one in dict.fromkeys(one for ids in wanted for one in ids)]
        pinned, room = as_fit(tools, [self._costs[one.id] for one in tools], room)
        return pinned, room, tuple(one.id for one in tools if one not in pinned)


def best_rows(scores: NDArray[np.float64], count: int) -> list[int]:
    """Rows of the highest scores, best first; ties keep their order."""
    return [int(row) for row in np.argsort(-scores, kind="stable")[:count]]


def as_fit(units: Sequence[T], costs: Sequence[int], room: int) -> tuple[list[T], int]:
    """Units in order, those that fit, and the room that is left."""
    kept = []
    for unit, cost in zip(units, costs, strict=True):
        if cost <= room:
            kept.append(unit)
            room -= cost
    return kept, room
