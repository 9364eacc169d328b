"""`ctrag serve`: tools for any agent over MCP, and what it takes."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.agents.search.index import ToolIndex
    from ctrag.agents.server.marketplace import Marketplace
    from ctrag.agents.server.principals import AccessFile
    from ctrag.agents.session.events import EventSink

app = typer.Typer(
    help="Serve tools to any agent.\n\nExample: ctrag serve mcp --catalogue tools.json",
    no_args_is_help=True,
)

_Marketplace = Annotated[
    Path | None, typer.Option("--marketplace", help="Plugins that can be installed: JSON or YAML.")
]
_Installed = Annotated[
    Path | None,
    typer.Option("--installed", help="File with what is installed. Default: among your own data."),
]


@app.callback()
def _group() -> None:
    pass


@app.command("mcp")
def mcp(
    catalogue: Annotated[
        Path | None, typer.Option(help="A catalogue file; may be left out with --upstream.")
    ] = None,
    upstream: Annotated[
        Path | None,
        typer.Option(help="MCP servers behind the tools: the `mcpServers` of MCP clients."),
    ] = None,
    user: Annotated[str | None, typer.Option(help="Who calls; over HTTP, tokens say.")] = None,
    access: Annotated[
        Path | None, typer.Option(help="Users, hashes of their tokens, grants: JSON or YAML.")
    ] = None,
    http: Annotated[
        str | None, typer.Option(help="HOST:PORT to serve at; stdin and stdout when left out.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Keep tools in a DuckDB file or postgresql:// address, not in memory."),
    ] = None,
    expert: Annotated[
        str | None, typer.Option(help="The catalogue's expert that the sessions are of.")
    ] = None,
    always: Annotated[
        list[str] | None, typer.Option(help="Id of a tool that needs no search; may be repeated.")
    ] = None,
    session: Annotated[
        Path | None,
        typer.Option(help="How sessions behave (capacity, loops, …): JSON or YAML."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, max=20, help="Tools that a search shows at most.")
    ] = None,
    marketplace: _Marketplace = None,
    installed: _Installed = None,
    allow_install: Annotated[
        bool, typer.Option("--allow-install", help="Let sessions install plugins.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option(help="Append every decision here; `ctrag session show` reads it.")
    ] = None,
    otel: Annotated[
        bool, typer.Option("--otel", help="Send decisions to the OpenTelemetry exporter.")
    ] = False,
) -> None:
    """Serve an MCP server whose clients find tools instead of listing them all.

    Example: ctrag serve mcp --catalogue tools.json --upstream servers.json
    """
    if catalogue is None and upstream is None and marketplace is None:
        raise typer.BadParameter("give --catalogue, --upstream or --marketplace")
    if http is not None and user is not None:
        raise typer.BadParameter("--user is for stdin and stdout; over HTTP the token says who")
    address = None if http is None else _address(http)
    import anyio

    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.gateway import Gateway, GatewaySettings
    from ctrag.agents.server.principals import AccessFile, BearerTokens
    from ctrag.agents.server.serve import serve_http, serve_stdio
    from ctrag.agents.session.settings import SessionSettings

    sessions = SessionSettings() if session is None else SessionSettings.from_file(session)
    callers = AccessFile() if access is None else AccessFile.from_file(access)
    plugins = None if marketplace is None else _marketplace(marketplace, installed)
    servers = Upstreams() if upstream is None else Upstreams.from_file(upstream)
    bought = [] if plugins is None else [one.plugin.name for one in plugins.installed()]
    index = _index(catalogue, store, callers, [*servers.servers, *bought])
    options = GatewaySettings(may_install=allow_install)
    gateway = Gateway(
        index,
        servers,
        marketplace=plugins,
        always=always or [],
        expert=expert,
        settings=options if limit is None else replace(options, limit=limit),
        session=sessions,
        record=_sink(record, otel),
    )
    try:
        if address is None:
            known = {} if index.access is None else index.access.members
            who = None if user is None else known.get(user) or callers.principal(user)
            anyio.run(serve_stdio, gateway, who)
        else:
            tokens = BearerTokens(callers) if callers.verifies else None
            anyio.run(serve_http, gateway, *address, tokens)
    finally:
        index.close()


@app.command("token")
def token(json: Json = False) -> None:
    """Make a bearer token: it is shown once, its hash goes into the file of --access.

    Example: ctrag serve token
    """
    from ctrag.agents.server.principals import new_token

    made, kept = new_token()
    if json:
        print_json({"token": made, "hash": kept})
        return
    line(f"token  {made}")
    line(f"hash   {kept}")


@app.command("plugins")
def plugins(
    marketplace: Annotated[Path, typer.Option("--marketplace", help="Plugins: JSON or YAML.")],
    text: Annotated[
        str | None, typer.Argument(help="What a plugin should do; all if none.")
    ] = None,
    install: Annotated[str | None, typer.Option(help="Name of a plugin to install.")] = None,
    scope: Annotated[
        str,
        typer.Option("--for", help="organisation:NAME, role:NAME or user:NAME; everybody if none."),
    ] = "",
    uninstall: Annotated[str | None, typer.Option(help="Name of a plugin to take out.")] = None,
    installed: _Installed = None,
    json: Json = False,
) -> None:
    """Search, install and take out plugins; a server that runs sees it when started again.

    Example: ctrag serve plugins "read a PDF" --marketplace plugins.yaml
    """
    store = _marketplace(marketplace, installed)
    if install is not None:
        store.install(install, scope)
    if uninstall is not None and not store.uninstall(uninstall):
        raise InputError(f"plugin: {uninstall!r} is not installed")
    for_whom = {one.plugin.name: list(one.scopes) for one in store.installed()}
    found = list(store.plugins.values()) if text is None else store.search(text)
    rows = [{**one.shown(), "installed": for_whom.get(one.name)} for one in found]
    if json:
        print_json(rows)
        return
    for row in rows:
        mark = "+" if row["installed"] is not None else " "
        line(f"{mark} {row['plugin']}  {row['description']}  ({', '.join(row['tools'])})")


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise typer.BadParameter(f"--http: must be HOST:PORT, not {text!r}")
    return host.strip("[]"), int(port)


def _marketplace(path: Path, installed: Path | None) -> "Marketplace":
    from ctrag.agents.server.marketplace import Marketplace
    from ctrag.settings import settings

    state = installed or settings().home.expanduser() / "plugins.json"
    return Marketplace.from_file(path, state)


def _index(
    catalogue: Path | None, store: str | None, callers: "AccessFile", servers: list[str]
) -> "ToolIndex":
    """The tools to serve; `servers` are the names of all that will be listed live."""
    from ctrag.agents.catalogue.tool import Catalogue, read_catalogue
    from ctrag.agents.next_tool import NextTool
    from ctrag.agents.search.collection import open_store
    from ctrag.agents.search.index import ToolIndex
    from ctrag.agents.server.leftovers import take_out_leftovers
    from ctrag.agents.server.servers import SELF
    from ctrag.settings import settings

    file = Catalogue([]) if catalogue is None else read_catalogue(catalogue)
    rules = callers.rules or file.access
    opened = None if store is None else open_store(store)
    try:
        left = [] if opened is None else take_out_leftovers(opened, servers)
        if left:
            print(f"ctrag: {len(left)} tools taken out, their servers are gone", file=sys.stderr)
        return ToolIndex(
            [SELF, *file.tools],
            access=rules,
            experts=file.experts,
            store=opened,
            next_tool=NextTool.configured(),
            next_tool_weight=settings().dependency_weight,
        )
    except BaseException:
        if opened is not None:
            opened.close()
        raise


def _sink(record: Path | None, otel: bool) -> "EventSink":
    from ctrag.agents.session.events import EventSink, JsonLines, together

    sinks: list[EventSink] = [] if record is None else [JsonLines(record)]
    if otel:
        from ctrag.agents.session.telemetry import OpenTelemetry

        sinks.append(OpenTelemetry())
    return together(*sinks)
