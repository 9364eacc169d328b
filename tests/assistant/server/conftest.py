"""Ada's assistant behind a door, opened once for a module; what it plans is what a test wants."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from ctrag.assistant.assistant import Assistant
from ctrag.assistant.server.door import Door
from ctrag.settings import settings
from tests.conftest import Endpoint, Replying, chat, serving

MAIL = 'send_mail(to="Omar Salcedo", subject="Crane", body="Is it free?")'
MADE = 'create_reminder(title="Lock the gate", due="2025-04-17T20:00")'


@dataclass
class Ada:
    """The door, and the endpoint that plans."""

    door: Door
    endpoint: Endpoint

    def plans(self, *answers: str) -> None:
        self.endpoint.answers = list(answers)

    def mails(self) -> int:
        return len(self.door.assistant.stores.outbox("ada", "mail"))


@pytest.fixture(scope="module")
def opened(imported_ada: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ada]:
    served = Endpoint()

    class Handler(Replying):
        def answer(self, question: dict[str, Any]) -> None:
            served.requests.append(question)
            self.send(*chat(served.next()))

    cache = tmp_path_factory.mktemp("door") / "cache"
    shutil.copytree(imported_ada / "cache", cache)
    with pytest.MonkeyPatch.context() as patch, serving(served, Handler, patch):
        given = {"CACHE": cache, "OPENAI_BASE_URL": served.url, "OPENAI_MODEL": "toy"}
        more = {"OPENAI_API_KEY": "-", "TOOLS": 59, "PROMPT_BUDGET": 5000, "ITEMS": 50}
        for name, value in {**given, **more}.items():
            patch.setenv(f"CTRAG_{name}", str(value))
        settings.cache_clear()
        assistant = Assistant.open(imported_ada / "people", "ada", planner="openai")
        settings.cache_clear()
        yield Ada(Door(assistant), served)


@pytest.fixture
def ada(opened: Ada) -> Ada:
    opened.endpoint.requests.clear()
    return opened


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
