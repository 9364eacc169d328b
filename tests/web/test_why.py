"""The waterfall's arithmetic, and reasons without jargon."""

import pytest

from ctrag.web.steps import timed
from ctrag.web.why import plain


def test_a_step_inside_another_is_part_of_its_time() -> None:
    steps, total = timed(
        [("context.retrieve", 30.0), ("slots.fill", 40.0), ("planner.plan", 50.0), ("x", 5.0)]
    )
    assert total == 30 + 50 + 5
    assert [(one.name, one.begin, one.inside) for one in steps] == [
        ("context.retrieve", 0, False),
        ("planner.plan", 30, False),
        ("slots.fill", 30, True),
        ("x", 80, False),
    ]
    assert steps[0].words == "find your items"


def test_two_steps_inside_run_one_after_the_other() -> None:
    steps, total = timed([("slots.fill", 4.0), ("prompt.assemble", 1.0), ("planner.plan", 6.0)])
    assert total == 6
    assert [one.begin for one in steps] == [0, 0, 4]


def test_a_step_whose_outer_one_failed_stands_alone() -> None:
    [one], total = timed([("slots.fill", 4.0)])
    assert (one.inside, total) == (False, 4)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "how far the item is behind the best one by the tuned encoder: 0.00",
            "the likeliest to be meant, by the trained encoder",
        ),
        (
            "how far the cosine is behind the person's best item: -0.02",
            "nearly the nearest in meaning of all your items",
        ),
        (
            "2.39 standard deviations from the mean in meaning",
            "nearer in meaning than most of your items",
        ),
        (
            "over 99 % likely by the tuned encoder",
            "99 % likely to be meant, by the trained encoder",
        ),
        ("people whom you may mean in its words: 1", "names somebody whom you may mean"),
        ("in your “tonight”", "in your “tonight”"),
        ("its kind is “event later”", "“event later” is often what such requests mean"),
    ],
)
def test_reasons_are_said_plainly(reason: str, words: str) -> None:
    assert plain(reason) == words


def test_what_is_behind_the_best_is_said_for_or_against_an_item() -> None:
    reason = "how far the kind is behind the likeliest kind that the person has: -0.26"
    assert plain(reason) == "of a kind that such requests mean often"
    assert plain(reason, lifts=False) == "of a kind that such requests mean less than another"
