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
        ("Name,Number\n", "contact table"),
        ("Name;Rufnummer\n", "contact table"),
        ("Number,Name,Amount\n", None),
        ("Name,Rückmeldung\n", None),
        ("day,steps\n2026-01-01,9000\n", None),
        ("a sentence, with a comma\n", None),
    ],
)
def test_a_table_is_told_by_its_headings(head: str, kind: str | None) -> None:
    assert kind_of(head.encode(), "x.csv") == kind
    assert is_contacts(headings(head.encode())) == (kind == "contact table")


@pytest.mark.parametrize(
    "head",
    [
        "Voornaam;Achternaam;Bedrijf;Mobiele telefoon;E-mailadres",
        "Nome,Sobrenome,Empresa,Telefone celular,Endereço de email",
        "Förnamn;Efternamn;Företag;Mobiltelefon;E-postadress",
        "Fornavn;Etternavn;Bedrift;Mobiltelefon;E-postadresse",
        "Etunimi;Sukunimi;Yritys;Matkapuhelin;Sähköpostiosoite",
        "Imię;Nazwisko;Firma;Telefon komórkowy;Adres e-mail",
        "Prénom;Nom;Société;Tél. mobile;Adresse de messagerie",
        "Nombre,Apellidos,Empresa,Teléfono móvil,Dirección de correo electrónico",
        "Nome,Cognome,Società,Cellulare,Indirizzo posta elettronica",
        "First,Last,Company,Mobile,Email",
        "First Name\tLast Name\tOrganization\tMobile Number\tPrimary Email",
    ],
)
def test_tables_are_read_in_the_languages_of_their_programs(head: str) -> None:
    sign = next(one for one in ";\t," if one in head)
    data = f"{head}\n{sign.join(('Åsa', 'Ek', 'Glas', '0151 3', 'a@x.example'))}\n".encode()
    assert kind_of(data, "x.csv") == "contact table"
    [one] = read_contact_table(data, OWNER).contacts
    assert (one.name, one.organisation, one.phone, one.email) == (
        "Åsa Ek",
        "Glas",
        "0151 3",
        "a@x.example",
    )


def test_the_hint_for_excel_is_no_heading() -> None:
    data = b"sep=;\r\nFirst Name;Last Name;Mobile Phone\r\nOle;Lie;11\r\n"
    assert kind_of(data, "x.csv") == "contact table"
    assert [one.name for one in read_contact_table(data, OWNER).contacts] == ["Ole Lie"]


@pytest.mark.parametrize(
    ("days", "read"),
    [
        (["5/2/1984", "12/24/1990"], ["1984-05-02", "1990-12-24"]),
        (["5/2/1984", "24/12/1990"], ["1984-02-05", "1990-12-24"]),
        (["5/2/1984", "5/5/1990"], [None, "1990-05-05"]),
    ],
)
def test_which_number_is_the_day_is_told_by_the_other_birthdays(
    days: list[str], read: list[str | None]
) -> None:
    lines = "".join(f"P{number},1,{day}\n" for number, day in enumerate(days))
    found = read_contact_table(f"First Name,Mobile Phone,Birthday\n{lines}".encode(), OWNER)
    assert [one.birthday for one in found.contacts] == read
    assert [one.why for one in found.left_out] == [
        f"the birthday {day!r} is no day, or may be two"
        for day, one in zip(days, read, strict=True)
        if one is None
    ]


def test_addresses_whose_parts_are_columns_are_put_together() -> None:
    text = (
        "First Name,Last Name,E-mail 1 - Label,E-mail 1 - Value,Address 1 - Label,"
        "Address 1 - Country,Address 1 - Street,Address 1 - City,Address 1 - Postal Code,"
        "Home Address,Home City,Home ZipCode,Event 1 - Label,Event 1 - Value\n"
        "Liv,Moe,Home,liv@x.example,Home,NO,Kai 3,Oslo,0150,Strand 8,Moss,1530,Anniversary,2010-06-05\n"
    )
    found = read_contact_table(text.encode(), OWNER)
    assert found.contacts[0].addresses == ("Kai 3, 0150 Oslo, NO", "Strand 8, 1530 Moss")
    assert {item.text("title") for item in found.items} == {"Liv Moe's anniversary"}


def test_addresses_of_a_german_table_are_read() -> None:
    text = (
        "Vorname;E-Mail-Adresse;Straße privat;Ort privat;Postleitzahl privat;Land/Region privat\n"
    )
    row = "Jörg;j@x.example;Hafen 2;Kiel;24103;Deutschland\n"
    [contact] = read_contact_table((text + row).encode(), OWNER).contacts
    assert contact.addresses == ("Hafen 2, 24103 Kiel, Deutschland",)


def test_remarks_before_the_headings_are_passed_over() -> None:
    text = 'Notes:\n"Some addresses, as you know, are missing."\n\nFirst Name,Email Address\nLiv,l@x.example\n'
    assert kind_of(text.encode(), "Connections.csv") == "contact table"
    assert [one.name for one in read_contact_table(text.encode(), OWNER).contacts] == ["Liv"]


@pytest.mark.parametrize(
    ("head", "row", "name"),
    [
        ("First Name,Last Name,File As,Phone 1 - Value", 'Ole,Berg,"Berg, Ole",1', "Ole Berg"),
        ("First Name,Last Name,File As,Phone 1 - Value", ',,"Berg, Ole",1', "Berg, Ole"),
        ("First Name,Last Name,Display Name,Work Phone", 'Ole,Berg,"Berg, Ole",1', "Ole Berg"),
        ("Name,Given Name,Family Name,Phone 1 - Value", '"Berg, Ole",Ole,Berg,1', "Ole Berg"),
        ("Name,Given Name,Family Name,Phone 1 - Value", "Olli,Ole,Berg,1", "Olli"),
    ],
)
def test_a_name_that_a_table_sorts_by_is_turned_round(head: str, row: str, name: str) -> None:
    [one] = read_contact_table(f"{head}\n{row}\n".encode(), OWNER).contacts
    assert one.name == name


def found_in(text: str) -> tuple[list[tuple[str, str | None, str]], list[tuple[str, str]]]:
    """(name, number, note) of the contacts, and what was left out and why."""
    found = read_contact_table(text.encode(), OWNER)
    people = [(one.name, one.phone, one.note) for one in found.contacts]
    return people, [(one.what, one.why) for one in found.left_out]


def test_a_quotation_mark_that_nobody_closes_takes_no_other_contact_in() -> None:
    text = 'Name,Phone,Notes\nAda,1,"6 ft\nBo,2,\nCy,3,"two\nlines, and more"\n'
    people, left = found_in(text)
    assert people == [("Ada", "1", "6 ft"), ("Bo", "2", ""), ("Cy", "3", "two\nlines, and more")]
    assert left == [("line 2: Ada 1 6 ft", "a quotation mark in it has no end")]


@pytest.mark.parametrize("mark", ['7"', '"x"', '"x ""y"""', 'x "y"'])
def test_a_quotation_mark_that_another_row_closes_takes_no_other_contact_in(mark: str) -> None:
    text = f'Name,Phone,Email,Notes\nAda,1,a@x.example,"6 ft\nBo,2,,\nCy,3,,{mark}\nDi,4,,\n'
    people, left = found_in(text)
    assert [one[:2] for one in people] == [("Ada", "1"), ("Bo", "2"), ("Cy", "3"), ("Di", "4")]
    assert [what for what, _ in left] == ["line 2: Ada 1 a@x.example 6 ft"]


def test_an_open_field_in_the_middle_costs_no_column() -> None:
    assert found_in('Name,Notes,Phone\nAda,"tall,1\nBo,,2\n')[0] == [
        ("Ada", "1", "tall"),
        ("Bo", "2", ""),
    ]


def test_a_note_that_the_end_of_the_file_cuts_is_kept_and_said() -> None:
    people, left = found_in('Name,Phone,Notes\nAda,1,"two\nlines')
    assert people == [("Ada", "1", "two\nlines")]
    assert [why for _, why in left] == ["a quotation mark in it has no end"]


def test_a_field_of_more_than_a_megabyte_costs_no_other_row() -> None:
    people, left = found_in(f'Name,Phone,Notes\nAda,1,"{"x" * 1_100_000}"\nBo,2,\n')
    assert [one[:2] for one in people] == [("Ada", "1"), ("Bo", "2")]
    assert left == [("Ada", "its note is cut after 4000 characters")]


def test_a_comma_without_quotation_marks_is_joined_where_a_space_tells_and_said_elsewhere() -> None:
    people, left = found_in("Name,Phone,Notes\nBerg, Ole,1,tall\nLie,Ida,2,\nMoe,Liv,3,tall\n")
    assert people == [("Berg, Ole", "1", "tall"), ("Lie", None, "2"), ("Moe", None, "3")]
    assert [(what, why.partition(":")[2]) for what, why in left] == [
        ("line 2: Berg  Ole 1 tall", " what stands after a sign and a space was joined"),
        ("line 4: Moe Liv 3 tall", " what is in them may be wrong, the rest is lost"),
    ]


def test_of_equal_headings_no_column_hides_another() -> None:
    text = "Name,Phone,Phone,Email\nAda,1,2,a@x.example\n"
    [ada] = read_contact_table(text.encode(), OWNER).contacts
    assert ada.phones == ("1", "2")


def test_hostile_quotation_marks_take_no_time() -> None:
    people, left = found_in("Name,Phone,Notes\n" + 'x"y,1,"z\n' * 5_000)
    assert (len(people), len(left)) == (5_000, 5_000)


@pytest.mark.parametrize(
    "head",
    [
        "Vorname,Mobil-Tel.-Nr.,Geburtsjahr,Geburtsmonat,Geburtstag",
        "First Name,Mobile Number,Birth Year,Birth Month,Birth Day",
        "Förnamn,Mobiltelefon,Födelseår,Födelsemånad,Födelsedag",
        "Prénom,Tél. mobile,Année de naissance,Mois de naissance,Jour de naissance",
    ],
)
def test_a_birthday_in_three_columns_is_read(head: str) -> None:
    text = f"{head}\nOle,1,1984,5,2\nIda,2,,12,24\nBo,3,,,\n"
    found = read_contact_table(text.encode(), OWNER)
    assert [one.birthday for one in found.contacts] == ["1984-05-02", "--12-24", None]
    assert found.left_out == []


def test_a_day_without_its_month_is_no_birthday_and_is_said() -> None:
    text = "Vorname,Mobil-Tel.-Nr.,Geburtsjahr,Geburtsmonat,Geburtstag\nOle,1,1984,,2\n"
    found = read_contact_table(text.encode(), OWNER)
    assert [one.why for one in found.left_out] == ["the birthday '2' is no day, or may be two"]


@pytest.mark.parametrize(
    ("head", "said", "job"),
    [
        ("Titre,Prénom,Nom,Titre,Tél. mobile", "Mme,Eva,Dahl,Directrice,1", "Directrice"),
        ("Titre,Prénom,Nom,Titre,Tél. mobile", "Directrice,Eva,Dahl,,1", "Directrice"),
        ("Titre,Prénom,Nom,Fonction,Tél. mobile", "M.,Ole,Lie,Comptable,1", "Comptable"),
        ("Titre,Prénom,Nom,Fonction,Tél. mobile", "Mme,Eva,Dahl,,1", ""),
        ("Titel,Voornaam,Achternaam,Functie,Mobiele telefoon", "De heer,Jan,Vos,Smid,1", "Smid"),
        ("Titel,Förnamn,Efternamn,Befattning,Mobiltelefon", "Dr,Åsa,Ek,Läkare,1", "Läkare"),
        ("Title,First Name,Last Name,Job Title,Mobile Phone", "Prof. Dr.,Eva,Dahl,,1", ""),
        ("Vorname,Nachname,Arbeitstitel,Mobil-Tel.-Nr.", "Eva,Dahl,Chefin,1", "Chefin"),
        ("Name,Title,Company,E-mail,Mobile Phone", "Eva Dahl,Smith,ACME,e@x.example,1", "Smith"),
    ],
)
def test_how_somebody_is_addressed_is_no_job(head: str, said: str, job: str) -> None:
    [one] = read_contact_table(f"{head}\n{said}\n".encode(), OWNER).contacts
    assert one.title == job


def test_the_starred_address_is_first_wherever_the_star_stands() -> None:
    text = (
        "First Name,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value\n"
        "Ole,Home,ole@home.example,* Work,ole@work.example\n"
        "Ida,* Home,ida@home.example,Work,ida@work.example\n"
        "Bo,,b@home.example,,* b@work.example\n"
    )
    contacts = read_contact_table(text.encode(), OWNER).contacts
    firsts = ["ole@work.example", "ida@home.example", "b@work.example"]
    assert [one.email for one in contacts] == firsts
    assert all(len(one.emails) == 2 for one in contacts)


@pytest.mark.parametrize(
    ("head", "numbers"),
    [
        ("First Name,Mobile Phone,Callback,ISDN", ("11", "12", "13")),
        ("Vorname,Mobiltelefon,Rückmeldung,ISDN", ("11", "12", "13")),
        ("Name,Number", ("11",)),
        ("Name,House Number,Number,Phone", ("13",)),
    ],
)
def test_every_number_of_a_row_is_kept(head: str, numbers: tuple[str, ...]) -> None:
    row = ",".join(("Ole", "11", "12", "13")[: head.count(",") + 1])
    [ole] = read_contact_table(f"{head}\n{row}\n".encode(), OWNER).contacts
    assert ole.phones == numbers
