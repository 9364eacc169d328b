"""CSV files with a line of headings, as applications write them in any language."""

import csv
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ctrag.assistant.imports.card_lines import as_utf8
from ctrag.assistant.imports.card_lines import decoded as by_line
from ctrag.assistant.imports.csv_lines import records
from ctrag.assistant.imports.found import LeftOut
from ctrag.assistant.imports.mail.charset import detected
from ctrag.assistant.imports.mail.latin import latin_charset

_SEPARATORS = ",;\t|"
_SECRETS = set(
    "password passwords passwort kennwort contraseña wachtwoord senha lösenord adgangskode passord "
    "salasana hasło heslo şifre jelszó пароль κωδικός סיסמה 密码 密碼 パスワード 비밀번호 totp "
    "otpauth".split()
) | {"mot de passe", "palavra passe", "parola d ordine"}
_OF_SECRETS = {
    *("url", "urls", "uri", "website", "web site", "webseite", "site", "name", "title", "titel"),
    *("username", "user name", "user", "login", "login name", "login_username", "login_uri"),
    *("account", "konto", "benutzername", "benutzer", "identifiant", "usuario", "utente"),
    *("email", "e mail", "adresse", "gebruikersnaam", "utilizador", "användarnamn"),
}
"""What stands beside them."""
_OPEN = "a quotation mark in it has no end"
_LONGER = "it has more columns than the headings: what is in them may be wrong, the rest is lost"
_JOINED = "it has more columns than the headings: what stands after a sign and a space was joined"
_REMARKS = re.compile(r"\A[^,;\t|\n]{1,40}:[ \t]*\r?\n(?:[^\n]*[^\s][^\n]*\n){1,9}[ \t]*\r?\n")


@dataclass(slots=True)
class Table:
    """The rows of a CSV file, and what is strange about some of them."""

    rows: list[dict[str, str]] = field(default_factory=list)
    """By `folded` heading; of equal headings the first is as it is, the next `heading 2`."""
    lines: list[int] = field(default_factory=list)
    """The line of the file in which each begins."""
    left_out: list[LeftOut] = field(default_factory=list)


def read_table(data: bytes, kind: str) -> Table:
    """The rows of a CSV file under its headings.

    Args:
        data: The file.
        kind: What a row is, to tell what is left out: `contact`, `call`, `song`.
    """
    whole = _decoded(data).replace("\0", "")
    text = _without_hint(whole)
    before = whole[: len(whole) - len(text)].count("\n")
    line = _first_line(text)
    separator = max(_SEPARATORS, key=line.count)
    table = Table()
    names: list[str] = []
    for record in records(text, separator):
        if not names:
            names = _numbered([folded(one) for one in record.cells])
        elif any(one.strip() for one in record.cells):
            cells, whys = _fitting(record.cells, len(names), separator)
            whys += [_OPEN] if record.open else []
            number = record.line + before
            what = f"line {number}: {' '.join(filter(None, record.cells))[:60]}"
            table.left_out += [LeftOut(kind, what, why, lost=False) for why in whys]
            row = {name: one.strip() for name, one in zip(names, cells, strict=False)}
            table.rows.append(row)
            table.lines.append(number)
    return table


def _numbered(names: list[str]) -> list[str]:
    """Headings, the second of equal ones with a number, so that no column hides another."""
    seen = Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}".strip())
    return found


def _fitting(cells: list[str], width: int, separator: str) -> tuple[list[str], list[str]]:
    """The cells of a row that has no more of them than there are headings, and what was changed
    for that: `Berg, Ole` without quotation marks is two cells, of which one begins with a space."""
    more = len(cells) - width
    if more <= 0 or not any(one.strip() for one in cells[width:]):
        return cells, []
    if sum(one[:1] == " " for one in cells[1:]) != more:
        return cells, [_LONGER]
    joined = cells[:1]
    for one in cells[1:]:
        if one[:1] == " ":
            joined[-1] += separator + one
        else:
            joined.append(one)
    return joined, [_JOINED]


def headings(head: bytes) -> set[str]:
    """The `folded` headings of a file that begins so; the empty set where it is no table."""
    line = _first_line(_without_hint(_decoded(head).lstrip()))
    separator = max(_SEPARATORS, key=line.count)
    if separator not in line:
        return set()
    try:
        return {folded(one) for one in next(csv.reader([line], delimiter=separator), [])}
    except csv.Error:  # a heading of more than a megabyte
        return set()


def holds_secrets(headings: set[str]) -> bool:
    """Whether a table with these `folded` headings is of passwords, as their keepers export it: a
    line that only speaks of one is no such table."""
    secret = any(one in _SECRETS or one.endswith("_password") for one in headings)
    return secret and len(headings) > 2 and bool(headings & _OF_SECRETS)


def _decoded(data: bytes) -> str:
    """The text of a table; one in another script than Latin is told by all its bytes."""
    data = as_utf8(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        whole = error.start > len(data) - 4  # the head of a file, cut inside of a character
        strange = len(re.findall(rb"[\x80-\xff]", data))
        foreign = not whole and strange > len(re.findall(rb"[A-Za-z]", data)) // 3
        charset = (detected(data) or "") if foreign else ""
        return by_line(data, charset, "cp1252" if whole else latin_charset(data))


def _first_line(text: str) -> str:
    return re.split(r"[\r\n]", text, maxsplit=1)[0]


def _without_hint(text: str) -> str:
    """The table without a first line such as `sep=;`, which Excel reads, and without remarks that
    an empty line parts from it, as LinkedIn writes them."""
    text = re.sub(r"\A\s*\"?sep=.\"?[ \t]*\r?\n", "", text, flags=re.IGNORECASE)
    remarks = _REMARKS.match(text)
    return text[remarks.end() :] if remarks else text


def folded(heading: str) -> str:
    """A heading without case and signs: `E-mail 1 - Value` is `e mail 1 value`."""
    return " ".join(re.findall(r"\w+", heading.casefold()))


def first(row: Mapping[str, str], *names: str) -> str:
    """The first of these columns that says something."""
    return next((row[name] for name in names if row.get(name)), "")
