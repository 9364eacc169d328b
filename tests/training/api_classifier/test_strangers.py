"""Claims about strangers' requests: any API that would do is right, and small talk asks for none."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.api_choice.classifier import ApiClassifier
from ctrag.assistant.api_choice.item_weights import classes_of
from ctrag.models.encoder import load_encoder
from ctrag.settings import settings
from ctrag.toolbox import Toolbox
from eval.core.examples import load_examples
from tests.training.conftest import copy_people
from training.api_classifier.strangers import strangers_requests
from training.core.retrieved_examples import RetrievedExamples

ROWS = [
    {"text": "play some jazz", "intent": "play_music", "apis": ["play_genre", "play_song"]},
    {"text": "turn the lights off", "intent": "iot_hue_lightoff", "apis": []},
    {"text": "well done", "intent": "general_praise", "apis": None},
    {"text": "is country better today", "intent": "general_quirky", "apis": None},
]


@pytest.fixture
def found(tmp_path: Path) -> RetrievedExamples:
    encoder = load_encoder(settings().encoder)
    examples = load_examples(copy_people("dev", 2, tmp_path / "people"), encoder)
    kept = np.array([one.asked.person_id == "p007" for one in examples])
    scores = [np.zeros(len(one.context), np.float32) for one in examples]
    return RetrievedExamples(examples, scores, ~kept, encoder.name, ["dev"] * len(examples))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    rows = [{"query_id": str(at), "entities": [], **row} for at, row in enumerate(ROWS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_target_is_what_the_classifier_says_of_the_apis_that_would_do(
    found: RetrievedExamples, file: Path
) -> None:
    apis = list(classes_of(Toolbox.packaged()))
    music, lights, praise = strangers_requests(file, found, ApiClassifier.packaged())
    assert music.text == "play some jazz"
    allowed = music.wanted[[apis.index("play_genre"), apis.index("play_song")]]
    assert allowed.sum() == pytest.approx(1)
    assert allowed[0] > allowed[1], "jazz is a genre"
    for one in (lights, praise):
        assert one.wanted[apis.index("none")] == pytest.approx(1)


def test_without_a_classifier_to_start_from_there_is_no_target(
    found: RetrievedExamples, file: Path
) -> None:
    with pytest.raises(ValueError, match="--strangers: needs --start"):
        strangers_requests(file, found, None)
