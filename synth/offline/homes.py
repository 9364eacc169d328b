"""How people tell where and with whom they live: the household, the home, the town."""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache

from stores.people.items import Contact
from synth.offline.countries import Gender
from synth.offline.trades import read_data

CLOSE = re.compile(
    r"^(?:elder |younger |twin |best |old |oldest |school |childhood )*(?:wife|husband|partner|"
    r"girlfriend|boyfriend|fiancée?|mother|father|mum|mom|mam|dad|sister|brother|son|daughter|"
    r"cousin|aunt|uncle|niece|nephew|grand\w+|flatmate|housemate|roommate|friend)\b(?!['’])"
)
"""Relations that one may live with."""
_ELSEWHERE = re.compile(
    r"(?P<kin>(?:elder |younger |twin )?(?:mother|father|sister|brother|son|daughter|grandmother|"
    r"grandfather|nephew|niece|aunt|uncle))(?:,)? in (?P<place>[A-ZÀ-Þ][\w’'-]*(?: [A-ZÀ-Þ]\w*)*)$"
)
_TOLD_MORE, _OF_KIN, _OF_THEIRS = 0.86, 0.6, 0.35
_COUNTRY, _NUMBER = 0.79, 0.25
"""How often a town comes with its country, and a street with its number."""
_PRONOUNS: dict[Gender, dict[str, str]] = {
    "female": {"he": "she", "his": "her", "him": "her"},
    "male": {"he": "he", "his": "his", "him": "him"},
}


def town_and_country(city: str, country: str, draw: random.Random) -> str:
    """The town, mostly with its country."""
    return city if city == country or draw.random() > _COUNTRY else f"{city}, {country}"


def street(home: str, draw: random.Random) -> str:
    """The home, mostly without the number of the house."""
    bare = re.sub(r"(?:(?<=^)\d+[A-Za-z]? |(?<=\w) \d+(?:/\d+)?[a-z]?)(?=$|,|\w)", "", home)
    whole = draw.random() < _NUMBER or not re.search(r"[^\W\d]{3}", bare)
    return home if whole else bare.strip(" ,")


def is_district(name: str) -> bool:
    """Whether it may be a part of a town: no street, and no house."""
    return not (re.search(r"\d", name) or len(name.split()) > 2 or _STREET.search(name))


def household(
    told: str,
    gender: Gender | None,
    contacts: Sequence[Contact],
    words: Mapping[str, str],
    draw: random.Random,
) -> str:
    """Who lives together, and something that is so only there.

    Args:
        told: Who lives there, in a few words; empty when nothing is known of it.
        gender: The owner's, None when nothing says it.
        contacts: The owner's; one who lives elsewhere may be told of.
        words: What `{away}`, `{month}` and `{early}` stand for.
        draw: Chooses.
    """
    if not told:  # who has a wife among the contacts does not live alone
        return _filled(draw.choice(_lines()["dwelling"]), words, draw)
    text = _with_whom(told, gender, draw)
    more = _beside(told, gender, contacts, draw) if draw.random() < _TOLD_MORE else ""
    if more:
        text = f"{text.rstrip('.')}; {_filled(more, words, draw)}"
    return text.rstrip(".") + ("." if draw.random() < 0.79 else "")


_STREET = re.compile(
    r"(?:^|\s)(?:road|street|lane|avenue|grove|close|row|drive|hill|strand|terrace|crescent|place|"
    r"rue|boulevard|quai|montée|traverse|via|viale|vico|calle|camino|rua|ulica|odos|sokak|caddesi|"
    r"pike|parsonage|priory|college|quarters|flat|house)\b|\s(?:st|rd|ave)\.?$"
    r"|(?:weg|straat|gracht|kade|laan|gade|vej|gatan|veien|vegen|gata|stra(?:ss|ß)e|gasse|platz|"
    r"katu|tie)$",
    re.IGNORECASE,
)
_NOT_WITH = re.compile(
    r"lives with|care home|abroad|every (?:other )?week|weekends?\b|visits|after school|retired|"
    r"pregnant|\bsailor|\bbees|preparing|studying|getting married|at university|"
    r"\bdue (?:in )?[A-Z]|in goals|in tenth|in the salon|offshore|on the way|with the bad"
)
"""What is told of somebody in a household and is nobody to live with."""


def _with_whom(told: str, gender: Gender | None, draw: random.Random) -> str:
    wed = re.match(r"(husband|wife) (\w+)(?:, (.*))?$", told)
    rest, _, last = told.rpartition(", ")
    named = rest and re.match(r"[a-z][^;]* [A-Z]", last) and not re.search(r"\d$|\band\b", told)
    joined = f"{rest} and {last}" if named else told
    whose = {"female": "her ", "male": "his "}.get(gender or "", "")
    if told == "alone":
        return "Lives alone" if draw.random() < 0.8 else "Single, lives alone"
    if told.startswith(("alone", "lives", "shares", "with ")):
        return told[:1].upper() + told[1:]
    if _NOT_WITH.search(told) and not told.startswith(("alone", "lives", "shares")):
        return told[:1].upper() + told[1:]
    if wed and draw.random() < 0.6:
        text = f"{draw.choice(('Married to', 'Married to', 'Lives with'))} {wed[2]}"
        return f"{text}, with {wed[3]}" if wed[3] else text
    if re.match(CLOSE, told):
        return f"{draw.choice(('Lives with', 'Lives with', 'Shares a flat with'))} {whose}{joined}"
    return told[:1].upper() + told[1:]


def _beside(
    told: str, gender: Gender | None, contacts: Sequence[Contact], draw: random.Random
) -> str:
    """A line on what else is so in a household; none with a pronoun where it is not known."""
    pronouns = _PRONOUNS.get(gender) if gender else None
    lines = list(_lines()["beside"])
    away = [(one, found) for one in contacts
            if (found := _ELSEWHERE.match(one.relation))
            and one.name.split()[0] not in told]  # fmt: skip
    kin = [line for line in _lines()["kin"] if pronouns or "{his}" not in line]
    chance = draw.random()
    if away and chance < _OF_KIN:
        one, found = draw.choice(away)
        line = draw.choice(kin).replace("{kin}", found["kin"]).replace("{place}", found["place"])
        line = line.replace("{who}", one.name.split()[0])
    elif told.startswith("alone") and chance < 0.7:
        line = draw.choice(_lines()["alone"])
    else:
        theirs = pronouns is not None and draw.random() < _OF_THEIRS
        line = draw.choice(_lines()["his"] if theirs else lines)
    for name, word in (pronouns or {}).items():
        line = line.replace(f"{{{name}}}", word)
    return line


def _filled(line: str, words: Mapping[str, str], draw: random.Random) -> str:
    def value(one: re.Match[str]) -> str:
        return words[one[1]] if one[1] in words else draw.choice(_lines()[one[1]])

    return re.sub(r"\{(\w+)\}", value, line)


@cache
def _lines() -> dict[str, tuple[str, ...]]:
    raw: dict[str, str] = read_data("homes.yaml")
    return {
        name: tuple(text.strip().splitlines() if "\n" in text else text.split(" / "))
        for name, text in raw.items()
    }
