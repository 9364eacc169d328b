"""An encoder in GTR-T5's files through the commands: a ranker is trained with it, and serves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.tiny_gtr import tiny_gtr
from tests.training.conftest import copy_people


@pytest.mark.slow
@pytest.mark.training
def test_a_ranker_is_trained_with_the_encoder_and_serves(
    ctrag: Callable[..., Any], configure: Callable[..., None], tmp_path: Path
) -> None:
    folder = tiny_gtr(tmp_path / "gtr-t5-tiny")
    people, out = copy_people("dev", 6, tmp_path / "six"), tmp_path / "ranker"
    configure(encoder=folder)
    ask = ("ask", "what did the school lady want", "--persona", "p007", "--json")
    refused = ctrag(*ask)
    assert refused.code != 0
    assert "not gtr-t5-tiny; train one by `ctrag train ranker`" in refused.err
    trained = ctrag("train", "ranker", "--data", people, "--out", out, "--threads", 1)
    assert trained.code == 0, trained.err
    configure(encoder=folder, artefacts=out)
    answered = ctrag(*ask)
    assert answered.code == 0, answered.err
    assert answered.json["plan"]
