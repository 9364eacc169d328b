"""A life: where somebody lives, with whom, of what, and whom they know. Items follow from it."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from ctrag.assistant.apps.lookup import plain_words
from stores.people.items import Contact, Profile
from synth.offline.acquaintances import Acquaintance
from synth.offline.addressing import gender_in
from synth.offline.countries import Country, Gender, Town, countries
from synth.offline.household import Household, founded, with_detail
from synth.offline.trades import Trade, drawn_hobbies, drawn_trade, read_data
from synth.offline.wording import Words, tidy

_GENRES = (
    "Comedy Thriller Drama Documentary Western Musical Fantasy Horror Romance Animation".split()
)
_SPORTS = (
    "Football", "Tennis", "Basketball", "Cycling", "Swimming", "Athletics", "Handball",
    "Formula 1", "Boxing", "Rugby", "Cricket", "Volleyball", "Skiing", "Table tennis", "Judo",
)  # fmt: skip
_MILK = ("oat milk", "milk", "bread", "coffee", "butter", "tea", "nappies", "cat litter")
_SAINTS = ("Anna", "Martin", "Luke", "Clara", "Joseph", "Helena", "Michael", "Agnes", "George")
_HIDDEN = ("washing machine", "blue door", "stairs", "shelf in the hall", "kitchen panel")
_PLAIN = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss",
                        "ı": "i", "æ": "ae", "Æ": "Ae"})  # fmt: skip
"""Letters that are not a letter with an accent."""
_FRIENDS = (
    "old school friend", "best friend", "friend", "friend since the course", "friend in {away}",
    "friend from the choir", "friend from the old job", "friend, new in {city}", "oldest friend",
    "university friend", "friend from the playground", "friend, godparent", "childhood friend",
)  # fmt: skip
_NEIGHBOURS = (
    "neighbour", "upstairs neighbour", "neighbour across the landing", "neighbour, plays the cello",
    "neighbour, has the spare key", "downstairs neighbour", "neighbour, feeds everybody's plants",
    "neighbour from number 9", "neighbour, retired", "new neighbour",
)  # fmt: skip
_PROVIDERS = ("mail.example", "post.example", "inbox.example")


@dataclass(slots=True)
class Life:
    """One person's life."""

    country: Country
    town: Town
    gender: Gender
    first: str
    last: str
    now: datetime
    profile: Profile
    household: Household
    trade: Trade
    words: Words
    circle: dict[str, Acquaintance] = field(default_factory=dict)
    """By role."""
    tags: frozenset[str] = frozenset()
    own_words: Mapping[str, str] = field(default_factory=dict)
    """English names of lists, folders and playlists → the person's language."""

    def in_own_words(self, name: str) -> str:
        """A list's or folder's name as this person writes it."""
        return self.own_words.get(name, name)

    def meet(
        self,
        key: str,
        relation: str,
        *,
        gender: Gender | None = None,
        last: str | None = None,
        form: str = "",
        called: str = "",
        first: str | None = None,
    ) -> Acquaintance:
        """The one in that role, who joins the circle when nobody has it yet.

        Args:
            key: The role.
            relation: As the contact says it.
            gender: Drawn when None.
            last: Surname; drawn when None.
            form: The contact's name with `{first}` and `{last}`; the whole name when empty.
            called: What the person calls them; the first name when empty.
            first: First name; drawn when None.
        """
        if key in self.circle:
            return self.circle[key]
        draw = self.words.draw
        either: tuple[Gender, ...] = ("female", "male")
        told = gender or gender_in(relation)
        sex: Gender = draw.choice(either) if told is None else told
        taken = {one.first for one in self.circle.values()} | {self.first}
        options = [one for one in _usual(self.country.firsts[sex], draw) if one not in taken]
        first = first or draw.choice(options or self.country.firsts[sex])
        known = {self.last, f"{first}s", first, *(one.last for one in self.circle.values())}
        usual = _usual(self.country.lasts[sex], draw)
        others = [one for one in usual if one not in known] or usual
        last = last or draw.choice(others)
        name = form.format(first=first, last=last) if form else self.country.full(first, last)
        numbers = {one.contact.phone for one in self.circle.values()}
        contact = Contact(
            name=name,
            relation=relation,
            phone=next(filter(lambda one: one not in numbers, self._numbers())),
            email=_address(first, last, draw) if draw.random() < 0.88 else None,
        )
        taken_names = {one.contact.name for one in self.circle.values()}
        if contact.name in taken_names:
            return self.meet(key, relation, gender=sex, form=form, called=called)
        found = Acquaintance(key, contact, first, last, sex, called or _called(form, first, last))
        self.circle[key] = found
        self.words.values[key] = found
        return found

    def _numbers(self) -> Iterator[str]:
        while True:
            yield self.country.number(self.town, self.words.draw)


def born(draw: random.Random, home: str | None = None) -> Life:
    """A new life.

    Args:
        draw: Chooses.
        home: The country's name; drawn when None.
    """
    every = [one for one in countries() if home in (None, one.name)]
    country = draw.choices(every, [one.weight for one in every])[0]
    town = draw.choice(country.towns)
    gender: Gender = draw.choice(("female", "male"))
    first = draw.choice(_usual(country.firsts[gender], draw))
    last = draw.choice(_usual(country.lasts[gender], draw))
    age = draw.choices((19, 24, 30, 38, 46, 55, 64, 73), (5, 9, 17, 19, 17, 15, 10, 8))[0]
    age += draw.randint(-1, 6)
    trade = drawn_trade(age, draw)
    hobbies = drawn_hobbies(draw)
    household = founded(age, draw)
    day = date(2023, 9, 1) + timedelta(days=draw.randrange(900))
    hour = draw.choice((7, 8, 9, 12, 13, 16, 17, 18, 19, 20, 20, 21))
    now = datetime(day.year, day.month, day.day, hour, draw.randrange(60))
    district = draw.choice(town.districts)
    words = Words(draw)
    home = country.address.format(
        n=draw.randint(2, 140), street=draw.choice(town.streets), district=district
    )
    profile = Profile(
        name=country.full(first, last),
        age=age,
        city=town.name,
        timezone=town.timezone,
        home=home,
        favorite_music_genre=draw.choice(country.music),
        favorite_movie_genre=draw.choice(_GENRES),
        favorite_cuisine=draw.choice(country.food),
        favorite_sport=draw.choice(_SPORTS),
        hobbies=tuple(one.name for one in hobbies),
    )
    life = Life(country, town, gender, first, last, now, profile, household, trade, words)
    if draw.random() < 0.5:
        life.own_words = read_data("lists.yaml").get(country.language, {})
    if trade.old:  # what is work for others
        life.own_words = {**life.own_words, "Work": "Club"}
    words.values |= {
        "me": first,
        "city": town.name,
        "district": district,
        "street": f"{draw.choice(town.streets)} {draw.randint(1, 90)}"
        if country.clock == 24
        else f"{draw.randint(1, 90)} {draw.choice(town.streets)}",
        "food": profile.favorite_cuisine or "Italian",
        "film": (profile.favorite_movie_genre or "drama").lower(),
        "sport": (profile.favorite_sport or "football").lower(),
        "away": draw.choice(country.away),
        "milk": draw.choice(_MILK[:6]),
        "saint": draw.choice(_SAINTS),
        "country": country.name,
        "month": f"{now:%B}",
        "someone": draw.choice(_usual(country.firsts["female"], draw)),
        "someone2": draw.choice(_usual(country.firsts["male"], draw)),
        "surname": draw.choice(_usual(country.lasts["male"], draw)),
        "last": draw.choice(_usual(country.lasts["male"], draw)),
        "place_in_house": draw.choice(_HIDDEN),
        "gift2": draw.choice(("a lamp", "a puzzle", "wool socks", "theatre tickets", "a fern")),
        "q": draw.choice(("?", "", "...")),
        **trade.words(draw),
    }
    _settle(life, draw)
    work = tidy(words.text(trade.place)) if trade.place else None
    words.values["work_short"] = (work or "the club").split(",")[0]
    told = with_detail(_told(life), life.words, household)
    life.profile = replace(profile, profession=trade.title, work=work, household=told)
    life.tags = frozenset(
        {*household.tags, *life.circle, "trade", *(("retired",) if trade.old else ())}
        | ({"adult"} if age >= 18 else set())
        | ({"car"} if draw.random() < 0.5 else set())
        | {"home"}
        | ({"owner"} if draw.random() < 0.3 else set())
    )
    return life


def _settle(life: Life, draw: random.Random) -> None:
    """Family, friends and colleagues."""
    country, house = life.country, life.household
    other: Gender = "male" if life.gender == "female" else "female"

    def kin(relation: str, gender: Gender) -> str | None:
        alike = not country.gendered or gender == life.gender
        return life.last if alike and draw.random() < 0.7 else None

    if house.partner:
        gender = other if draw.random() < 0.93 else life.gender
        relation = ("wife" if gender == "female" else "husband") if house.married else "partner"
        life.meet("partner", relation, gender=gender, last=kin(relation, gender))
    for number, age in enumerate(house.children):
        gender = draw.choice(("female", "male"))
        key = "baby" if age < 2 else "child" if number == 0 else f"child{number}"
        name = draw.choice(_usual(country.firsts[gender], draw))
        if age >= 14:
            known = life.meet(key, "daughter" if gender == "female" else "son", gender=gender,
                              last=life.last if not country.gendered else None)  # fmt: skip
            name = known.first
        life.words.values[key] = name
        house.names.append(name)
        if key == "child":
            life.words.values["childage"] = str(age)
    parent: Gender = "female"
    relation = "mother"
    if (life.profile.age or 0) < 66 and draw.random() < 0.75:
        said = country.kin[relation]
        form = said if draw.random() < 0.3 else ""
        where = draw.choice(("", "", "", f" in {life.words.values['away']}"))
        life.meet("mother", relation + where, gender=parent, last=kin(relation, parent), form=form,
                  called=said)  # fmt: skip
    if (life.profile.age or 0) < 35 and draw.random() < 0.45:
        relation, old = "grandmother", parent
        said = country.kin[relation]
        first = draw.choice(_usual(country.firsts[old], draw))
        life.meet("grandparent", relation, gender=old, first=first, form=f"{said} {{first}}",
                  called=said)  # fmt: skip
    if draw.random() < 0.55:
        gender = draw.choice(("female", "male"))
        relation = "sister" if gender == "female" else "brother"
        away = f" in {life.words.values['away']}"
        where = draw.choice(("", "", away, ", the younger one", ", twin"))
        life.meet("sibling", relation + where, gender=gender, last=kin(relation, gender))
    life.meet("friend", life.words.text(draw.choice(_FRIENDS)))
    life.meet("neighbour", draw.choice(_NEIGHBOURS))
    for key, relation in life.trade.roles.items():
        if key == "boss" or draw.random() < 0.8:
            life.meet(key, relation)
    values = life.words.values
    values["sibling_or_friend"] = life.circle.get("sibling", life.circle["friend"])
    values["partner_or_mother"] = life.circle.get(
        "partner", life.circle.get("mother", life.circle["friend"])
    )
    values["friend_first"] = life.circle["neighbour"].first
    values["number"] = country.number(life.town, draw)
    if house.pet:
        values["pet"], values["animal"] = house.pet


def _told(life: Life) -> str:
    """The household in a few words."""
    draw, house = life.words.draw, life.household
    who: list[str] = []
    if "partner" in life.circle:
        partner = life.circle["partner"]
        who.append(f"{partner.contact.relation} {partner.first}")
    children = list(zip(house.names, house.children, strict=True))
    if children:
        named = [f"{name} ({age})" if age else f"{name} (a baby)" for name, age in children]
        joined = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        who.append(joined)
    if house.with_parents:
        who.append(draw.choice(("parents", "her parents" if life.gender == "female" else
                                "his parents")))  # fmt: skip
    if house.flatmates:
        who.append(draw.choice(("two flatmates", "one flatmate", "three flatmates")))
    if house.pet:
        who.append(f"{house.pet[1]} {house.pet[0]}")
    if not who:
        return draw.choice(("Lives alone.", "alone", "Alone, and likes it.", "lives by " +
                            ("herself" if life.gender == "female" else "himself")))  # fmt: skip
    text = "; ".join(who) if draw.random() < 0.5 else ", ".join(who)
    return draw.choice((text, f"Lives with {', '.join(who)}.", f"With {', '.join(who)}."))


def _called(form: str, first: str, last: str) -> str:
    """What somebody with that form of name is called: "Dr Okoro" as written, else the first."""
    return form.format(first=first, last=last) if form.startswith("Dr ") else first


def _usual(names: tuple[str, ...], draw: random.Random) -> list[str]:
    """Some of the names, the first ones more often: a name's rank is its frequency."""
    size = min(len(names), draw.choice((40, 120, 400)))
    return list(names[:size])


def _address(first: str, last: str, draw: random.Random) -> str:
    one, other = ("".join(plain_words(word.translate(_PLAIN))) for word in (first, last))
    local = draw.choice((f"{one}.{other}", f"{one[:1]}.{other}", f"{one}{other[:1]}", one))
    return f"{local}@{draw.choice(_PROVIDERS)}"
