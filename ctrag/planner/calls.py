"""One call of any agent's tools, chosen and filled in on this machine.

Example::

    planner = CallPlanner(load_catalogue(Path("tools.json")))
    call = planner.plan("book a table for two at Luigi's")
    print(call.name, call.arguments)

Retrieval shows the model a few tools. Each is scored by retrieval and by the model's own
log-probability of its name; the arguments of the best are decoded one after the other under a
grammar of its schema, with values that the request grounds (`ctrag.planner.call_filling`).
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctrag.encoder import Encoder
from ctrag.planner.call_filling import SAID, SYSTEM, fill_call, filling_prompt, kind_of, shortened
from ctrag.planner.call_grammar import copyable
from ctrag.planner.embedded import EmbeddedPlanner
from ctrag.prompt.chat import closing, opening
from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.index import ToolHit, ToolIndex

SHOWN = 5
"""Tools that the model sees."""
WEIGHT = 10.0
"""How much a point of the retrieval score counts against a nat per token of the model's."""
_DESCRIPTION = 160
"""Characters of a description where tools are chosen from."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """A tool that was considered."""

    tool: CatalogueTool
    retrieval: float
    """Score of the tool index, 0 to 1."""
    log_probability: float
    """The model's, of the name, per token; 0 where the model was not asked."""
    score: float
    """What the choice goes by."""


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments of a call."""

    arguments: dict[str, Any]
    complete: bool
    """False where the answer was longer than it may be; then there are no arguments."""
    engine: str
    """What ran the model; empty where nothing was left to ask it."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call, and how it came about."""

    name: str
    """The tool's `server/name`, or its name alone."""
    arguments: dict[str, Any]
    complete: bool
    """See `Filled.complete`."""
    choices: tuple[ToolChoice, ...]
    """Tools that were considered, best first."""
    engine: str
    """What ran the model; empty where nothing was left to ask it."""
    seconds: float


class CallPlanner:
    """Plans calls of a catalogue's tools; nothing is learned from it and nothing is run."""

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        *,
        encoder: Encoder | None = None,
        planner: EmbeddedPlanner | None = None,
        weight: float = WEIGHT,
        shown: int = SHOWN,
    ) -> None:
        """Index the tools.

        Args:
            tools: At least one, each with another id.
            encoder: The one of the settings when None.
            planner: Holds the model; the base of the settings when None.
            weight: See `WEIGHT`; infinity leaves the choice to retrieval and does not ask the
                model for it, 0 leaves it to the model.
            shown: How many tools the model chooses from.

        Raises:
            ValueError: There is no tool, two share an id, or `weight` or `shown` is too small.
        """
        if shown < 1:
            raise ValueError(f"shown: must be at least 1, not {shown}")
        if not weight >= 0:
            raise ValueError(f"weight: must be at least 0, not {weight}")
        ids = [tool.id for tool in tools]
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise ValueError(f"tools: {twice!r} appears twice; give each a server")
        self._index = ToolIndex(tools, encoder)
        self._planner = base_planner() if planner is None else planner
        self._weight = weight
        self._shown = shown

    def plan(self, text: str, before: str = "") -> PlannedCall:
        """The call that fits a request best.

        Args:
            text: The request.
            before: What was said before it, and facts such as today's date; values may be copied
                from there too.

        Raises:
            ValueError: The text is empty or no Unicode.
        """
        began = time.perf_counter()
        choices = self.choose(text, before)
        filled = self.fill(choices, text, before)
        asked = self._weight != np.inf and len(choices) > 1
        return PlannedCall(
            choices[0].tool.id,
            filled.arguments,
            filled.complete,
            tuple(choices),
            self._planner.engine_name if asked else filled.engine,
            time.perf_counter() - began,
        )

    def choose(self, text: str, before: str = "") -> list[ToolChoice]:
        """The tools in view, best first; see `plan`."""
        hits = self._index.search(text, self._shown)
        if self._weight == np.inf or len(hits) == 1:
            return [ToolChoice(hit.tool, hit.score, 0.0, hit.score) for hit in hits]
        prompt, shared = self._prompt(hits, text, before)
        _, cache = self._planner.read(prompt, shared)
        logits, cache = self._planner.engine.forward(self._planner.encode('{"name": "'), cache)
        choices = []
        for hit in hits:
            said = self._log_probability(hit.tool.id, logits[-1], cache)
            choices.append(ToolChoice(hit.tool, hit.score, said, said + self._weight * hit.score))
        return sorted(choices, key=lambda one: -one.score)

    def fill(self, choices: Sequence[ToolChoice], text: str, before: str = "") -> Filled:
        """Arguments of the first choice; see `plan`."""
        tool, said = choices[0].tool, f"{before} {text}"
        prompt, shared = filling_prompt(self._planner, tool, said)
        arguments, asked = fill_call(self._planner, tool, said, prompt, shared)
        engine = self._planner.engine_name if asked else ""
        return Filled(arguments or {}, arguments is not None, engine)

    def _log_probability(self, name: str, first: Any, cache: Any) -> float:
        tokens = self._planner.encode(f'{json.dumps(name, ensure_ascii=False)[1:-1]}"')
        rows = first[None, :]
        if len(tokens) > 1:
            more, _ = self._planner.engine.forward(tokens[:-1], cache, keep=len(tokens) - 1)
            rows = np.concatenate([rows, more])
        rows = rows.astype(np.float64)
        highest = rows.max(axis=1, keepdims=True)
        totals = np.log(np.exp(rows - highest).sum(axis=1)) + highest[:, 0]
        return float((rows[np.arange(len(tokens)), tokens] - totals).mean())

    def _prompt(
        self, found: Sequence[ToolHit | ToolChoice], text: str, before: str
    ) -> tuple[list[int], int]:
        """The prompt's tokens, and how many of them say what the tools are."""
        tools = sorted((one.tool for one in found), key=lambda tool: tool.id)
        lines = ["Functions:", *(f"- {signature(tool)}" for tool in tools)]
        said = copyable(f"{before} {text}")[-SAID:]
        head = self._planner.encode(opening(SYSTEM, "\n".join([*lines, "Request:"])))
        return head + self._planner.encode(closing(f" {said}")), len(head)


def plan_call(text: str, tools: Sequence[CatalogueTool]) -> PlannedCall:
    """The call of one of the tools that fits a request best; see `CallPlanner`.

    Raises:
        ValueError: See `CallPlanner`.
    """
    return CallPlanner(tools).plan(text)


def signature(tool: CatalogueTool) -> str:
    """`name(city: string, nights?: integer): description`, as the model reads it."""
    properties = tool.parameters.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    needed = tool.parameters.get("required") or ()
    arguments = [
        f"{name}{'' if name in needed else '?'}: {kind_of(schema)}"
        for name, schema in properties.items()
    ]
    return f"{tool.id}({', '.join(arguments)}): {shortened(tool.description, _DESCRIPTION)}"


def base_planner() -> EmbeddedPlanner:
    """The base model of the settings: an adapter knows the packaged tools and their syntax."""
    from ctrag.settings import settings

    options = settings()
    return EmbeddedPlanner(options.planner_model, options.threads, None, options.planner_engine)
