"""What `ctrag serve mcp` is put together from: each option's part of the gateway."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ctrag.cli.output import note

if TYPE_CHECKING:
    from ctrag.agents.catalogue.tool import Catalogue
    from ctrag.agents.search.index import ToolIndex
    from ctrag.agents.server.guidance import Guidance
    from ctrag.agents.server.openapi_calls import OpenApiServer
    from ctrag.agents.server.operations import Metrics
    from ctrag.agents.server.principals import AccessFile
    from ctrag.agents.session.events import EventSink


def catalogue(path: Path | None, server: str) -> "Catalogue":
    """The file's tools."""
    from ctrag.agents.catalogue.tool import Catalogue, read_catalogue

    return Catalogue([]) if path is None else read_catalogue(path, server)


def apis(file: "Catalogue", base_url: str, credentials: list[str]) -> "list[OpenApiServer]":
    """The server of an OpenAPI catalogue; none for another one, which takes no such options."""
    from ctrag.agents.server.openapi_calls import ApiSettings, OpenApiServer

    if file.api is None:
        if base_url or credentials:
            raise typer.BadParameter("--base-url and --credential are for an OpenAPI --catalogue")
        return []
    named = dict(one.partition("=")[::2] for one in credentials)
    if not all(scheme and variable for scheme, variable in named.items()):
        raise typer.BadParameter("--credential: must be SCHEME=VARIABLE")
    return [OpenApiServer(file.api, ApiSettings(base_url, named))]


def index(
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


def guidance(folder: Path, budget: int) -> "Guidance":
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


def sink(
    record: Path | None, otel: bool, metrics: "Metrics | None", *more: "EventSink | None"
) -> "EventSink":
    """One sink for all that decisions are sent to; `more` are those of `--page` and `--learn`."""
    from ctrag.agents.session.events import EventSink, JsonLines, together

    sinks: list[EventSink] = [] if record is None else [JsonLines(record)]
    sinks += [one for one in (metrics, *more) if one is not None]
    if otel:
        from ctrag.agents.session.telemetry import OpenTelemetry

        sinks.append(OpenTelemetry())
    return together(*sinks)
