"""The command line in this process and in others, on one small person."""

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Ran:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def ctrag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """`ctrag("ask", …, said="")`: a command, through its entry point, with `said` on stdin."""
    from ctrag.cli.main import main

    def run(*arguments: object, said: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["ctrag", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return run


def _mail(number: int, sender: str, subject: str, body: str) -> dict[str, Any]:
    received = f"2025-04-16T0{number}:00"
    return {
        "id": f"ada-m{number}",
        "sender": sender,
        "subject": subject,
        "body": body,
        "received_at": received,
        "unread": True,
    }


ADA: dict[str, Any] = {
    "persona_id": "ada",
    "now": "2025-04-17T12:00",
    "profile": {"name": "Ada Quist", "city": "Bergen", "home": "Elm Street 4"},
    "contacts": [
        {
            "name": "Omar Salcedo",
            "relation": "dispatcher",
            "phone": "+52 33 5550 1103",
            "email": "omar@example.mx",
        },
        {"name": "Lupita Robles", "relation": "wife", "phone": "+52 33 5550 1101", "email": None},
    ],
    "apps": {
        "mail": [
            _mail(1, "Omar Salcedo", "Pallets for Monterrey", "22 pallets, dock 4."),
            _mail(2, "City Library", "Your book is due", "Back by Friday."),
        ],
        "notes": [
            {
                "id": "ada-n1",
                "title": "Gate code",
                "body": "4711",
                "folder": "Home",
                "modified_at": "2025-04-10T10:00",
            },
            {
                "id": "ada-n2",
                "title": "Shopping",
                "body": "milk",
                "folder": "Home",
                "modified_at": "2025-04-11T10:00",
            },
        ],
        "calendar": [
            {
                "id": "ada-c1",
                "title": "Loading at the dock",
                "start": "2025-04-17T13:15",
                "end": "2025-04-17T14:45",
                "location": "Dock 4",
                "attendees": ["Omar Salcedo"],
            },
        ],
        "reminders": [
            {
                "id": "ada-r1",
                "title": "Pay rent",
                "due": "2025-04-17T18:00",
                "list": "Home",
                "done": False,
            }
        ],
    },
}


def written(folder: Path) -> Path:
    folder.mkdir()
    (folder / "personas.jsonl").write_text(json.dumps(ADA) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada's own stores (`home`) and a cache that has seen her data set, made once, to be copied."""
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.assistant.imports.files import personas_from
    from ctrag.assistant.open import open_stores
    from ctrag.models.encoder import load_encoder
    from stores.people.stores import Stores

    root = tmp_path_factory.mktemp("templates")
    encoder = load_encoder()
    people = written(root / "people")
    own = Stores(root / "home" / "stores")
    own.import_personas(
        personas_from(people, None, None, own),
        lambda owned: encode_items(encoder, list(owned)),
        encoder.name,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ctrag.assistant.open.cache_folder", lambda: root / "cache")
        open_stores(people, "ada", encoder)
    return root


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A data set folder with Ada."""
    return written(tmp_path / "people")


@pytest.fixture
def seen(templates: Path, tmp_path: Path) -> None:
    """This test's cache knows Ada's data set."""
    shutil.copytree(templates / "cache", tmp_path / "cache")


@pytest.fixture
def home(templates: Path, tmp_path: Path) -> Path:
    """The user's own stores, with Ada in them."""
    return Path(shutil.copytree(templates / "home", tmp_path / "home"))
