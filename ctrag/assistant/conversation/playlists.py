"""Follow-ups to music that are about a playlist or an artist: "the whole list it's in", "put
Lola on there too", "more by her"."""

import re

from ctrag.assistant.conversation.phrases import best_named
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.text.words import telling_words, words
from stores.people.items import Item

_WHOLE_LIST = re.compile(
    r"(?:(?:play|put on|i (?:meant|mean)|just|now|let me hear|give)\s+)*(?:me\s+)?(?:the|that|its)"
    r"\s+(?:whole |full |entire )?(?:list|playlist)"
    r"(?:\s+(?:it'?s|it is|that'?s|that is)?\s*(?:in|on|from|off|it(?:'s| is)? (?:in|on|from)))?",
    re.I,
)
_MORE = re.compile(
    r"(?:(?:play|give|put on|let me hear)\s+)?(?:me\s+)?(?:some(?:thing)? )?(?:more|else|others?)"
    r"(?: (?:songs?|music|stuff|things?))?\s+(?:by|of|from)\s+"
    r"(?:him|her|them|this (?:one|artist|band)|that (?:one|artist|band)|the same(?: \w+)?)",
    re.I,
)
_THERE = re.compile(
    r"(?:put|add|stick|pop|save)\s+(?!it\b|this\b|that\b)(?P<song>.+?)\s+(?:on|in|to|into|onto)\s+"
    r"(?:there|it|that list|the list|the same(?: list| one)?|the playlist)(?: (?:too|also"
    r"|as well))*",
    re.I,
)
_LIST_FOR = re.compile(
    r"(?P<lead>.*?)\b(?:the|my|our)\s+(?P<name>(?:whole\s+)?[\w'’ -]+?)??\s*\b(?P<kind>list"
    r"|playlist|one)"
    r"(?:\s+(?:for|called|of|with)\s+(?P<for>.+))?(?:\s+(?:after|instead|today|tonight)\b.*)?",
    re.I,
)
_LEADS = re.compile(
    r"(?:(?:play|put on|try|no|not|i'?d|i|would|rather|have|want|meant|mean|prefer|hear|me|let|to"
    r"|like|just|instead|that'?s [\w ]+|it'?s [\w ]+|is|a)[\s,]*)*",
    re.I,
)
_NOTHING = frozenset("whole full entire list playlist songs when for night like".split())


def of_song(scene: Scene, song: Item | None) -> Reading | None:
    """ "I meant the whole list it's in": the playlist of the song, or the one that was added to."""
    if not _WHOLE_LIST.fullmatch(scene.core.rstrip("!. ")):
        return None
    name = scene.last.plan.arguments.get("playlist_name") or (song.text("playlist") if song else "")
    return scene.call("play_playlist", song, playlist_name=str(name)) if name else None


def more_of_artist(scene: Scene, song: Item | None) -> Reading | None:
    """ "more by her": the artist of the song."""
    if song is None or not _MORE.fullmatch(scene.core.rstrip("!. ")) or not song.text("artist"):
        return None
    return scene.call("play_artist", song, artist=song.text("artist"))


def put_there(scene: Scene) -> Reading | None:
    """ "put Lola in there too": into the playlist that was played or added to last."""
    found = _THERE.fullmatch(scene.core.rstrip("!. "))
    name = scene.last.plan.arguments.get("playlist_name")
    if found is None or not isinstance(name, str):
        return None
    songs = [one for one in scene.view.items if one.app == "music"]
    wanted = words(found["song"])
    exact = next((one for one in songs if words(one.text("song_name")) == wanted), None)
    song = exact or best_named(telling_words(found["song"]), songs, 0.9)
    if song is None:
        return None
    title = song.text("song_name")
    return scene.call("add_song_to_playlist", song, song_name=title, playlist_name=name)


def named(scene: Scene) -> Reading | None:
    """ "no, the list for when mamma rests": another playlist, by words of its name."""
    core = scene.core.rstrip("!. ")
    found = _LIST_FOR.fullmatch(core)
    if found is None or not _LEADS.fullmatch(found["lead"]):
        return None
    if found["kind"].casefold() == "one" and scene.last.plan.api != "play_playlist":
        return None
    wanted = set(telling_words(f"{found['name'] or ''} {found['for'] or ''}")) - _NOTHING
    played = scene.last.plan.arguments.get("playlist_name")
    names = {one.text("playlist"): one for one in scene.view.items if one.app == "music"}
    names = {name: one for name, one in names.items() if name and name != played}
    shares = {name: _share(wanted, name) for name in names}
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or shares[best] <= 0.0:
        return None
    return scene.call("play_playlist", names[best], playlist_name=best)


def _share(wanted: set[str], name: str) -> float:
    """The share of a name's words that were said, beginnings of words for words."""
    own = telling_words(name) or words(name)
    alike = [
        any(word == one or (len(one) > 3 and word[:4] == one[:4]) for one in wanted) for word in own
    ]
    return sum(alike) / len(own) if own else 0.0
