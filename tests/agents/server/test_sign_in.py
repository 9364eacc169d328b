"""Servers that want a person to sign in: once, and from then on with the kept tokens."""

import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import uvicorn
from mcp import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from typer.testing import CliRunner

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.config import ServerSpec, SignInSpec, UserSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.protocol import mcp_server
from ctrag.agents.server.sign_in import login
from ctrag.cli.serve import app as serve_commands
from tests.agents.server.test_http import free_port
from tests.agents.server.test_passing import call, text

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
MakeGateway = Callable[..., Gateway]


class Office:
    """A server with one tool, behind an authorisation server of its own."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.lasts = 3_600
        self.person = "ada"
        """Who sits at the browser."""
        self.codes: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self.renewed = 0

    def resource(self, request: Request) -> Response:
        return JSONResponse(
            {"resource": f"{self.address}/mcp", "authorization_servers": [self.address]}
        )

    def about(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.address,
                "authorization_endpoint": f"{self.address}/ask",
                "token_endpoint": f"{self.address}/give/token",
                "registration_endpoint": f"{self.address}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
            }
        )

    async def register(self, request: Request) -> Response:
        wanted = await request.json()
        return JSONResponse({**wanted, "client_id": "ctrag-1"}, status_code=201)

    def ask(self, request: Request) -> Response:
        code = secrets.token_urlsafe()
        self.codes[code] = self.person
        asked = request.query_params
        back = f"{asked['redirect_uri']}?code={code}&state={asked['state']}"
        return RedirectResponse(back)

    async def give(self, request: Request) -> Response:
        form = {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}
        if form["grant_type"] == "refresh_token":
            self.renewed += 1
            person = form["refresh_token"].removeprefix("again-")
        else:
            person = self.codes.pop(form["code"])
        token = secrets.token_urlsafe()
        self.tokens[token] = person
        return JSONResponse(
            {
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": self.lasts,
                "refresh_token": f"again-{person}",
            }
        )

    async def mcp(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            where = f"{self.address}/.well-known/oauth-protected-resource/mcp"
            return Response(
                status_code=401,
                headers={"WWW-Authenticate": f'Bearer resource_metadata="{where}"'},
            )
        asked = await request.json()
        if "id" not in asked:
            return Response(status_code=202)
        answers: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "office", "version": "1"},
            },
            "tools/list": {
                "tools": [
                    {
                        "name": "echo",
                        "description": "Echo who is there",
                        "inputSchema": {"type": "object", "properties": {}},
                    }
                ]
            },
            "tools/call": {"content": [{"type": "text", "text": self.tokens[token]}]},
        }
        found = answers.get(asked["method"])
        rest = (
            {"result": found}
            if found is not None
            else {"error": {"code": -32_601, "message": "Method not found"}}
        )
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], **rest})

    @property
    def app(self) -> Starlette:
        known = "/.well-known/oauth-"
        return Starlette(
            routes=[
                Route(f"{known}protected-resource/mcp", self.resource),
                Route(f"{known}authorization-server", self.about),
                Route("/register", self.register, methods=["POST"]),
                Route("/ask", self.ask),
                Route("/give/token", self.give, methods=["POST"]),
                Route("/mcp", self.mcp, methods=["POST"]),
            ]
        )


@pytest.fixture
def office() -> Iterator[Office]:
    port = free_port()
    made = Office(f"http://127.0.0.1:{port}")
    server = uvicorn.Server(uvicorn.Config(made.app, "127.0.0.1", port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield made
    server.should_exit = True
    thread.join()


def spec(office: Office, tokens: Path, **more: Any) -> ServerSpec:
    wanted = SignInSpec(tokens=tokens, port=free_port(), **more)
    return ServerSpec(url=f"{office.address}/mcp", sign_in=wanted, transport="http")


def browser(address: str) -> None:
    """The person opens the address, and comes back to this machine."""

    def opened() -> None:
        httpx2.get(address, follow_redirects=True).raise_for_status()

    threading.Thread(target=opened).start()


async def asked(gateway: Gateway, who: Principal | None = None) -> str:
    async with gateway.running(), Client(mcp_server(gateway, lambda: who)) as client:
        return text(await call(client, "office/echo"))


async def test_who_has_signed_in_once_is_known_after_a_restart(
    office: Office, tmp_path: Path, gateway: MakeGateway
) -> None:
    wanted = spec(office, tmp_path / "kept" / "office.json")
    kept = await login(wanted, browser, 20)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert await asked(gateway(servers={"office": wanted})) == "ada"
    assert office.renewed == 0


async def test_a_token_that_has_ended_is_renewed_where_it_was_given(
    office: Office, tmp_path: Path, gateway: MakeGateway
) -> None:
    office.lasts = -1
    wanted = spec(office, tmp_path / "office.json")
    await login(wanted, browser, 20)
    office.tokens.clear()
    office.lasts = 3_600
    assert await asked(gateway(servers={"office": wanted})) == "ada"
    assert office.renewed == 1, "once, and kept"
    assert await asked(gateway(servers={"office": wanted})) == "ada"
    assert office.renewed == 1


async def test_without_a_sign_in_the_server_is_unavailable_and_says_what_to_run(
    office: Office, tmp_path: Path, gateway: MakeGateway
) -> None:
    made = gateway(servers={"office": spec(office, tmp_path / "office.json")})
    async with made.running():
        await made.start_all()
        why = made.unavailable()["office"]
    assert "ctrag serve login --upstream FILE office" in why


async def test_each_user_may_sign_in_for_calls_of_their_own(
    office: Office, tmp_path: Path, gateway: MakeGateway
) -> None:
    shared = spec(office, tmp_path / "shared.json")
    own = SignInSpec(tokens=tmp_path / "bob.json", port=free_port())
    wanted = shared.model_copy(update={"users": {"bob": UserSpec(sign_in=own)}})
    await login(wanted, browser, 20)
    office.person = "bob"
    await login(wanted.of_user("bob"), browser, 20)
    made = gateway(servers={"office": wanted})
    assert await asked(made, Principal("bob")) == "bob"
    assert await asked(gateway(servers={"office": wanted}), Principal("eve")) == "ada"


async def test_tokens_go_to_no_other_address(office: Office, tmp_path: Path) -> None:
    wanted = spec(office, tmp_path / "office.json")
    kept = await login(wanted, browser, 20)
    moved = kept.read_text().replace(f'"{office.address}/mcp"', '"https://elsewhere.example/mcp"')
    kept.write_text(moved)
    opened: list[str] = []
    with pytest.raises(ValueError, match=r"nobody signed in within 1 s"):
        await login(wanted, opened.append, 1)
    assert urlsplit(opened[0]).path == "/ask", "the person is asked again"


def test_the_command_shows_the_address_and_keeps_the_tokens(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, tokens = free_port(), tmp_path / "t.json"
    file = tmp_path / "servers.json"
    file.write_text(
        f'{{"mcpServers": {{"office": {{"url": "{office.address}/mcp", '
        f'"sign_in": {{"tokens": "{tokens}", "port": {port}}}}}}}}}'
    )
    shown: list[str] = []

    def line(said: str) -> None:
        shown.append(said)
        if said.startswith("open this address"):
            browser(said.splitlines()[1])

    monkeypatch.setattr("ctrag.cli.serve_sign_in.line", line)
    done = CliRunner().invoke(serve_commands, ["login", "office", "--upstream", str(file)])
    assert done.exit_code == 0, done.output
    assert shown[-1] == f"signed in; tokens are in {tokens}"
    unknown = CliRunner().invoke(serve_commands, ["login", "shop", "--upstream", str(file)])
    assert "'shop' is not there" in str(unknown.exception)


async def test_a_server_without_a_sign_in_cannot_be_signed_in_to() -> None:
    with pytest.raises(ValueError, match="needs a url and sign_in"):
        await login(ServerSpec(url="http://127.0.0.1:9/mcp"), print)
    with pytest.raises(ValueError, match="not together with client_credentials"):
        ServerSpec.model_validate(
            {
                "url": "http://127.0.0.1:9/mcp",
                "sign_in": {"tokens": "t.json"},
                "client_credentials": {"client_id": "a", "client_secret": "b", "issuer": "c"},
            }
        )
