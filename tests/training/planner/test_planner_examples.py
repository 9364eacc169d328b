"""Claims about the training data of the planner."""

import numpy as np
import pytest

from eval.core.examples import RankingExample
from training.planner.examples import MixSettings, PlannerExample, lessons, packs

NEVER = MixSettings(
    no_context=0.0, true_context=0.0, no_tools=1.0, item_missing=0.0, renamed=0.0, together=4
)


@pytest.fixture(scope="module")
def taught(examples: list[RankingExample]) -> list[PlannerExample]:
    backwards = [-one.relevance for one in examples]
    return lessons(examples, backwards)


def test_items_are_those_of_the_given_scores_not_of_the_labels(
    examples: list[RankingExample], taught: list[PlannerExample]
) -> None:
    pairs = [(one, lesson) for one, lesson in zip(examples, taught, strict=True)]
    assert len(pairs) > 60
    for one, lesson in pairs:
        assert not {item.id for item in lesson.items} & set(one.labels.relevant or ())


def test_every_request_is_used_once_and_packed_with_its_own_person(
    taught: list[PlannerExample],
) -> None:
    found = packs(taught, NEVER, seed=1)
    asked = [text.splitlines()[-1] for pack in found for text, _ in pack.asked]
    assert sorted(asked) == sorted(f"Request: {one.request.text}" for one in taught)
    assert all(len(pack.asked) <= 4 for pack in found)


def test_the_labelled_items_are_shown_unless_a_setting_hides_them(
    taught: list[PlannerExample],
) -> None:
    shown = "\n".join(pack.context for pack in packs(taught, NEVER, seed=1))
    titles = {
        str(item.fields["title"]) for one in taught for item in one.relevant if item.app == "notes"
    }
    assert len(titles) > 5
    assert all(title[:30] in shown for title in titles)
    hidden = MixSettings(no_context=1.0, renamed=0.0)
    assert all(pack.context == "" for pack in packs(taught, hidden, seed=1))


def test_renaming_changes_items_request_and_plan_alike(taught: list[PlannerExample]) -> None:
    always = MixSettings(no_context=0.0, renamed=1.0, no_tools=1.0, item_missing=0.0)
    own = {one.request.text: {name.name for name in one.person.contacts} for one in taught}
    strange = shown = 0
    for pack in packs(taught, always, seed=3):
        for text, plan in pack.asked:
            if 'contact="' in plan:
                name = plan.split('contact="')[1].split('"')[0]
                request = text.splitlines()[-1].removeprefix("Request: ")
                strange += name not in own.get(request, set())
                shown += name in pack.context
    assert strange >= 3
    assert shown >= 3


def test_the_same_seed_gives_the_same_packs_and_another_seed_others(
    taught: list[PlannerExample],
) -> None:
    assert packs(taught, MixSettings(), 5) == packs(taught, MixSettings(), 5)
    assert packs(taught, MixSettings(), 5) != packs(taught, MixSettings(), 6)


def test_requests_without_a_labelled_plan_are_ignored(examples: list[RankingExample]) -> None:
    scores = [np.zeros(len(one.relevance), dtype=np.float32) for one in examples]
    with_plan = sum(one.labels.has_plan for one in examples)
    assert len(lessons(examples, scores)) == with_plan
