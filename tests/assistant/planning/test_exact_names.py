"""Claims about alike APIs of which one has the thing that a request names."""

from ctrag.assistant.planning.candidate_values import CandidateValue
from ctrag.assistant.planning.exact_names import by_exact_name
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.toolbox import Tool, Toolbox


def tools(*apis: str) -> list[Tool]:
    found = [Toolbox.packaged().get(api) for api in apis]
    return [one for one in found if one is not None]


def named(name: str, *values: str) -> ToolValues:
    return ToolValues({name: tuple(CandidateValue(one, "s1") for one in values)})


VALUES = {
    "play_playlist": named("playlist_name", "Night train"),
    "play_song": named("song_name", "Blue Monk"),
    "play_artist": ToolValues({"artist": (CandidateValue("blue monk", "request", "said"),)}),
    "delete_note": named("title", "Blue Monk"),
}
SHARES = [("play_playlist", 0.6), ("delete_note", 0.2), ("play_artist", 0.15), ("play_song", 0.05)]


def test_the_api_of_the_thing_that_is_named_comes_first() -> None:
    found = by_exact_name(SHARES, tools(*VALUES), VALUES, "put on Blue Monk please")
    assert found == [
        ("play_song", 0.6), ("delete_note", 0.2), ("play_artist", 0.15), ("play_playlist", 0.05),
    ]  # fmt: skip


def test_what_the_first_api_has_or_what_is_named_among_much_else_changes_nothing() -> None:
    for said in ("play night train", "play what Monk wrote when he was blue and far from Oslo"):
        assert by_exact_name(SHARES, tools(*VALUES), VALUES, said) == SHARES


def test_a_search_gives_way_to_what_is_to_be_heard() -> None:
    shares = [("search_music", 0.7), ("play_song", 0.3)]
    found = by_exact_name(shares, tools(*VALUES, "search_music"), VALUES, "let me hear Blue Monk")
    assert found == [("play_song", 0.7), ("search_music", 0.3)]
    said = "search my music for Blue Monk"
    assert by_exact_name(shares, tools(*VALUES, "search_music"), VALUES, said) == shares


def test_a_verb_that_is_an_api_s_own_is_not_taken_for_nothing() -> None:
    shares = [("none", 0.7), ("snooze_reminder", 0.2), ("delete_note", 0.1)]
    exposed = tools("snooze_reminder", "delete_note")
    found = by_exact_name(shares, exposed, {}, "please snooze the dough until nine")
    assert found == [("snooze_reminder", 0.7), ("none", 0.2), ("delete_note", 0.1)]
    assert by_exact_name(shares, exposed, {}, "the dough is for nine") == shares
