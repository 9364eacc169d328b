"""What agents call a prompt's tools: by id, or by a name that one tool alone has."""

from collections.abc import Mapping, Sequence

from ctrag.agents.prompt.tool_documents import ToolDocument


class CalledNames:
    """The ids of tools by all that a model, a trace or a setting may call them."""

    def __init__(self, tools: Sequence[ToolDocument]) -> None:
        self._ids = {tool.id: tool.id for tool in tools}
        owners: dict[str, set[str]] = {}
        for tool in tools:
            for name in (tool.name, tool.tool.name):
                owners.setdefault(name, set()).add(tool.id)
        for name, ids in owners.items():
            if len(ids) == 1:
                self._ids.setdefault(name, *ids)

    def id_of(self, called: str) -> str:
        """Its id; what is no tool's name, or the name of several, stays as it is."""
        return self._ids.get(called, called)

    def ids_of(self, called: Sequence[str]) -> tuple[str, ...]:
        """The ids of several; one text is one tool."""
        return tuple(map(self.id_of, [called] if isinstance(called, str) else called))

    def pinned(self, pinned: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
        """Pinned tools by their ids, by domain."""
        return {domain: self.ids_of(some) for domain, some in (pinned or {}).items()}
