"""Which tools may be used through a gateway: access rules, expert, registries."""

from collections.abc import Container, Sequence

from ctrag.agents.catalogue.access import Expert, Principal
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.servers import SELF
from ctrag.errors import InputError


class Permissions:
    """Which tools a caller may use in sessions of one expert, and which need no search.

    Args:
        index: The catalogue, with its access rules and experts.
        registries: Names of the registries, whose tools are not in the catalogue.
        expert: The configured agent whose sessions these are, or its name.
        always: Ids of tools available without a search, beside those that the catalogue marks.

    Raises:
        ValueError: The catalogue has no expert of that name.
    """

    def __init__(
        self,
        index: ToolIndex,
        registries: Container[str] = (),
        expert: Expert | str | None = None,
        always: Sequence[str] = (),
    ) -> None:
        if isinstance(expert, str) and expert not in index.experts:
            raise InputError(f"expert: the catalogue has none named {expert!r}")
        self._index = index
        self._registries = registries
        self.expert = index.experts[expert] if isinstance(expert, str) else expert
        flagged = [tool.id for tool in index.tools if tool.always and tool.id != SELF.id]
        special = sorted(self.expert.always) if self.expert else []
        self.always = tuple(dict.fromkeys([*always, *flagged, *special]))
        """Ids of the tools available without a search, before access checks."""

    def allowed(self, tool_id: str, who: Principal | None) -> bool:
        """Whether caller and expert may use a tool, of the index or of a registry."""
        expert = self.expert
        confined = None if expert is None or expert.allow is None else expert.allow | expert.always
        if confined is not None and tool_id not in confined:
            return False
        server, _, name = tool_id.partition("/")
        if not name or server not in self._registries:
            return self._index.allowed(tool_id, who)
        rules = self._index.access
        if rules is None:
            return True
        return self._granted(server, who) or bool(rules.visible([tool_id], who))

    def whole(self, server: str, who: Principal | None) -> bool:
        """Whether a caller may use all of a server, so its resources and prompts too."""
        if self.expert is not None and self.expert.allow is not None:
            return False
        return self._index.access is None or self._granted(server, who)

    def _granted(self, server: str, who: Principal | None) -> bool:
        rules = self._index.access
        if rules is None:
            return True
        scopes, whole = rules.scopes(who), {"*", f"{server}/*"}
        return any(one.scope in scopes and one.tool in whole for one in rules.grants)
