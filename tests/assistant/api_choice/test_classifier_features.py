"""Claims about classifier features of the items: their kinds, times and words."""

from datetime import datetime

import numpy as np
import pytest

from ctrag.assistant.api_choice.classifier_features import ASKED, FLAGS, ITEMS, classifier_features
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.learned_features import KINDS
from stores.people.items import Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
CALL = Item(
    "t1",
    "phonecall",
    {
        "contact": "Rui Prado",
        "direction": "missed",
        "called_at": datetime(2025, 4, 17, 10, 0),
        "duration_s": 0,
        "voicemail": None,
    },
)
SONG = Item(
    "s1",
    "music",
    {
        "song_name": "Autobahn",
        "artist": "Kraftwerk",
        "album_title": "Autobahn",
        "genre": "Electronic",
        "playlist": "Road",
        "played_at": datetime(2025, 4, 16, 7, 0),
    },
)
NOTHING = np.empty(0, dtype=np.int64)


def context(text: str = "ring him back?", playing: str | None = None) -> FeatureContext:
    ada = Person("ada", AT, Profile(name="Ada"))
    vectors = np.eye(2, 4, dtype=np.float32)
    view = PersonView(ada, (SONG, CALL), vectors)
    request = Request(text, AT, "home", playing)
    return FeatureContext(view, request, np.array([0, 1, 0, 0], np.float32), np.arange(2))


def test_items_come_best_first_with_kind_share_vector_and_words() -> None:
    seen = classifier_features(context(), np.array([1, 0]), np.array([0.75, 0.25]))
    assert [KINDS[kind] for kind in seen.kinds[:2]] == ["call missed", "song"]
    assert seen.kinds[2:].tolist() == [len(KINDS)] * (ITEMS - 2)
    assert seen.shares.tolist() == [0.75, 0.25, 0, 0, 0]
    assert seen.vectors[0].tolist() == [0, 1, 0, 0]
    assert seen.lines[0] == "call missed: Rui Prado; today 10:00; missed"
    assert seen.lines[1].startswith("song: Autobahn; yesterday 07:00; ")


def test_flags_tell_time_playlist_and_presence() -> None:
    seen = classifier_features(context(), np.array([1, 0]), np.array([0.75, 0.25]))
    flags = [dict(zip(FLAGS, row, strict=True)) for row in seen.flags.tolist()]
    assert flags[0]["hours"] == pytest.approx(np.tanh(-1.0))  # two hours ago
    assert [one["playlist"] for one in flags[:2]] == [0.0, 1.0]
    assert [one["there"] for one in flags] == [1, 1, 0, 0, 0]
    assert flags[0]["cosine"] == 2.0


def test_without_items_only_the_request_is_seen() -> None:
    seen = classifier_features(context(playing="s1"), NOTHING, np.empty(0))
    asked = dict(zip(ASKED, seen.asked.tolist(), strict=True))
    assert asked["playing"] == 1.0
    assert asked["question"] == 1.0
    assert asked["items"] == 0.0
    assert seen.lines == ()
    assert not seen.flags.any()


def test_more_items_than_looked_at_are_cut() -> None:
    seen = classifier_features(context(), np.array([0, 1] * ITEMS), np.full(2 * ITEMS, 0.1))
    assert len(seen.lines) == ITEMS
