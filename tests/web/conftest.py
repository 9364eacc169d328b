"""Ada's assistant with a planner that knows its plans by heart, and a server for it."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the extra web")

from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.web.assistant_app import assistant_app
from ctrag.web.guard import Guard
from ctrag.web.people import Circle, Known, Starter
from ctrag.web.running import free_socket
from tests.assistant.hostile_items import ADA

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.planning.interface import Planned, PlanRequest

REMIND = "remind me to lock the gate at eight"
MAIL = "mail Omar if the crane is free"
UNSURE = "note the new code"
FIND = "which mails are there"
PLANS = {
    REMIND: ('create_reminder(title="Lock the gate", due="2025-04-17T20:00")', None),
    MAIL: ('send_mail(to="Omar Salcedo", subject="Crane", body="Is the crane free?")', None),
    UNSURE: (
        'create_note(title="New code", body="4812")',
        'create_reminder(title="New code")',
    ),
    FIND: ("get_unread_mail()", None),
}
"""What is said → the plan, and where that is doubtful the other one."""


@dataclass
class ByHeart:
    """A planner that knows what is meant; what it was never told is nothing."""

    plans: dict[str, tuple[str, str | None]] = field(default_factory=lambda: dict(PLANS))
    wait: threading.Event | None = None
    """Waited for before each plan."""

    best_only = brief = False
    writes_text = writes_outward = True

    def count_tokens(self, text: str) -> int:
        return (len(text) + 3) // 4

    def plan(self, request: "PlanRequest") -> "Planned":
        from ctrag.assistant.planning.interface import Planned

        if self.wait is not None:
            assert self.wait.wait(30)
        assert request.sources is not None
        tokens = request.prompt().tokens
        known = self.plans.get(request.sources.request.text)
        if known is None:
            return Planned(NONE, "none()", 0.9, tokens, 3, 0.0)
        plan, other = (None if one is None else Plan.parse(one) for one in known)
        sure = 0.97 if other is None else 0.55
        others = () if other is None else (other,)
        return Planned(plan, str(plan), sure, tokens, 12, 0.0, "toy", others)


@pytest.fixture(scope="session")
def ada_stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada's stores; to be copied."""
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.models.encoder import load_encoder
    from stores.people.dataset import load_dataset
    from stores.people.stores import Stores

    root = tmp_path_factory.mktemp("ada")
    (root / "personas.jsonl").write_text(json.dumps(ADA) + "\n", encoding="utf-8")
    encoder = load_encoder()
    Stores(root / "stores").import_personas(
        [load_dataset(root).persona("ada")],
        lambda owned: encode_items(encoder, list(owned)),
        encoder.name,
        undoable=False,
    )
    return root / "stores"


OpenAda = Callable[[Path, str], "Assistant"]


@pytest.fixture(scope="session")
def open_with() -> Callable[[ByHeart], OpenAda]:
    """`open_with(planner)(folder, person)`: an assistant with that planner and the real rest."""
    from ctrag.assistant.artefacts import load_artefacts
    from ctrag.assistant.assistant import Assistant
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import Settings
    from ctrag.toolbox import Toolbox
    from stores.people.stores import Stores

    artefacts = load_artefacts(None)

    def opener(planner: ByHeart) -> OpenAda:
        def open_ada(folder: Path, person: str) -> Assistant:
            return Assistant(
                Stores.open(folder),
                person,
                encoder=load_encoder(),
                artefacts=artefacts,
                planner=planner,
                toolbox=Toolbox.packaged(),
                options=Settings(tools=59, items=8, prompt_budget=5000),
                frozen_clock=True,
            )

        return open_ada

    return opener


@pytest.fixture
def by_heart() -> ByHeart:
    return ByHeart()


@pytest.fixture
def ada(
    ada_stores: Path, tmp_path: Path, open_with: Callable[[ByHeart], OpenAda], by_heart: ByHeart
) -> "Assistant":
    """Ada's assistant, on stores of this test's own."""
    shutil.copytree(ada_stores, tmp_path / "stores")
    return open_with(by_heart)(tmp_path / "stores", "ada")


def ada_circle(folder: Path, *, own: bool = True) -> Circle:
    from stores.people.stores import Stores

    def people() -> Sequence[Known]:
        stores = Stores(folder)
        return [Known(one, stores.person(one).profile.name, "Bergen") for one in stores.people()]

    starters = [Starter(REMIND, "2025-04-17T12:05", "work")]
    return Circle("Your own data", "", folder, people, lambda person: starters, own=own)


@dataclass
class Served:
    """A server of pages in a thread of this process."""

    guard: Guard
    stop: Callable[[], None]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.guard.port}"

    @property
    def address(self) -> str:
        """With the token."""
        return self.guard.address("127.0.0.1", "/p/ada/")


@contextmanager
def serving_pages(app_of: Callable[[Guard], Any], port: int = 0) -> Iterator[Served]:
    """A real server of what `app_of` makes for its guard."""
    import uvicorn

    listening = free_socket("127.0.0.1", port)
    guard = Guard(listening.getsockname()[1])
    config = uvicorn.Config(app_of(guard), log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)

    def stop() -> None:
        server.should_exit = True
        thread.join()

    try:
        yield Served(guard, stop)
    finally:
        stop()
        listening.close()


@pytest.fixture
def pages(
    ada_stores: Path, tmp_path: Path, open_with: Callable[[ByHeart], OpenAda], by_heart: ByHeart
) -> Iterator[Served]:
    """Ada's pages at a port of this machine, with an import into her stores."""
    from ctrag.cli.importing import Watch, import_paths

    root = tmp_path / "stores"
    shutil.copytree(ada_stores, root)

    def bring(paths: Any, person: str, name: str | None, zone: str | None, told: Any) -> Any:
        class Told(Watch):
            def __enter__(self) -> "Told":
                return self

            def told(self, items: int, place: Any) -> None:
                told(items, place)

        return import_paths(root, paths, person, name, zone, watch=Told(paths))

    opener = open_with(by_heart)
    with serving_pages(
        lambda guard: assistant_app([ada_circle(root)], opener, guard, bring)
    ) as one:
        yield one
