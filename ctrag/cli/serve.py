"""`ctrag serve`: tools for any agent over MCP and what it takes; the assistant as a page."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli import serve_parts, serve_plugins, serve_sign_in, serve_web
from ctrag.cli.interrupts import patiently
from ctrag.cli.options import AllowHost, AllowOrigin, Json, parse_address
from ctrag.cli.output import note, say
from ctrag.cli.serve_check import show_check
from ctrag.cli.writable import file_to_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Mount

    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.gateway import Gateway
    from ctrag.web.gateway_page import Watched
    from ctrag.web.guard import Guard

app = typer.Typer(
    help="Serve tools to any agent, or the assistant as a page.\n\n"
    "Example: ctrag serve mcp --catalogue tools.json",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    pass


app.command("web")(serve_web.web)


@app.command("mcp")
def mcp(
    catalogue: Annotated[
        Path | None, typer.Option(help="A catalogue file; may be left out with --upstream.")
    ] = None,
    server_name: Annotated[
        str, typer.Option(help="Server of the catalogue's tools that name none; of OpenAPI's.")
    ] = "",
    base_url: Annotated[
        str, typer.Option(help="Where an OpenAPI catalogue is called, if not where it says.")
    ] = "",
    credential: Annotated[
        list[str] | None,
        typer.Option(help="SCHEME=VARIABLE: the variable with an OpenAPI secret; repeatable."),
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
    instructions: Annotated[
        Path | None,
        typer.Option(help="Folder of skills, rules and policies; they come with their tools."),
    ] = None,
    instruction_budget: Annotated[
        int, typer.Option(min=50, help="Tokens of instructions beside one search.")
    ] = 1_200,
    marketplace: serve_plugins.MarketplaceFile = None,
    installed: serve_plugins.InstalledFile = None,
    allow_install: Annotated[
        bool, typer.Option("--allow-install", help="Let sessions install plugins.")
    ] = False,
    reads_apart: Annotated[
        bool,
        typer.Option(
            "--reads-apart",
            help="call_tool only for tools that say that they only read, call_changing_tool for "
            "the rest.",
        ),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(
            callback=file_to_write,
            help="Append every decision here; `ctrag session show` reads it, `ctrag train` learns "
            "from it.",
        ),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            help="What is called after what: a folder of `ctrag train dependency`, or a recording, "
            "which is counted. Default: CTRAG_DEPENDENCY."
        ),
    ] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn", help="Let finished sessions teach the next tool at once."),
    ] = False,
    otel: Annotated[
        bool, typer.Option("--otel", help="Send decisions to the OpenTelemetry exporter.")
    ] = False,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    metrics: Annotated[
        bool, typer.Option("--metrics/--no-metrics", help="Show /metrics, with --http.")
    ] = True,
    page: Annotated[
        bool,
        typer.Option("--page", help="A page of what it does, with --http; its address is printed."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Start each server, say what would be served, and end."),
    ] = False,
    json: Json = False,
) -> None:
    """Serve an MCP server whose clients find tools instead of listing them all.

    Example: ctrag serve mcp --catalogue tools.json --upstream servers.json
    """
    if catalogue is None and upstream is None and marketplace is None:
        raise typer.BadParameter("give --catalogue, --upstream or --marketplace")
    if http is not None and user is not None:
        raise typer.BadParameter("--user is for stdin and stdout; over HTTP the token says who")
    if http is None and (allow_host or allow_origin):
        raise typer.BadParameter("--allow-host and --allow-origin are for --http")
    if page and http is None:
        raise typer.BadParameter("--page is for --http")
    if json and not check:
        raise typer.BadParameter("--json is for --check; what is served is the protocol alone")
    address = None if http is None else parse_address(http)
    import anyio

    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.gateway import Gateway
    from ctrag.agents.server.gateway_settings import GatewaySettings
    from ctrag.agents.server.learning import next_tool_of, teacher_of, watched_model
    from ctrag.agents.server.operations import Metrics
    from ctrag.agents.server.principals import AccessFile, BearerTokens
    from ctrag.agents.server.reload import access_of, servers_of
    from ctrag.agents.server.serve import HttpOptions, serve_http, serve_stdio
    from ctrag.agents.session.settings import SessionSettings
    from ctrag.settings import settings

    sessions = SessionSettings() if session is None else SessionSettings.from_file(session)
    callers = AccessFile() if access is None else AccessFile.from_file(access)
    tokens = None if address is None or access is None else BearerTokens(callers)
    plugins = (
        None if marketplace is None else serve_plugins.open_marketplace(marketplace, installed)
    )
    servers = Upstreams() if upstream is None else Upstreams.from_file(upstream)
    bought = [] if plugins is None else [one.plugin.name for one in plugins.installed()]
    file = serve_parts.catalogue(catalogue, server_name)
    apis = serve_parts.apis(file, base_url, credential or [])
    index = serve_parts.index(file, store, callers, [*servers.servers, *bought])
    counted = Metrics() if metrics and address is not None else None
    watched_page = None if address is None or not page else _page(address, allow_host or ())
    shown = GatewaySettings(may_install=allow_install, reads_apart=reads_apart)
    path = traces or settings().dependency
    path = None if path is None else path.expanduser()
    ids = [one.id for one in index.tools]
    index.next_tool, said = next_tool_of(path, record, learns=learn, catalogue=ids)
    for one in said:
        note(one)
    teacher = teacher_of(index) if learn else None
    gateway = Gateway(
        index,
        servers,
        marketplace=plugins,
        apis=apis,
        always=always or [],
        expert=expert,
        settings=shown if limit is None else replace(shown, limit=limit),
        session=sessions,
        record=serve_parts.sink(record, otel, counted, watched_page and watched_page[0], teacher),
        guidance=None
        if instructions is None
        else serve_parts.guidance(instructions, instruction_budget),
    )
    watched = [] if upstream is None else [servers_of(gateway, upstream)]
    watched += watched_model(index, path)
    if access is not None:
        watched.append(access_of(gateway, access, callers, tokens))

    def finish() -> None:
        try:
            if teacher is not None:
                teacher.close()
        finally:
            index.close()

    try:
        if check:
            show_check(gateway, servers, json)
            return
        _say_read(servers, gateway)
        patiently()
        if address is None:
            known = {} if index.access is None else index.access.members
            who = None if user is None else known.get(user) or callers.principal(user)
            anyio.run(serve_stdio, gateway, who, watched, finish)
        else:
            pages = () if watched_page is None else (_pages(gateway, *watched_page, address[0]),)
            hosts, origins = tuple(allow_host or ()), tuple(allow_origin or ())
            options = HttpOptions(hosts, origins, counted, pages)
            anyio.run(serve_http, gateway, *address, tokens, options, watched)
    finally:
        finish()


def _say_read(servers: "Upstreams", gateway: "Gateway") -> None:
    """What of the files was left out or read otherwise, on stderr."""
    for name, why in servers.problems.items():
        note(f"{name} is left out: {why}")
    for said in [*servers.notes, *gateway.problems_of_apis()]:
        note(said)


def _page(address: tuple[str, int], hosts: "Sequence[str]") -> "tuple[Watched, Guard]":
    from ctrag.web.gateway_page import Watched
    from ctrag.web.guard import Guard, allowed

    return Watched(), Guard(address[1], allowed(hosts))


def _pages(gateway: "Gateway", watched: "Watched", guard: "Guard", host: str) -> "Mount":
    from ctrag.web.gateway_page import PATH, gateway_pages

    shown = guard.hosts[0] if host in ("0.0.0.0", "::") and guard.hosts else host
    say(f"page at {guard.address(shown, f'{PATH}/')}")
    return gateway_pages(gateway, watched, guard)


app.command("token")(serve_sign_in.token)
app.command("login")(serve_sign_in.login)
app.command("plugins")(serve_plugins.plugins)
