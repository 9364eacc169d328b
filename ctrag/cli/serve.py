"""`ctrag serve`: tools for any agent over MCP and what it takes; the assistant as a page."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli import serve_web
from ctrag.cli.interrupts import patiently
from ctrag.cli.options import Json, parse_address
from ctrag.cli.output import line, note, print_json, say
from ctrag.cli.writable import file_to_write
from ctrag.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Mount

    from ctrag.agents.catalogue.tool import Catalogue
    from ctrag.agents.search.index import ToolIndex
    from ctrag.agents.server.check import Report
    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.gateway import Gateway
    from ctrag.agents.server.guidance import Guidance
    from ctrag.agents.server.marketplace import Marketplace
    from ctrag.agents.server.openapi_calls import OpenApiServer
    from ctrag.agents.server.operations import Metrics
    from ctrag.agents.server.principals import AccessFile
    from ctrag.agents.session.events import EventSink
    from ctrag.web.gateway_page import Watched
    from ctrag.web.guard import Guard

app = typer.Typer(
    help="Serve tools to any agent, or the assistant as a page.\n\n"
    "Example: ctrag serve mcp --catalogue tools.json",
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
    marketplace: _Marketplace = None,
    installed: _Installed = None,
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
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Host that a reverse proxy is called by, with --http; may be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="Origin of web pages that may call, with --http; may be repeated."),
    ] = None,
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
    plugins = None if marketplace is None else _marketplace(marketplace, installed)
    servers = Upstreams() if upstream is None else Upstreams.from_file(upstream)
    bought = [] if plugins is None else [one.plugin.name for one in plugins.installed()]
    file = _catalogue(catalogue, server_name)
    apis = _apis(file, base_url, credential or [])
    index = _index(file, store, callers, [*servers.servers, *bought])
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
        record=_sink(record, otel, counted, watched_page and watched_page[0], teacher),
        guidance=None if instructions is None else _guidance(instructions, instruction_budget),
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
            _check(gateway, servers, json)
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


def _check(gateway: "Gateway", servers: "Upstreams", json: bool) -> None:
    """Print the report; ends with 1 when a server cannot be used."""
    import anyio

    from ctrag.agents.server.check import check

    report = anyio.run(check, gateway, servers)
    if json:
        print_json(report.as_json())
    else:
        _show_report(report)
    if report.fails:
        raise typer.Exit(1)


def _show_report(report: "Report") -> None:
    for one in report.servers:
        size = f"  {one.tools} tools, {one.tokens} tokens" if one.state == "ok" else ""
        line(f"{one.name}: {one.state}{size}{'  ' if one.why else ''}{one.why}", bold=True)
        for name, why in one.left_out.items():
            line(f"  left out: {name} {why}")
        for name, marks in one.marked.items():
            line(f"  marked: {name} ({', '.join(marks)})")
        for pattern in one.unused:
            line(f"  no tool has the name {pattern!r}, which the file gives")
    line(
        f"{report.tools} tools: {report.tokens} tokens if they were listed, "
        f"{report.meta_tokens} for the meta-tools that are listed instead"
    )
    for title, several in (
        ("same name", report.same_names),
        ("same name for a model's API but for a hash", report.same_wire_names),
    ):
        for name, ids in several.items():
            line(f"{title}: {name} ({', '.join(ids)})")
    for tool in report.not_found:
        line(f"not found by the words of its name or description: {tool}")
    for said in report.notes:
        line(f"note: {said}")


@app.command("token")
def token(json: Json = False) -> None:
    """Make a bearer token: it is shown once, its hash goes into the file of --access.

    Example: ctrag serve token
    """
    from ctrag.serving.tokens import new_token

    made, kept = new_token()
    if json:
        print_json({"token": made, "hash": kept})
        return
    line(f"token  {made}")
    line(f"hash   {kept}")


@app.command("login")
def login(
    name: Annotated[str, typer.Argument(help="The server, as the file names it.")],
    upstream: Annotated[Path, typer.Option("--upstream", help="The file of servers.")],
    user: Annotated[
        str | None, typer.Option("--user", help="The caller under `users` whose sign-in it is.")
    ] = None,
) -> None:
    """Sign in to a server that wants a person: its tokens are kept for `ctrag serve mcp`.

    Example: ctrag serve login --upstream servers.json crm
    """
    import anyio

    from ctrag.agents.server.config import Upstreams
    from ctrag.agents.server.sign_in import login as sign_in

    servers = Upstreams.from_file(upstream)
    if name not in servers.servers:
        why = servers.problems.get(name, "is not there")
        raise InputError(f"{upstream}: {name!r} {why}")
    spec = servers.servers[name]
    if user is not None:
        if user not in spec.users:
            raise InputError(f"--user: {user!r} is not among the users of {name!r}")
        spec = spec.of_user(user)

    def show(address: str) -> None:
        line(f"open this address and sign in:\n{address}")

    line(f"signed in; tokens are in {anyio.run(sign_in, spec, show)}")


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


def _marketplace(path: Path, installed: Path | None) -> "Marketplace":
    from ctrag.agents.server.marketplace import Marketplace
    from ctrag.settings import settings

    state = installed or settings().home.expanduser() / "plugins.json"
    return Marketplace.from_file(path, state)


def _catalogue(path: Path | None, server: str) -> "Catalogue":
    """The file's tools."""
    from ctrag.agents.catalogue.tool import Catalogue, read_catalogue

    return Catalogue([]) if path is None else read_catalogue(path, server)


def _apis(file: "Catalogue", base_url: str, credentials: list[str]) -> "list[OpenApiServer]":
    from ctrag.agents.server.openapi_calls import ApiSettings, OpenApiServer

    if file.api is None:
        if base_url or credentials:
            raise typer.BadParameter("--base-url and --credential are for an OpenAPI --catalogue")
        return []
    named = dict(one.partition("=")[::2] for one in credentials)
    if not all(scheme and variable for scheme, variable in named.items()):
        raise typer.BadParameter("--credential: must be SCHEME=VARIABLE")
    return [OpenApiServer(file.api, ApiSettings(base_url, named))]


def _index(
    file: "Catalogue", store: str | None, callers: "AccessFile", servers: list[str]
) -> "ToolIndex":
    """The tools to serve; `servers` are the names of all that will be listed live."""
    from ctrag.agents.search.collection import open_store
    from ctrag.agents.search.index import ToolIndex
    from ctrag.agents.server.leftovers import take_out_leftovers
    from ctrag.agents.server.servers import SELF
    from ctrag.settings import settings

    rules = callers.rules or file.access
    opened = None if store is None else open_store(store)
    try:
        left = [] if opened is None else take_out_leftovers(opened, servers)
        if left:
            note(f"{len(left)} tools taken out, their servers are gone")
        return ToolIndex(
            [SELF, *file.tools],
            access=rules,
            experts=file.experts,
            store=opened,
            next_tool_weight=settings().dependency_weight,
        )
    except BaseException:
        if opened is not None:
            opened.close()
        raise


def _page(address: tuple[str, int], hosts: "Sequence[str]") -> "tuple[Watched, Guard]":
    from ctrag.web.gateway_page import Watched
    from ctrag.web.guard import Guard, allowed

    return Watched(), Guard(address[1], allowed(hosts))


def _pages(gateway: "Gateway", watched: "Watched", guard: "Guard", host: str) -> "Mount":
    from ctrag.web.gateway_page import PATH, gateway_pages

    shown = guard.hosts[0] if host in ("0.0.0.0", "::") and guard.hosts else host
    say(f"page at {guard.address(shown, f'{PATH}/')}")
    return gateway_pages(gateway, watched, guard)


def _guidance(folder: Path, budget: int) -> "Guidance":
    """Instructions as they are served, and what was left out of them, on stderr."""
    from ctrag.agents.prompt.served import served_instructions
    from ctrag.agents.server.guidance import Guidance, files_of

    served = served_instructions(folder)
    for file, why in served.problems:
        note(f"{file}: {why}")
    if served.warning:
        note(served.warning)
    # Of files that nobody approves, none is given where the gate is on.
    files = {} if served.gated else files_of(served.skills)
    return Guidance(served.fragments, budget=budget, folder=served.folder, files=files)


def _sink(
    record: Path | None, otel: bool, metrics: "Metrics | None", *more: "EventSink | None"
) -> "EventSink":
    from ctrag.agents.session.events import EventSink, JsonLines, together

    sinks: list[EventSink] = [] if record is None else [JsonLines(record)]
    sinks += [one for one in (metrics, *more) if one is not None]
    if otel:
        from ctrag.agents.session.telemetry import OpenTelemetry

        sinks.append(OpenTelemetry())
    return together(*sinks)
