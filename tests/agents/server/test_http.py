"""Over HTTP a verified token says who calls; nothing the caller writes elsewhere does."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.principals import AccessFile, BearerTokens, new_token
from ctrag.agents.server.serve import HttpOptions, http_app
from ctrag.agents.server.servers import SELF
from tests.agents.server.conftest import PATIENT, Topics, entry, tool

pytestmark = pytest.mark.anyio
TOOLS = [tool("send", "Send a mail", "mail"), tool("print", "Print a page", "printer")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(
    gateway: Gateway, tokens: BearerTokens | None = None, options: HttpOptions | None = None
) -> Iterator[str]:
    """The gateway at a port of this machine, in a thread of its own; its address."""
    port = free_port()
    app = http_app(gateway, "127.0.0.1", port, tokens, options)
    server = uvicorn.Server(
        uvicorn.Config(app, "127.0.0.1", port, log_level="error", timeout_graceful_shutdown=1)
    )

    async def run() -> None:
        async with gateway.running():
            await server.serve()

    thread = threading.Thread(target=anyio.run, args=(run,))
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/mcp"
    server.should_exit = True
    thread.join()


async def found(url: str, token: str, query: str, mode: str = "auto") -> list[str]:
    """What a client with that token is shown."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        answer = await client.call_tool("search_tools", {"query": query})
        return [one["name"] for one in answer.structured_content["tools"]]


def access(folder: Path, **more: Any) -> tuple[AccessFile, dict[str, str]]:
    """Ada, a nurse, and Bob, each with a token."""
    tokens = {name: new_token() for name in ("ada", "bob")}
    content = {
        "members": {"ada": {"roles": ["nurse"]}, "bob": {"organisations": ["clinic"]}},
        "tokens": {name: [pair[1]] for name, pair in tokens.items()},
        "grants": [
            {"role": "nurse", "tools": ["mail/*"]},
            {"organisation": "clinic", "tools": ["printer/*"]},
        ],
        **more,
    }
    path = folder / "access.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return AccessFile.from_file(path), {name: pair[0] for name, pair in tokens.items()}


async def test_each_token_sees_what_is_granted_to_its_user_in_both_revisions(
    tmp_path: Path,
) -> None:
    file, tokens = access(tmp_path)
    gateway = Gateway(ToolIndex([SELF, *TOOLS], Topics(), file.rules))
    with served(gateway, BearerTokens(file)) as url:
        for mode in ("auto", "legacy"):
            assert await found(url, tokens["ada"], "send a mail, print a page", mode) == [
                "mail/send"
            ]
            assert await found(url, tokens["bob"], "send a mail, print a page", mode) == [
                "printer/print"
            ]


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer a b", "Basic YTpi", "ada"])
async def test_without_a_valid_token_nothing_is_answered(
    tmp_path: Path, header: str | None
) -> None:
    file, _ = access(tmp_path)
    gateway = Gateway(ToolIndex([SELF, *TOOLS], Topics(), file.rules))
    with served(gateway, BearerTokens(file)) as url:
        async with httpx2.AsyncClient() as http:
            headers = {} if header is None else {"Authorization": header}
            answer = await http.post(url, json={"jsonrpc": "2.0"}, headers=headers)
            assert answer.status_code == 401
            assert "mail" not in answer.text


async def test_one_users_session_is_unknown_to_another(tmp_path: Path) -> None:
    file, tokens = access(tmp_path)
    gateway = Gateway(ToolIndex([SELF, *TOOLS], Topics(), file.rules))
    with served(gateway, BearerTokens(file)) as url:
        handles = {}
        for name, token in tokens.items():
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                answer = await client.call_tool("search_tools", {"query": "send a mail"})
                handles[name] = answer.structured_content["session"]
                if name == "bob":
                    stolen = {"session": handles["ada"], "name": "mail/send", "arguments": {}}
                    refused = await client.call_tool("call_tool", stolen)
                    assert refused.is_error
                    assert "mail/send" not in refused.content[0].text


def signed(folder: Path, **claims: Any) -> str:
    """A token by the issuer whose public key is `issuer.pem`."""
    import jwt
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = folder / "private.pem"
    if not private.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        (folder / "issuer.pem").write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
    until = datetime.now(UTC) + timedelta(minutes=1)
    content = {"sub": "eve", "aud": "tools.example", "exp": until, "roles": ["nurse"], **claims}
    content = {name: value for name, value in content.items() if value is not None}
    return jwt.encode(content, private.read_bytes(), "ES256")


def test_a_signed_token_counts_when_it_is_for_us_and_in_time(tmp_path: Path) -> None:
    good = signed(tmp_path)
    rules = {"key_file": "issuer.pem", "algorithms": ["ES256"], "audience": "tools.example"}
    file, _ = access(tmp_path, jwt=rules)
    tokens = BearerTokens(file)
    who = tokens.principal(good)
    assert who is not None
    assert who.user == "eve"
    assert who.scopes == {"user:eve", "role:nurse"}
    past = datetime.now(UTC) - timedelta(minutes=1)
    for bad in ({"aud": "other.example"}, {"exp": past}, {"exp": None}, {"sub": None}):
        assert tokens.principal(signed(tmp_path, **bad)) is None
    assert tokens.principal(good[:-4] + "AAAA") is None


def test_an_algorithm_that_needs_no_secret_is_refused(tmp_path: Path) -> None:
    signed(tmp_path)
    for name in ("none", "HS256"):
        rules = {"key_file": "issuer.pem", "algorithms": [name], "audience": "tools.example"}
        with pytest.raises(ValueError, match=f"algorithms: '{name}' is not one of"):
            access(tmp_path, jwt=rules)


def test_an_address_open_to_others_wants_tokens() -> None:
    gateway = Gateway(ToolIndex([SELF], Topics()))
    with pytest.raises(ValueError, match=r"0\.0\.0\.0 can be reached from outside; give --access"):
        http_app(gateway, "0.0.0.0", 80, None)


def test_an_ipv6_address_is_one(tmp_path: Path) -> None:
    file, _ = access(tmp_path)
    app = http_app(Gateway(ToolIndex([SELF], Topics())), "::1", 80, BearerTokens(file))
    assert "/mcp" in [route.path for route in app.routes]


async def test_a_server_over_http_can_stand_behind_another(
    plain: Callable[..., ServerSpec],
) -> None:
    behind = Gateway(
        ToolIndex([SELF], Topics()),
        Upstreams(servers={"mail": plain("mail", [entry("send", "Send a mail")])}),
        settings=PATIENT,
    )
    with served(behind) as url:
        front = Gateway(
            ToolIndex([SELF], Topics()),
            Upstreams(servers={"inner": ServerSpec(url=url)}),
            settings=PATIENT,
        )
        async with front.running():
            answer = await front.search(None, "search_tools, call_tool, release_tools")
            assert {one["name"] for one in answer.shown} == {
                "inner/search_tools",
                "inner/call_tool",
                "inner/release_tools",
            }


async def test_registries_are_searched_together_each_under_its_own_rules(
    tmp_path: Path, plain: Callable[..., ServerSpec]
) -> None:
    file, tokens = access(tmp_path)
    hub = Gateway(
        ToolIndex([SELF], Topics(), file.rules),
        Upstreams(
            servers={
                "mail": plain("mail", [entry("send", "Send a mail")]),
                "printer": plain("printer", [entry("print", "Print a page")]),
            }
        ),
        settings=PATIENT,
    )
    with served(hub, BearerTokens(file)) as url:
        ours = Upstreams(
            registries={
                "hub": ServerSpec(url=url, headers={"Authorization": f"Bearer {tokens['ada']}"}),
                "closed": ServerSpec(url=url, headers={"Authorization": "Bearer wrong"}),
                "gone": ServerSpec(url=f"http://127.0.0.1:{free_port()}/mcp", start_timeout=1),
            }
        )
        index = ToolIndex([SELF, tool("add", "Send an event", "own")], Topics())
        gateway = Gateway(index, ours, settings=PATIENT)
        async with gateway.running():
            answer = await gateway.search(None, "add, send, print")
            assert [one["name"] for one in answer.shown] == ["own/add", "hub/mail/send"]
            assert set(answer.unavailable) == {"closed", "gone"}
            called = await gateway.call(None, answer.handle, "hub/mail/send", {"text": "a"})
            assert called.result.content[0].text.startswith('send {"text": "a"}')
            again = await gateway.search(None, "mail", answer.handle)
            assert "hub/mail/send" in {one["name"] for one in again.shown}


@pytest.mark.parametrize("known", [True, False], ids=["issuer", "no issuer"])
async def test_who_has_no_token_is_told_where_to_get_one_if_there_is_an_issuer(
    tmp_path: Path, known: bool
) -> None:
    signed(tmp_path)
    rules = {
        "key_file": "issuer.pem",
        "algorithms": ["ES256"],
        "audience": "https://tools.example/mcp",
        **({"issuer": "https://login.example"} if known else {}),
    }
    file, _ = access(tmp_path, jwt=rules)
    gateway = Gateway(ToolIndex([SELF, *TOOLS], Topics(), file.rules))
    with served(gateway, BearerTokens(file)) as url:
        async with httpx2.AsyncClient() as http:
            refused = await http.post(url, json={})
            told = refused.headers["www-authenticate"]
            address = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
            metadata = await http.get(address)
    assert refused.status_code == 401
    wanted = 'resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"'
    assert (wanted in told) is known
    assert metadata.status_code == (200 if known else 404)
    if known:
        assert metadata.json()["resource"] == "https://tools.example/mcp"
        assert metadata.json()["authorization_servers"] == ["https://login.example"]
