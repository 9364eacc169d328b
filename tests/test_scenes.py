"""Claims about the packaged scenes: sound plans, own people, nothing that dev asks."""

from collections import Counter

import pytest

from ctrag.assistant.planning.plan import Plan, check
from ctrag.toolbox import Toolbox
from stores.people.dataset import Dataset, load_dataset, load_labels
from stores.people.items import Labels
from synth.reference import scenes_folder, split_folder


@pytest.fixture(scope="module")
def scenes() -> Dataset:
    return load_dataset(scenes_folder())


@pytest.fixture(scope="module")
def labels() -> dict[str, Labels]:
    return load_labels(scenes_folder())


def test_the_readme_counts_people_and_requests(scenes: Dataset) -> None:
    text = (scenes_folder() / "README.md").read_text(encoding="utf-8")
    assert f"{len(scenes.personas):,} invented people" in text
    assert f"{len(scenes.requests):,} labelled requests" in text


def test_every_plan_keeps_its_schema_and_names_items_by_their_title(
    scenes: Dataset, labels: dict[str, Labels]
) -> None:
    toolbox = Toolbox.packaged()
    titles: dict[str, set[str]] = {}
    for persona in scenes.personas:
        titles[persona.person.person_id] = {
            item.text(name) for item in persona.items for name in ("title", "subject")
        }
    wrong = []
    for asked in scenes.requests:
        plan = labels[asked.query_id].plan
        if plan is None:
            assert labels[asked.query_id].tools == ()
            continue
        wrong += check(Plan(plan.api, dict(plan.arguments)), toolbox)
        for name in ("title", "subject"):
            argument = toolbox.get(plan.api)
            assert argument is not None
            spec = argument.arguments_by_name.get(name)
            exact = spec is not None and spec.match == "value"
            if exact and plan.arguments[name] not in titles[asked.person_id]:
                wrong.append(f"{asked.query_id}: {plan.arguments[name]!r}")
    assert wrong == []


def test_every_api_is_asked_for_often(labels: dict[str, Labels]) -> None:
    counted = Counter(one.tools[0] for one in labels.values() if one.tools)
    assert set(counted) == set(Toolbox.packaged().names)
    assert min(counted.values()) >= 50
    assert sum(one.tools == () for one in labels.values()) >= 300


def test_people_and_texts_are_not_those_of_the_reference_people(scenes: Dataset) -> None:
    own = {" ".join(one.request.text.casefold().split()) for one in scenes.requests}
    names = {one.person.profile.name for one in scenes.personas}
    assert len(own) > 0.98 * len(scenes.requests)
    for split in ("train", "dev"):
        other = load_dataset(split_folder(split))
        assert not {one.person.person_id for one in other.personas} & {
            one.person.person_id for one in scenes.personas
        }
        shared = {one.request.text.casefold() for one in other.requests} & own
        # What everybody says alike ("what's playing") may occur on both sides.
        assert all(len(text.split()) <= 5 for text in shared), shared
        same = {one.person.profile.name for one in other.personas} & names
        assert len(same) <= 2, same
