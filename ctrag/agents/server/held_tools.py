"""Which tool of a session a name means, and whether it may be called now."""

from dataclasses import dataclass

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.names import called_id, listed_id
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.principals import caller_key
from ctrag.agents.server.servers import Servers
from ctrag.agents.session.registry import SessionRegistry
from ctrag.agents.session.sent_names import alike, behind_gateway, meant, plain_names
from ctrag.agents.session.tool_session import ToolSession
from ctrag.errors import InputError


@dataclass(frozen=True, slots=True)
class HeldTools:
    """The tools that the sessions of one gateway hold."""

    index: ToolIndex
    servers: Servers
    sessions: SessionRegistry

    def callable_tool(
        self, who: Principal | None, handle: str, name: str, listed: bool
    ) -> tuple[ToolSession, CatalogueTool]:
        """The session and its tool; ValueError with a message for the model if it may not run."""
        session = self.sessions.get(handle, caller_key(who))
        found = self.id_of(session, name, listed=listed)
        held = [tool.id for tool in session.tools]
        near = [] if found in held or found in session.known else alike(name, held)
        if near and found not in self.index.store.hashes():
            raise InputError(f"{name!r} is no tool of this session; {near[0]!r} is one")
        tool = session.check(found)
        self._unchanged(session, tool)
        return session, tool

    def has(self, who: Principal | None, handle: str, name: str) -> bool:
        """Whether a name means a tool that the session has now."""
        try:
            session = self.sessions.get(handle, caller_key(who))
        except ValueError:
            return False
        return self.id_of(session, name) in {tool.id for tool in session.tools}

    def id_of(self, session: ToolSession, name: str, *, listed: bool = False) -> str:
        """The id of the session's tool that a name means, in whichever notation it is spelled."""
        held = {tool.id for tool in session.tools}
        found = named(session, name, listed=listed)
        if found in held:
            return found
        for plain in (*plain_names(name), *behind_gateway(name)):
            if plain != name and (other := named(session, plain)) in held:
                return other
        spelled = meant(name, held)
        # A name that may as well mean a tool that the session lacks must not call another one.
        others = {*session.known, *self.index.store.hashes()}
        certain = (
            len(spelled) == 1 and found not in others and meant(name, others | held) == spelled
        )
        return spelled[0] if certain else found

    def _unchanged(self, session: ToolSession, tool: CatalogueTool) -> None:
        """Refuse a tool whose definition has changed since it was shown to the model."""
        if tool.server in self.servers.registries:
            return
        try:
            now = self.index.get(tool.id)
        except KeyError:
            now = None
        if now is None or now.content_hash != tool.content_hash:
            session.unload(tool.id, "removed")
            what = "is gone" if now is None else "has changed since it was found"
            raise InputError(f"{tool.id} {what}; search for it again with search_tools.")


def named(session: ToolSession, name: str, *, listed: bool = False) -> str:
    """The id of the session's tool with that name; the name itself when none surely has it.

    Args:
        session: Whose tools these are.
        name: As the model wrote it.
        listed: Whether it comes from the list of a client of the 2025 revision.
    """
    ids, known = [tool.id for tool in session.tools], session.known
    for among in (ids, known):  # one that it had is refused by its id, with the reason
        meant = listed_id(name, among) if listed else called_id(name, among, known)
        if meant is not None:
            return meant
    if name in ids:
        raise InputError(f"{name!r} may mean several tools; search again and use a name from there")
    return name
