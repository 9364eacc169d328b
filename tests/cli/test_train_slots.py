"""`ctrag train slots` refuses what it could not follow, before any work."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.training


def test_an_average_needs_the_adapter_to_begin_with(ctrag: Any, tmp_path: Path) -> None:
    ran = ctrag("train", "slots", "--data", tmp_path, "--out", tmp_path, "--average", "0.5")
    assert ran.code != 0
    assert "--average 0.5: averages with an adapter; name it by --start" in ran.err
