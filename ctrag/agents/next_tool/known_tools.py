"""The tools that a model ranks: their ids, their numbers and their texts."""

from collections.abc import Sequence

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool.evidence import Ints
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.texts import ToolTexts, tool_names
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix


class KnownTools:
    """A catalogue that grows, over the numbers that a memory gives its tools. Not locked."""

    def __init__(self, memory: Memory, tools: Sequence[CatalogueTool], texts: ToolTexts) -> None:
        self.tools = list(tools)
        self.texts = texts
        self._memory = memory
        self._ids = {name: tool.id for tool, name in zip(tools, tool_names(tools), strict=True)}
        self._fitted = len(self.tools)
        for name, tool_id in self._ids.items():
            memory.also_called(name, tool_id)

    def id_of(self, number: int) -> str:
        """The id of a tool in the catalogue; what demonstrations call it where it is not there."""
        name = self._memory.names[number]
        return self._ids.get(name, name)

    def among(self, tools: Sequence[str] | None) -> Ints:
        """Numbers of `end` and of these tools, ascending; of all that are known when None.

        Raises:
            ValueError: One name instead of a list, or an unknown tool.
        """
        if tools is None:
            return np.arange(len(self._memory.names))
        if isinstance(tools, str):
            raise InputError(f"tools: must be a list of tools, not the text {tools!r}")
        numbers = self._memory.numbers
        for tool in tools:
            if tool not in numbers:
                raise InputError(f"tools: {tool!r} is unknown; give its text to `add_tools` first")
        return np.unique([0, *(numbers[tool] for tool in tools)])

    def missing(self, tools: Sequence[CatalogueTool]) -> list[CatalogueTool]:
        """Those whose id is not known, each once.

        Raises:
            ValueError: A tool is called `end`.
        """
        tool_names(tools)  # rejects `end`
        known = set(self._ids.values())
        return list({tool.id: tool for tool in tools if tool.id not in known}.values())

    def add(self, new: Sequence[CatalogueTool], vectors: Matrix) -> None:
        """Number tools that are missing; what demonstrations call without a text gets this one."""
        memory, numbers = self._memory, self.texts.numbers.tolist()
        for tool in new:
            at = memory.numbers.get(tool.name)
            name = tool.id if at in numbers else tool.name
            numbers.append(memory.number(name))
            memory.also_called(name, tool.id)
            self._ids[name] = tool.id
        self.tools += new
        self.texts = ToolTexts(self.tools, np.vstack([self.texts.vectors, vectors]), numbers)

    def fitted(self) -> tuple[list[CatalogueTool], Matrix]:
        """Those that were there from the start, and the vectors of their texts."""
        return self.tools[: self._fitted], self.texts.vectors[: self._fitted]
