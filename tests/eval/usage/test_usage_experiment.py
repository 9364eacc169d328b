"""Simulated use: who returns to one matter is served better after learning, and only then."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.context.feature_context import FeatureContext
from eval.usage.run import run_usage, table
from stores.people.dataset import Persona, write_personas
from stores.people.items import Person, Profile
from tests.assistant.context.conftest import NOW, AxisEncoder, made

ADA = Persona(
    Person("ada", NOW, Profile("Ada")),
    (
        made("mail", "m1", "Ben", "The bus", "bus", "2025-04-17T10:00", True, False),
        made("notes", "n1", "The bus", "bus", "Travel", "2025-04-01T12:00"),
        made("notes", "n2", "Rent", "rent", "Home", "2025-04-01T12:00"),
    ),
)


class ByCosine:
    """A ranker that goes by the cosine alone, so that it cannot tell the mail from the note."""

    card = SimpleNamespace(command="none", data_sha256="")

    def scores(self, context: FeatureContext) -> Any:
        return np.asarray(context.cosine, dtype=np.float32)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.usage.run.load_encoder", lambda name: AxisEncoder())
    monkeypatch.setattr("eval.usage.run.load_context_artefacts", lambda folder: (ByCosine(), None))


def asked(folder: Path, *meant: str) -> Path:
    """Ada's requests about the bus, each in other words and about that item."""
    folder.mkdir()
    write_personas(folder, [ADA])
    rows = [
        {
            "query_id": f"q{number}",
            "persona_id": "ada",
            "text": f"bus {number}",
            "asked_at": f"{NOW + timedelta(hours=number):%Y-%m-%dT%H:%M}",
            "place": None,
            "playing": None,
            "relevant": [item],
        }
        for number, item in enumerate(meant)
    ]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_who_always_means_the_second_item_gets_it_first_after_ten_requests(
    tmp_path: Path,
) -> None:
    found = run_usage(asked(tmp_path / "data", *["n1"] * 14), after=10)
    assert found.figures["before"] == {"recall@1": 0.0, "recall@3": 100.0, "recall@5": 100.0}
    assert found.figures["after"] == {"recall@1": 100.0, "recall@3": 100.0, "recall@5": 100.0}
    assert (found.extra["requests"], found.extra["unchanged_people"]) == (4, 0)
    assert "4 later requests of 1 people" in "\n".join(table(found).lines())


def test_without_a_pattern_nothing_is_changed(tmp_path: Path) -> None:
    found = run_usage(asked(tmp_path / "data", *["n1", "m1"] * 8), after=10)
    assert found.figures["gain"] == {"recall@1": 0.0, "recall@3": 0.0, "recall@5": 0.0}
    assert found.extra["unchanged_people"] == 1


def test_people_with_too_few_requests_are_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--after: nobody has more than 10 requests"):
        run_usage(asked(tmp_path / "data", *["n1"] * 10), after=10)
