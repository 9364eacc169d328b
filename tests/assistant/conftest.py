"""Ada's assistant, which plans what a test wants."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.assistant import Assistant
from ctrag.assistant.conversation.conversation import Conversation
from tests.assistant.hostile_items import ADA


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada's data set, and a cache that has imported it; to be copied."""
    from ctrag.assistant.open import open_stores
    from ctrag.models.encoder import load_encoder

    root = tmp_path_factory.mktemp("ada")
    (root / "people").mkdir()
    (root / "people" / "personas.jsonl").write_text(json.dumps(ADA) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ctrag.assistant.open.cache_folder", lambda: root / "cache")
        open_stores(root / "people", "ada", load_encoder())
    return root


@pytest.fixture
def talk(
    seen: Path, tmp_path: Path, through_endpoint: Any, configure: Callable[..., None]
) -> Conversation:
    """A conversation of Ada's, whose endpoint plans what the test wants."""
    shutil.copytree(seen / "cache", tmp_path / "cache")
    configure(items=50)
    return Assistant.open(seen / "people", "ada", planner="openai").conversation()
