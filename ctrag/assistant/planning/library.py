"""What a name to be played is: a song, an album, an artist or a playlist of the person's own."""

from collections.abc import Sequence

from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import words
from stores.people.items import Item

_KINDS = (
    ("play_song", "song_name", "song_name"),
    ("play_album", "album_title", "album_title"),
    ("play_playlist", "playlist_name", "playlist"),
    ("play_artist", "artist", "artist"),
    ("play_genre", "genre", "genre"),
)


def played_as(plan: Plan, items: Sequence[Item]) -> Plan:
    """The plan, calling what the library has under that name where it has nothing of the planned
    kind: "play Blue" is the song of that name where nobody is called so."""
    argument = {api: name for api, name, _ in _KINDS}.get(plan.api)
    name = None if argument is None else plan.arguments.get(argument)
    if not isinstance(name, str) or not words(name):
        return plan
    songs = [item for item in items if item.app == "music"]
    known = {
        api: (kind, song.text(field))
        for api, kind, field in reversed(_KINDS)
        for song in songs
        if words(song.text(field)) == words(name)
    }
    if plan.api in known or not known:
        return plan
    api = next(one for one, _, _ in _KINDS if one in known)
    kind, spelled = known[api]
    return Plan(api, {kind: spelled})
