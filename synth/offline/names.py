"""Replacement names: same country, same gender, applied consistently.

Names come from the sources themselves. A name is kept when changing it could break a text: when
its gender is unknown, it is also an ordinary word, a nickname of it occurs, or an artist that the
person listens to has it.
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
"""With fewer names of a kind, a country's people keep their names."""
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


def gender_of_relation(relation: str) -> Gender | None:
    """The gender implied by a relation ("wife", "elder son"), or None."""
    gender: Gender | None = None
    for word in re.findall(r"[\w'’-]+", relation.split(",")[0].casefold()):
        gender = _WORDS.get(word.split("-")[0], gender)
    return gender


def new_names(source: SourcePerson, draw: random.Random) -> dict[str, str]:
    """Old name word → new name word, for one source."""
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
    """A full name typical of a country, of the gender implied by the relation, if any."""
    pool = _pools().get(code, _NOBODY)
    if len(pool.family) < _FEWEST or len(pool.female) < _FEWEST or len(pool.male) < _FEWEST:
        pool = _pools()["44"]
    first = pool.male if gender_of_relation(relation) == "male" else pool.female
    if gender_of_relation(relation) is None and draw.random() < 0.5:
        first = pool.male
    return f"{draw.choice(first)} {draw.choice(pool.family)}"


def country(contacts: Sequence[Contact]) -> str:
    """The most common country code of the contacts' numbers; "" without any."""
    codes = Counter(
        code for one in contacts if (code := _code(one.phone or "")) is not None
    ).most_common(1)
    return codes[0][0] if codes else ""


def gender_of(contact: Contact) -> Gender | None:
    """The gender implied by a contact's relation or first name, or None."""
    words = parts(contact.name)
    return gender_of_relation(contact.relation) or (known_gender(words[0]) if words else None)


def known_gender(first: str) -> Gender | None:
    """The gender of all relatives with that first name in the sources, or None if ambiguous."""
    return _genders().get(first)


def renamed_address(address: str | None, names: dict[str, str]) -> str | None:
    """A mail address with the names in it replaced."""
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
    """Words of the person's music, which contain other people's names."""
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
    genders: dict[str, set[Gender]] = defaultdict(set)
    for person in _everybody():
        for contact in person.contacts:
            gender, words = gender_of_relation(contact.relation), parts(contact.name)
            if gender and words:
                genders[words[0]].add(gender)
    return {name: next(iter(found)) for name, found in genders.items() if len(found) == 1}


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
