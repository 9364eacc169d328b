"""Files of one script that name no charset: a few words are enough to tell it."""

import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.contact_tables import read_contact_table
from ctrag.assistant.imports.kinds import kind_of
from ctrag.assistant.imports.mail.charset import detected
from tests.assistant.imports.test_calendars import BERLIN, calendar, event, only
from tests.assistant.imports.test_cards import card, names

NAMES = [
    ("Ольга Дым", "cp1251"),
    ("Ольга Дым", "koi8-r"),
    ("Γιώργος Παπάς", "cp1253"),
    ("שלום עולם", "cp1255"),
    ("王小明 北京市", "gb18030"),
    ("陳大文 台北", "big5"),
    ("山田太郎", "shift_jis"),
    ("佐藤 サトウ", "euc_jp"),
    ("김민수 서울", "euc_kr"),
]


@pytest.mark.parametrize(("text", "charset"), NAMES)
def test_a_short_text_of_another_script_is_told_by_its_bytes(text: str, charset: str) -> None:
    data = text.encode(charset)
    assert data.decode(detected(data) or "ascii", "replace") == text


@pytest.mark.parametrize("text", ["Jürgen Groß", "Éva Ûnal", "Ångström é"])
def test_a_few_letters_with_accents_are_no_other_script(text: str) -> None:
    assert detected(text.encode("cp1252")) is None


@pytest.mark.parametrize(("text", "charset"), NAMES)
def test_calendars_and_cards_are_read_in_it(text: str, charset: str) -> None:
    data = calendar(event("UID:1", f"SUMMARY:{text}", "DTSTART:20261201T090000Z"))
    assert only(read_calendar(data.decode().encode(charset), BERLIN)).text("title") == text
    assert names(card(f"FN:{text}", "TEL:1").encode(charset)) == [text]


@pytest.mark.parametrize(
    ("table", "charset", "name", "phone"),
    [
        ("姓,名,手机\n王,小明,138\n", "gb18030", "王小明", "138"),
        ("氏名,携帯,メール\n山田,090,y@x.example\n", "shift_jis", "山田", "090"),
        ("Ad;Soyad;Cep Telefonu\nAyşe;Kaya;5\n", "utf-8", "Ayşe Kaya", "5"),
        ("Имя;Фамилия;Телефон\nОльга;Дым;7\n", "cp1251", "Ольга Дым", "7"),
    ],
)
def test_tables_with_headings_of_other_languages_are_contacts(
    table: str, charset: str, name: str, phone: str
) -> None:
    data = table.encode(charset)
    assert kind_of(data, "book.csv") == "contact table"
    [contact] = read_contact_table(data, BERLIN).contacts
    assert (contact.name, contact.phone) == (name, phone)
