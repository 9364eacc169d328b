"""A server with all that the protocol has, written with the official SDK.

`python rich_server.py [--old] [--http PORT | --sse PORT] [--log FILE]`: over stdin and stdout, or
at a port of this machine. With `--old` it speaks the 2025 revisions alone. Messages that a test
wants to see afterwards are appended to the file.
"""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

Ctx = ServerRequestContext[Any]
OLD = "--old" in sys.argv
STATE: dict[str, Any] = {"notes": ["one"], "cart": []}


def option(name: str) -> str | None:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def note(line: str) -> None:
    if path := option("--log"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def tool(name: str, description: str, **more: Any) -> types.Tool:
    schema = more.pop("inputSchema", {"type": "object", "properties": {}})
    return types.Tool(name=name, description=description, inputSchema=schema, **more)


NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}}
TOOLS = [
    tool(
        "send",
        "Send a mail",
        title="Mail sender",
        annotations=types.ToolAnnotations(destructive_hint=True, open_world_hint=True),
        outputSchema={"type": "object", "properties": {"sent": {"type": "boolean"}}},
        icons=[types.Icon(src="https://mail.example/icon.png")],
        _meta={"mail.example/cost": 3},
    ),
    tool("print", "Print a page slowly", inputSchema=NUMBER),
    tool("pdf", "Give the pdf text of a note as a link"),
    tool("text", "Return a long text", inputSchema=NUMBER),
    tool("echo", "Echo the meta of the call"),
    tool("invoice", "Write an invoice with the model", inputSchema=NUMBER),
    tool("calendar", "Ask the user for a calendar day"),
    tool("event", "Ask the user to open a page of the event"),
    tool("page", "List the roots of the page"),
    tool("clock", "Log the time of the clock", inputSchema=NUMBER),
    tool("weather", "Change the notes about the weather"),
    tool("time", "Keep the time in the cart of this process"),
]


async def list_tools(ctx: Ctx, params: Any) -> types.ListToolsResult:
    tools = TOOLS
    capabilities = ctx.session.client_capabilities
    if capabilities is not None and capabilities.sampling is not None:
        tools = [*TOOLS, tool("secret", "Echo only where there is a model")]
    return types.ListToolsResult(tools=tools)


def said(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


async def ask(ctx: Ctx, params: types.CallToolRequestParams, question: Any, kind: Any) -> Any:
    """The client's answer; None when it was asked by the result of the call."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return (params.input_responses or {}).get("q")
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    return await ctx.session.send_request(question, kind, metadata=related)


async def asking(
    ctx: Ctx, params: types.CallToolRequestParams, question: Any, kind: Any
) -> types.CallToolResult | types.InputRequiredResult:
    try:
        answer = await ask(ctx, params, question, kind)
    except MCPError as error:
        return said(f"refused: {error}", is_error=True)
    if answer is None:
        return types.InputRequiredResult(input_requests={"q": question}, request_state="s")
    return said(answer.model_dump_json(by_alias=True, exclude_none=True))


QUESTIONS: dict[str, tuple[Any, Any]] = {
    "invoice": (
        types.CreateMessageRequest(
            params=types.CreateMessageRequestParams(
                messages=[
                    types.SamplingMessage(
                        role="user", content=types.TextContent(type="text", text="a limerick")
                    )
                ],
                max_tokens=9,
            )
        ),
        types.CreateMessageResult,
    ),
    "calendar": (
        types.ElicitRequest(
            params=types.ElicitRequestFormParams(
                message="which day?",
                requested_schema={"type": "object", "properties": {"day": {"type": "string"}}},
            )
        ),
        types.ElicitResult,
    ),
    "event": (
        types.ElicitRequest(
            params=types.ElicitRequestURLParams(
                message="please sign in", url="https://event.example/in", elicitation_id="e1"
            )
        ),
        types.ElicitResult,
    ),
    "page": (types.ListRootsRequest(), types.ListRootsResult),
}


async def call_tool(
    ctx: Ctx, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    name, arguments = params.name, params.arguments or {}
    n = arguments.get("n", 1)
    if name == "send":
        note("sent")
        return said('{"sent": true}', structured_content={"sent": True})
    if name == "print":
        for step in range(int(n * 10)):
            await anyio.sleep(0.1)
            await ctx.session.report_progress(step + 1, n * 10, f"page {step + 1}")
        return said("printed")
    if name == "pdf":
        link = types.ResourceLink(type="resource_link", name="one", uri="note://one")
        return types.CallToolResult(content=[link], structured_content={"a": 1})
    if name == "text":
        return said("".join(f"{i:09d}\n" for i in range(int(n) // 10)))
    if name == "echo":
        meta = {
            key: value for key, value in (ctx.meta or {}).items() if "/" not in key or "x/" in key
        }
        return said(
            str(meta),
            _meta={
                "x/back": 1,
                "io.modelcontextprotocol/serverInfo": {"name": "no", "version": "1"},
            },
        )
    if name == "clock":
        message = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(
                level="debug" if n > 1 else "warning", logger="hands", data="tick"
            )
        )
        await ctx.session.send_notification(message, ctx.request_id)
        return said("ticked")
    if name == "weather" and "env" in arguments:
        return said(os.environ.get(arguments["env"], ""))
    if name == "weather":
        STATE["notes"].append("rain")
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await ctx.session.send_resource_list_changed()
            await ctx.session.send_prompt_list_changed()
        return said("changed")
    if name == "time":
        STATE["cart"].append(len(STATE["cart"]))
        return said(str(STATE["cart"]))
    if name in QUESTIONS:
        return await asking(ctx, params, *QUESTIONS[name])
    return said("only here" if name == "secret" else f"no tool {name}", is_error=name != "secret")


async def list_resources(ctx: Ctx, params: Any) -> types.ListResourcesResult:
    found = [types.Resource(name=one, uri=f"note://{one}") for one in STATE["notes"]]
    return types.ListResourcesResult(resources=found)


async def list_templates(ctx: Ctx, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(name="a note", uri_template="note://{name}")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Ctx, params: types.ReadResourceRequestParams) -> Any:
    uri = str(params.uri)
    if uri == "note://none":
        raise MCPError(types.INVALID_PARAMS, "no such note")
    text = types.TextResourceContents(uri=uri, text=f"the note of {uri}")
    return types.ReadResourceResult(contents=[text])


async def list_prompts(ctx: Ctx, params: Any) -> types.ListPromptsResult:
    argument = types.PromptArgument(name="city", required=True)
    prompt = types.Prompt(name="greet", description="Greet a city", arguments=[argument])
    return types.ListPromptsResult(prompts=[prompt])


async def get_prompt(ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    text = types.TextContent(type="text", text=f"Hello {(params.arguments or {}).get('city')}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


async def complete(ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
    named = getattr(params.ref, "name", None) or getattr(params.ref, "uri", "")
    values = [f"{named}:{params.argument.value}aris"]
    return types.CompleteResult(completion=types.Completion(values=values))


async def set_level(ctx: Ctx, params: types.SetLevelRequestParams) -> types.EmptyResult:
    note(f"level {params.level}")
    return types.EmptyResult()


server: Server[Any] = Server(
    "rich",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_completion=complete,
)
server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
CHANGES = NotificationOptions(tools_changed=True, resources_changed=True, prompts_changed=True)


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        options = server.create_initialization_options(CHANGES)
        if OLD:
            await serve_loop(server, read, write, lifespan_state={}, init_options=options)
        else:
            await server.run(read, write, options)


def over_sse(port: int) -> None:
    import uvicorn
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def opened(request: Request) -> Response:
        note(f"headers {request.headers.get('authorization')}")
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            await server.run(*streams, server.create_initialization_options(CHANGES))
        return Response()

    routes = [Route("/sse", opened), Mount("/messages/", transport.handle_post_message)]
    uvicorn.run(Starlette(routes=routes), port=port, log_level="error")


def _old(app: Any) -> Any:
    """The application without what came with the revision of 2026."""

    async def served(scope: Any, receive: Any, send: Any) -> None:
        if dict(scope.get("headers", [])).get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    return served


if __name__ == "__main__":
    note("started")
    if port := option("--sse"):
        over_sse(int(port))
    elif port := option("--http"):
        import uvicorn

        app = server.streamable_http_app()
        uvicorn.run(_old(app) if OLD else app, port=int(port), log_level="error")
    else:
        anyio.run(over_stdio)
