"""Address books are read as phones and mail programs write them, card by card."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.cards import read_contacts
from ctrag.assistant.imports.found import Found, Owner
from stores.people.items import Contact

OWNER = Owner("me", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12))


def card(*lines: str, version: str = "3.0") -> str:
    return "\r\n".join(("BEGIN:VCARD", f"VERSION:{version}", *lines, "END:VCARD", ""))


def read(text: str | bytes) -> Found:
    return read_contacts(text if isinstance(text, bytes) else text.encode(), OWNER)


def one(*lines: str, version: str = "3.0") -> Contact:
    [contact] = read(card(*lines, version=version)).contacts
    return contact


def names(text: str | bytes) -> list[str]:
    return [contact.name for contact in read(text).contacts]


def test_an_android_card_with_soft_breaks_is_read_beside_others() -> None:
    broken = (
        "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C3=86s;=4B=C3=A5re;;;",
        "FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4B=C3=A5re=20=C3=86s=20=28=42=\r\n=61=6B=65=72=29",
        "TEL;CELL;PREF:99 1",
    )
    text = card("N:Lie;Ida", "FN:Ida Lie", version="2.1") + card(*broken, version="2.1")
    assert names(text) == ["Ida Lie", "Kåre Æs (Baker)"]


def test_all_that_an_iphone_says_is_kept_and_the_preferred_number_is_called() -> None:
    contact = one(
        "N:Moe;Liv;;;",
        "FN:Liv Moe",
        "NICKNAME:Livsen,Lillemor",
        "ORG:Moe Tannklinikk;Reception",
        "TITLE:Dentist",
        "item1.EMAIL;type=INTERNET:liv@home.example",
        "EMAIL;type=INTERNET;type=pref:liv@work.example",
        "TEL;type=CELL;type=VOICE:+47 911",
        "TEL;type=WORK;type=VOICE;type=pref:+47 922",
        "TEL;type=HOME;type=FAX;type=pref:+47 933",
        "item2.ADR;type=HOME;type=pref:;;Strandveien 8;Bodø;;8006;Norway",
        "item3.X-ABRELATEDNAMES;type=pref:Even",
        "item3.X-ABLabel:_$!<Spouse>!$_",
        "item4.X-ABRELATEDNAMES:Ola",
        "item4.X-ABLabel:godson",
        "BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-02",
        "NOTE:twice a year\\, in spring",
        "UID:77",
        "PHOTO;ENCODING=b;TYPE=JPEG:AAECAwQF",
        " BgcICQ==",
    )
    assert contact == Contact(
        name="Liv Moe",
        phone="+47 922",
        email="liv@work.example",
        phones=("+47 922", "+47 911", "+47 933"),
        emails=("liv@work.example", "liv@home.example"),
        nicknames=("Livsen", "Lillemor"),
        organisation="Moe Tannklinikk, Reception",
        title="Dentist",
        related=("spouse: Even", "godson: Ola"),
        birthday="--05-02",
        addresses=("Strandveien 8, 8006 Bodø, Norway",),
        note="twice a year, in spring",
        uid="77",
    )


def test_a_version_4_card_gives_addresses_without_schemes_by_preference() -> None:
    contact = one(
        "FN:Liv Moe",
        'TEL;VALUE=uri;TYPE="voice,cell";PREF=2:tel:+47-911',
        "TEL;VALUE=uri;PREF=1:tel:+47-922",
        "EMAIL:mailto:liv@home.example",
        "RELATED;TYPE=friend;VALUE=text:Ola Ek",
        "BDAY:--0502",
        version="4.0",
    )
    assert contact.phones == ("+47-922", "+47-911")
    assert (contact.email, contact.related) == ("liv@home.example", ("friend: Ola Ek",))
    assert contact.birthday == "--05-02"


def test_what_android_adds_to_the_standard_is_read() -> None:
    contact = one(
        "FN:Liv Moe",
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Lillemor;1;;;;;;;;;;;;;",
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/relation;Even;14;;;;;;;;;;;;;",
        version="2.1",
    )
    assert (contact.nicknames, contact.related) == (("Lillemor",), ("spouse: Even",))


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (("N:Vik;Sol;;;", "TEL:1"), "Sol Vik"),
        (("N:Vik;Sol;Eva;Dr.;jr.",), "Dr. Sol Eva Vik jr."),
        (("N:;;;;", "FN:", "ORG:Praxis Weyer;"), "Praxis Weyer"),
        (("N:;;;;", "EMAIL:noname@example.org"), "noname@example.org"),
        (("N:;;;;", "NICKNAME:Bob", "TEL:1"), "Bob"),
        (("N:;;;;", "TEL:0151 4"), "0151 4"),
    ],
)
def test_a_card_without_a_full_name_has_the_best_name_that_there_is(
    lines: tuple[str, ...], name: str
) -> None:
    assert one(*lines).name == name


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (("N:Berg;Ole;;;", "FN:Berg\\, Ole"), "Ole Berg"),
        (("N:Berg;Ole", "FN:Berg Ole"), "Ole Berg"),
        (("N:Vik;Sol;;Dr.;", "FN:Vik, Sol, Dr."), "Dr. Sol Vik"),
        (("N:von Berg;Ole;;;", "FN:Berg, Ole von"), "Ole von Berg"),
        (("N:Berg;Ole Karl;Eva;;", "FN:BERG, Ole"), "Ole Berg"),
        (("N:Berg;Ole;;;", "FN:Berg, Ole (Baker)"), "Ole Berg (Baker)"),
        (("N:Smith;Bob;;;", "FN:Smith;Bob"), "Bob Smith"),
        (("N:Mu\u0308ller;Jo\u0308rg", "FN:Müller, Jörg"), "Jo\u0308rg Mu\u0308ller"),
        # No order but the card's own is known of these.
        (("N:Berg;Ole;;;", "FN:Ole Berg"), "Ole Berg"),
        (("N:Berg;Ole;;;", "FN:Ole Berg, Jr."), "Ole Berg, Jr."),
        (("N:Lie;Ida;;;", "FN:Berg, Ole"), "Berg, Ole"),
        (("FN:Weyer, Söhne",), "Weyer, Söhne"),
        (("N:Weyer;;;;", "FN:Weyer, Söhne"), "Weyer, Söhne"),
        (("N:山田;太郎", "FN:山田 太郎"), "山田 太郎"),
    ],
)
def test_the_given_name_is_first_where_both_are_known(lines: tuple[str, ...], name: str) -> None:
    assert one(*lines).name == name


def test_an_empty_card_is_left_out_and_counted() -> None:
    found = read(card("N:;;;;") + card("FN:Ida"))
    assert [contact.name for contact in found.contacts] == ["Ida"]
    [left] = found.left_out
    assert (left.kind, left.what, left.lost) == ("contact", "card 1", True)


def test_a_role_is_a_job_and_no_relation() -> None:
    contact = one("FN:Uwe", "ROLE:glazier")
    assert (contact.relation, contact.title) == ("", "glazier")


def test_an_unfolded_line_costs_nothing_and_is_named() -> None:
    bad = card("FN:Bad Card", "NOTE:line one", "and a line that was not folded", "TEL:5")
    found = read(card("FN:Ida") + bad + card("FN:Ola"))
    assert [contact.name for contact in found.contacts] == ["Ida", "Bad Card", "Ola"]
    assert found.contacts[1].note == "line one\nand a line that was not folded"
    assert found.contacts[1].phone == "5"
    [left] = found.left_out
    assert (left.what, left.lost) == ("Bad Card", False)
    assert "and a line that was not folded" in left.why


def test_a_card_without_an_end_is_kept_and_does_not_swallow_the_next() -> None:
    cut = card("FN:Ida", "TEL:1").replace("END:VCARD\r\n", "")
    found = read(cut + card("FN:Ola"))
    assert [contact.name for contact in found.contacts] == ["Ida", "Ola"]
    assert "no end" in found.left_out[0].why


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_a_file_is_read_in_the_charset_that_it_has(charset: str) -> None:
    assert names(card("N:Jäger;Jörg", "FN:Jörg Jäger").encode(charset)) == ["Jörg Jäger"]


def test_each_line_has_its_own_charset() -> None:
    quoted = card("FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=F6rg", version="2.1")
    wrong = card("FN;CHARSET=undefined:Kåre", version="2.1")
    assert names((quoted + wrong).encode()) == ["Jörg", "Kåre"]


def test_a_line_folded_inside_a_letter_is_whole() -> None:
    text = card("FN:Ida", "NOTE:fjære").encode().replace(b"\xc3\xa6", b"\xc3\r\n \xa6")
    [contact] = read(text).contacts
    assert contact.note == "fjære"


def test_escapes_and_colons_are_text() -> None:
    contact = one("N:Holt\\, Jr.;Max;;;", "FN:Max\\, Holt\\; Jr.", "ORG:A\\;B;C", "NOTE:a: b\\nc")
    assert (contact.name, contact.organisation) == ("Max, Holt; Jr.", "A;B, C")
    assert contact.note == "a: b\nc"


def test_a_card_inside_another_is_passed_over() -> None:
    agent = "BEGIN:VCARD\r\nFN:Agent\r\nTEL:9\r\nEND:VCARD"
    contact = one("FN:Ida", "AGENT:", *agent.split("\r\n"), "TEL:1", version="2.1")
    assert (contact.name, contact.phone) == ("Ida", "1")


def test_a_group_of_contacts_is_no_contact() -> None:
    found = read(card("FN:Family", "X-ADDRESSBOOKSERVER-KIND:group") + card("FN:Ida"))
    assert [contact.name for contact in found.contacts] == ["Ida"]
    assert not found.left_out[0].lost


@pytest.mark.parametrize(
    ("written", "birthday"),
    [
        ("19840502", "1984-05-02"),
        ("1984-05-02T00:00:00Z", "1984-05-02"),
        ("--02-29", "--02-29"),
        ("2.5.1984", "1984-05-02"),
        ("1984-02-31", None),
        ("circa 1800", None),
    ],
)
def test_a_birthday_is_a_day_or_is_said_to_be_none(written: str, birthday: str | None) -> None:
    found = read(card("FN:Ida", f"BDAY:{written}"))
    assert found.contacts[0].birthday == birthday
    assert bool(found.left_out) == (birthday is None)


@pytest.mark.parametrize(
    "hostile",
    [
        card("FN:Ida") + "BEGIN:VCARD\r\nAGENT:\r\n" * 3000,
        card("FN:Ida") + card("FN:x", "NOTE" + ';A="' * 5000 + ":" * 5000),
        card("FN:Ida") + card("FN:\0\x1b[2J", "TEL;" + "TYPE=" * 3000 + ":1"),
        card("FN:Ida") + card("FN;ENCODING=QUOTED-PRINTABLE:=" + "\r\n=" * 3000),
        card("FN:Ida") + card("FN;ENCODING=BASE64:%%%"),
    ],
    ids=["nested", "quotes", "controls", "soft breaks", "base64"],
)
def test_hostile_cards_cost_no_other(hostile: str) -> None:
    found = names(hostile)
    assert found[0] == "Ida"
    assert all("\x1b" not in name and "\0" not in name for name in found)


def test_a_file_without_cards_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not a vCard file: no line is BEGIN:VCARD"):
        read("hello")


def test_books_that_were_put_together_keep_their_first_card_after_each_mark() -> None:
    part = b"\xef\xbb\xbf" + card("FN:Ida").encode()
    assert names(part + part.replace(b"Ida", b"Ola")) == ["Ida", "Ola"]


@pytest.mark.parametrize("charset", ["cp1251", "koi8-r"])
def test_a_book_in_another_script_that_names_no_charset_is_told_by_its_bytes(charset: str) -> None:
    people = ["Иванов Иван", "Смирнова Мария", "Кузнецов Алексей", "Волкова Ольга"]
    text = "".join(card(f"FN:{name}", f"NOTE:Сосед {name}, живёт рядом") for name in people)
    assert names(text.encode(charset)) == people


def test_a_line_that_is_no_property_never_becomes_part_of_a_number() -> None:
    found = read(card("FN:Ida Lie", "TEL;CELL:99 1", "TEL", "NOTE:tall"))
    assert found.contacts[0].phones == ("99 1",)
    assert [one.why for one in found.left_out] == [
        "a line that is neither a property nor folded: TEL"
    ]


def test_books_that_were_put_together_without_a_line_end_are_all_read() -> None:
    book = card("FN:Ida Lie", "TEL:1") + card("FN:Kåre Æs", "TEL:2")
    assert names(book.replace("END:VCARD\r\n", "END:VCARD")) == ["Ida Lie", "Kåre Æs"]


def test_a_note_that_is_folded_inside_a_character_does_not_change_its_script() -> None:
    data = card("FN:Ida Lie", "NOTE:" + "é" * 40).encode()
    place = data.index("é".encode()) + 21
    found = read(data[:place] + b"\r\n " + data[place:])
    assert found.contacts[0].note == "é" * 40


def test_a_number_as_an_address_is_read_without_its_parameters() -> None:
    line = "TEL;VALUE=uri;TYPE=work:tel:+49-30-12;phone-context=example.org;ext=5"
    assert one("FN:Ida Lie", line).phones == ("+49-30-12 ext. 5",)


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (("ANNIVERSARY:20090808",), "Ida Lie's anniversary"),
        (
            ("item1.X-ABDATE:2009-08-08", "item1.X-ABLabel:_$!<Anniversary>!$_"),
            "Ida Lie's anniversary",
        ),
        (("item1.X-ABDATE:2009-08-08", "item1.X-ABLabel:Name day"), "Ida Lie's name day"),
        (
            ("X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;2009-08-08;1;;;;;;;;;;;;;",),
            "Ida Lie's anniversary",
        ),
    ],
)
def test_other_days_of_the_year_are_in_the_calendar(lines: tuple[str, ...], title: str) -> None:
    items = read(card("FN:Ida Lie", *lines)).items
    assert {one.text("title") for one in items} == {title}
    assert [f"{one.time('start'):%Y-%m-%d}" for one in items[:2]] == ["2025-08-08", "2026-08-08"]
    assert items[1].text("notes") == "since 2009-08-08, 17 years"


def test_a_birthday_that_android_keeps_beside_the_standard_is_read() -> None:
    custom = "X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;1990-05-06;3;;;;;;;;;;;;;"
    assert one("FN:Ida Lie", custom).birthday == "1990-05-06"


@pytest.mark.parametrize("said", ["1990-5-6", "1990/05/06", "6 May 1990", "May 6, 1990"])
def test_birthdays_in_usual_spellings_are_read(said: str) -> None:
    assert one("FN:Ida Lie", f"BDAY:{said}").birthday == "1990-05-06"


def test_a_name_of_east_asia_has_the_familys_name_first() -> None:
    assert one("N:王;小明;;;", "TEL:1").name == "王小明"


def test_numbers_that_outlook_keeps_beside_the_standard_are_read() -> None:
    lines = ("TEL;WORK;VOICE:1", "X-MS-TEL;VOICE;CALLBACK:2", "X-MS-TEL;VOICE;COMPANY:3")
    assert one("FN:Ole", *lines, version="2.1").phones == ("1", "2", "3")


@pytest.mark.parametrize("mark", ["\\n", "^n"])
def test_an_address_that_is_only_a_label_is_kept(mark: str) -> None:
    label = f'ADR;TYPE=home;LABEL="Hauptstr. 1, Hof; links{mark}10115 Berlin":;;;;;;'
    other = "ADR;LABEL=x:;;Kai 3;Oslo;;0150;NO"
    contact = one("FN:Ole", label, other, "TEL;TYPE=cell:1", version="4.0")
    assert contact.addresses == ("Hauptstr. 1, Hof; links, 10115 Berlin", "Kai 3, 0150 Oslo, NO")
