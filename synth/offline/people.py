"""A new person from a source: other names and dates, preferences, more contacts."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

from stores.people.dataset import Persona
from stores.people.items import Contact, Person, Profile
from synth.offline.dates import movable
from synth.offline.life import hobbies
from synth.offline.names import country, name_like, new_names
from synth.offline.rewriting import Rewriter
from synth.offline.sources import SourcePerson, fingerprint, letters, sources, texts_of

_YEARS = (-1, 0, 1)
_WEEKS = (-3, -2, -1, 0, 1, 2, 3)
_FIRST, _LAST = date(2023, 1, 1), date(2027, 12, 31)
_CONTACTS = (6, 7, 8, 9)
_ACQUAINTANCES = (
    "dentist|hairdresser|neighbour|upstairs neighbour|colleague|cousin|old school friend|landlord|"
    "landlady|mechanic|accountant|babysitter|gym friend|vet|doctor|godmother|former flatmate|"
    "book club friend|piano teacher|electrician|colleague in the next room|friend from the course|"
    "neighbour's daughter|holiday friend|tenant|tailor|driving instructor|caretaker"
).split("|")


def random_rewriter(source: SourcePerson, draw: random.Random) -> Rewriter:
    """A random rewriting of a source: other names, the same weekday and season of another year."""
    names = new_names(source, draw)
    days = 0
    if all(movable(text) for text in texts_of(source)):
        start = source.persona.person.now.date()
        options = [
            364 * year + 7 * week
            for year in _YEARS
            for week in _WEEKS
            if _FIRST <= start + timedelta(days=364 * year + 7 * week) <= _LAST
        ]
        days = draw.choice(options)
    return Rewriter(source.persona, names, days)


def completed(person: Person, source: SourcePerson, draw: random.Random) -> Person:
    """The person with missing preferences and time zone filled in, and acquaintances added."""
    profile = person.profile
    around = _around(country(person.contacts))
    genres = Counter(one.text("genre") for one in source.persona.items if one.app == "music")
    genre = genres.most_common(1)[0][0] if genres else _any(around["favorite_music_genre"], draw)
    age = profile.age
    return replace(
        person,
        profile=replace(
            profile,
            age=age + draw.choice((-1, 0, 1)) if age and age > 20 else age,
            timezone=profile.timezone or _any(around["timezone"], draw, sure=True),
            favorite_music_genre=profile.favorite_music_genre or genre,
            favorite_movie_genre=profile.favorite_movie_genre
            or _any(around["favorite_movie_genre"], draw),
            favorite_cuisine=profile.favorite_cuisine or _any(around["favorite_cuisine"], draw),
            favorite_sport=profile.favorite_sport or _any(around["favorite_sport"], draw),
            hobbies=profile.hobbies or tuple(draw.sample(hobbies(), 3)),
        ),
        contacts=(*person.contacts, *_acquaintances(person, source, draw)),
    )


def recognise(persona: Persona) -> tuple[SourcePerson, Rewriter] | None:
    """The source that a persona was made from and how it was rewritten, or None."""
    votes = Counter(
        place for item in persona.items for place in _by_fingerprint().get(fingerprint(item), ())
    )
    if not votes:
        return None
    place, count = votes.most_common(1)[0]
    source = sources()[place]
    old, new = source.persona.person, persona.person
    if count < 3 or len(new.contacts) < len(old.contacts):
        return None
    pairs = [(old.profile.name, new.profile.name)]
    pairs += [
        (one.name, other.name) for one, other in zip(old.contacts, new.contacts, strict=False)
    ]
    names: dict[str, str] = {}
    for before, after in pairs:
        if len(letters(before)) != len(letters(after)):
            return None
        names |= {
            one: other
            for one, other in zip(letters(before), letters(after), strict=True)
            if one != other
        }
    return source, Rewriter(source.persona, names, (new.now.date() - old.now.date()).days)


def _acquaintances(person: Person, source: SourcePerson, draw: random.Random) -> list[Contact]:
    """Further contacts that none of the source's texts could refer to."""
    mentioned = {word.casefold() for text in texts_of(source) for word in letters(text)}
    mentioned |= {word.casefold() for one in person.contacts for word in letters(one.relation)}
    mentioned |= {word.casefold() for one in person.contacts for word in letters(one.name)}
    relations = [one for one in _ACQUAINTANCES if not set(letters(one)) & mentioned]
    draw.shuffle(relations)
    code = country(person.contacts)
    found: list[Contact] = []
    for relation in relations[: max(0, draw.choice(_CONTACTS) - len(person.contacts))]:
        name = name_like(code, relation, draw)
        words = {word.casefold() for word in letters(name)}
        if words & mentioned:
            continue
        mentioned |= words
        number = f"{draw.randint(100, 999)} 555 0{draw.randint(100, 199)}"
        address = ".".join(word for word in name.casefold().split() if word.isascii())
        phone = f"+{code or 1} {number}"
        found.append(Contact(name, relation, phone, f"{address or 'me'}@mail.example"))
    return found


def _any(known: list[str], draw: random.Random, *, sure: bool = False) -> str | None:
    """One of the values; with `sure`, only if most of them agree."""
    if not known:
        return None
    if sure:
        value, count = Counter(known).most_common(1)[0]
        return value if 2 * count > len(known) else None
    return draw.choice(known)


@cache
def _around(code: str) -> dict[str, list[str]]:
    """Values of profiles from the same country; of all countries if none, except time zones."""
    found: dict[str, list[str]] = defaultdict(list)
    every: dict[str, list[str]] = defaultdict(list)
    for source in sources():
        person = source.persona.person
        for name in Profile.__dataclass_fields__:
            if not (name.startswith("favorite") or name == "timezone"):
                continue
            value = getattr(person.profile, name)
            if value:
                every[name].append(value)
                if country(person.contacts) == code:
                    found[name].append(value)
    return {
        name: found[name] or ([] if name == "timezone" else values)
        for name, values in every.items()
    }


@cache
def _by_fingerprint() -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = defaultdict(list)
    for source in sources():
        for item in source.persona.items:
            found[fingerprint(item)].append(source.position)
    return {print_: tuple(places) for print_, places in found.items() if len(places) < 5}
