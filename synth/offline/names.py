"""New names for people: from the same country, of the same gender, and the same everywhere.

Names come from the sources themselves. A name stays where changing it could break a text: when
its gender is unknown, when it is an ordinary word too, when a nickname of it occurs, or when a
musician of the person bears it.
"""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from stores.people.items import Contact, Person
from synth.offline.sources import SourcePerson, letters, ordinary_words, sources, texts_of

Gender = Literal["female", "male"]

_WORDS: dict[str, Gender] = {
    **dict.fromkeys(
        "wife mother mum mom mam mama daughter sister grandmother gran granny nan aunt niece "
        "girlfriend fiancée granddaughter landlady bride midwife stepmother".split(),
        "female",
    ),
    **dict.fromkeys(
        "husband father dad papa son brother grandfather grandpa uncle nephew boyfriend fiancé "
        "grandson landlord groom stepfather fisherman priest".split(),
        "male",
    ),
}
_TITLES = frozenset(
    "dr mr mrs ms miss prof professor sister brother father mother aunt auntie uncle don doña "
    "señor señora madame monsieur frau herr sir lady captain capt coach pastor rev sheikh haji "
    "zia zio nonna nonno mama mamma papa mister mum dad oma opa tante baba abuela abuelo tita tito "
    "lola lolo dede amma appa didi bhai mme fr sr bro sis granny grandma gran pop nan nana kuya "
    "ate teta khalti amo abu umm tía tío the old chef nurse sergeant sgt master imam rabbi".split()
)
_FEWEST = 4
"""A country with fewer names of a sort keeps the names of its people."""
_THREE_DIGITS = frozenset(
    "21 22 23 24 25 26 29 35 37 38 42 50 59 67 68 69 80 85 87 88 96 97 99".split()
)


@dataclass(frozen=True, slots=True)
class _Pool:
    female: tuple[str, ...]
    male: tuple[str, ...]
    family: tuple[str, ...]


_NOBODY = _Pool((), (), ())


def parts(name: str) -> list[str]:
    """The words of a name without titles."""
    return [word for word in letters(name) if word.casefold() not in _TITLES]


def gender_said(relation: str) -> Gender | None:
    """The gender that a relation says ("wife", "elder son"), or None."""
    said: Gender | None = None
    for word in re.findall(r"[\w'’-]+", relation.split(",")[0].casefold()):
        said = _WORDS.get(word.split("-")[0], said)
    return said


def new_names(source: SourcePerson, draw: random.Random) -> dict[str, str]:
    """Old words of names and their new words, for one source."""
    person = source.persona.person
    own = Contact(person.profile.name)
    written = Counter(word for text in texts_of(source) for word in letters(text))
    taken = set(written) | {word for one in (own, *person.contacts) for word in parts(one.name)}
    kept = _sung(source)
    found: dict[str, str] = {}
    for one in (own, *person.contacts):
        words, gender = parts(one.name), gender_of(one)
        pool = _pools().get(_code(one.phone or "") or country(person.contacts), _NOBODY)
        sorts = [gender, *["family"] * (len(words) - 1)]
        for place, (word, sort) in enumerate(zip(words, sorts, strict=False)):
            if word in found or word in kept or _in_compound(word, one.name):
                continue
            if not _free(word, written, place == 0):
                continue
            options = _options(pool, sort, taken)
            if options:
                found[word] = draw.choice(options)
                taken.add(found[word])
    return found


def name_like(code: str, relation: str, draw: random.Random) -> str:
    """A full name as people of a country have it, of the relation's gender if it says one."""
    pool = _pools().get(code, _NOBODY)
    if len(pool.family) < _FEWEST or len(pool.female) < _FEWEST or len(pool.male) < _FEWEST:
        pool = _pools()["44"]
    first = pool.male if gender_said(relation) == "male" else pool.female
    if gender_said(relation) is None and draw.random() < 0.5:
        first = pool.male
    return f"{draw.choice(first)} {draw.choice(pool.family)}"


def country(contacts: Sequence[Contact]) -> str:
    """The country code with which most numbers of the contacts begin; "" without any."""
    codes = Counter(
        code for one in contacts if (code := _code(one.phone or "")) is not None
    ).most_common(1)
    return codes[0][0] if codes else ""


def gender_of(contact: Contact) -> Gender | None:
    """The gender that a contact's relation or first name tells, or None."""
    words = parts(contact.name)
    return gender_said(contact.relation) or (known_gender(words[0]) if words else None)


def known_gender(first: str) -> Gender | None:
    """The gender of all relatives of that first name among the sources, or None."""
    return _genders().get(first)


def renamed_address(address: str | None, names: dict[str, str]) -> str | None:
    """A mail address with the names in it changed."""
    if address is None:
        return None
    for old, new in names.items():
        if len(old) > 2:
            address = address.replace(_plain(old), _plain(new))
    return address


def _in_compound(word: str, name: str) -> bool:
    return f"-{word}" in name or f"{word}-" in name


def _free(word: str, written: Counter[str], first: bool) -> bool:
    if len(word) < 3 or not word[0].isupper() or word.casefold() in ordinary_words():
        return False
    stem = word[:3]
    return not first or not any(
        other.startswith(stem) and other != word and other.casefold() not in ordinary_words()
        for other in written
    )


def _options(pool: _Pool, sort: str | None, taken: set[str]) -> list[str]:
    known: tuple[str, ...] = getattr(pool, sort) if sort else ()
    options = [name for name in known if name not in taken]
    return options if len(options) >= _FEWEST else []


def _sung(source: SourcePerson) -> set[str]:
    """Words of what the person listens to, which are names of others."""
    return {
        word
        for item in source.persona.items
        if item.app == "music"
        for name in ("song_name", "artist", "album_title")
        for word in letters(item.text(name))
    }


def _code(phone: str) -> str | None:
    digits = "".join(re.findall(r"\d", phone))
    if not phone.startswith("+") or len(digits) < 3:
        return None
    first, second, third = digits[0], digits[1], digits[2]
    if first in "17":
        return first
    return first + second + (third if first + second in _THREE_DIGITS else "")


def _plain(word: str) -> str:
    bare = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in bare if not unicodedata.combining(sign))


def _everybody() -> list[Person]:
    return [source.persona.person for source in sources()]


@cache
def _genders() -> dict[str, Gender]:
    said: dict[str, set[Gender]] = defaultdict(set)
    for person in _everybody():
        for contact in person.contacts:
            gender, words = gender_said(contact.relation), parts(contact.name)
            if gender and words:
                said[words[0]].add(gender)
    return {name: next(iter(found)) for name, found in said.items() if len(found) == 1}


@cache
def _pools() -> dict[str, _Pool]:
    names: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for person in _everybody():
        for contact in person.contacts:
            words, gender = parts(contact.name), gender_of(contact)
            if len(words) != 2 or any(word.casefold() in ordinary_words() for word in words):
                continue
            here = names[country(person.contacts)]
            here["family"].add(words[1])
            if gender:
                here[gender].add(words[0])
    return {
        code: _Pool(*(tuple(sorted(found[sort])) for sort in ("female", "male", "family")))
        for code, found in names.items()
        if code
    }
