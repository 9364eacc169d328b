"""Claims about a person's items as arrays."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.context.item_arrays import PersonView, encode_items, hours, load_view
from ctrag.assistant.context.item_text import embedded_text
from stores.people.app_spec import packaged_apps
from stores.people.item_rows import StoredItem
from stores.people.items import Person
from stores.people.people_store import UnknownPerson
from stores.people.stores import PersonItems, Stores
from tests.assistant.context.conftest import ADA, NOW, AxisEncoder, view_of

EPOCH = datetime(1970, 1, 1)


@pytest.fixture(scope="module")
def view() -> PersonView:
    return view_of()


def same(found: Sequence[float], wanted: Sequence[datetime | None]) -> bool:
    plain = [np.nan if one is None else (one - EPOCH).total_seconds() / 3600 for one in wanted]
    return np.array_equal(np.array(found), np.array(plain), equal_nan=True)


def test_hours_count_from_1970() -> None:
    assert hours(datetime(1970, 1, 2, 6, 30)) == 30.5
    assert hours(datetime(1969, 12, 31, 23)) == -1


def test_rows_are_the_items_in_their_order(view: PersonView) -> None:
    assert len(view) == len(ADA.items)
    assert view.ids == tuple(item.id for item in ADA.items)
    assert [view.row[item.id] for item in ADA.items] == list(range(len(view)))
    names = [app.name for app in packaged_apps()]
    assert [names[app] for app in view.apps] == [item.app for item in ADA.items]
    assert view.app_names == names


def test_starts_are_the_time_fields_of_each_application(view: PersonView) -> None:
    fields = ("received_at", "start", "searched_at", "modified_at", "played_at", "due", "called_at")
    wanted = [
        next((item.time(name) for name in fields if name in item.fields), None)
        for item in ADA.items
    ]
    assert same(view.starts, wanted)
    assert np.isnan(view.starts[view.row["r2"]])


def test_ends_are_the_starts_where_there_is_no_end(view: PersonView) -> None:
    events = view.apps == view.app_names.index("calendar")
    assert same(
        view.ends[events], [item.time("end") for item in ADA.items if item.app == "calendar"]
    )
    assert np.array_equal(view.ends[~events], view.starts[~events], equal_nan=True)


def test_usage_is_taken_over(view: PersonView) -> None:
    assert list(view.opens) == [item.usage.opens_30d for item in ADA.items]
    assert same(view.opened, [item.usage.last_opened for item in ADA.items])
    for row, item in enumerate(ADA.items):
        assert set(np.flatnonzero(view.usual_hours[row])) == set(item.usage.usual_hours)
    assert view.usual_hours.shape == (len(view), 24)


def test_places_are_folded(view: PersonView) -> None:
    assert view.places[view.row["m2"]] == "home"  # it says "Home"
    assert view.places[view.row["m1"]] == ""


def test_states_count_as_not_set_where_an_item_has_none(view: PersonView) -> None:
    set_on = {
        name: [view.ids[row] for row in np.flatnonzero(flag)] for name, flag in view.flags.items()
    }
    assert set_on == {"unread": ["m1"], "done": ["r5"], "voicemail": ["p4"]}
    assert [one for one in view.directions if one] == ["missed", "incoming", "outgoing", "missed"]


def test_words_people_and_groups_are_those_of_the_items(view: PersonView) -> None:
    row = view.row
    assert view.title_terms[row["r5"]] == {"return", "book"}
    assert view.terms[row["c1"]] == ["dentist", "mia", "quist", "elm", "street", "4"]
    assert view.term_sets[row["c1"]] == frozenset(view.terms[row["c1"]])
    assert "the" in view.folded_words[row["r1"]]
    assert "the" not in view.terms[row["r1"]]
    assert view.people[row["c3"]] == ("Mia Quist", "Ben Okoro")
    assert view.groups[row["s1"]] == ("jazz", "evening")


def test_an_item_of_a_store_is_encoded_by_its_wording(view: PersonView) -> None:
    encoder = AxisEncoder()
    encode_items(encoder, [(ADA.person, item) for item in ADA.items])
    assert encoder.asked == [embedded_text(ADA.person, item) for item in ADA.items]
    assert view.vectors[view.row["g1"]] == pytest.approx([2**-0.5, 2**-0.5, 0, 0, 0])


def test_a_person_without_items_has_empty_arrays() -> None:
    view = PersonView(ADA.person, (), np.empty((0, 5), np.float32))
    assert len(view) == 0
    for name in ("apps", "starts", "ends", "opens", "opened", "usual_hours", "places"):
        assert len(getattr(view, name)) == 0
    assert len(view.bm25.scores(["dentist"])) == 0


def test_items_without_a_word_are_found_by_none() -> None:
    wordless = replace(
        ADA.items[6], fields={**ADA.items[6].fields, "query": "...", "clicked": None}
    )
    view = PersonView(ADA.person, (wordless,), np.ones((1, 5), np.float32))
    assert view.bm25.scores(["dentist"]).tolist() == [0]


class StoresDouble:
    """Ada's items, with vectors where they are given, and stores that do not answer."""

    encoder = AxisEncoder().name

    def __init__(self, vectors: dict[str, np.ndarray], unavailable: dict[str, str]) -> None:
        self._found = PersonItems(
            [StoredItem(item, vectors.get(item.id)) for item in ADA.items], unavailable
        )

    def person_and_items(self, person_id: str) -> tuple[Person, PersonItems]:
        return ADA.person, self._found


def load(vectors: dict[str, np.ndarray], encoder: AxisEncoder, **unavailable: str) -> PersonView:
    stores: Any = StoresDouble(vectors, unavailable)
    return load_view(stores, "ada", encoder)


def test_stored_vectors_are_kept_and_missing_ones_made() -> None:
    encoder = AxisEncoder()
    stored = {
        item.id: np.full(5, 0.25, np.float32) for item in ADA.items if item.id not in ("m1", "s2")
    }
    view = load(stored, encoder)
    assert len(encoder.asked) == 2
    assert view.vectors[view.row["m1"]] == pytest.approx([0, 1, 0, 0, 0])
    assert view.vectors[view.row["s2"]] == pytest.approx([0, 2**-0.5, 0, 2**-0.5, 0])
    kept = [row for row, item_id in enumerate(view.ids) if item_id in stored]
    assert (view.vectors[kept] == 0.25).all()


def test_vectors_of_another_encoder_are_made_anew() -> None:
    stored = {item.id: np.full(5, 9.0, np.float32) for item in ADA.items}
    encoder = AxisEncoder("another")
    view = load(stored, encoder)
    assert len(encoder.asked) == len(ADA.items)
    assert not (view.vectors == 9.0).any()


def test_stores_that_do_not_answer_are_passed_on() -> None:
    assert load({}, AxisEncoder(), mail="locked").unavailable == {"mail": "locked"}


def test_loading_from_real_stores_gives_the_imported_vectors_and_items(tmp_path: Path) -> None:
    stores = Stores(tmp_path / "stores")
    encoder = AxisEncoder()
    stores.import_personas([ADA], lambda owned: encode_items(encoder, list(owned)), encoder.name)
    encoder.asked.clear()
    view = load_view(stores, "ada", encoder)
    assert encoder.asked == []
    assert {item.id: item for item in view.items} == {item.id: item for item in ADA.items}
    plain = view_of()
    for item_id, row in view.row.items():
        assert view.vectors[row] == pytest.approx(plain.vectors[plain.row[item_id]])


def test_an_unknown_person_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownPerson, match="zoe"):
        load_view(Stores(tmp_path), "zoe", AxisEncoder())


def test_a_person_without_stored_items_has_an_empty_view() -> None:
    empty: Any = SimpleNamespace(
        encoder=None, person_and_items=lambda _: (ADA.person, PersonItems([]))
    )
    view = load_view(empty, "ada", AxisEncoder())
    assert len(view) == 0
    assert view.person.now == NOW
