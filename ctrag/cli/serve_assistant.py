"""`ctrag serve assistant`: the assistant behind other front ends."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.interrupts import patiently
from ctrag.cli.options import (
    AllowHost,
    AllowOrigin,
    At,
    Data,
    Persona,
    Place,
    Reset,
    folder_of,
    parse_address,
    parse_at,
)


def assistant(
    persona: Persona,
    data: Data = None,
    http: Annotated[
        str | None,
        typer.Option(help="HOST:PORT for MCP and chat; MCP on stdin and stdout when left out."),
    ] = None,
    access: Annotated[
        Path | None, typer.Option(help="Hashes of the tokens that are let in: YAML or JSON.")
    ] = None,
    at: At = None,
    place: Place = None,
    planner: Annotated[str, typer.Option(help="embedded or openai.")] = "embedded",
    reset: Reset = False,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
) -> None:
    """Serve one person's assistant as MCP tools and as a model of OpenAI's chat API.

    What reaches others or plays sound asks the person first, in the front end's own way, or is not
    done.

    Example: ctrag serve assistant --persona p007 --http 127.0.0.1:8017
    """
    if http is None and (access or allow_host or allow_origin):
        raise typer.BadParameter("--access, --allow-host and --allow-origin are for --http")
    address = None if http is None else parse_address(http)
    moment = parse_at(at)
    from ctrag.extras import need

    need("serving the assistant", "mcp", "uvicorn", extra="assistant,mcp")
    import anyio

    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.server.access import Tokens
    from ctrag.assistant.server.door import Door
    from ctrag.assistant.server.serve import Served, serve_http, serve_stdio
    from ctrag.serving.addresses import refuse_without_tokens

    tokens = None if access is None else Tokens.from_file(access)
    if address is not None and tokens is None:
        refuse_without_tokens(address[0])
    opened = Assistant.open(folder_of(persona, data), persona, planner=planner, reset=reset)
    door = Door(opened, moment, place)
    patiently()
    if address is None:
        anyio.run(serve_stdio, door)
    else:
        hosts, origins = tuple(allow_host or ()), tuple(allow_origin or ())
        anyio.run(serve_http, door, Served(*address, tokens, hosts, origins))
