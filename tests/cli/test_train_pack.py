"""`ctrag train pack` takes no option that its job would leave unread."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.training


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--job", "encoder"), "--job: must be planner or slots or tool-encoder, not 'encoder'"),
        (("--job", "slots", "--share", "0.5"), "--share: is not for --job slots"),
        (("--job", "planner", "--held-out", "data"), "--held-out: is not for --job planner"),
        (("--job", "tool-encoder", "--rank", "8"), "--rank: is not for --job tool-encoder"),
        (("--job", "tool-encoder", "--every"), "--every: is not for --job tool-encoder"),
        (("--bits", "4"), "--bits: must be 8, not 4"),
    ],
)
def test_an_option_of_another_job_is_refused(
    ctrag: Any, tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    ran = ctrag("train", "pack", "--data", tmp_path, "--out", tmp_path / "job", *options)
    assert ran.code != 0
    assert problem in ran.err
