"""A toy encoder, servers in processes of their own, and a gateway in front of them."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from ctrag.agents.catalogue.access import AccessRules
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.gateway_settings import GatewaySettings
from ctrag.agents.server.servers import SELF

PLAIN = Path(__file__).with_name("stdio_server.py")
PATIENT = GatewaySettings(timeout=60, registry_timeout=60)
"""For machines that do other things as well."""
TOPICS = "print page mail send echo weather calendar event time clock pdf text invoice".split()


class Topics:
    """One dimension a topic word; counts the texts it is given."""

    name = "topics"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.encoded.extend(texts)
        counts = [[*(word in text.lower() for word in TOPICS), 0.01] for text in texts]
        rows = np.array(counts, np.float32).reshape(-1, len(TOPICS) + 1)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def entry(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **more}


def tool(name: str, description: str, server: str = "") -> CatalogueTool:
    return CatalogueTool(name, description, server, {"type": "object", "properties": {}})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def encoder() -> Topics:
    return Topics()


@pytest.fixture
def plain(tmp_path: Path) -> Callable[..., ServerSpec]:
    """`plain("printer", [entry("print")], timeout=1)`: how that server is started."""

    def spec(name: str, tools: Iterable[dict[str, Any]], **more: Any) -> ServerSpec:
        listed = tmp_path / f"{name}.json"
        listed.write_text(json.dumps(list(tools)), encoding="utf-8")
        return ServerSpec(command=sys.executable, args=[str(PLAIN), str(listed)], **more)

    return spec


@pytest.fixture
def gateway(encoder: Topics) -> Callable[..., Gateway]:
    """`gateway(tools, servers={"printer": spec})`: not running yet."""

    def make(
        tools: Sequence[CatalogueTool] = (),
        servers: dict[str, ServerSpec] | None = None,
        access: AccessRules | None = None,
        **more: Any,
    ) -> Gateway:
        index = ToolIndex([SELF, *tools], encoder, access)
        return Gateway(index, Upstreams(servers=servers or {}), settings=PATIENT, **more)

    return make


@pytest.fixture
def ctrag(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """A command through its entry point."""
    from ctrag.cli.main import main
    from tests.cli.conftest import Ran

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["ctrag", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return run
