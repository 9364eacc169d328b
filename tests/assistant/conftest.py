"""Ada's people, whose items give orders: imported once, copied for each test."""

import json
import shutil
from pathlib import Path

import pytest

from tests.assistant.hostile_items import ADA


@pytest.fixture(scope="session")
def imported_ada(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def people(imported_ada: Path, tmp_path: Path) -> Path:
    """Ada's data set; this test's cache has her already."""
    shutil.copytree(imported_ada / "cache", tmp_path / "cache")
    return imported_ada / "people"
