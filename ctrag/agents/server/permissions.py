"""Which tools may be used through a gateway: access rules, expert, registries."""

from collections.abc import Callable, Container, Sequence

from ctrag.agents.catalogue.access import Expert, Principal
from ctrag.agents.prompt.mentions import Mentions
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
        server = self._registry_of(tool_id)
        if server is None:
            return self._index.allowed(tool_id, who)
        rules = self._index.access
        if rules is None:
            return True
        return self._granted(server, who) or bool(rules.visible([tool_id], who))

    def whole(self, server: str, who: Principal | None) -> bool:
        """Whether a caller may use all of a server, so its resources and prompts too."""
        if self.expert is not None and self.expert.allow is not None:
            return False
        return self._granted(server, who)

    def _granted(self, server: str, who: Principal | None) -> bool:
        rules = self._index.access
        if rules is None:
            return True
        scopes, whole = rules.scopes(who), {"*", f"{server}/*"}
        return any(one.scope in scopes and one.tool in whole for one in rules.grants)

    def sees(self, server: str, who: Principal | None) -> bool:
        """Whether the caller may know of a server or registry: may use a tool of it, or could."""
        if self.expert is not None and self.expert.allow is not None:
            own = self.expert.allow | self.expert.always
            if not any(one.startswith(f"{server}/") for one in own):
                return False
        rules = self._index.access
        if rules is None:
            return True
        scopes = rules.scopes(who)
        return any(
            one.scope in scopes and (one.tool == "*" or one.tool.startswith(f"{server}/"))
            for one in rules.grants
        )

    def hides(self, who: Principal | None) -> Callable[[Mentions], bool] | None:
        """Tells instructions that speak of tools, all of which the caller may not use; None where
        all callers may use all tools."""
        if self._index.access is None and self.expert is None:
            return None

        def hidden(names: Mentions) -> bool:
            named = [one for one in self._index.tools if names.speaks_of(one)]
            return bool(named) and not any(self.allowed(one.id, who) for one in named)

        return hidden

    def _registry_of(self, tool_id: str) -> str | None:
        """The registry that the id names: all up to one of its slashes, as names may hold some."""
        parts = tool_id.split("/")
        heads = ("/".join(parts[:n]) for n in range(1, len(parts)))
        return next((one for one in heads if one in self._registries), None)
