"""The Google app: pages to open, by their addresses, and past searches.

Every API but `get_search_history` leaves an `open_url` record in the outbox; what the page says
is not read here.
"""

from datetime import date
from difflib import get_close_matches
from urllib.parse import quote as encoded
from urllib.parse import urlencode

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    alike,
    listing,
    moment_of,
    plain_words,
    quote,
    search,
    sends,
    title_of,
    when,
)
from ctrag.assistant.apps.said_places import (
    address_of_contact,
    place_of_event,
    said_mode,
    said_month,
    said_route,
    said_town,
)
from stores.people.changes import OutboxEntry

_TRAVEL_MODES = {
    "driving": "driving",
    "walking": "walking",
    "transit": "transit",
    "cycling": "bicycling",
}
_HOME = ("home", "my home", "my place", "my house", "my flat", "my apartment")
_WORK = ("work", "my work", "my workplace", "the office", "office", "my office")
# Language names and the codes of translate.google.com.
_CODES = """
    afrikaans af, albanian sq, amharic am, arabic ar, armenian hy, azerbaijani az, basque eu,
    belarusian be, bengali bn, bosnian bs, bulgarian bg, burmese my, cantonese yue, catalan ca,
    cebuano ceb, chinese zh-CN, chinese simplified zh-CN, chinese traditional zh-TW,
    simplified chinese zh-CN, traditional chinese zh-TW, croatian hr, czech cs, danish da,
    dutch nl, english en, esperanto eo, estonian et, farsi fa, filipino tl, finnish fi, flemish nl,
    french fr, galician gl, georgian ka, german de, greek el, gujarati gu, haitian creole ht,
    hausa ha, hebrew iw, hindi hi, hungarian hu, icelandic is, igbo ig, indonesian id, irish ga,
    italian it, japanese ja, javanese jw, kannada kn, kazakh kk, khmer km, kinyarwanda rw,
    korean ko, kurdish ku, lao lo, latin la, latvian lv, lithuanian lt, luxembourgish lb,
    macedonian mk, malagasy mg, malay ms, malayalam ml, maltese mt, mandarin zh-CN,
    mandarin chinese zh-CN, maori mi, marathi mr, mongolian mn, nepali ne, norwegian no,
    norwegian bokmal no, pashto ps, persian fa, polish pl, portuguese pt,
    brazilian portuguese pt, punjabi pa, quechua qu, romanian ro, russian ru, samoan sm,
    scottish gaelic gd, serbian sr, sesotho st, shona sn, sindhi sd, sinhala si, slovak sk,
    slovenian sl, somali so, spanish es, sundanese su, swahili sw, swedish sv, tagalog tl,
    taiwanese mandarin zh-TW, tajik tg, tamil ta, tatar tt, telugu te, thai th, tigrinya ti,
    turkish tr, twi ak, ukrainian uk, urdu ur, uzbek uz, vietnamese vi, welsh cy, xhosa xh,
    yiddish yi, yoruba yo, zulu zu
"""
_LANGUAGES = {
    name: code for name, _, code in (entry.strip().rpartition(" ") for entry in _CODES.split(","))
}
_VARIETIES = frozenset(
    "american argentinian austrian belgian british canadian castilian chilean colombian egyptian "
    "european latin lebanese mexican moroccan swiss syrian".split()
)
"""Where a variety of a language is spoken that is translated like the others."""
_ALIKE = 0.85
"""Similarity from which a name is one that was spelled wrong: "portugese"."""


def _language(name: str) -> str:
    """The known name of a language that is spelled wrong or of one country, else the name."""
    *where, last = name.split() or [""]
    if where and set(where) <= _VARIETIES and last in _LANGUAGES:
        return last
    near = [] if name in _LANGUAGES else get_close_matches(name[:40], _LANGUAGES, 1, _ALIKE)
    return near[0] if near else name


def translates_into(language: str) -> bool:
    """Whether a text is the name of a language that can be translated into."""
    return " ".join(plain_words(language)) in _LANGUAGES


def google_search(call: Call) -> Effect:
    """Opens a web search."""
    return _looks_up(call, "query", "web search", "https://www.google.com/search")


def google_image_search(call: Call) -> Effect:
    """Opens a search for pictures."""
    return _looks_up(call, "query", "pictures", "https://www.google.com/search", tbm="isch")


def google_news(call: Call) -> Effect:
    """Opens the news about a topic."""
    return _looks_up(call, "topic", "news", "https://news.google.com/search")


def google_shopping(call: Call) -> Effect:
    """Opens shops and prices."""
    return _looks_up(call, "product", "shopping", "https://www.google.com/search", tbm="shop")


def google_directions(call: Call) -> Effect:
    """Opens a route; `home` and `work` are the profile's addresses."""
    destination, origin = _place(call, "destination", "destination"), ""
    mode = said_mode(call, call.text("mode"))
    begins, ends = said_route(call.said)
    if begins and ends and alike(destination, [begins, ends], str):
        origin, destination = begins, ends
    query = {"api": "1", "destination": destination}
    if origin:
        query["origin"] = origin
    if mode:
        query["travelmode"] = _TRAVEL_MODES.get(mode, mode)
    start = f" from {quote(origin)}" if origin else ""
    what = f"directions{start} to {quote(destination)}{f' ({mode})' if mode else ''}"
    return _opens(call, what, "https://www.google.com/maps/dir/", query)


def google_nearby(call: Call) -> Effect:
    """Opens places of a kind around a place, or around where the person is."""
    category = call.text("category").strip()
    if call.text("near").strip():
        category = f"{category} near {_place(call, 'near', 'place')}"
    query = {"api": "1", "query": category}
    return _opens(call, f"places: {quote(category)}", "https://www.google.com/maps/search/", query)


def google_translate(call: Call) -> Effect:
    """Opens a translation out of whichever language the text is in."""
    language = call.text("target_language")
    name = " ".join(plain_words(language))
    code = _LANGUAGES.get(name) or (name if name in _LANGUAGES.values() else None)
    if code is None and (known := _language(name)) != name:
        language, code = known.capitalize(), _LANGUAGES[known]
    if code is None:
        raise Refusal(f"The language {quote(language)} is not supported.")
    query = {"sl": "auto", "tl": code, "text": call.text("text"), "op": "translate"}
    what = f"translation of {quote(call.text('text'))} into {language}"
    return _opens(call, what, "https://translate.google.com/", query)


def google_weather(call: Call) -> Effect:
    """Opens the forecast for a place, today or on a day."""
    place = said_town(call, _place(call, "location", "place"))
    day = call.day("date")
    words = f"weather {place}".rstrip() + (f" {day:%-d %B %Y}" if day else "")
    where = f"in {quote(place)}" if place else "where you are"
    what = f"weather {where} {_on(day) if day else 'today'}"
    return _opens(call, what, "https://www.google.com/search", {"q": words})


def google_flights(call: Call) -> Effect:
    """Opens flights between two cities, on a day or on any."""
    origin, destination = call.text("origin").strip(), call.text("destination").strip()
    begins, ends = said_route(call.said)
    if ends and not alike(destination, [ends], str) and alike(origin, [ends], str):
        # "to Lisbon in February": neither where it begins nor a month is the destination.
        origin, destination = begins or call.person.profile.city or "", ends
    day = call.day("date")
    month = "" if day else said_month(call)
    start = f"from {quote(origin)} " if origin else ""
    route = f"{start}to {quote(destination)}"
    if not (origin or ends) or not destination or alike(origin, [destination], str):
        raise Refusal(f"No flight is found {route}.")
    if day is not None and day < call.at.date():
        raise Refusal(f"No flight is found {route}: {day} is past.")
    words = f"flights from {origin} to {destination}" if origin else f"flights to {destination}"
    words += f" on {day}" if day else f" {month}" if month else ""
    what = f"flights {route}{f' {_on(day)}' if day else f', {month}' if month else ''}"
    return _opens(call, what, "https://www.google.com/travel/flights", {"q": words})


def get_search_history(call: Call) -> Effect:
    """Lists past searches, newest first, or those that share words with a query, best first."""
    query = call.text("query")
    if query.strip():
        found = search(call, "google", query)
    else:
        found = sorted(call.of("google"), key=moment_of, reverse=True)
    lines = [
        f"{quote(title_of(item))}, {when(moment_of(item), call.at)}"
        + (f", opened {quote(item.text('clicked'))}" if item.text("clicked") else "")
        for item in found
    ]
    fits = f" for {quote(query)}" if query.strip() else ""
    return Effect(listing(f"Searched{fits}:", lines, f"No past search{fits}."), tuple(found))


APIS = (
    google_search,
    google_image_search,
    google_news,
    google_directions,
    google_nearby,
    google_translate,
    google_weather,
    google_flights,
    google_shopping,
    get_search_history,
)


def _looks_up(call: Call, argument: str, kind: str, page: str, **query: str) -> Effect:
    words = call.text(argument).strip()
    return _opens(call, f"{kind}: {quote(words)}", page, {"q": words, **query})


def _opens(call: Call, what: str, page: str, query: dict[str, str]) -> Effect:
    if not call.online:
        raise Refusal(f"There is no network to open {what}.")
    url = f"{page}?{urlencode(query, quote_via=encoded)}"
    entry = OutboxEntry("open_url", None, {"url": url, "title": what})
    return sends(f"Opened {what}.\n{url}", f"Open {what}", [entry])


def _place(call: Call, argument: str, noun: str) -> str:
    """A place as Google finds it: the profile's address for `home` and `work`.

    Raises:
        Refusal: No place is named, or the profile does not have it.
    """
    named = call.text(argument).strip()
    profile = call.person.profile
    key = " ".join(plain_words(named))
    if key in _HOME or key in _WORK:
        address = profile.home if key in _HOME else profile.work
        if not address:
            raise Refusal(f"The {noun} {quote(named)} cannot be found: the profile has no address.")
        return f"{address}, {profile.city}" if profile.city else address
    if owner := address_of_contact(call, named):
        contact, address = owner
        if not address:
            raise Refusal(f"No postal address of {contact.name} is known to go to.")
        return address
    if named.casefold().split()[:1] in (["the"], ["my"], ["our"]) or named.islower():
        named = place_of_event(call, named) or named
    if not key:
        raise Refusal(f"The {noun} {quote(named)} cannot be found.")
    return named


def _on(day: date) -> str:
    return f"on {day:%a %-d %b %Y}"
