"""Resources, templates and prompts of the servers behind the gateway, by names that tell whose.

A resource `file:///a` of the server `docs` is `ctrag://docs/file:///a`; its prompt `review` is
`docs/review`. Callers see those of the servers that they may use as a whole.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    CompleteResult,
    Completion,
    GetPromptResult,
    Prompt,
    PromptReference,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
)

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.channel import SILENT, passed_meta
from ctrag.agents.server.guidance import PREFIX, Guidance, Hidden
from ctrag.agents.server.line import PAGES
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.principals import caller_key
from ctrag.agents.server.results import Results, inward, links, outward, passed_on
from ctrag.agents.server.servers import Servers
from ctrag.agents.server.untrusted import DESCRIPTION_LIMIT, FIELD_LIMIT, cleaned
from ctrag.agents.server.upstream import Upstream, UpstreamError
from ctrag.errors import InputError

logger = logging.getLogger(__name__)

LISTING = 10.0
"""Seconds that one server's list may take."""
LINKS = 100_000
"""Addresses given to callers that are remembered."""

RESOURCES, TEMPLATES, PROMPTS = "resources", "templates", "prompts"


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of all servers."""

    found: list[Any]
    unavailable: dict[str, str]
    """Why a server's part is missing, by name."""


class Resources:
    """What servers have beside tools.

    Args:
        servers: The servers.
        permissions: Whose servers a caller may use as a whole.
        results: Results that can be read on.
        guidance: The server's own instructions, which are resources too.
        hidden: What of them a caller may not be told of.
    """

    def __init__(
        self,
        servers: Servers,
        permissions: Permissions,
        results: Results,
        guidance: Guidance | None = None,
        hidden: Callable[[Principal | None], Hidden | None] = lambda _: None,
    ) -> None:
        self._guidance, self._hidden = guidance, hidden
        self._servers = servers
        self._permissions = permissions
        self._results = results
        self._lists: dict[tuple[str, str], tuple[Client, list[Any]]] = {}
        self._given: OrderedDict[tuple[str, str], None] = OrderedDict()

    def forget(self, server: str, kind: str) -> None:
        """List that kind of the server again, as it has changed."""
        self._lists.pop((server, kind), None)
        if kind == RESOURCES:
            self._lists.pop((server, TEMPLATES), None)

    def given(self, who: Principal | None, uris: Sequence[str]) -> None:
        """Remember that a result named these addresses: the caller may read them."""
        for uri in uris:
            self._given[caller_key(who), uri] = None
        while len(self._given) > LINKS:
            self._given.popitem(last=False)

    async def listed(self, who: Principal | None, kind: str) -> Listing:
        """All `resources`, `templates` or `prompts` that the caller may see."""
        await self._servers.settled(LISTING)
        parts: dict[str, list[Any]] = {}
        unavailable = dict(self._servers.down())

        async def ask(server: Upstream) -> None:
            await self._servers.awake(server.name)
            if server.down is not None:
                unavailable.setdefault(server.name, server.down)
                return
            try:
                with anyio.fail_after(LISTING):
                    parts[server.name] = await self._of(server, kind)
            except Exception as error:  # another program's list may be broken in any way
                unavailable[server.name] = str(error)[:200] or type(error).__name__
                logger.warning("%s: its %s cannot be listed: %s", server.name, kind, error)

        mine = [
            one
            for one in self._servers.upstreams.values()
            if self._permissions.whole(one.name, who)
        ]
        async with anyio.create_task_group() as tasks:
            for server in mine:
                tasks.start_soon(ask, server)
        names = [one.name for one in mine]
        found = [one for name in names for one in parts.get(name, [])]
        if self._guidance is not None and kind == RESOURCES:
            found = [*self._guidance.resources(self._hidden(who)), *found]
        return Listing(found, {name: unavailable[name] for name in names if name in unavailable})

    async def read(self, who: Principal | None, uri: str, owner: str = "") -> ReadResourceResult:
        """A resource, or a result that was kept.

        Raises:
            ValueError: There is no such resource for this caller.
            MCPError: Its server refuses it, or cannot be reached.
        """
        if self._results.has(uri):
            return ReadResourceResult(contents=[self._results.whole(caller_key(who), uri)])
        if self._guidance is not None and uri.startswith(PREFIX):
            return self._guidance.read(uri, self._hidden(who))
        name, own = inward(uri)
        server = self._server(name, who, uri)
        result: ReadResourceResult = await self._asked(
            server, who, owner, lambda client: client.read_resource(own, cache_mode="bypass")
        )
        contents = [
            one.model_copy(update={"uri": outward(name, str(one.uri))}) for one in result.contents
        ]
        meta = passed_meta(result.meta) or None
        return result.model_copy(update={"contents": contents, "meta": meta})

    async def prompt(
        self, who: Principal | None, name: str, arguments: dict[str, str] | None, owner: str = ""
    ) -> GetPromptResult:
        """A prompt with its arguments filled in; errors as for `read`."""
        server, own = self._prompt(name, who)
        result: GetPromptResult = await self._asked(
            server, who, owner, lambda client: client.get_prompt(own, arguments)
        )
        messages = []
        for one in result.messages:
            block = passed_on(_as_result(one.content), server.name)
            self.given(who, links(block))
            messages.append(one.model_copy(update={"content": block.content[0]}))
        meta = passed_meta(result.meta) or None
        return result.model_copy(update={"messages": messages, "meta": meta})

    async def complete(self, who: Principal | None, params: Any, owner: str = "") -> CompleteResult:
        """Completions of an argument of a prompt or template; errors as for `read`."""
        ref: PromptReference | ResourceTemplateReference
        if isinstance(params.ref, PromptReference):
            server, own = self._prompt(params.ref.name, who)
            ref = params.ref.model_copy(update={"name": own})
        else:
            name, own = inward(params.ref.uri)
            server = self._server(name, who, params.ref.uri)
            ref = params.ref.model_copy(update={"uri": own})
        argument = {"name": params.argument.name, "value": params.argument.value}
        known = params.context.arguments if params.context is not None else None

        async def ask(client: Client) -> CompleteResult:
            if client.server_capabilities.completions is None:
                return CompleteResult(completion=Completion(values=[]))
            return await client.complete(ref, argument, known)

        result: CompleteResult = await self._asked(server, who, owner, ask)
        return result.model_copy(update={"meta": passed_meta(result.meta) or None})

    def _server(self, name: str, who: Principal | None, uri: str) -> Upstream:
        server = self._servers.reach(name)
        allowed = self._permissions.whole(name, who) or (caller_key(who), uri) in self._given
        if server is None or not allowed:
            raise InputError(f"uri: there is no resource {uri[:200]!r} here")
        return server

    def _prompt(self, name: str, who: Principal | None) -> tuple[Upstream, str]:
        """The server and its own name of a prompt; the longest server's name counts."""
        for server in sorted(self._servers.upstreams, key=len, reverse=True):
            own = name.removeprefix(f"{server}/")
            if own != name and own and self._permissions.whole(server, who):
                return self._servers.upstreams[server], own
        raise InputError(f"name: there is no prompt {name[:200]!r} here; they are SERVER/PROMPT")

    async def _asked(
        self,
        server: Upstream,
        who: Principal | None,
        owner: str,
        ask: Callable[[Client], Awaitable[Any]],
    ) -> Any:
        user = "" if who is None else who.user
        try:
            client = await server.client(SILENT, owner, user)
            with anyio.fail_after(server.spec.timeout):
                return await ask(client)
        except UpstreamError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        except TimeoutError:
            limit = server.spec.timeout
            said = f"{server.name} gave no answer within {limit:g} s"
            raise MCPError(INTERNAL_ERROR, said) from None
        except MCPError as error:
            raise MCPError(error.code, f"{server.name}: {error}", error.error.data) from None
        except Exception as error:
            logger.warning("%s: %s", server.name, error)
            said = f"{server.name} gave an answer that breaks the protocol"
            raise MCPError(INVALID_PARAMS, said) from None

    async def _of(self, server: Upstream, kind: str) -> list[Any]:
        client = await server.client()
        held = self._lists.get((server.name, kind))
        if held is not None and held[0] is client:
            return held[1]
        offered = client.server_capabilities
        if (offered.prompts if kind == PROMPTS else offered.resources) is None:
            return []
        entries: list[Any] = []
        cursor: str | None = None
        for _ in range(PAGES):
            part, cursor = await _page(client, kind, cursor)
            entries.extend(part)
            if cursor is None:
                break
        found = [_named(one, server.name) for one in entries]
        self._lists[server.name, kind] = (client, found)
        return found


async def _page(client: Client, kind: str, cursor: str | None) -> tuple[list[Any], str | None]:
    if kind == PROMPTS:
        prompts = await client.list_prompts(cursor=cursor)
        return list(prompts.prompts), prompts.next_cursor
    if kind == TEMPLATES:
        try:
            templates = await client.list_resource_templates(cursor=cursor)
        except MCPError:  # a server may have resources and no templates
            return [], None
        return list(templates.resource_templates), templates.next_cursor
    resources = await client.list_resources(cursor=cursor)
    return list(resources.resources), resources.next_cursor


def _named(entry: Any, server: str) -> Any:
    """An entry by its name here; its texts are another program's, so they are cleaned and cut."""
    marks: list[str] = []
    change: dict[str, Any] = {"meta": passed_meta(entry.meta) or None}
    if entry.description:
        change["description"] = cleaned(entry.description, DESCRIPTION_LIMIT, marks)
    if entry.title:
        change["title"] = cleaned(entry.title, FIELD_LIMIT, marks)
    if isinstance(entry, Resource):
        change["uri"] = outward(server, str(entry.uri))
    elif isinstance(entry, ResourceTemplate):
        change["uri_template"] = outward(server, entry.uri_template)
    elif isinstance(entry, Prompt):
        change["name"] = f"{server}/{entry.name}"
    return entry.model_copy(update=change)


def _as_result(block: Any) -> CallToolResult:
    return CallToolResult(content=[block])
