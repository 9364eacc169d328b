"""Claims about items as words."""

from dataclasses import replace

import pytest

import stores.people.app_spec
from ctrag.assistant.context.item_text import (
    embedded_text,
    field_of,
    fields_of,
    groups,
    people,
    searched_text,
    title,
)
from stores.people.app_spec import AppSpec, FieldSpec, packaged_apps
from stores.people.items import Item
from tests.assistant.context.conftest import ADA

ITEMS = {item.id: item for item in ADA.items}


@pytest.mark.parametrize(
    ("item_id", "text"),
    [
        ("m1", "mail from Ben Okoro (dispatcher): Route change. The bus takes Elm Street"),
        ("c1", "calendar event: Dentist. Elm Street 4. with Mia Quist (sister)"),
        ("c2", "calendar event: Stand-up"),
        ("c3", "calendar event: Concert. Hall. with Mia Quist (sister), Ben Okoro (dispatcher). a jazz night"),
        ("g1", "web search: dentist near the bus stop"),
        ("n1", "note in Travel: Packing list. passport, tent"),
        ("s1", "song: Blue Moon by Ella, album Moonlight, Jazz, playlist Evening"),
        ("s2", "song: Night Bus by Trio, album Lines, Jazz"),
        ("r2", "reminder in Health: Call the dentist"),
        ("p4", "missed phone call with Ben Okoro (dispatcher). voicemail: Ring me back"),
    ],
)  # fmt: skip
def test_each_application_has_its_phrase_without_parts_whose_field_is_empty(
    item_id: str, text: str
) -> None:
    assert embedded_text(ADA.person, ITEMS[item_id]) == text


def test_a_mail_says_to_whom_it_went_where_that_is_known() -> None:
    mail = ITEMS["m1"]
    sent = replace(mail, fields={**mail.fields, "recipients": ("Uwe Sack", "Mia Quist")})
    assert embedded_text(ADA.person, sent).startswith(
        "mail from Ben Okoro (dispatcher) to Uwe Sack, Mia"
    )
    assert "Uwe Sack" in searched_text(sent)
    nobody = replace(mail, fields={**mail.fields, "recipients": ()})
    assert embedded_text(ADA.person, nobody) == embedded_text(ADA.person, mail)


def test_a_contact_without_relation_and_a_stranger_are_only_named() -> None:
    call = ITEMS["p3"]
    stranger = replace(call, fields={**call.fields, "contact": "Zoe"})
    assert embedded_text(ADA.person, call) == "outgoing phone call with City Shop"
    assert embedded_text(ADA.person, stranger) == "outgoing phone call with Zoe"


def test_braces_in_a_field_are_words_like_others() -> None:
    search = replace(ITEMS["g1"], fields={**ITEMS["g1"].fields, "query": "{title} {0"})
    assert embedded_text(ADA.person, search) == "web search: {title} {0"


def test_every_item_of_every_packaged_application_has_a_wording() -> None:
    assert {item.app for item in ADA.items} == {app.name for app in packaged_apps()}
    assert all(embedded_text(ADA.person, item) for item in ADA.items)


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> Item:
    """An item of an application that declares no phrase."""
    fields = (FieldSpec("name", "string", "title"), FieldSpec("about", "text", "text"))
    spec = AppSpec("books", fields)
    monkeypatch.setitem(stores.people.app_spec._further, "books", spec)
    return Item("k1", "books", {"name": "Emma", "about": "Highbury"})


def test_an_application_without_phrase_falls_back_to_its_name_and_words(books: Item) -> None:
    assert embedded_text(ADA.person, books) == "books: Emma. Highbury"


def test_the_title_of_an_item_without_one_is_its_person() -> None:
    assert title(ITEMS["m1"]) == "Route change"
    assert title(ITEMS["p1"]) == "Ben Okoro"


def test_searched_text_has_titles_texts_people_places_and_groups_but_no_times_or_states() -> None:
    assert searched_text(ITEMS["c1"]) == "Dentist. Mia Quist. Elm Street 4"
    assert searched_text(ITEMS["s1"]) == "Blue Moon. Ella. Moonlight. Jazz. Evening"
    assert searched_text(ITEMS["p4"]) == "Ring me back. Ben Okoro"


def test_people_are_single_names_and_lists_of_names() -> None:
    assert people(ITEMS["m1"]) == ("Ben Okoro",)
    assert people(ITEMS["c3"]) == ("Mia Quist", "Ben Okoro")
    assert people(ITEMS["n1"]) == ()


def test_groups_leave_out_what_is_not_set() -> None:
    assert groups(ITEMS["s1"]) == ("Jazz", "Evening")
    assert groups(ITEMS["s2"]) == ("Jazz",)
    assert groups(ITEMS["m1"]) == ()


def test_fields_are_found_by_role() -> None:
    assert fields_of(ITEMS["s1"], "group") == ("genre", "playlist")
    assert field_of(ITEMS["c1"], "end") == "end"
    assert field_of(ITEMS["m1"], "end") is None
