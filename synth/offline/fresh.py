"""Plain requests in which everything is said, and those that no API can do."""

from collections.abc import Iterator

from synth.offline.asking import Asking, phrases
from synth.offline.music import songs
from synth.offline.plain_words import pair
from synth.offline.wording import Word
from synth.provider import LabelledRequest

_WEIGHTS = {
    "create_reminder": 9, "create_event": 6, "create_note": 4, "google_search": 4,
    "google_weather": 3, "google_translate": 3, "google_news": 2, "google_nearby": 3,
    "google_directions": 2, "google_flights": 2, "google_shopping": 3, "google_image_search": 2,
    "play_artist": 2, "play_genre": 2, "play_song": 1, "play_album": 1, "send_mail": 5,
    "call_number": 2, "skip_song": 1, "pause_music": 1, "search_music": 1,
}  # fmt: skip
_MODES = {"by car": "driving", "by bike": "cycling", "by train": "transit", "on foot": "walking"}


def fresh(asking: Asking) -> Iterator[LabelledRequest]:
    """Orders with new values; endless."""
    draw = asking.draw
    while True:
        api = draw.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        try:
            made = _one(asking, api)
        except KeyError:  # a template's value is missing in this life
            continue
        if made is not None:
            yield made


def impossible(asking: Asking) -> Iterator[LabelledRequest]:
    """What no API can do; endless."""
    while True:
        asked = asking.soon()
        if asked is None:
            return
        try:
            text = asking.words.text(asking.draw.choice(phrases("new")["cannot"]))
        except KeyError:
            continue
        yield asking.made(text, asked, "", {}, [], kind="no_tool", level="cannot")


def _one(asking: Asking, api: str) -> LabelledRequest | None:
    asked = asking.soon()
    if asked is None:
        return None
    draw, words = asking.draw, asking.words.with_values({}, asked)
    gaps: dict[str, Word] = {}
    arguments: dict[str, str] = {}
    relevant, playing = [], None
    new = asking.later(asked, (7, 21))
    match api:
        case "create_reminder":
            gaps |= {"thing": words.text(_about(asking, "things")), "x": new}
            arguments = {
                "title": _title(str(gaps["thing"])),
                "due": new.written("iso", asked, draw),
            }
        case "create_event":
            event = words.text(_about(asking, "events"))
            gaps |= {"event": event, "x": asking.later(asked, _usual_hours(event))}
            new = gaps["x"]  # type: ignore[assignment]
            arguments = {
                "title": _title(str(gaps["event"])),
                "start": new.written("iso", asked, draw),
            }
        case "create_note":
            body = words.text(_from("bodies", asking))
            gaps["body"] = body
            arguments = {"title": _title(_short(body)), "body": body}
        case "google_weather":
            gaps |= {"place": words.text(draw.choice(("{city}", "{away}", "{away}"))), "x": new}
            arguments = {
                "location": str(gaps["place"]),
                "date": new.written("isodate", asked, draw),
            }
        case "google_flights":
            gaps |= {"place": _from("airports", asking), "x": new}
            if gaps["place"] == words.text("{city}"):
                return None
            arguments = {
                "origin": words.text("{city}"),
                "destination": str(gaps["place"]),
                "date": new.written("isodate", asked, draw),
            }
        case "google_translate":
            gaps |= {"phrase": _from("phrases", asking), "language": _from("languages", asking)}
            arguments = {"text": str(gaps["phrase"]), "target_language": str(gaps["language"])}
        case "google_nearby":
            gaps |= {"kind": words.text(_from("kinds", asking)),
                     "near": words.text(_from("places", asking))}  # fmt: skip
            arguments = {"category": str(gaps["kind"]), "near": str(gaps["near"])}
        case "google_directions":
            gaps["place"] = words.text(_from("places", asking))
            arguments = {"destination": str(gaps["place"])}
        case "send_mail":
            contact = next((one for one in asking.contacts() if one.email), None)
            if contact is None:
                return None
            template = draw.choice(phrases("new")["messages"]).replace("{his} ", "your ")
            said, written = pair(asking, asking.entries[0], template)
            gaps |= {"who": asking.who(contact), "said": said}
            arguments = {"to": contact.name, "subject": _title(_subject(written)), "body": written}
        case "call_number":
            number = str(asking.words.values.get("number", "")) or "555 0142"
            digits = number[:-2] + f"{draw.randint(10, 99)}"
            gaps["digits"] = digits
            arguments = {"number": digits}
        case "play_song" | "play_album":
            song = draw.choice(draw.choice(list(songs().values())))
            known = asking.of("music")
            own = draw.choice(known).item if known else None
            title = own.text("song_name") if own else song.name
            artist = own.text("artist") if own else song.artist
            album = own.text("album_title") if own else song.album
            if not album:
                return None
            relevant = [own] if own else []
            gaps |= {"song": title, "artist": artist, "album": album}
            arguments = {"song_name": title} if api == "play_song" else {"album_title": album}
        case "play_genre":
            genre = draw.choice(list(songs()))
            gaps["genre"] = genre.lower() if genre.isascii() and len(genre) > 3 else genre
            arguments = {"genre": str(gaps["genre"])}
        case "play_artist":
            known = asking.of("music")
            if not known:
                return None
            gaps["artist"] = draw.choice(known).item.text("artist")
            relevant = [one.item for one in known if one.item.text("artist") == gaps["artist"]]
            arguments = {"artist": str(gaps["artist"])}
        case "skip_song" | "pause_music":
            song_item = next(iter(asking.of("music")), None)
            if song_item is None:
                return None
            playing, relevant = song_item.item.id, [song_item.item]
            gaps["why"] = _from("why", asking)
        case _:
            key, pool, argument = _SIMPLE[api]
            gaps[key] = words.text(_from(pool, asking))
            arguments = {argument: str(gaps[key])}
    taken: list[str] = []
    text = words.with_values(gaps).text(draw.choice(phrases("phrases")[f"new {api}"]), taken)
    if api == "google_directions" and (mode := next((m for way, m in _MODES.items()
                                                     if way in text), None)):  # fmt: skip
        arguments["mode"] = mode
    if api == "play_song" and f" by {gaps['artist']}" in text:
        arguments["artist"] = str(gaps["artist"])
    if api == "skip_song":
        back = any(word in text for word in ("back", "previous", "before", "last"))
        arguments = {"direction": "previous" if back else "next"}
    return asking.made(
        text, asked, api, arguments, relevant, kind="explicit", level="new", playing=playing
    )


_SIMPLE = {
    "google_search": ("query", "queries", "query"),
    "google_news": ("topic", "topics", "topic"),
    "google_shopping": ("product", "products", "product"),
    "google_image_search": ("picture", "pictures", "query"),
    "search_music": ("mood", "moods", "query"),
}
"""API → gap of its phrases, words in `new.yaml`, argument."""


def _about(asking: Asking, pool: str) -> str:
    """Something to do or to attend; a third of it from this life's trade, hobby, child or pet."""
    options: dict[str, str] = phrases("new")[pool]  # type: ignore[assignment]
    own = [key for key in ("pet", "child", "hobby", "task") if key in asking.words.values]
    kind = "any"
    if own and asking.draw.random() < 0.4:
        kind = {"child": "schoolkid", "task": "trade"}.get(
            chosen := asking.draw.choice(own), chosen
        )
    return asking.draw.choice(options.get(kind, options["any"]).split(" / "))


def _from(pool: str, asking: Asking) -> str:
    options = str(phrases("new")[pool]).split(" / ")
    if asking.words.values.get("district") == asking.words.values.get("city"):  # no part of it
        options = [one for one in options if one != "{district}"] or options
    return asking.words.text(asking.draw.choice(options))


def _usual_hours(event: str) -> tuple[int, int]:
    """Between which hours such an event begins."""
    for words, hours in _HOURS.items():
        if any(word in event for word in words.split()):
            return hours
    return 9, 18


_HOURS = {
    "breakfast": (7, 10),
    "lunch barbecue": (12, 13),
    "dinner film poker quiz concert evening sauna": (18, 20),
}


def _title(text: str) -> str:
    text = text.strip().rstrip(".?!")
    return text[:1].upper() + text[1:]


def _subject(text: str) -> str:
    """A line that a mail may have above it: its first clause, whole where that is short."""
    clause = text.split(",")[0]
    return clause if len(clause.split()) <= 7 else _short(text)


def _short(text: str) -> str:
    """The first words of a text, without a dangling little one."""
    words = text.split(":")[0].split(",")[0].split()[:5]
    while len(words) > 1 and words[-1].lower() in _LITTLE:
        words.pop()
    return " ".join(words)


_LITTLE = frozenset(
    "the a an is at of to for in and on i'm be by your my it with from that".split()
)
