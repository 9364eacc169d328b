"""Claims about the large people that benchmarks are run on."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from benchmarks.people import (
    RememberingEncoder,
    adopted,
    asked_by,
    enlarged,
    people_like,
    vectors_of_copies,
)
from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView, encode_items, hours
from stores.people.app_spec import packaged_apps
from stores.people.dataset import Dataset, Persona, load_dataset
from synth.reference import split_folder
from tests.assistant.context.conftest import AxisEncoder


@pytest.fixture(scope="module")
def dev() -> Dataset:
    return load_dataset(split_folder("dev"))


@pytest.fixture(scope="module")
def people(dev: Dataset) -> tuple[Persona, ...]:
    return dev.personas[:6]


@pytest.fixture(scope="module")
def large(people: tuple[Persona, ...]) -> PersonView:
    """The first of them with so many items that others' items are taken over several times."""
    return enlarged(people[0], people, AxisEncoder(), 1_000, seed=1)


def test_a_large_person_has_as_many_items_as_asked_for_each_once(large: PersonView) -> None:
    assert len(large) == len(large.row) == 1_000
    assert large.vectors.shape == (1_000, 5)
    assert np.linalg.norm(large.vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_own_items_stay_as_they_are(large: PersonView, people: tuple[Persona, ...]) -> None:
    own = encode_items(AxisEncoder(), [(people[0].person, item) for item in people[0].items])
    for item, vector in zip(people[0].items, own, strict=True):
        assert large.items[large.row[item.id]] == item
        assert large.vectors[large.row[item.id]] == pytest.approx(vector)


def test_nothing_else_has_the_title_of_an_own_item(
    large: PersonView, people: tuple[Persona, ...]
) -> None:
    titled = [item for item in people[0].items if item_text.fields_of(item, "title")]
    own = {(item.app, item_text.title(item).casefold()) for item in titled}
    copies = [item for item in large.items if item.id.startswith("copy-")]
    assert len(copies) == 1_000 - len(people[0].items)
    assert not own & {(item.app, item_text.title(item).casefold()) for item in copies}


def test_items_are_grouped_by_application_as_stores_group_them(large: PersonView) -> None:
    assert list(large.apps) == sorted(large.apps)
    assert {item.app for item in large.items} == {app.name for app in packaged_apps()}


def test_some_of_the_others_items_name_contacts_of_the_person(
    large: PersonView, people: tuple[Persona, ...]
) -> None:
    own = {contact.name for contact in people[0].person.contacts}
    copies = [item for item in large.items if item.id.startswith("copy-")]
    named = [item for item in copies if item_text.people(item)]
    known = [item for item in named if own & set(item_text.people(item))]
    assert 0.1 < len(known) / len(named) < 0.6


def test_most_old_items_are_no_longer_used_and_recent_ones_are_as_they_were(
    people: tuple[Persona, ...],
) -> None:
    view = enlarged(people[0], people, AxisEncoder(), 3_000, seed=1)
    weeks = (hours(people[0].person.now) - view.starts) / (7 * 24)
    old, recent = (float(np.mean(view.opens[which] > 0)) for which in (weeks > 10, weeks < 2))
    assert 0 < old < recent / 4


def test_no_wording_stands_there_often(large: PersonView) -> None:
    mails = [item_text.searched_text(item) for item in large.items if item.app == "mail"]
    assert len(set(mails)) > 0.8 * len(mails)


def test_the_seed_decides_everything(people: tuple[Persona, ...]) -> None:
    first, same, other = (
        enlarged(people[0], people, AxisEncoder(), 100, seed) for seed in (1, 1, 2)
    )
    assert first.items == same.items
    assert np.array_equal(first.vectors, same.vectors)
    assert first.items != other.items


def test_a_person_can_stay_as_large_as_they_are(people: tuple[Persona, ...]) -> None:
    own = people[0].items
    view = enlarged(people[0], people, AxisEncoder(), len(own), seed=1)
    assert set(view.ids) == {item.id for item in own}


def test_sizes_that_cannot_be_made_are_refused(people: tuple[Persona, ...]) -> None:
    with pytest.raises(ValueError, match="size: 3 is less than the person's own"):
        enlarged(people[0], people, AxisEncoder(), 3, seed=1)
    with pytest.raises(ValueError, match="others: nobody else has an item"):
        enlarged(people[0], people[:1], AxisEncoder(), 1_000, seed=1)


def test_what_is_taken_over_happens_as_far_from_now_as_it_did(
    people: tuple[Persona, ...],
) -> None:
    other = people[1]
    (bundle,) = adopted(people[0], people[:2], seed=1)
    gaps = {
        item.id: (item.time("received_at") or other.person.now).date() - other.person.now.date()
        for item in other.items
    }
    now = people[0].person.now
    for _, item in bundle:
        assert (item.time("received_at") or now).date() - now.date() == gaps[item.id]


def test_requests_are_asked_on_the_persons_own_days(dev: Dataset) -> None:
    persona = dev.personas[3]
    made = asked_by(persona, dev)
    assert [one.text for one in made] == [one.request.text for one in dev.requests]
    nows = {one.person.person_id: one.person.now for one in dev.personas}
    for asked, request in zip(dev.requests, made, strict=True):
        assert request.asked_at.time() == asked.request.asked_at.time()
        assert _days(request.asked_at, persona.person.now) == _days(
            asked.request.asked_at, nows[asked.person_id]
        )
        assert (request.playing is None) == (asked.request.playing is None)
    songs = {item.id for item in persona.items if item.app == "music"}
    assert {one.playing for one in made} - {None} <= songs


def _days(moment: datetime, now: datetime) -> int:
    return (moment.date() - now.date()).days


def test_copies_of_people_have_vectors_of_their_own_near_the_originals(
    people: tuple[Persona, ...],
) -> None:
    copies = list(people_like(people, 8))
    assert len({copy.person.person_id for copy in copies}) == 8
    vectors = vectors_of_copies(people, copies, AxisEncoder(), seed=1)
    plain = encode_items(
        AxisEncoder(), [(one.person, item) for one in copies for item in one.items]
    )
    assert vectors.shape == plain.shape
    assert (np.sum(vectors * plain, axis=1) > 0.99).all()
    assert len(np.unique(vectors, axis=0)) == len(vectors)


def test_a_remembering_encoder_makes_each_vector_once_and_keeps_it_in_its_file(
    tmp_path: Path,
) -> None:
    plain = AxisEncoder()
    file = tmp_path / "deep" / "vectors.npz"
    encoder = RememberingEncoder(plain, file)
    first = encoder.encode(["dentist", "bus", "dentist"])
    assert plain.asked == ["dentist", "bus"]
    assert np.array_equal(first, AxisEncoder().encode(["dentist", "bus", "dentist"]))
    encoder.encode(["bus"])
    encoder.save()
    again = RememberingEncoder(plain, file)
    assert np.array_equal(again.encode(["bus", "rent"]), AxisEncoder().encode(["bus", "rent"]))
    assert plain.asked == ["dentist", "bus", "rent"]
    assert len(encoder.encode([])) == 0
