"""Many clients search and call through `ctrag serve mcp` over HTTP while its servers change.

`python -m benchmarks.gateway --searches 10000`: sixteen clients of both revisions; every 1.5 s
the file of servers is written anew, each fifth time broken. Prints times and errors; ends with 1
when there was an error.
"""

import json
import os
import random
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import httpx2
import typer
from mcp import Client

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests" / "agents" / "server" / "stdio_server.py"
NAMES = ("crm", "shop", "wiki", "calendar")
VERBS, NOUNS = ("create", "delete", "list", "update"), ("invoice", "ticket", "page", "event")
EXPECTED = ("is gone", "may no longer be used")
"""What a call of a server that was just taken out is told."""


@dataclass
class Seen:
    searches: int = 0
    calls: int = 0
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def servers(folder: Path) -> dict[str, Any]:
    made: dict[str, Any] = {"dead": {"command": "no-such-command"}}
    for name in NAMES:
        tools = [
            {
                "name": f"{verb}_{noun}",
                "description": f"{verb.title()} a {noun} in the {name}",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            }
            for verb in VERBS
            for noun in NOUNS
        ]
        listed = folder / f"{name}.json"
        listed.write_text(json.dumps(tools), encoding="utf-8")
        made[name] = {"command": sys.executable, "args": [str(SERVER), str(listed)]}
    return made


async def client(url: str, mode: Any, wanted: int, seen: Seen, seed: int) -> None:
    chance = random.Random(seed)
    session = None
    async with Client(url, mode=mode) as connected:
        while seen.searches < wanted:
            words = (chance.choice(VERBS), chance.choice(NOUNS), chance.choice(NAMES))
            arguments = {"query": "{} a {} in the {}".format(*words)}
            if session is not None and chance.random() < 0.9:
                arguments["session"] = session
            began = time.perf_counter()
            answer = await connected.call_tool("search_tools", arguments)
            seen.seconds.append(time.perf_counter() - began)
            seen.searches += 1
            if answer.is_error:
                seen.errors.append(answer.content[0].text)
                session = None
                continue
            session = answer.structured_content["session"]
            tools = answer.structured_content["tools"]
            if tools and chance.random() < 0.1:
                call = {
                    "session": session,
                    "name": tools[0]["name"],
                    "arguments": {"text": str(began)},
                }
                called = await connected.call_tool("call_tool", call)
                seen.calls += 1
                said = called.content[0].text
                if called.is_error and not any(one in said for one in EXPECTED):
                    seen.errors.append(said)


async def change(path: Path, made: dict[str, Any], wanted: int, seen: Seen) -> None:
    chance, turn = random.Random(0), 0
    while seen.searches < wanted:
        await anyio.sleep(1.5)
        turn += 1
        names = chance.sample(list(made), chance.randint(1, len(made)))
        text = json.dumps({"mcpServers": {name: made[name] for name in names}})
        path.write_text("{ broken" if turn % 5 == 0 else text, encoding="utf-8")


async def drive(address: str, path: Path, made: dict[str, Any], clients: int, wanted: int) -> Seen:
    seen = Seen()
    async with httpx2.AsyncClient() as http:
        with anyio.fail_after(60):
            while True:
                try:
                    if (await http.get(f"{address}/readyz")).status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
                await anyio.sleep(0.1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change, path, made, wanted, seen)
        for number in range(clients):
            mode = "auto" if number % 2 else "legacy"
            tasks.start_soon(client, f"{address}/mcp", mode, wanted, seen, number)
    return seen


def main(searches: int = 10_000, clients: int = 16) -> None:
    """Start the server, drive it, print what was seen."""
    with TemporaryDirectory() as folder:
        made, path = servers(Path(folder)), Path(folder) / "servers.json"
        path.write_text(json.dumps({"mcpServers": made}), encoding="utf-8")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        start = "from ctrag.cli.main import main; main()"
        options = ["serve", "mcp", "--upstream", str(path), "--http", f"127.0.0.1:{port}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            [sys.executable, "-c", start, *options], env=environment, stderr=subprocess.DEVNULL
        ) as served:
            began = time.perf_counter()
            try:
                seen = anyio.run(drive, f"http://127.0.0.1:{port}", path, made, clients, searches)
            finally:
                served.terminate()
        spent = time.perf_counter() - began
    ordered = sorted(seen.seconds)
    p50, p99 = (1e3 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    print(f"{seen.searches} searches and {seen.calls} calls of {clients} clients in {spent:.0f} s")
    print(f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, {len(seen.errors)} errors")
    for error in dict.fromkeys(seen.errors):
        print(f"  {error}")
    if seen.errors:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
