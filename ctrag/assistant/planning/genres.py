"""Whether a name is a genre of music: "put on some jazz" against "put on some Ella Fitzgerald"."""

import re
from itertools import takewhile

from ctrag.assistant.planning.decoded import Decoded
from ctrag.text.words import words

_WORDS = frozenset(
    """
    pop rock folk jazz metal punk rap hop hip rnb soul funk blues reggae ska dub disco house techno
    trance ambient electronic electro dance drum bass grime drill garage jungle indie alternative
    grunge emo goth industrial classical baroque opera operetta chamber choral choir hymns gospel
    spiritual worship country bluegrass americana swing bebop fusion latin salsa samba bossa nova
    tango bachata merengue cumbia reggaeton mariachi ranchera flamenco fado chanson schlager
    volksmusik polka waltz march klezmer celtic irish trad traditional ballads ballad shanty
    shanties afrobeat afrobeats highlife amapiano kwaito kizomba zouk soca calypso dancehall
    bollywood bhangra ghazal qawwali carnatic hindustani raga enka trot estrada rebetiko laiko
    krautrock shoegaze synthpop synthwave britpop electropop eurodance soundtrack soundtracks film
    musical musicals lullaby lullabies carols christmas oldies standards instrumental piano
    acoustic guitar organ oud world music songs instrumentals lofi lo-fi chill chillout study
    workout party romantic sad happy calm quiet upbeat dancing sleep kids children children's
    makossa milonga danzon humppa chacarera zamba zydeco cajun bolero boleros rumba son montuno
    tropicalia forro axe pagode choro mpb vallenato norteno corridos banda huayno joropo kompa konpa
    mbalax
    rai gnawa chaabi dabke klapa sevdah turbofolk manele hardbass gabber dnb jazz-funk skiffle
    rockabilly doowop motown gamelan dangdut keroncong luk thung molam mor lam cpop mandopop
    cantopop jpop kpop anime vocaloid chiptune vaporwave opm kundiman tinikling isicathamiya
    maskandi gqom marrabenta morna coladeira kuduro semba bongo taarab benga chimurenga
    """.split()
)


_DECADE = re.compile(r"(?:19|20)?\d0s|(?:twen|thir|for|fif|six|seven|eigh|nine)ties", re.IGNORECASE)
_PLAYS = ("play_artist", "play_album", "play_song")


def is_genre(name: str) -> bool:
    """Whether a word of the name says what kind of music it is."""
    parts = words(name)
    return any(
        one in _WORDS
        or _DECADE.fullmatch(one) is not None
        or any(one.endswith(f"{tail}") for tail in ("pop", "rock", "core", "wave"))
        for one in parts
    )


_LOOSE = frozenset(
    """
    hip country house garage jungle industrial swing march world music songs instrumentals study
    workout party romantic sad happy calm quiet upbeat dancing sleep kids children children's film
    oldies son axe lam mor thung banda piano guitar organ drum bass dance spiritual worship
    christmas alternative indie standards musical
    """.split()
)
"""Words of the list that by themselves may be said of a place, a mood or a person."""
_SOME = re.compile(
    r"\b(?:some|bit of|little|put on|play)\s(?=(?P<name>\w[\w-]{1,14}))", re.IGNORECASE
)


def said_genre(request: str) -> str | None:
    """The genre that a request names behind "some" or "play"; None where it names none."""
    for found in _SOME.finditer(request):
        if found["name"].casefold() not in _WORDS - _LOOSE:
            continue
        further = re.findall(r"[\w-]+|\S", request[found.end("name") : found.end("name") + 30])
        named = takewhile(lambda one: one.casefold() in _WORDS - {"music", "songs"}, further)
        return " ".join([found["name"], *named])
    return None


def artist_for_genre(made: list[Decoded], shares: list[float], known: frozenset[str]) -> None:
    """Put what else the name may be before the genre, in place, where it is none.

    Args:
        made: Calls, likeliest first.
        shares: How likely each is.
        known: Genres that the person has, in lower case.
    """
    first = made[0].plan if made else None
    genre = "" if first is None or first.api != "play_genre" else str(first.arguments.get("genre"))
    if not genre or genre.casefold() in known or is_genre(genre):
        return
    for place, one in enumerate(made):
        if one.plan is not None and one.plan.api in _PLAYS:
            made[0], made[place] = made[place], made[0]
            return
