"""The files of `--upstream` and `--access`: what they say, and how their mistakes are told."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.principals import AccessFile, BearerTokens, new_token, token_hash
from ctrag.agents.session.events import Event, JsonLines


def written(folder: Path, text: str) -> Path:
    path = folder / "file.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_servers_are_read_as_mcp_clients_write_them(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text(
        '{"mcpServers": {"time": {"command": "mcp-server-time", "args": ["-v"]}},'
        ' "registries": {"hub": {"url": "https://hub.example/mcp"}}}',
        encoding="utf-8",
    )
    read = Upstreams.from_file(path)
    assert read.servers["time"].args == ["-v"]
    assert read.registries["hub"].url == "https://hub.example/mcp"


def test_variables_are_put_in_and_a_missing_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_KEY", "s3cret")
    spec = ServerSpec(url="https://crm.example/mcp", headers={"X-Key": "k ${CRM_KEY}"})
    assert spec.filled(spec.headers) == {"X-Key": "k s3cret"}
    monkeypatch.delenv("CRM_KEY")
    with pytest.raises(ValueError, match="environment variable CRM_KEY is not set"):
        spec.filled(spec.headers)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mcpServers: [", "not YAML"),
        ("a", "must be an object with the servers under `mcpServers`"),
        ("mcpServers: a", "mcpServers: must be an object with the servers by name"),
        ("colour: red", "holds no servers"),
    ],
)
def test_a_file_without_servers_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"file\.yaml") as raised:
        Upstreams.from_file(written(tmp_path, text))
    assert problem in str(raised.value)


def test_a_token_stands_for_its_user_with_the_roles_of_the_file(tmp_path: Path) -> None:
    token, kept = new_token()
    text = f"members: {{ada: {{roles: [nurse]}}}}\ntokens: {{ada: ['{kept}']}}\n"
    file = AccessFile.from_file(written(tmp_path, text))
    who = BearerTokens(file).principal(token)
    assert who is not None
    assert who.scopes == {"user:ada", "role:nurse"}
    assert BearerTokens(file).principal(kept) is None, "the hash opens nothing"
    assert file.rules is None
    assert file.verifies


def test_only_grants_close_a_catalogue_even_when_there_are_none(tmp_path: Path) -> None:
    open_to_all = AccessFile.from_file(written(tmp_path, "members: {ada: {}}"))
    closed = AccessFile.from_file(written(tmp_path, "grants: []"))
    emptied = AccessFile.from_file(written(tmp_path, "grants:\n#  - {role: nurse, tools: [a]}\n"))
    assert emptied.rules == closed.rules
    assert open_to_all.rules is None
    assert closed.rules is not None
    assert not closed.verifies


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tokens: {ada: [secret]}", "tokens.ada.0: String should match"),
        ("grants: []\ngrants: [{user: ada, tools: [a]}]", "line 1: grants is given twice"),
        ("members: {ada: {}, ada: {}}", "ada is given twice in one place"),
        ("grants: [{tools: [a]}]", "exactly one of user, role and organisation"),
        ("grants: [{role: nurse, tools: ['*/a']}]", "must be an id"),
        ("members: {ada: {colour: red}}", "colour"),
        ("jwt: {key_file: a.pem, algorithms: [], audience: b}", "jwt.algorithms"),
    ],
)
def test_a_mistake_in_the_access_file_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"file\.yaml") as raised:
        AccessFile.from_file(written(tmp_path, text))
    assert problem in str(raised.value)


def test_a_token_that_two_users_have_is_refused(tmp_path: Path) -> None:
    kept = token_hash("a")
    path = written(tmp_path, f"tokens: {{ada: ['{kept}'], bob: ['{kept}']}}")
    with pytest.raises(ValueError, match="tokens: two are the same") as raised:
        AccessFile.from_file(path)
    assert kept not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["", "# nothing yet", "{}", "null", "members: {ada: {}}", "tokens: {ada: []}", "grants: []"],
)
def test_an_access_file_by_which_nobody_could_call_is_refused(tmp_path: Path, text: str) -> None:
    file = AccessFile.from_file(written(tmp_path, text))
    with pytest.raises(ValueError, match="neither tokens nor jwt, so nobody could call over HTTP"):
        BearerTokens(file)


def test_a_key_that_is_none_is_refused_before_anybody_calls(tmp_path: Path) -> None:
    (tmp_path / "issuer.pem").write_text("no key", encoding="utf-8")
    text = "jwt: {key_file: issuer.pem, algorithms: [ES256], audience: tools.example}"
    file = AccessFile.from_file(written(tmp_path, text))
    with pytest.raises(ValueError, match=r"issuer\.pem holds no public key for ES256"):
        BearerTokens(file)
    (tmp_path / "issuer.pem").unlink()
    with pytest.raises(FileNotFoundError):
        BearerTokens(file)


def test_an_access_file_that_cannot_be_used_stops_the_command(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    catalogue = tmp_path / "tools.yaml"
    catalogue.write_text("[{name: send_mail, description: Send a mail}]", encoding="utf-8")
    for text in ("", "members: {ada: {}}", "tokens: ["):
        access = written(tmp_path, text)
        address = ("--http", "127.0.0.1:9")
        ran = ctrag("serve", "mcp", "--catalogue", catalogue, "--access", access, *address)
        assert ran.code == 1
        assert "nobody could call" in ran.err or "not YAML" in ran.err


def test_a_record_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "records" / "events.jsonl"
    record = JsonLines(path)
    before = os.umask(0)
    try:
        for at in (1.0, 2.0):
            record(Event(event="ctrag.search", at=at))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
