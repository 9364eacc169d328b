"""What of the servers' lists the index holds, and under which names."""

from collections.abc import Collection, Mapping, Sequence

from anyio.to_thread import run_sync

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.exposure import Exposed, exposed, shows
from ctrag.agents.server.leftovers import (
    note_servers,
    note_spec,
    noted_specs,
    take_out_leftovers,
)
from ctrag.agents.server.upstream import Upstream


class ServerLists:
    """Keeps the index as the servers list their tools.

    Args:
        index: Receives the tools.
        upstreams: The servers by name, as they are now.
    """

    def __init__(self, index: ToolIndex, upstreams: Mapping[str, Upstream]) -> None:
        self._index = index
        self._upstreams = upstreams
        self.exposed: dict[str, Exposed] = {}
        """What of each server's list is shown, by its name."""

    def marks(self, tool: CatalogueTool) -> Sequence[str]:
        """Marks of a tool's definition from when its server listed it."""
        shown = self.exposed.get(tool.server)
        listed = shown.tools.get(tool.name) if shown else None
        return listed.marks if listed else ()

    def known(self) -> tuple[set[str], set[str]]:
        """Servers of which the index has tools, and those it has all of as they are to be shown."""
        self.hide(self._upstreams)
        held = {tool.server for tool in self._index.tools}
        noted = noted_specs(self._index.store)
        same = {one for one, up in self._upstreams.items() if noted.get(one) == up.spec.digest}
        return held, held & same

    def hide(self, names: Collection[str]) -> None:
        """Take out at once what earlier listings had and the entries now leave out or rename."""
        specs = {name: self._upstreams[name].spec for name in names}
        mine = [tool for tool in self._index.tools if tool.server in specs]
        gone = [tool.id for tool in mine if not shows(specs[tool.server], tool.name)]
        if gone:
            self._index.remove(gone)

    def forget(self, name: str) -> None:
        """Take out what a server that is gone has listed."""
        self._index.replace_server(name, [])
        note_spec(self._index.store, name, None)
        take_out_leftovers(self._index.store, set(self._upstreams))

    async def listed(self, upstream: Upstream) -> None:
        """Index a server's list; only new tools are encoded."""
        if self._upstreams.get(upstream.name) is not upstream:  # taken out meanwhile
            return
        shown = exposed(upstream.spec, upstream.tools)
        every = await run_sync(lambda: self._index.tools)
        others = {tool.id for tool in every if tool.server != upstream.name}
        longer = [one for one in self._upstreams if one.startswith(f"{upstream.name}/")]
        tools = []
        for tool in list(shown.tools.values()):
            made = CatalogueTool(
                tool.name, tool.description, upstream.name, tool.parameters, mcp=tool.more
            )
            # Names may hold slashes; whose an id is must not hang on who is listed first.
            taken = next((one for one in longer if made.id.startswith(f"{one}/")), None)
            if taken is not None or made.id in others:
                del shown.tools[tool.name]
                shown.left_out[tool.name] = (
                    f"would be taken for a tool of {taken}; `rename` it"
                    if taken is not None
                    else f"another server has {made.id}"
                )
                continue
            tools.append(made)
        self.exposed[upstream.name] = shown
        store = self._index.store
        await run_sync(note_servers, store, [upstream.name])
        now = {tool.id: tool.content_hash for tool in tools}
        held = {tool.id: tool.content_hash for tool in every if tool.server == upstream.name}
        if now != held and upstream.listed:
            await run_sync(self._index.replace_server, upstream.name, tools)
        await run_sync(note_spec, store, upstream.name, upstream.spec.digest)
