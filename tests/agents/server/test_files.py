"""The files of `--upstream` and `--access`: what they say, and how their mistakes are told."""

from pathlib import Path

import pytest

from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.principals import AccessFile, BearerTokens, new_token, token_hash


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
    assert open_to_all.rules is None
    assert closed.rules is not None
    assert not closed.verifies


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tokens: {ada: [secret]}", "tokens.ada.0: String should match"),
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
