"""Follow-ups to music: "skip", "the other one", "all of the album", "save it to a list"."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation import playlists as lists
from ctrag.assistant.conversation.orders import requests_in
from ctrag.assistant.conversation.phrases import best_named
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.text.words import telling_words, words
from stores.people.items import Item

_NEXT = re.compile(
    r"(?:not (?:this|that)(?: (?:one|song))?[\s,.]*)?(?:(?:skip|go|play"
    r"|the)\s+)*(?:to\s+)?(?:the\s+)?"
    r"(?:next(?:\s+(?:one|song|track))?|skip(?:\s+(?:it|this|that)(?:\s+(?:one|song))?)?)"
    r"|not (?:this|that)(?: (?:one|song))?"
    r"|(?:not\b[^,.]*[,.]\s*)?(?:the )?next(?: (?:one|song|track))?(?:[,.!]\s.*)?",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"go back to (?:the (?:one|song|last one|previous one)(?: before)?|what (?:i had|was on|played)"
    r"(?: before)?)(?:[,.]\s.*)?"
    r"|(?:(?:go|skip|play)\s+)?(?:the\s+)?(?:back(?:\s+(?:one|a song))?|previous(?:\s+(?:one|song"
    r"|track))?"
    r"|(?:the\s+)?(?:last|one before)(?:\s+(?:one|song))?)(?:\s+again)?",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"(?:(?:stop|pause|quiet|silence|hush|shush|enough)[\s,!.]*)+(?:(?:it|that|this|the music"
    r"|the song|there"
    r"|please|now|for a (?:moment|minute|second|bit))\b[\s,!.]*)*(?:[,.!]\s*.*|(?:i|he|she"
    r"|we)\b.*)?"
    r"|(?:turn|switch) (?:it|that|the music) off\b.*",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:the\s+)?(?:whole|entire|full|complete|rest of the)\s+(?:record|album|thing|lp|cd)\b"
    r"|\b(?:the|that|its) (?:record|album)(?: (?:it'?s|that'?s) on)?$",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"(?:.{0,30}\b)?(?:who(?:'s| is| sings| plays)? (?:it|this|that|singing|playing)|what(?:'s"
    r"| is) (?:it|this|that"
    r"|playing)"
    r"(?: (?:song|one|track))?(?: called)?|who(?:'s| is) (?:this|that|it) by|(?:what"
    r"|which) (?:album|band|artist)"
    r" is (?:this|that|it)|(?:what(?:'s| is) )?(?:the (?:song|track)(?: called)?"
    r"|the"
    r" name of (?:it|this|that)(?: (?:one|song))?)|which (?:song|one) is (?:this|it|that))\W*",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?:(?:play|try|put on|not (?:that|this)(?: one)?[\s,.]*|i (?:meant|mean|said)|the|my"
    r"|that)\s*)*"
    r"(?:the\s+)?(?:other\s+(?P<by>[\w'’ ]*?)\s*(?:one|song|record|album|list|playlist)"
    r"|(?:(?:one|song|record|album|list|playlist)\s+(?:for|from|with|about|by|to|of)\s+(?P<for>.+))"
    r"|(?P<which>[\w'’ ]+?)\s+(?:one|song|list|playlist))",
    re.IGNORECASE,
)
_PUT = re.compile(
    r"(?:add|put|save|stick|pop)\s+(?:it|this|that|this song|this one|that one|the song)\s+"
    r"(?:to|in|into|on|onto)\s+(?:my|the|our)?\s*(?P<list>.+)",
    re.IGNORECASE,
)
_PLAYS = {
    "play_song": ("song_name", "song_name"),
    "play_album": ("album_title", "album_title"),
    "play_playlist": ("playlist_name", "playlist"),
    "play_artist": ("artist", "artist"),
    "play_genre": ("genre", "genre"),
}


def played(scene: Scene) -> Reading | None:
    """All kinds of follow-ups to music; None where nothing plays and nothing was played."""
    core = scene.core
    song = _song(scene)
    if scene.last.app != "music" and not (song and scene.playing):
        return None
    whole = scene.said.text if scene.said.no else core
    for pattern, direction in ((_NEXT, "next"), (_BACK, "previous")):
        if pattern.fullmatch(core) and scene.last.app == "music":
            return scene.call("skip_song", song, direction=direction)
    if _STOP.fullmatch(core):
        return scene.call("pause_music", song)
    if _WHICH.fullmatch(whole) or _WHICH.fullmatch(core):
        return scene.call("get_current_song", song)
    if scene.last.app != "music":
        return _put(scene, song)
    if _AGAIN.fullmatch(core) and scene.last.plan.api in _PLAYS:
        return scene.call_of(scene.last.plan, song)
    if _HEAR.fullmatch(core.rstrip("!. ")) and song and scene.last.plan.api not in _PLAYS:
        return scene.call("play_song", song, song_name=title_of(song))
    if named := _named_instead(scene):
        return named
    return (
        lists.of_song(scene, song)
        or lists.more_of_artist(scene, song)
        or lists.put_there(scene)
        or _whole(scene, song)
        or _put(scene, song)
        or lists.named(scene)
        or _called(scene)
        or _other(scene)
    )


_AGAIN = re.compile(
    r"(?:play |put )?(?:it|that|this|that one|this one|the song|that song)?(?: on)?\s*"
    r"(?:again|once more|one more time|from the (?:start|beginning))",
    re.IGNORECASE,
)
_HEAR = re.compile(
    r"(?:let me hear|play|put on) (?:it|that|this)(?: (?:one|song))?(?: (?:again|right now|now))*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:put (?P<put>.+?) on|(?:(?:i (?:meant|mean|said)|i was thinking of|just|play|try|put on"
    r"|make it|rather|not (?:this"
    r"|that)(?: one)?)[\s,]+)*"
    r"(?P<name>.+?)(?: instead| rather)?)",
    re.IGNORECASE,
)
_PLAY = re.compile(r"(?:play|put)\b", re.IGNORECASE)
_CALLED = re.compile(
    r"(?:(?:the other one|play|put on|i was thinking of|i (?:meant|mean)|not (?:this|that)(?: one"
    r"| song)?(?: after all)?"
    r"|just)[\s,]+)*(?:the )?(?:one called |song called )?(?P<name>[\w'’ ]+?)(?: one)?",
    re.IGNORECASE,
)


def _named_instead(scene: Scene) -> Reading | None:
    """ "no, Neon Lights": another song, artist, album or playlist by its whole name."""
    found = _NAMED.fullmatch(scene.core.rstrip("!. "))
    opened = scene.said.no or re.search(r"\b(?:instead|rather)\b", scene.core, re.I)
    opened = opened or _PLAY.match(scene.core)
    if found is None or not opened or scene.last.app != "music":
        return None
    name = words(found["put"] or found["name"])
    for api, (argument, field) in _PLAYS.items():
        for one in scene.view.items:
            if one.app == "music" and one.text(field) and words(one.text(field)) == name:
                return scene.call(api, one, **{argument: one.text(field)})
    return None


def _called(scene: Scene) -> Reading | None:
    """ "no, the funny valentine": the only song of the person's that has all these words."""
    found = _CALLED.fullmatch(scene.core.rstrip("!. "))
    if found is None or not (scene.said.no or "called" in scene.core):
        return None
    wanted = set(telling_words(found["name"]))
    songs = {
        title_of(one): one
        for one in scene.view.items
        if one.app == "music" and wanted and wanted <= set(words(title_of(one)))
    }
    if len(songs) != 1:
        return None
    name, song = next(iter(songs.items()))
    return scene.call("play_song", song, song_name=name)


def _song(scene: Scene) -> Item | None:
    """The song that plays, or was played last."""
    if scene.last.plan.api in ("play_song", "add_song_to_playlist") and scene.last.items:
        row = scene.view.row.get(scene.last.items[0])
    else:
        row = scene.view.row.get(scene.playing or "")
    if row is not None:
        return scene.view.items[row]
    return next(iter(scene.state.items(scene.view, "music")), None)


def _whole(scene: Scene, song: Item | None) -> Reading | None:
    found = _WHOLE.search(scene.core)
    if found is None or song is None:
        return None
    before = scene.core[: found.start()]
    named = [w for w in telling_words(before) if w not in ("play", "just", "put", "one", "record")]
    chosen = song
    if named:
        artist = song.text("artist")
        near = [i for i in scene.own("music") if i.text("artist") == artist]
        chosen = best_named(named, near, 0.4) or song
    album = chosen.text("album_title")
    return scene.call("play_album", chosen, album_title=album) if album else None


def _put(scene: Scene, song: Item | None) -> Reading | None:
    found = _PUT.match(scene.core)
    if found is None or song is None or re.search(r"\b(?:note|calendar|reminder)", scene.core):
        return None
    lists = [one for one in scene.view.items if one.app == "music" and one.text("playlist")]
    by_name = {one.text("playlist"): one for one in lists}
    wanted = set(telling_words(found["list"])) - {"list", "playlist", "songs", "mix"}
    fitting = [
        (sum(_has(word, name) for word in wanted), name) for name in by_name if _any(wanted, name)
    ]
    if not fitting:
        return None
    name = max(fitting, key=lambda pair: pair[0])[1]
    return scene.call("add_song_to_playlist", song, song_name=title_of(song), playlist_name=name)


def _any(wanted: set[str], name: str) -> bool:
    return any(_has(word, name) for word in wanted)


def _has(word: str, name: str) -> bool:
    own = telling_words(name)
    joined = "".join(own)
    return (
        word in own
        or (len(word) > 3 and any(one.startswith(word) for one in own))
        or (len(word) > 4 and word in joined)
    )


def _other(scene: Scene) -> Reading | None:
    """The same call with something else: "the other one", "the list for cooking"."""
    found = _OTHER.fullmatch(scene.core)
    if found is None or scene.last.plan.api not in _PLAYS:
        return None
    if found["which"] and requests_in(found["which"]):
        return None
    argument, field = _PLAYS[scene.last.plan.api]
    played = str(scene.last.plan.arguments.get(argument, ""))
    refused = {
        str(turn.plan.arguments.get(argument))
        for turn in scene.state.turns
        if turn.plan.api == scene.last.plan.api
    }
    songs = [one for one in scene.view.items if one.app == "music" and one.text(field)]
    left = [one for one in songs if one.text(field) not in refused]
    before = next((one for one in songs if one.text(field) == played), None)
    wanted = telling_words(found["by"] or found["for"] or found["which"] or "")
    if wanted:
        chosen = best_named(wanted, left, 0.4)
    else:
        alike = [one for one in left if before and one.text("artist") == before.text("artist")]
        chosen = next(iter(alike), None)
    if chosen is None:
        return None
    return scene.call(scene.last.plan.api, chosen, **{argument: chosen.text(field)})
