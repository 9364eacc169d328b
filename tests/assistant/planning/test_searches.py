"""Claims about what is looked for, and about names in whole."""

import pytest

from ctrag.assistant.planning.searches import as_searched, named_whole
from ctrag.toolbox import Tool, Toolbox


def tool(api: str) -> Tool:
    found = Toolbox.packaged().get(api)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("api", "request_", "name", "read", "wanted"),
    [
        ("google_news", "rugby news fiji japan", "topic", "rugby", "rugby fiji japan"),
        ("google_news", "any news on the ferry", "topic", "ferry", "ferry"),
        (
            "google_news",
            "what's the latest on harbour strikes",
            "topic",
            "strikes",
            "harbour strikes",
        ),
        ("search_music", "find kraftwerk live", "query", "kraftwerk", "kraftwerk live"),
        ("google_search", "a good plum cake recipe please", "query", "recipe", "plum cake recipe"),
        ("google_search", "find me a recipe", "query", "recipe", "recipe"),
        ("search_music", "anything by Björk", "query", "anything Björk", "Björk"),
        (
            "google_search",
            "how you oil a hinge",
            "query",
            "how you oil a hinge",
            "how to oil a hinge",
        ),
        ("google_search", "how do you say hi", "query", "how do you say hi", "how do you say hi"),
    ],
)
def test_a_search_has_the_words_that_were_meant(
    api: str, request_: str, name: str, read: str, wanted: str
) -> None:
    assert as_searched(tool(api), {name: read}, request_)[name] == wanted


def test_what_is_to_be_translated_ends_with_the_question() -> None:
    request = "How do you say in Thai, where is the pier? I have a guest who asks."
    read = "Where is the pier? I have a guest who asks."
    found = as_searched(tool("google_translate"), {"text": read}, request)
    assert found == {"text": "Where is the pier?"}
    alone = as_searched(tool("google_translate"), {"text": "Where is the pier?"}, request)
    assert alone == {"text": "Where is the pier?"}


@pytest.mark.parametrize(
    ("api", "request_", "read", "wanted"),
    [
        (
            "play_album",
            "I'd like Blue Train of John Coltrane",
            {"album_title": "Blue Train of John Coltrane", "artist": "John Coltrane"},
            {"album_title": "Blue Train"},
        ),
        (
            "play_song",
            "play Walking in the Air by the Choirboys",
            {"song_name": "Walking", "artist": "the Choirboys"},
            {"song_name": "Walking in the Air", "artist": "Choirboys"},
        ),
        ("google_weather", "weather hove", {"location": "weather hove"}, {"location": "hove"}),
        (
            "google_nearby",
            "any tile shop near the quay",
            {"category": "shop"},
            {"category": "tile shop"},
        ),
        ("google_nearby", "nearest market", {"category": "market"}, {"category": "market"}),
        ("google_nearby", "a cafe in Hove", {"category": "cafe"}, {"category": "cafe"}),
        ("play_genre", "a grey day, put on some fado", {"genre": "Metal"}, {"genre": "fado"}),
        ("play_genre", "play some bossa nova, low", {"genre": "Pop"}, {"genre": "bossa nova"}),
        ("play_genre", "Some klezmer while I sand", {"genre": "Jazz"}, {"genre": "klezmer"}),
        ("play_genre", "some jazz for the house", {"genre": "Jazz"}, {}),
        ("play_genre", "play house party things", {"genre": "Jazz"}, {}),
        ("google_weather", "weather hove sat", {"location": "Graz"}, {"location": "Hove"}),
        ("google_weather", "Bad Ischl forecast", {"location": "Graz"}, {"location": "Bad Ischl"}),
        ("google_weather", "weather tomorrow", {"location": "Graz"}, {"location": "Graz"}),
        ("google_weather", "weather like in May", {"location": "Graz"}, {"location": "Graz"}),
        ("google_weather", "cold weather friday", {"location": "Graz"}, {"location": "Graz"}),
        ("google_weather", "weather radar", {"location": "Graz"}, {"location": "Graz"}),
        ("google_weather", "check weather", {"location": "Graz"}, {"location": "Graz"}),
        (
            "google_shopping",
            "what would a lamp for a Vespa cost me",
            {"product": "Vespa"},
            {"product": "lamp for a Vespa"},
        ),
    ],
)
def test_names_are_whole_and_without_what_is_not_theirs(
    api: str, request_: str, read: dict[str, str], wanted: dict[str, str]
) -> None:
    assert named_whole(tool(api), read, request_) == wanted


def test_the_language_is_no_part_of_what_is_translated() -> None:
    read = {"text": "see you soon in Dutch", "target_language": "dutch"}
    found = as_searched(tool("google_translate"), read, "see you soon in dutch")
    assert found["text"] == "see you soon"
    kept = {"text": "the Dutch cheese", "target_language": "Dutch"}
    assert as_searched(tool("google_translate"), kept, "say it")["text"] == "the Dutch cheese"


@pytest.mark.parametrize(
    ("request_", "category"),
    [
        ("find me somewhere to park near the pier", "parking"),
        ("where can I park the van", "parking"),
        ("is there a park near the pier", "park"),
    ],
)
def test_a_place_to_park_is_no_garden(request_: str, category: str) -> None:
    found = named_whole(tool("google_nearby"), {"category": "park"}, request_)
    assert found["category"] == category
