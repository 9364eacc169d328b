"""Claims about which items are ranked, and that leaving the others out costs next to nothing."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from ctrag.assistant.context import candidates as module
from ctrag.assistant.context.candidates import EXHAUSTIVE, HABITS, PER_STORE, RECENT, candidates
from ctrag.assistant.context.item_arrays import PersonView, hours
from ctrag.text.words import terms
from stores.people.app_spec import packaged_apps
from stores.people.items import Item, Person, Profile, Request
from tests.assistant.context.conftest import ADA, ASKED, NOW, AxisEncoder, made, used, view_of

MANY = Request("the dentist thing about jazz at 6 pm", NOW, "home", "music-7")
SIZES = {
    "mail": 1_500,
    "calendar": 600,
    "google": 400,
    "notes": 300,
    "music": 150,
    "reminders": 40,
    "phonecall": 10,
}
DEPTH = {
    "meaning": PER_STORE,
    "words": PER_STORE,
    "habit": HABITS,
    "ahead": PER_STORE,
    "behind": RECENT,
}


def random_item(app: str, number: int, drawn: np.random.Generator) -> Item:
    word = str(drawn.choice("dentist jazz bus rent tax soup paint lamp".split()))
    # Of the events only a few lie ahead; the music was all played long ago.
    ago = drawn.uniform(-9_000, -5_000 if app == "music" else 10)
    at = (NOW + timedelta(hours=float(ago))).replace(second=0, microsecond=0)
    kinds = {"string": word, "text": f"{word} {number}", "datetime": at, "boolean": False}
    kinds |= {"integer": 1, "strings": ("Mia Quist",)}
    spec = next(one for one in packaged_apps() if one.name == app)
    values = [one.values[0] if one.values else kinds[one.type] for one in spec.fields]
    usage = used(int(drawn.integers(200)), None, (int(drawn.integers(24)),), None)
    return made(app, f"{app}-{number}", *values, usage=usage)


@pytest.fixture(scope="module")
def large() -> PersonView:
    """3,000 items in seven applications, each with a random direction."""
    drawn = np.random.default_rng(3)
    items = tuple(
        random_item(app, number, drawn) for app, size in SIZES.items() for number in range(size)
    )
    vectors = drawn.normal(size=(len(items), 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return PersonView(Person("max", NOW, Profile("Max")), items, vectors)


def vector_of(request: Request) -> np.ndarray:
    return AxisEncoder().encode([request.text])[0]


def chosen(view: PersonView, request: Request) -> set[int]:
    return {int(row) for row in candidates(view, request, vector_of(request))}


def looks(view: PersonView, request: Request) -> dict[str, list[float | None]]:
    """Each way of looking, item by item; None where it says nothing."""
    vector = vector_of(request)
    now = (request.asked_at - datetime(1970, 1, 1)).total_seconds() / 3600
    gaps = [None if np.isnan(start) else float(start) - now for start in view.starts]
    words = [float(one) for one in view.bm25.scores(terms(request.text))]
    habits = [
        np.log1p(item.usage.opens_30d)
        * (1.2 if request.asked_at.hour in item.usage.usual_hours else 0.2)
        for item in view.items
    ]
    return {
        "meaning": [float(one @ vector) for one in view.vectors],
        "words": [score or None for score in words],
        "habit": [habit or None for habit in habits],
        "ahead": [-gap if gap is not None and gap >= 0 else None for gap in gaps],
        "behind": [gap if gap is not None and gap <= 0 else None for gap in gaps],
    }


def best_of_each_look(view: PersonView, request: Request) -> dict[tuple[str, int], list[float]]:
    """(look, application) → its best scores, best first, as many as are taken."""
    found = {}
    for name, scores in looks(view, request).items():
        for app in range(len(packaged_apps())):
            mine = [scores[row] for row in np.flatnonzero(view.apps == app)]
            said = sorted((one for one in mine if one is not None), reverse=True)
            found[name, app] = said[: DEPTH[name]]
    return found


def test_a_small_person_is_looked_at_as_a_whole() -> None:
    ada = view_of(ADA)
    assert list(candidates(ada, ASKED, vector_of(ASKED))) == list(range(len(ada)))


def test_exhaustive_is_the_last_size_at_which_all_are_ranked(large: PersonView) -> None:
    for size, everything in ((EXHAUSTIVE, True), (EXHAUSTIVE + 1, False)):
        view = PersonView(large.person, large.items[:size], large.vectors[:size])
        assert (len(chosen(view, replace(MANY, playing=None))) == size) is everything


def test_from_each_store_of_a_large_person_come_the_best_of_each_look(large: PersonView) -> None:
    rows = chosen(large, MANY)
    scores = looks(large, MANY)
    for (name, app), best in best_of_each_look(large, MANY).items():
        mine = [row for row in rows if large.apps[row] == app and scores[name][row] is not None]
        kept = sorted((float(scores[name][row] or 0) for row in mine), reverse=True)[: len(best)]
        assert kept == pytest.approx(best, abs=1e-5), (name, app)


def test_what_no_look_puts_among_the_best_is_no_candidate(large: PersonView) -> None:
    scores = looks(large, MANY)
    allowed = {large.row["music-7"]}
    for (name, app), best in best_of_each_look(large, MANY).items():
        for row in np.flatnonzero(large.apps == app):
            score = scores[name][row]
            if best and score is not None and score >= best[-1] - 1e-5:
                allowed.add(int(row))
    rows = chosen(large, MANY)
    assert rows <= allowed
    assert len(rows) < len(large) / 2


def test_a_look_that_says_nothing_of_a_store_adds_nothing(
    large: PersonView, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No music lies ahead: with one song for each look, four looks find at most four songs.
    for depth in ("PER_STORE", "HABITS", "RECENT"):
        monkeypatch.setattr(module, depth, 1)
    rows = list(chosen(large, replace(MANY, playing=None)))
    assert np.sum(large.apps[rows] == large.app_names.index("music")) <= 4
    # Nobody's words, nobody's habit: only meaning and time are left.
    unused = tuple(replace(item, usage=used(0, None, (), None)) for item in large.items)
    silent = PersonView(large.person, unused, large.vectors)
    assert len(chosen(silent, Request("xylophone?", NOW))) <= 3 * len(SIZES)


def test_the_song_that_plays_is_always_a_candidate(large: PersonView) -> None:
    song = large.row["music-7"]
    silent = chosen(large, replace(MANY, playing=None))
    plays = chosen(large, MANY)
    assert song in plays
    assert silent <= plays <= silent | {song}


def test_a_song_that_nobody_has_is_no_candidate(large: PersonView) -> None:
    assert chosen(large, replace(MANY, playing="gone")) == chosen(
        large, replace(MANY, playing=None)
    )


def test_candidates_are_rows_in_order_each_once(large: PersonView) -> None:
    rows = candidates(large, MANY, vector_of(MANY))
    assert list(rows) == sorted(set(rows))


def test_what_happens_at_the_moment_of_asking_is_a_candidate(large: PersonView) -> None:
    for app in ("mail", "calendar"):
        rows = np.flatnonzero(large.apps == large.app_names.index(app))
        row = rows[np.argsort(large.starts[rows])[len(rows) // 2]]
        at = datetime(1970, 1, 1) + timedelta(hours=float(large.starts[row]))
        assert hours(at) == large.starts[row]
        assert int(row) in chosen(large, Request("xylophone?", at))


def test_the_order_of_the_items_does_not_change_who_is_a_candidate(large: PersonView) -> None:
    order = np.random.default_rng(5).permutation(len(large))
    mixed = PersonView(large.person, tuple(large.items[row] for row in order), large.vectors[order])
    ids = {large.ids[row] for row in chosen(large, MANY)}
    others = {mixed.ids[row] for row in chosen(mixed, MANY)}
    # Items of one score at the edge of a look can take each other's place.
    assert len(ids & others) >= 0.9 * len(ids)
