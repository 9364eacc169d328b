"""Claims about the verdict on a stranger's request, by rows written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.errors import InputError, NotFound
from eval.spoken.scores import Rules, SpokenRequest, SpokenScore, content_words, load_spoken, score

ACCEPT = {
    "apis": {"lists_query": ["read_note"]},
    "kept_entities": ["list_name", "person", "song_name"],
    "ignored_words": ["my", "the", "of", "s", "songs"],
}
RULES = Rules.model_validate(ACCEPT)


def asked(
    *entities: tuple[str, str],
    intent: str = "play_music",
    apis: tuple[str, ...] | None = ("play_song", "search_music"),
) -> SpokenRequest:
    parts = [{"type": kind, "text": text} for kind, text in entities]
    row = {"query_id": "q", "text": "-", "intent": intent, "apis": apis, "entities": parts}
    return SpokenRequest.model_validate(row)


def test_content_words_are_those_of_the_kept_entities_alone() -> None:
    request = asked(("song_name", "Blue Train"), ("date", "tonight"), ("person", "Coltrane"))
    assert content_words(request, RULES) == ["blue", "train", "coltrane"]


def test_ignored_words_are_left_out() -> None:
    request = asked(("song_name", "the sound of my songs"), ("person", "mary 's"))
    assert content_words(request, RULES) == ["sound", "mary"]


def test_a_final_s_is_cut_from_what_was_said_and_from_the_call() -> None:
    request = asked(("song_name", "rivers"), ("person", "Ines"))
    assert content_words(request, RULES) == ["river", "ine"]
    plan = Plan("play_song", {"title": "River", "artist": "Ines'"})
    assert score(plan, request, RULES) == SpokenScore(True, (True, True))


def test_an_ignored_word_is_compared_before_its_s_is_cut() -> None:
    assert content_words(asked(("song_name", "song songs")), RULES) == ["song"]
    assert content_words(asked(("song_name", "songs")), RULES) == []


def test_a_word_counts_once() -> None:
    assert content_words(asked(("song_name", "Bang Bang")), RULES) == ["bang"]


def test_the_name_of_a_list_is_kept_but_where_something_is_removed() -> None:
    grocery = ("list_name", "grocery")
    assert content_words(asked(grocery, intent="lists_query"), RULES) == ["grocery"]
    assert content_words(asked(grocery, intent="lists_remove"), RULES) == []
    other = asked(grocery, ("person", "ada"), intent="lists_remove")
    assert content_words(other, RULES) == ["ada"]


def test_any_of_the_apis_is_right_and_both_needs_every_word() -> None:
    request = asked(("song_name", "Blue Train"))
    whole = score(Plan("search_music", {"query": "blue TRAIN, live"}), request, RULES)
    assert (whole.api, whole.kept, whole.both) == (True, (True, True), True)
    half = score(Plan("play_song", {"title": "Blues"}), request, RULES)
    assert (half.api, half.kept, half.both) == (True, (True, False), False)


def test_words_may_stand_in_any_argument_but_only_whole() -> None:
    request = asked(("person", "Ada"), ("song_name", "7 rain"))
    plan = Plan("play_song", {"people": ["Bo", "Ada Lovelace"], "number": 7, "title": "train"})
    assert score(plan, request, RULES).kept == (True, True, False)


def test_no_word_to_keep_is_no_word_lost() -> None:
    assert score(Plan("play_song"), asked(), RULES) == SpokenScore(True, ())
    assert score(Plan("play_song"), asked(), RULES).both


@pytest.mark.parametrize("plan", [Plan("send_mail", {"body": "blue train"}), NONE, None])
def test_words_do_not_count_where_the_api_is_wrong(plan: Plan | None) -> None:
    verdict = score(plan, asked(("song_name", "Blue Train")), RULES)
    assert (verdict.api, verdict.kept, verdict.both) == (False, (), False)


def test_where_no_api_can_do_it_none_is_right_and_has_no_words_to_keep() -> None:
    request = asked(("person", "ada"), apis=())
    right = score(NONE, request, RULES)
    assert (right.api, right.kept, right.both) == (True, (), True)
    assert not score(Plan("send_mail", {"to": "ada"}), request, RULES).api
    assert not score(None, request, RULES).api


def written(folder: Path, *rows: dict[str, Any], split: str = "dev") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "accept.json").write_text(json.dumps(ACCEPT), encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
    return folder


ROW: dict[str, Any] = {"text": "hey", "intent": "general", "entities": [], "apis": ["read_note"]}


def test_requests_with_unknown_apis_are_left_out(tmp_path: Path) -> None:
    rows = [{**ROW, "query_id": str(n), "apis": apis} for n, apis in enumerate((None, [], ["a"]))]
    requests, rules = load_spoken(written(tmp_path, *rows), "dev")
    assert [(one.query_id, one.apis) for one in requests] == [("1", ()), ("2", ("a",))]
    assert rules == RULES
    with pytest.raises(InputError, match=r"other\.jsonl: no request says which APIs are right"):
        load_spoken(written(tmp_path, rows[0], split="other"), "other")


@pytest.mark.parametrize("name", ["accept.json", "dev.jsonl"])
def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    (written(tmp_path, {**ROW, "query_id": "1"}) / name).unlink()
    with pytest.raises(NotFound) as raised:
        load_spoken(tmp_path, "dev")
    said = str(raised.value)
    assert said.startswith(f"{tmp_path / name}: No such file; give a folder with accept.json and ")
    assert "dev.jsonl, made of SLURP" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "query_id": 1}, r"dev\.jsonl:1: query_id: "),
        ({**ROW, "query_id": "1", "apis": "a"}, r"dev\.jsonl:1: apis: "),
        (ROW, r"dev\.jsonl:1: query_id: Field required"),
    ],
)
def test_a_broken_line_is_named_with_its_field(
    tmp_path: Path, row: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        load_spoken(written(tmp_path, row), "dev")


def test_an_id_stands_once(tmp_path: Path) -> None:
    row = {**ROW, "query_id": "1"}
    with pytest.raises(InputError, match=r"dev\.jsonl:2: query_id: '1' appears twice"):
        load_spoken(written(tmp_path, row, row), "dev")


def test_broken_rules_are_named_with_their_field(tmp_path: Path) -> None:
    folder = written(tmp_path, {**ROW, "query_id": "1"})
    (folder / "accept.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"accept\.json: kept_entities: Field required"):
        load_spoken(folder, "dev")
    (folder / "accept.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"accept\.json: Expecting"):
        load_spoken(folder, "dev")
