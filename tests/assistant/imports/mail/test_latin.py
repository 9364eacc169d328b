"""Texts in Latin letters that name no charset are read in the one in which they are words."""

import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.cards import read_contacts
from ctrag.assistant.imports.contact_tables import read_contact_table
from ctrag.assistant.imports.mail.charset import utf8_text
from ctrag.assistant.imports.mail.latin import latin_charset
from tests.assistant.imports.mail.conftest import NORA
from tests.assistant.imports.test_calendars import calendar, event


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Paweł Żółty", "cp1250"),
        ("Paweł Żółty", "iso8859-2"),
        ("Příliš žluťoučký kůň", "cp1250"),
        ("Találkozó Gyöngyi nénivel, hűtő, ernyő", "cp1250"),
        ("Krešimir Ćosić, Đorđe, Čakovec", "cp1250"),
        ("Doğum günü Ayşe", "cp1254"),
        ("Ąžuolas Šiauliai Žemaitė", "cp1257"),
    ],
)
def test_words_of_a_language_tell_its_charset(text: str, charset: str) -> None:
    data = text.encode(charset)
    assert data.decode(latin_charset(data)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Müller", "Bjørn Ødegård", "père et Noël", "¿Cómo estás?", "São João", "nº 3, 5°C, m²"),
        *("Frühstück für 20 €", "Guðrún Ægisdóttir", "Bjørn, père"),
    ],
)
def test_western_texts_stay_what_they_are(text: str) -> None:
    assert latin_charset(text.encode("cp1252")) == "cp1252"


def test_a_polish_address_book_calendar_and_table_are_read() -> None:
    name = "Małgosia Wójcik"
    card = f"BEGIN:VCARD\nVERSION:3.0\nFN:{name}\nTEL:1\nEND:VCARD\n".encode("cp1250")
    table = "Imię;Nazwisko;Telefon komórkowy\nMałgosia;Wójcik;1\n".encode("cp1250")
    entry = event("UID:1", f"SUMMARY:{name}", "DTSTART:20261201T090000Z")
    assert read_contacts(card, NORA).contacts[0].name == name
    assert read_contact_table(table, NORA).contacts[0].name == name
    made = calendar(entry).decode().encode("cp1250")
    assert read_calendar(made, NORA).items[0].text("title") == name


def test_a_sign_in_two_halves_is_one_and_a_lone_half_costs_itself() -> None:
    halves = "Wal \ud83d\udc0b öst".encode("utf-8", "surrogatepass")
    assert utf8_text(halves) == "Wal 🐋 öst"
    assert utf8_text("Wal \ud83d öst".encode("utf-8", "surrogatepass")) == "Wal \ufffd öst"
    card = b"BEGIN:VCARD\nVERSION:3.0\nFN:" + halves + b"\nTEL:1\nEND:VCARD\n"
    assert read_contacts(card, NORA).contacts[0].name == "Wal 🐋 öst"
