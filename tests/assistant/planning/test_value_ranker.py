"""Claims about the ranker of argument values: what it sees, and what the shipped one chooses."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.planning.candidate_values import CandidateValue, ValueSources
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.value_ranker import (
    ABSENT,
    CARD,
    FEATURES,
    Numbers,
    ValueRanker,
    features,
    with_absent,
)
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
PROFILE = Profile(name="Ada", city="Porto, Portugal", home="Rua do Sol 4, Bonfim")
ADA = Person(
    "ada", AT, PROFILE, (Contact("Ines Prado", "kitchen fitter"), Contact("Rui Prado", "brother"))
)
MAIL = Item(
    "m1",
    "mail",
    {"sender": "Ines Prado", "subject": "Worktop", "body": "Oak?", "received_at": AT},
)
SCAN = Item(
    "c1",
    "calendar",
    {
        "title": "Scan",
        "start": datetime(2025, 4, 18, 9, 30),
        "end": datetime(2025, 4, 18, 10, 0),
        "location": "Hospital, Gaia",
        "attendees": (),
        "notes": None,
    },
)
NUMBERS = Numbers({"forward_mail.to": 3}, {"to": 1})


def argument_of(api: str, name: str) -> tuple[Tool, Argument]:
    tool = Toolbox.packaged().get(api)
    assert tool is not None
    return tool, tool.arguments_by_name[name]


def seen(text: str, api: str, name: str, *items: Item) -> dict[str, dict[str, float]]:
    """Value → its features by name."""
    sources = ValueSources(Request(text, AT), ADA, items, [], items)
    tool, argument = argument_of(api, name)
    candidates = with_absent(argument, sources.candidates(tool, argument))
    table = features(sources, tool, argument, candidates, NUMBERS)
    return {
        candidate.value: dict(zip(FEATURES, map(float, row), strict=True))
        for candidate, row in zip(candidates, table, strict=True)
    }


def test_a_person_is_seen_with_name_relation_and_part_in_the_first_item() -> None:
    found = seen("pass it to my brother", "forward_mail", "to", MAIL)
    assert found["Rui Prado"]["relation_share"] == 1.0
    assert found["Rui Prado"]["person_first"] == 0.0
    assert found["Ines Prado"]["relation_share"] == 0.0
    assert found["Ines Prado"]["person_first"] == 1.0
    assert seen("pass it to Ines", "forward_mail", "to", MAIL)["Ines Prado"]["named"] == 0.5


def test_a_time_is_seen_against_now_and_against_the_item() -> None:
    found = seen("make it half past ten", "reschedule_event", "new_start", SCAN)
    moved = found["2025-04-18T10:30"]
    assert moved["hours_from_item"] == pytest.approx(np.log1p(1.0))
    assert moved["same_day"] == 1.0
    assert moved["same_clock"] == 0.0
    assert moved["days_from_now"] == 1.0


def test_the_home_town_is_told_from_other_places() -> None:
    found = seen("a flight to Rome", "google_flights", "origin", SCAN)
    assert found["Porto"]["own_city"] == 1.0
    assert found["Hospital"]["own_city"] == 0.0


def test_the_small_words_around_a_place_are_seen() -> None:
    trip = Item(
        "n1", "notes", {"title": "From Lyon to Gaia", "body": "", "folder": "", "modified_at": AT}
    )
    found = seen("fly me from Porto to Lyon and on", "google_flights", "destination", trip)
    to, out, other = 0.0, 1.0, float(3)
    assert (found["Porto"]["said_behind"], found["Porto"]["said_before"]) == (out, to)
    assert (found["Lyon"]["said_behind"], found["Lyon"]["said_before"]) == (to, other)
    assert found["Gaia"]["written_behind"] == to
    assert np.isnan(found["Gaia"]["written_before"])
    assert np.isnan(found["Gaia"]["said_behind"])


def test_leaving_out_is_a_candidate_of_optional_arguments_alone() -> None:
    candidates = [CandidateValue("Porto", "profile")]
    assert with_absent(argument_of("google_nearby", "near")[1], candidates) == [*candidates, ABSENT]
    assert with_absent(argument_of("google_flights", "origin")[1], candidates) == candidates


def test_an_api_that_was_never_learned_keeps_its_arguments_name() -> None:
    assert seen("to Rui", "forward_mail", "to", MAIL)["Rui Prado"]["argument"] == 3
    assert seen("to Rui", "send_mail", "to", MAIL)["Rui Prado"]["argument"] == -1
    assert seen("to Rui", "send_mail", "to", MAIL)["Rui Prado"]["name"] == 1


def test_the_shipped_ranker_starts_flights_at_home_and_sends_to_whom_was_said() -> None:
    ranker = ValueRanker.packaged()
    for text, api, name, right in (
        ("what would a seat to her place cost tomorrow", "google_flights", "origin", "Porto"),
        ("pass it to my brother", "forward_mail", "to", "Rui Prado"),
    ):
        sources = ValueSources(Request(text, AT), ADA, [MAIL, SCAN], [], [MAIL, SCAN])
        tool, argument = argument_of(api, name)
        ordered = ranker.order(sources, tool, argument, sources.candidates(tool, argument))
        assert ordered[0][0].value == right
        assert sum(share for _, share in ordered) == pytest.approx(1.0)


def test_the_grammar_takes_the_ranked_first_and_says_how_sure() -> None:
    tool, _ = argument_of("forward_mail", "to")
    sources = ValueSources(Request("pass it to my brother", AT), ADA, [MAIL], [], [MAIL])
    values = rank_values([tool], sources, ValueRanker.packaged())
    made = plan_grammar([tool], sources, best_only=True, values=values)
    assert made.candidates["forward_mail"]["to"][0].value == "Rui Prado"
    assert 0.0 < made.belief["forward_mail"] < 1.0
    plain = plan_grammar([tool], sources, best_only=True)
    assert plain.belief["forward_mail"] == 1.0


def test_a_table_of_other_features_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ranker = ValueRanker.packaged()
    changed = ranker.card.model_copy(update={"features": ["moon"]})
    ValueRanker(ranker.model, changed).save(tmp_path)
    with pytest.raises(ValueError, match=r"made for other features.*ctrag train values"):
        ValueRanker.load(tmp_path)


def saved_by_an_older_version(folder: Path, **more: Any) -> Path:
    """The packaged ranker, its card with further keys."""
    ranker = ValueRanker.packaged()
    ranker.save(folder)
    card = {**json.loads((folder / CARD).read_text(encoding="utf-8")), **more}
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")
    return folder


@pytest.mark.parametrize("reader", [None, "digest"])
def test_a_card_whose_second_model_counts_nothing_loads(tmp_path: Path, reader: str | None) -> None:
    folder = saved_by_an_older_version(tmp_path, reader=reader, reader_weight=0.0)
    loaded = ValueRanker.load(folder)
    loaded.save(folder)
    assert ValueRanker.load(folder) == ValueRanker.packaged()


def test_a_card_whose_second_model_counts_is_refused(tmp_path: Path) -> None:
    folder = saved_by_an_older_version(tmp_path, reader="digest", reader_weight=0.3)
    message = r"arguments-card\.json counts a reader of values, .* again with `ctrag train values`$"
    with pytest.raises(ValueError, match=message):
        ValueRanker.load(folder)
