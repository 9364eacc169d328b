"""The CSV files of Google Contacts and Outlook are address books too."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.contact_tables import is_contacts, read_contact_table
from ctrag.assistant.imports.found import Owner
from ctrag.assistant.imports.kinds import kind_of
from ctrag.assistant.imports.tables import headings

OWNER = Owner("me", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12))
GOOGLE = (
    "First Name,Middle Name,Last Name,Nickname,Organization Name,Organization Title,Birthday,Notes,"
    "E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,"
    "Phone 2 - Value,Address 1 - Formatted,Relation 1 - Label,Relation 1 - Value\n"
    'Liv,,Moe,Livsen,Klinikk,Dentist,--05-02,"two\nlines",* Home,liv@x.example ::: l@y.example,'
    "Home Fax,33,Mobile,11 ::: 22,Strandveien 8,Spouse,Even\n"
    ",,,,,,,,,,,,,,,,\n"
    ",,,,Praxis Weyer,,,,,,Work,44,,,,,\n"
)


def test_a_google_table_is_read_with_mobile_numbers_before_fax_machines() -> None:
    liv, practice = read_contact_table(GOOGLE.encode(), OWNER).contacts
    assert (liv.name, liv.nicknames, liv.title) == ("Liv Moe", ("Livsen",), "Dentist")
    assert (liv.phones, liv.phone) == (("11", "22", "33"), "11")
    assert liv.emails == ("liv@x.example", "l@y.example")
    assert (liv.birthday, liv.note) == ("--05-02", "two\nlines")
    assert (liv.addresses, liv.related) == (("Strandveien 8",), ("spouse: Even",))
    assert (practice.name, practice.phone) == ("Praxis Weyer", "44")


def test_a_german_outlook_table_with_semicolons_in_latin_1_is_read() -> None:
    text = (
        '"Anrede";"Vorname";"Nachname";"Firma";"Position";"Telefon geschäftlich";"Fax geschäftlich";'
        '"Mobiltelefon";"E-Mail-Adresse";"Geburtstag"\n'
        '"Herr";"Jörg";"Jäger";"Glas AG";"Glaser";"030 1";"030 2";"0151 3";"j@x.example";"2.5.1984"\n'
    )
    [contact] = read_contact_table(text.encode("cp1252"), OWNER).contacts
    assert (contact.name, contact.organisation, contact.title) == (
        "Jörg Jäger",
        "Glas AG",
        "Glaser",
    )
    assert contact.phones == ("0151 3", "030 1", "030 2")
    assert (contact.email, contact.birthday) == ("j@x.example", "1984-05-02")


def test_a_row_that_names_nobody_is_left_out_and_counted() -> None:
    text = "First Name,Last Name,E-mail Address,Notes\n,,,only a note\n"
    found = read_contact_table(text.encode(), OWNER)
    assert (found.contacts, [one.what for one in found.left_out]) == ([], ["line 2"])


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (GOOGLE, "contact table"),
        ("Name,Phone,E-mail\n", "contact table"),
        ("Vorname;Nachname;E-Mail-Adresse\n", "contact table"),
        ("Name,Number,Date,Type,Duration\n", "call table"),
        ("day,steps\n2026-01-01,9000\n", None),
        ("a sentence, with a comma\n", None),
    ],
)
def test_a_table_is_told_by_its_headings(head: str, kind: str | None) -> None:
    assert kind_of(head.encode(), "x.csv") == kind
    assert is_contacts(headings(head.encode())) == (kind == "contact table")
