"""The Music app: the person's library, its playlists, and what plays."""

from collections.abc import Iterable, Sequence

from ctrag.assistant.apps.call import UNKNOWN_SONG, Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    changed,
    contains,
    created,
    listing,
    matching,
    moment_of,
    pick,
    quote,
    search,
    sends,
    title_of,
    when,
    writes,
)
from ctrag.assistant.planning.genres import is_genre
from stores.people.changes import OutboxEntry
from stores.people.items import Item

# Genres and moods of which a mix can be made though the library has no song of them.
_WELL_KNOWN = """
    acoustic, afrobeats, ambient, blues, bollywood, bossa nova, calm, chill, chillout, choral,
    christmas, classical, country, dance, disco, dub, electronic, energetic, focus, folk, funk,
    gospel, grunge, happy, hip-hop, house, indie, jazz, j-pop, k-pop, latin, lo-fi, lullaby, mellow,
    metal, opera, party, piano, pop, punk, r&b, rap, reggae, reggaeton, relaxing, rock, romantic,
    sad, salsa, sleep, soul, soundtrack, study, swing, tango, techno, trance, upbeat, workout, world
"""
_KNOWN_GENRES = tuple(name.strip() for name in _WELL_KNOWN.split(","))
_LISTED_AT_MOST = 10


def play_song(call: Call) -> Effect:
    """Plays one song; `artist` decides between songs of one title."""
    title, artist = call.text("song_name"), call.text("artist")
    songs = _by(artist, call.of("music"))
    found = matching(title, songs, title_of)
    if not found:
        by = f" by {quote(artist)}" if artist else ""
        raise Refusal(f"No song {quote(title)}{by} is in the library, so nothing was played.")
    song = pick(call, found)
    return _plays(_named(song), "song", title_of(song), [song])


def play_album(call: Call) -> Effect:
    """Plays the songs of an album in the order of the library."""
    title, artist = call.text("album_title"), call.text("artist")
    songs = matching(title, _by(artist, call.of("music")), _album)
    if not songs:
        by = f" by {quote(artist)}" if artist else ""
        raise Refusal(f"No album {quote(title)}{by} is in the library, so nothing was played.")
    album = f"the album {quote(_album(songs[0]))} by {songs[0].text('artist')}"
    return _plays(album, "album", _album(songs[0]), songs)


def play_artist(call: Call) -> Effect:
    """Plays all songs by an artist, alone or with others."""
    artist = call.text("artist")
    songs = _by(artist, call.of("music")) if artist.strip() else []
    if not songs:
        raise Refusal(f"No song by {quote(artist)} is in the library, so nothing was played.")
    return _plays(f"songs by {songs[0].text('artist')}", "artist", artist, _in_order(songs))


def play_playlist(call: Call) -> Effect:
    """Plays the songs of a playlist."""
    songs = _in_order(_of_playlist(call))
    name = songs[0].text("playlist")
    return _plays(f"the playlist {quote(name)}", "playlist", name, songs)


def play_genre(call: Call) -> Effect:
    """Plays what the library has of a genre or mood; a well-known one may have no songs here."""
    genre = call.text("genre")
    songs = [
        song
        for song in call.of("music")
        if any(matching(genre, [song.text(field)], str) for field in ("genre", "playlist"))
    ]
    if not songs and not (matching(genre, _KNOWN_GENRES, str) or is_genre(genre)):
        raise Refusal(f"The genre {quote(genre)} is unknown, so nothing was played.")
    if not songs:
        entry = OutboxEntry("play", None, {"what": "genre", "name": genre, "songs": []})
        return sends(
            f"Asked the music service for a mix of {genre}; the library has no song of it.",
            f"Ask the music service for a mix of {genre}, of which the library has no song",
            [entry],
        )
    return _plays(f"a mix of {genre}", "genre", genre, _in_order(songs))


def pause_music(call: Call) -> Effect:
    """Pauses what plays."""
    song = _playing(call)
    if song is None:
        entry = OutboxEntry("pause", None, {"song": None})
        return sends("Paused the music.", "Pause the music", [entry])
    entry = OutboxEntry("pause", None, {"song": title_of(song)}, song.id)
    return sends(f"Paused {_named(song)}.", f"Pause {_named(song)}", [entry], [song])


def skip_song(call: Call) -> Effect:
    """Goes to the next or previous song of the playlist, or of the library; the ends meet.

    Where the library does not say which song that is, the player chooses, and nobody here knows it.
    """
    song, direction = _playing(call), call.text("direction")
    then = None if song is None else _neighbour(call, song, -1 if direction == "previous" else 1)
    content = {"direction": direction, "song": None, "artist": None, "song_id": None}
    from_song = "" if song is None else f" from {_named(song)}"
    if song is None or then is None:
        return sends(
            f"Skipped{from_song} to the {direction} song. Which one plays now is not known.",
            f"Skip{from_song} to the {direction} song",
            [OutboxEntry("skip", None, content, None if song is None else song.id)],
            [] if song is None else [song],
        )
    content |= {"song": title_of(then), "artist": then.text("artist"), "song_id": then.id}
    return sends(
        f"Now plays {_named(then)}.",
        f"Skip{from_song} to the {direction} song, {_named(then)}",
        [OutboxEntry("skip", None, content, song.id)],
        [song, then],
    )


def get_current_song(call: Call) -> Effect:
    """Reports what is playing."""
    song = _playing(call)
    if song is None:
        return Effect("Music plays, but which song is not known.")
    playlist = f", playlist {quote(song.text('playlist'))}" if song.text("playlist") else ""
    return Effect(f"{_line(song)}{playlist}", (song,))


def get_recently_played(call: Call) -> Effect:
    """Lists the latest songs, newest first; all since a time when one is given."""
    since = call.time("since")
    songs = _once(reversed(_in_order(call.of("music"))))
    if since is None:
        songs = songs[:_LISTED_AT_MOST]
    else:
        songs = [song for song in songs if moment_of(song) >= since]
    lines = [f"{_named(song)}, {when(moment_of(song), call.at)}" for song in songs]
    start = f" since {when(since, call.at)}" if since else ""
    return Effect(
        listing(f"Played{start}:", lines, f"No song was played{start or ' lately'}."), tuple(songs)
    )


def add_song_to_playlist(call: Call) -> Effect:
    """Adds a song; one that is in another playlist stays there too."""
    title = call.text("song_name")
    found = matching(title, call.of("music"), title_of)
    if not found:
        raise Refusal(f"No song {quote(title)} is in the library.")
    playlist = _of_playlist(call)[0].text("playlist")
    for song in found:
        if song.text("playlist") == playlist:
            return Effect(f"{_named(song)} is already in the playlist {quote(playlist)}.", (song,))
    song = pick(call, [one for one in found if not one.text("playlist")] or found)
    answer = f"Added {_named(song)} to the playlist {quote(playlist)}."
    if song.text("playlist"):
        return writes(answer, created(call, "music", **{**song.fields, "playlist": playlist}))
    return writes(answer, changed(song, playlist=playlist))


def search_music(call: Call) -> Effect:
    """Finds songs of the library by words."""
    query = call.text("query")
    songs = _once(search(call, "music", query))
    lines = [_line(song) for song in songs]
    nothing = f"Nothing in the library fits {quote(query)}."
    return Effect(listing(f"Music for {quote(query)}:", lines, nothing), tuple(songs))


APIS = (
    play_song,
    play_album,
    play_artist,
    play_playlist,
    play_genre,
    pause_music,
    skip_song,
    get_current_song,
    get_recently_played,
    add_song_to_playlist,
    search_music,
)


def playing_after(sent: Sequence[OutboxEntry]) -> str | None:
    """Id of the song that plays after this was sent, `UNKNOWN_SONG`, or None when nothing plays."""
    last = next((one for one in reversed(sent) if one.kind in ("play", "pause", "skip")), None)
    if last is None or last.kind == "pause":
        return None
    song = last.content.get("song_id") if last.kind == "skip" else last.item_id
    return song or UNKNOWN_SONG


def _line(song: Item) -> str:
    """A song with its album, where that is known."""
    return f"{_named(song)}, album {quote(_album(song))}" if _album(song) else _named(song)


def _album(song: Item) -> str:
    return song.text("album_title")


def _named(song: Item) -> str:
    return f"{quote(title_of(song))} by {song.text('artist')}"


def _by(artist: str, songs: Sequence[Item]) -> list[Item]:
    """The songs of an artist, of several who play together too; all songs for no artist."""
    if not artist.strip():
        return list(songs)
    found = matching(artist, songs, lambda song: song.text("artist"))
    return found or [song for song in songs if contains(song.text("artist"), artist)]


def _of_playlist(call: Call) -> list[Item]:
    name = call.text("playlist_name")
    songs = [song for song in call.of("music") if song.text("playlist")]
    found = matching(name, songs, lambda song: song.text("playlist"))
    if not found:
        raise Refusal(f"There is no playlist {quote(name)}.")
    return found


def _playing(call: Call) -> Item | None:
    """The song that plays; None where that is not known.

    Raises:
        Refusal: Nothing plays.
    """
    for song in call.of("music"):
        if song.id == call.playing:
            return song
    if call.playing == UNKNOWN_SONG:
        return None
    raise Refusal("Nothing is playing.")


def _neighbour(call: Call, song: Item, step: int) -> Item | None:
    """The song that many places on; None where the library has no other."""
    playlist = [one for one in call.of("music") if one.text("playlist") == song.text("playlist")]
    order = _in_order(playlist if song.text("playlist") and len(playlist) > 1 else call.of("music"))
    then = order[(order.index(song) + step) % len(order)]
    return None if then is song else then


def _in_order(songs: Sequence[Item]) -> list[Item]:
    return sorted(songs, key=moment_of)


def _once(songs: Iterable[Item]) -> list[Item]:
    """Each song once, though it may be in several playlists."""
    return list({(title_of(song), song.text("artist")): song for song in songs}.values())


def _plays(what: str, kind: str, name: str, songs: Sequence[Item]) -> Effect:
    titles = [title_of(song) for song in songs]
    entry = OutboxEntry(
        "play", None, {"what": kind, "name": name, "songs": titles}, songs[0].id if songs else None
    )
    tracks = f": {', '.join(map(quote, titles))}" if kind != "song" and titles else ""
    return sends(f"Playing {what}{tracks}.", f"Play {what}", [entry], songs)
