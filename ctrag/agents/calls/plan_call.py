"""One call of any agent's tools, chosen and filled in on this machine.

Example::

    planner = CallPlanner(load_catalogue(Path("tools.json")))
    call = planner.plan("book a table for two at Luigi's")
    print(call.name, call.arguments)

Retrieval chooses the tool; its arguments are decoded one after the other under a grammar of its
schema, with values that the request grounds (`ctrag.agents.calls.filling`).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.agents.calls.call_grammar import LONGEST_VALUE
from ctrag.agents.calls.filling import fill_call, filling_prompt
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolHit, ToolIndex
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder
from ctrag.models.language_model import LanguageModel

SHOWN = 5
"""Tools that are considered."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call, and how it came about."""

    name: str
    """The tool's `server/name`, or its name alone."""
    arguments: dict[str, Any]
    complete: bool
    """False where the answer was longer than it may be; then there are no arguments."""
    choices: tuple[ToolHit, ...]
    """Tools that were considered, best first; the first is called."""
    engine: str
    """What ran the model; empty where nothing was left to ask it."""
    seconds: float
    missing: tuple[str, ...] = ()
    """Needed ids, credentials and addresses that the request does not give, left out."""


class CallPlanner:
    """Plans calls of a catalogue's tools; nothing is learned from it and nothing is run."""

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        *,
        encoder: Encoder | None = None,
        model: LanguageModel | None = None,
    ) -> None:
        """Index the tools.

        Args:
            tools: At least one, each with another id.
            encoder: The one of the settings when None.
            model: Fills in the arguments; the base of the settings when None.

        Raises:
            ValueError: There is no tool, or two share an id.
        """
        ids = [tool.id for tool in tools]
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise InputError(f"tools: {twice!r} appears twice; give each a server")
        self._index = ToolIndex(tools, encoder)
        self._model = base_model() if model is None else model

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
        hits = self._index.search(text, SHOWN)
        tool, source = hits[0].tool, f"{before} {text}"
        if len(tool.id) > LONGEST_VALUE:
            raise InputError(
                f"tool {tool.id[:60]!r}…: an id has at most {LONGEST_VALUE} characters, "
                f"not {len(tool.id)}; rename the tool"
            )
        prompt, shared = filling_prompt(self._model, tool, source)
        arguments, asked = fill_call(self._model, tool, source, prompt, shared)
        needed = tool.parameters.get("required") or () if arguments is not None else ()
        return PlannedCall(
            tool.id,
            arguments or {},
            arguments is not None,
            tuple(hits),
            self._model.engine_name if asked else "",
            time.perf_counter() - began,
            tuple(str(name) for name in needed if name not in (arguments or {})),
        )


def plan_call(text: str, tools: Sequence[CatalogueTool]) -> PlannedCall:
    """The call of one of the tools that fits a request best; see `CallPlanner`.

    Raises:
        ValueError: See `CallPlanner`.
    """
    return CallPlanner(tools).plan(text)


def base_model() -> LanguageModel:
    """The base model of the settings: an adapter knows the packaged tools and their syntax."""
    from ctrag.settings import settings

    options = settings()
    return LanguageModel(options.planner_model, options.threads, None, options.planner_engine)
