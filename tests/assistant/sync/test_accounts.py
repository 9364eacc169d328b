"""The accounts file: no password in it, none in a message."""

from pathlib import Path

import pytest

from ctrag.assistant.sync.accounts import read_accounts
from ctrag.assistant.sync.dav import Dav
from ctrag.errors import InputError

GOOD = """accounts:
- {name: home, kind: caldav, url: "https://dav.example/", user: me, password_env: HOME_PASSWORD}
- {name: box, kind: imap, host: imap.example, user: me, password_file: %s}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "accounts.yaml"
    made.write_text(GOOD % (tmp_path / "secret"))
    return made


def test_passwords_come_from_the_environment_or_a_file_of_the_owner_alone(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, box = read_accounts(path)
    with pytest.raises(ValueError, match="home: the variable HOME_PASSWORD is not set"):
        home.source()
    monkeypatch.setenv("HOME_PASSWORD", "s3cret")
    assert home.source() == Dav("home", "calendar", "https://dav.example/", "me", "s3cret")
    with pytest.raises(FileNotFoundError, match="no such file"):
        box.source()
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    secret.chmod(0o644)
    with pytest.raises(ValueError, match=r"box: others may read .*; run: chmod 600"):
        box.source()
    secret.chmod(0o600)
    assert box.password() == "s3cret"
    secret.write_bytes(b"s3cr\xe9t")
    with pytest.raises(InputError, match=r"box: .* is not UTF-8"):
        box.source()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "accounts: [{name: a, kind: imap, host: h, user: u, password: hunter2}]",
            "give password_",
        ),
        ("accounts: [{name: a, kind: pop3}]", "accounts.0: Input tag 'pop3'"),
        ("accounts: hunter2", "Input should be a valid list"),
        ("- hunter2", "Input should be a valid list"),
        ("{", "not YAML"),
        ("accounts: 2025-02-30", "not YAML"),
        ("[" * 200 + "]" * 200, "nested deeper than 100 levels"),
        ("a: &a [1, 1]\nb: &b [*a, *a]\naccounts: *c", "not YAML"),
        ("accounts: [{name: a, kind: imap, host: h, user: u, port: 70000}]", "imap.port: Input"),
        ("accounts: [{name: a, kind: imap, host: h, user: u, days: 99999999}]", "imap.days: Input"),
        ("accounts: [{name: a b, kind: calendar, url: x}]", "accounts.0.calendar.name: String"),
    ],
)
def test_a_broken_file_is_told_without_its_values(path: Path, text: str, problem: str) -> None:
    path.write_text(text)
    with pytest.raises(ValueError, match=r"accounts\.yaml") as caught:
        read_accounts(path)
    assert problem in str(caught.value)
    assert "hunter2" not in str(caught.value)
