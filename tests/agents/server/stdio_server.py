"""An MCP server of the 2025 revision in plain Python, which does what a broken one would.

`python stdio_server.py TOOLS.json`: the file holds the entries of `tools/list` as they are sent,
and is read again for each list. What a call does hangs on the tool's name.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TOOLS = Path(sys.argv[1])


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(said: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], "isError": error}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "die":
        os._exit(3)
    if name == "hang":
        time.sleep(60)
    if name == "nonsense":
        return {"content": "no list of blocks"}
    if name == "fail":
        return text("the printer is out of paper", error=True)
    if name == "publish":
        TOOLS.write_text(json.dumps(arguments["tools"]), encoding="utf-8")
        send({"method": "notifications/tools/list_changed"})
    return text(f"{name} {json.dumps(arguments)} by {os.getpid()}")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "plain", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": json.loads(TOOLS.read_text(encoding="utf-8"))}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    return {} if method == "ping" else None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params") or {})
    if result is None:
        error = {"code": -32601, "message": f"no method {request['method']}"}
        send({"id": request["id"], "error": error})
    else:
        send({"id": request["id"], "result": result})
