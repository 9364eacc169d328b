"""What runs the server asks of it, and who may reach it."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
import yaml
from mcp import Client

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.operations import BUCKETS, Metrics
from ctrag.agents.server.principals import AccessFile, BearerTokens, new_token
from ctrag.agents.server.serve import HttpOptions
from ctrag.agents.server.servers import SELF
from tests.agents.server.conftest import PATIENT, Topics, entry
from tests.agents.server.test_http import served
from tests.agents.server.test_starting import DEAD, SLOW

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
Servers = Callable[..., ServerSpec]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def gateway_of(servers: dict[str, ServerSpec], metrics: Metrics | None = None) -> Gateway:
    more = {} if metrics is None else {"record": metrics}
    return Gateway(
        ToolIndex([SELF], Topics()), Upstreams(servers=servers), settings=PATIENT, **more
    )


async def get(url: str, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as http:
        return await http.get(url.replace("/mcp", path))


async def test_a_server_is_alive_at_once_and_ready_when_each_upstream_was_tried(
    plain: Servers,
) -> None:
    with served(gateway_of({"secret": SLOW})) as url:
        assert (await get(url, "/healthz")).json() == {"status": "ok"}
        waits = await get(url, "/readyz")
        assert (waits.status_code, waits.json()) == (503, {"ready": False})
    gateway = gateway_of({"secret": DEAD, "printer": plain("printer", [entry("print")])})
    with served(gateway) as url:
        async with Client(url) as client:
            await client.call_tool("search_tools", {"query": "print"})
        assert (await get(url, "/readyz")).json() == {"ready": True}


async def test_metrics_count_searches_and_calls_and_name_nothing(plain: Servers) -> None:
    metrics = Metrics()
    servers = {
        "secret": DEAD,
        "printer": plain("printer", [entry("print", "Print"), entry("fail", "Clock")]),
    }
    with served(gateway_of(servers, metrics), options=HttpOptions(metrics=metrics)) as url:
        async with Client(url) as client:
            found = await client.call_tool("search_tools", {"query": "print, fail"})
            session = found.structured_content["session"]
            await client.call_tool("search_tools", {"query": "weather", "session": session})
            for name in ("printer/print", "printer/fail", "printer/none"):
                await client.call_tool("call_tool", {"session": session, "name": name})
        answer = await get(url, "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    for line in (
        'ctrag_servers{state="up"} 1',
        'ctrag_servers{state="down"} 1',
        "ctrag_ready 1",
        "ctrag_sessions 1",
        "ctrag_search_seconds_count 2",
        'ctrag_search_seconds_bucket{le="+Inf"} 2',
        "ctrag_searches_without_tool_total 1",
        'ctrag_calls_total{outcome="ok"} 1',
        'ctrag_calls_total{outcome="tool_error"} 1',
        "ctrag_calls_refused_total 1",
        "ctrag_call_seconds_count 2",
    ):
        assert line in lines
    assert not any(name in answer.text for name in ("printer", "secret", "print"))
    form = r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"\})? [\d.e+-]+'
    assert all(re.fullmatch(form, line) for line in lines)
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines), "none is told twice"
    buckets = [line for line in lines if line.startswith("ctrag_search_seconds_bucket")]
    counts = [float(line.rpartition(" ")[2]) for line in buckets]
    assert len(counts) == len(BUCKETS) + 1
    assert counts == sorted(counts)


async def test_metrics_are_shown_only_where_asked_for() -> None:
    with served(gateway_of({})) as url:
        assert (await get(url, "/metrics")).status_code == 404


@pytest.mark.parametrize(
    ("host", "allowed", "status"),
    [
        ("tools.example", (), 421),
        ("tools.example", ("tools.example",), 200),
        ("tools.example:8443", ("tools.example",), 200),
        ("evil.example", ("tools.example",), 421),
        ("localhost:80", ("tools.example",), 200),
    ],
)
async def test_a_host_that_is_allowed_is_answered_behind_a_proxy(
    host: str, allowed: tuple[str, ...], status: int
) -> None:
    with served(gateway_of({}), options=HttpOptions(allowed_hosts=allowed)) as url:
        async with httpx2.AsyncClient() as http:
            answer = await http.post(url, json=INITIALIZE, headers={**ACCEPT, "Host": host})
    assert answer.status_code == status


async def test_a_web_page_may_call_only_from_an_allowed_origin(tmp_path: Path) -> None:
    token, kept = new_token()
    path = tmp_path / "access.yaml"
    path.write_text(yaml.safe_dump({"tokens": {"ada": [kept]}}), encoding="utf-8")
    tokens = BearerTokens(AccessFile.from_file(path))
    options = HttpOptions(allowed_origins=("https://app.example",))
    asks = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    with served(gateway_of({}), tokens, options=options) as url:
        async with httpx2.AsyncClient() as http:
            for origin, status in (("https://app.example", 200), ("https://evil.example", 400)):
                before = await http.options(url, headers={**asks, "Origin": origin})
                assert before.status_code == status
            headers = {**ACCEPT, "Origin": "https://app.example"}
            denied = await http.post(url, json=INITIALIZE, headers=headers)
            assert denied.status_code == 401
            assert denied.headers["access-control-allow-origin"] == "https://app.example"
            headers["Authorization"] = f"Bearer {token}"
            assert (await http.post(url, json=INITIALIZE, headers=headers)).status_code == 200
            headers["Origin"] = "https://evil.example"
            assert (await http.post(url, json=INITIALIZE, headers=headers)).status_code == 403


async def test_a_caller_without_rights_reads_no_servers_name_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "access.yaml"
    path.write_text("grants: [{user: ada, tools: ['secret/*']}]", encoding="utf-8")
    rules = AccessFile.from_file(path).rules
    gateway = Gateway(
        ToolIndex([SELF], Topics(), rules),
        Upstreams(servers={"secret": DEAD}),
        settings=PATIENT,
    )
    eve = Principal("eve")
    async with gateway.running() as running:
        answer = await running.search(eve, "secret print")
        said = [answer.as_json(), running.always_available(eve)]
        for name in ("secret/print", "secret"):
            said.append((await running.call(eve, answer.handle, name, {})).result.content[0].text)
    assert "no-such-command" not in str(said)
    assert "secret" not in str(said[:2])
    assert (
        said[2] == "'secret/print' is not available in this session; call search_tools to find it"
    )
