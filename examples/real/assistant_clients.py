"""The assistant of `ctrag serve assistant`, driven by clients that are not ours.

`python examples/real/assistant_clients.py CLIENT ADDRESS`, where CLIENT is `sdk` (the package mcp),
`fastmcp`, `openai`, or `pydantic-ai` (an agent whose model is the assistant), and ADDRESS is where
it is served, such as http://127.0.0.1:8017. `docs/doors.md` has what it prints.
"""

import asyncio
import sys
import warnings
from importlib.metadata import version
from typing import Any

warnings.simplefilter("ignore")

SAID = ("when is sparring", "make it half six", "and tell him I'll be ten minutes late")


def agrees(question: str) -> str:
    """The person's answer to each question: yes."""
    print(f"? {question}\n> yes")
    return "yes"


async def with_sdk(address: str) -> None:
    """The official SDK, which shows questions as forms."""
    from mcp import Client
    from mcp.types import ElicitResult

    async def asked(ctx: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"answer": agrees(params.message)})

    async with Client(f"{address}/mcp", elicitation_callback=asked) as client:
        print(f"mcp {version('mcp')}, {client.protocol_version}")
        await _over_mcp(client)


async def with_fastmcp(address: str) -> None:
    """FastMCP's client."""
    from fastmcp import Client

    async def asked(message: str, kind: Any, params: Any, context: Any) -> Any:
        return kind(answer=agrees(message))

    async with Client(f"{address}/mcp", elicitation_handler=asked) as client:
        print(f"fastmcp {version('fastmcp')}")
        await _over_mcp(client)


async def _over_mcp(client: Any) -> None:
    talk: dict[str, str] = {}
    for text in SAID:
        print(f"> {text}")
        answer = (await client.call_tool("ask", {"text": text, **talk})).structured_content
        talk = {"conversation": answer["conversation"]}
        print(answer["said"])
    for _ in SAID[1:]:
        print("undo")
        print((await client.call_tool("undo", talk)).structured_content["said"])
    found = await client.call_tool("find_items", {"text": "sparring", "limit": 1})
    print(f"find_items: {found.structured_content['items'][0]['item']}")


async def with_openai(address: str) -> None:
    """OpenAI's client, streaming."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=f"{address}/v1", api_key="-")
    print(f"openai {version('openai')}, {[one.id async for one in client.models.list()]}")
    messages: list[Any] = []
    for text in (*SAID, "yes", "undo that"):
        print(f"> {text}")
        messages.append({"role": "user", "content": text})
        answer = ""
        async for chunk in await client.chat.completions.create(
            model="ctrag", messages=messages, stream=True
        ):
            answer += chunk.choices[0].delta.content or ""
        print(answer)
        messages.append({"role": "assistant", "content": answer})


async def with_pydantic_ai(address: str) -> None:
    """An agent of pydantic-ai whose model is the assistant."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{address}/v1", api_key="-")
    agent = Agent(OpenAIChatModel("ctrag", provider=provider))
    print(f"pydantic-ai {version('pydantic-ai-slim')}")
    history: list[Any] = []
    for text in (*SAID, "no"):
        print(f"> {text}")
        answer = await agent.run(text, message_history=history)
        history = answer.all_messages()
        print(answer.output)


CLIENTS = {
    "sdk": with_sdk,
    "fastmcp": with_fastmcp,
    "openai": with_openai,
    "pydantic-ai": with_pydantic_ai,
}


if __name__ == "__main__":
    asyncio.run(CLIENTS[sys.argv[1]](sys.argv[2].rstrip("/")))
