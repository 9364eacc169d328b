"""What is looked for and what is to be translated, as one would type it."""

import re
from collections.abc import Mapping

from ctrag.assistant.planning.genres import said_genre
from ctrag.assistant.planning.plan import Value
from ctrag.text.words import telling_words, words
from ctrag.toolbox import Tool

_HOW = re.compile(r"^how\s+(?:do\s+|can\s+|should\s+)?(?:you|i|we|one)\s+(?=[a-z])", re.IGNORECASE)
_HOW_SAID = re.compile(r"^how\s+(?:do|can|should|did|does)\b", re.IGNORECASE)
_SAY_IN = re.compile(
    r"^\W*(?:\w+\W+){0,4}?how\s+(?:do|would|can|does)\s+(?:you|i|we|one)\s+say\b", re.I
)
_FRAME = frozenset(
    """
    hey yo ok okay please pls so um uh find me get look up for search play show some something any
    anything new news headlines latest the a an about on of from stuff things what what's whats is
    are in there give read tell us i want need can you could music catalogue songs by to hear
    """.split()
)
_HEADS = frozenset(
    "shop store place station court centre center office market school clinic recipe recipes prices"
    " price reviews repair studio".split()
)
"""Nouns that by themselves say little of what is looked for."""
_ANY_ONE = frozenset(
    """
    nearest closest good decent nice cheap cheapest best great proper easy quick simple open nearby
    local another this that which there with near and or my our your his her their at by one next
    every no last first old new it's whats check where where's when how much does do cost give out
    """.split()
)
_TYPED = ("google_news", "search_music")
_WEATHER = re.compile(r"^(?:the\s+)?(?:weather|forecast)\s+(?:(?:in|for|at|of)\s+)?", re.IGNORECASE)
_DAY = (
    r"(?:today|tonight|tomorrow|tmrw|now|this|next|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)"
    r"(?:day)?\b"
)
_NO_PLACE = (
    r"(?:in|for|at|of|on|by|like|is|the|a|an|here|home|outside|app|radar|map|hourly|daily|later|updates?|news|weekend|alert|warning|report|please|forecast|weather"
    rf"|check|what|whats|what's|how|hows|how's|any|my|local|good|bad(?=\s+(?:weather|forecast))|{_DAY})\b"
)
_CLIPPED_WEATHER = re.compile(
    rf"\W*(?:(?:weather|forecast)\s+(?!{_NO_PLACE})(?P<behind>[^\W\d][\w'’-]+(?:\s(?!{_NO_PLACE})[^\W\d][\w'’-]+){{0,2}})"
    rf"|(?!{_NO_PLACE})(?P<ahead>[^\W\d][\w'’-]+(?:\s(?!{_NO_PLACE})[^\W\d][\w'’-]+){{0,1}})\s(?:weather|forecast))"
    rf"(?:,?\s(?:on\s|for\s)?{_DAY}.*)?\W*",
    re.IGNORECASE,
)
"""All of "weather leith sat": typed without "in"."""
_TO_PARK = re.compile(
    r"\b(?:(?:some|any)?where|(?:a )?(?:place|spot|space)s?) (?:to|(?:i|we|you|one) (?:can|could)"
    r"|(?:can|could) (?:i|we|you|one)) park\b"
    r"|\bpark (?:the|my|our|a) (?:car|van|bike|truck|motorbike|scooter)\b",
    re.IGNORECASE,
)
"""Where a car is left, no garden: "somewhere to park near there"."""
_COSTS = re.compile(
    r"\b(?:what|how\s+much)\s+(?:would|does|do|will|is|are)\s+(?:(?:a|an|the)\s+)?(?P<what>[^,.;:!?]{2,60}?)"
    r"\s+(?:cost|go\s+for|sell\s+for|set\s+me\s+back)\b",
    re.IGNORECASE,
)
_ANYTHING = re.compile(
    r"^(?:anything|something|stuff|some)\s+(?:(?:by|from|of)\s+)?", re.IGNORECASE
)
_LONGEST_TITLE = 8
_SHORT = 7
"""Words of a request at most that is typed like a search."""


def as_searched(tool: Tool, arguments: Mapping[str, Value], request: str) -> dict[str, Value]:
    """Texts of a tool that reads, with the words that were meant for it and no others.

    Args:
        tool: The tool that is called.
        arguments: Its arguments.
        request: What was said.
    """
    if tool.effect != "read":
        return {}
    found: dict[str, Value] = {}
    for name in ("query", "topic"):
        text = arguments.get(name)
        if isinstance(text, str) and tool.arguments_by_name[name].match == "text":
            typed = tool.api in _TYPED
            text = _whole_noun(_ANYTHING.sub("", text) or text, request)
            found[name] = _whole_search(text, request) if typed else _how_to(text)
    text = arguments.get("text")
    if isinstance(text, str) and _SAY_IN.search(request):
        found["text"] = text = _first_sentence(text, request)
    language = arguments.get("target_language")
    if isinstance(text, str) and isinstance(language, str):
        ending = rf"\s(?:in|into|to)\s{{1,3}}{re.escape(language)}\W{{0,3}}$"
        bare = re.sub(ending, "", text, flags=re.IGNORECASE).strip()
        found["text"] = bare or text
    return found


def named_whole(tool: Tool, arguments: Mapping[str, Value], request: str) -> dict[str, Value]:
    """Names of what is played, bought or asked about, in whole and without what is not theirs.

    "Anarchy in the U.K. by the Sex Pistols" is a title and an artist, whichever part of it was read
    as the title; "weather Hove" is no town.

    Args:
        tool: The tool that is called.
        arguments: Its arguments.
        request: What was said.
    """
    found: dict[str, Value] = {}
    artist = arguments.get("artist")
    for name in ("song_name", "album_title"):
        title = arguments.get(name)
        if isinstance(title, str) and isinstance(artist, str):
            found[name] = _title_by(title, artist, request)
    if isinstance(artist, str) and artist.startswith("the "):
        found["artist"] = artist.removeprefix("the ")
    category = arguments.get("category")
    if isinstance(category, str):
        found["category"] = _whole_noun(category, request)
        if words(category) == ["park"] and _TO_PARK.search(request):
            found["category"] = "parking"
    genre = arguments.get("genre")
    if isinstance(genre, str) and not set(words(genre)) & set(words(request)):
        found |= {"genre": said} if (said := said_genre(request)) else {}
    location, product = arguments.get("location"), arguments.get("product")
    if tool.api == "google_weather" and isinstance(location, str):
        found["location"] = _WEATHER.sub("", location) or location
        clipped = _CLIPPED_WEATHER.fullmatch(request)
        if clipped and not set(words(location)) & set(words(request)):
            place = clipped["behind"] or clipped["ahead"]
            if clipped["behind"] or place[0].isupper():  # "cold weather" is nowhere
                found["location"] = place.title() if place.islower() else place
    if tool.api == "google_shopping" and isinstance(product, str):
        asked = _COSTS.search(request)
        if asked and set(words(product)) < set(words(asked["what"])):
            found["product"] = asked["what"]
    return found


def _whole_noun(name: str, request: str) -> str:
    """ "shop" of "any print shop near the quay" is a print shop, "recipe" of "a good lentil stew
    recipe" one for lentil stew."""
    if name.casefold() not in _HEADS:
        return name
    found = re.search(
        rf"(?P<before>(?:[^\W\d][\w'’-]{{0,20}}\s){{1,3}}){re.escape(name)}\b", request, re.I
    )
    if found is None:
        return name
    kept: list[str] = []
    for word in reversed(found["before"].split()):
        if word.casefold() in _FRAME | _ANY_ONE:
            break
        kept.insert(0, word)
    return " ".join([*kept, name])


def _title_by(title: str, artist: str, request: str) -> str:
    name = re.sub(r"^the\s+", "", artist, flags=re.IGNORECASE)
    left = re.sub(rf"\s+(?:of|by|from)\s+(?:the\s+)?{re.escape(name)}$", "", title, flags=re.I)
    whole = re.search(
        rf"\b(?:play|put\s+on|hear|listen\s+to|start|queue)\s+(?:me\s+)?(?:the\s+(?:song|album|track)\s+)?"
        rf"(?P<title>[^,;:!?]{{1,60}}?)\s+(?:by|from)\s+(?:the\s+)?{re.escape(name)}\b",
        request,
        re.IGNORECASE,
    )
    if whole and 0 < len(words(left)) < len(words(whole["title"])) <= _LONGEST_TITLE:
        size = len(words(left))
        if words(whole["title"])[:size] == words(left):
            return whole["title"]
    return left or title


def _how_to(text: str) -> str:
    """ "how you bleed a radiator" is looked for as "how to bleed a radiator"."""
    return text if _HOW_SAID.match(text) else _HOW.sub("how to ", text)


def _whole_search(text: str, request: str) -> str:
    """The search with the words beside it, in a request that is typed like one: "cricket news
    england australia" looks for no other cricket."""
    said = request.split()
    if len(said) > _SHORT or set(words(text)) <= _FRAME:
        return text
    kept = [one.strip("\"'“”.,!?;:") for one in said]
    kept = [one for one in kept if one and not set(words(one)) - {"s"} <= _FRAME]
    have, there = set(words(text)), {word for one in kept for word in words(one)}
    missing = there - have
    if not missing or not have & there or not telling_words(" ".join(missing)):
        return text
    return " ".join(kept)


def _first_sentence(text: str, request: str) -> str:
    """Of "how do you say in Korean, where is the bank? I have a client here" the question alone."""
    asked = re.split(r"(?<=[?!.])\s+", request.strip())
    if len(asked) < 2 or not asked[0].endswith("?") or '"' in request or "“" in request:
        return text
    inside = set(words(asked[0]))
    parts = re.split(r"(?<=[?!.])\s+", text)
    kept = [one for one in parts if set(words(one)) <= inside]
    return " ".join(kept) if kept and len(kept) < len(parts) else text
