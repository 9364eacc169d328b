"""Claims about which trained artefacts are used."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import ctrag
from ctrag.assistant.api_choice.classifier import ApiClassifier
from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.conversation.breaks import Breaks
from ctrag.assistant.planning.plainness import Plainness
from ctrag.assistant.planning.value_ranker import ValueRanker
from ctrag.cli.training import held_out
from ctrag.models.cards import Card
from eval.core.experiment import folders_sha256
from synth.reference import scenes_folder, split_folder
from training.core.origin import name_people, people_of


def test_the_packaged_artefacts_are_the_default() -> None:
    assert load_artefacts(None).ranker.card == Ranker.packaged().card


DATA = Path(__file__).parents[2] / "data"
PACKAGED = {"train": split_folder("train"), "scenes": scenes_folder()} | {
    name: DATA / name
    for name in (
        "train-further",
        "further",
        "people",
        "oblique",
        "everyday-people",
        "everyday-train",
    )
}


@pytest.fixture(scope="module")
def people() -> dict[str, frozenset[str]]:
    """Fingerprints by packaged data set, those that hold tools alone without anybody."""
    return {name: people_of([folder]) for name, folder in PACKAGED.items()}


@pytest.fixture(scope="module")
def held_out_of_train() -> frozenset[str]:
    return held_out(PACKAGED["train"], seed=1)


@pytest.mark.parametrize("part", ["ranker", "adapter", "classifier", "arguments"])
def test_an_artefact_was_trained_on_the_packaged_people(part: str) -> None:
    card: Card = getattr(load_artefacts(None), part).card
    assert card.data_sha256 == folders_sha256([PACKAGED[name] for name in card.data.split("+")])


@pytest.mark.slow  # reads every data set that people were learned from
@pytest.mark.parametrize(
    ("card", "holds_out"),
    [
        ("assistant/context/artefact/card", False),
        ("assistant/context/artefact/adapter-card", False),
        ("assistant/api_choice/artefact/reader-card", True),
        ("assistant/planning/artefact/arguments-card", True),
        ("models/artefact/lora/adapter-card", True),
        ("agents/prompt/artefact/reranker-card", False),
    ],
)
def test_a_packaged_card_names_exactly_the_people_who_were_learned_from(
    card: str,
    holds_out: bool,
    people: dict[str, frozenset[str]],
    held_out_of_train: frozenset[str],
) -> None:
    value = json.loads((Path(ctrag.__file__).parent / f"{card}.json").read_bytes())
    names = value["data"].split("+")
    names += re.findall(r"--(?:data|more) (\S+)", value.get("before") or "")
    learned = frozenset[str]().union(*(people.get(one, ()) for one in names))
    assert learned
    assert value["people"] == sorted(learned - (held_out_of_train if holds_out else frozenset()))
    assert not people_of([split_folder("dev")]) & set(value["people"])


@pytest.mark.parametrize(
    "card",
    [
        "models/artefact/slots/adapter-card",
        "assistant/planning/artefact/confidence-card",
        "assistant/planning/artefact/plainness-card",
        "assistant/planning/artefact/said-card",
    ],
)
def test_what_makes_calls_of_plain_requests_never_saw_dev(
    card: str, people: dict[str, frozenset[str]]
) -> None:
    value = json.loads((Path(ctrag.__file__).parent / f"{card}.json").read_bytes())
    assert value["people"]
    assert not people_of([split_folder("dev")]) & set(value["people"])


def test_whoever_learned_from_strangers_names_source_and_licence() -> None:
    root = Path(ctrag.__file__).parent
    for card in root.rglob("*card.json"):
        value = json.loads(card.read_bytes())
        if "--strangers" in value.get("command", ""):
            assert any("CC BY 4.0" in one for one in value["sources"]), card


def test_the_packaged_search_of_tools_names_its_people(people: dict[str, frozenset[str]]) -> None:
    root = Path(ctrag.__file__).parent
    encoder = root / "models/artefact/tool_encoder/encoder-card.json"
    assert json.loads(encoder.read_bytes())["people"] == []
    card = json.loads((root / "agents/search/artefact/discovery.json").read_bytes())["card"]
    assert card["people"] == sorted(people["train"] | people["scenes"])


def test_older_cards_are_given_their_people_by_the_data_they_name(tmp_path: Path) -> None:
    dev, scenes = split_folder("dev"), PACKAGED["scenes"]
    ranker = Ranker.packaged()
    old = ranker.card.model_copy(update={"people": None, "data_sha256": folders_sha256([dev])})
    replace(ranker, card=old).save(tmp_path)
    with pytest.raises(
        ValueError, match=r"--data: no card in .* \(card\.json: train\+train-further"
    ):
        name_people(tmp_path, [dev, scenes])
    assert name_people(tmp_path, [dev]) == [tmp_path / "card.json"]
    named = Ranker.load(tmp_path).card
    assert named == old.model_copy(update={"people": sorted(people_of([dev]))})


def test_a_ranker_of_ones_own_wins_and_its_old_neighbours_are_ignored(tmp_path: Path) -> None:
    ranker = Ranker.packaged()
    replace(ranker, card=ranker.card.model_copy(update={"seed": 7})).save(tmp_path)
    for name in ("tools.npz", "tools-card.json"):  # older versions wrote them beside it
        (tmp_path / name).write_bytes(b"unreadable")
    found = load_artefacts(tmp_path)
    assert found.ranker.card.seed == 7
    assert found.adapter is None
    assert found.classifier.card == ApiClassifier.packaged().card


def test_a_folder_of_tools_alone_gets_the_packaged_ranker(tmp_path: Path) -> None:
    classifier = ApiClassifier.packaged()
    ApiClassifier(classifier.arrays, classifier.card.model_copy(update={"seed": 7})).save(tmp_path)
    arguments = ValueRanker.packaged()
    changed = arguments.card.model_copy(update={"seed": 8})
    ValueRanker(arguments.model, changed).save(tmp_path)
    found = load_artefacts(tmp_path)
    assert (found.classifier.card.seed, found.arguments.card.seed) == (7, 8)
    assert found.ranker.card == Ranker.packaged().card
    assert found.adapter is not None


def test_plainness_and_breaks_of_a_folder_are_used(
    tmp_path: Path, configure: Callable[..., None]
) -> None:
    plain, breaks = Plainness.packaged(), Breaks.packaged()
    Plainness(plain.arrays, plain.card.model_copy(update={"seed": 7})).save(tmp_path)
    Breaks(breaks.weights, breaks.card.model_copy(update={"seed": 8})).save(tmp_path)
    configure(artefacts=tmp_path)
    assert load_artefacts(tmp_path).plainness.card.seed == 7
    assert Breaks.in_use().card.seed == 8


def test_a_folder_without_any_artefact_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"holds none of card\.json"):
        load_artefacts(tmp_path)
