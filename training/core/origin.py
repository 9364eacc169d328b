"""Provenance of an artefact, for its card; people are identified by fingerprint."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctrag.assistant.api_choice.classifier import CARD as CLASSIFIER
from ctrag.assistant.planning.value_ranker import CARD as ARGUMENTS
from ctrag.errors import InputError
from ctrag.models.cards import Card, one_line_each
from eval.core.experiment import folders_sha256, versions
from stores.files import write_text
from stores.people.dataset import fingerprints, load_dataset, load_labels
from training.core.folds import folds_by_person
from training.ranker.settings import RankerSettings


def origin(
    folders: Sequence[Path], seed: int, held_out: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The fields `command`, `data`, `data_sha256`, `people`, `seed` and `versions` of a card.

    Args:
        folders: The training data.
        seed: Of the training.
        held_out: People of `folders` who are excluded from training.
    """
    return {
        "command": command_line(),
        "data": "+".join(one.name for one in folders),
        "data_sha256": folders_sha256(folders),
        "people": sorted(people_of(folders) - held_out),
        "seed": seed,
        "versions": versions(),
    }


def command_line() -> str:
    """The command line of this process, quoted for a shell."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def people_of(folders: Sequence[Path]) -> frozenset[str]:
    """Fingerprints of everybody with a request in one of the folders.

    Raises:
        ValueError: A data set breaks a rule.
    """
    return frozenset(one for folder in folders for one in fingerprints(folder).values())


def people_in(card: Card, what: str) -> frozenset[str]:
    """Fingerprints of the people that an artefact was trained on.

    Args:
        card: The artefact's card.
        what: Name of the artefact in messages.

    Raises:
        ValueError: The card predates fingerprints.
    """
    if card.people is None:
        raise InputError(
            f"{what}: its card does not name the people it learned from ({card.data}), so that "
            "nobody can be told from them; name them by `ctrag train people`, or train it again"
        )
    return frozenset(card.people)


def held_out_ids(people: Sequence[str], folds: int, seed: int) -> set[str]:
    """Ids of the held-out people: the first fold of `people`."""
    fold = folds_by_person(people, folds, seed)
    return {person for person, place in zip(people, fold, strict=True) if place == 0}


def held_out_of(data: Path, folds: int, seed: int) -> frozenset[str]:
    """Fingerprints of the held-out people of a labelled data set.

    Raises:
        ValueError: The data set breaks a rule, or has fewer people than folds.
    """
    labels, people = load_labels(data), fingerprints(data)
    asking = [
        one.person_id
        for one in load_dataset(data).requests
        if labels[one.query_id].relevant is not None
    ]
    return frozenset(people[one] for one in held_out_ids(asking, folds, seed))


def name_people(folder: Path, data: Sequence[Path]) -> list[Path]:
    """Add the fingerprints of the training people to the cards in a folder.

    Args:
        folder: Holds artefacts whose cards predate fingerprints.
        data: The data sets that they were trained on, in the order of the cards' `data`.

    Returns:
        The changed cards: those whose `data_sha256` is that of `data`.

    Raises:
        ValueError: No card of the folder is of these data.
    """
    known, digest = people_of(data), folders_sha256(data)
    cards = {path: json.loads(path.read_bytes()) for path in sorted(folder.glob("*card.json"))}
    named = [path for path, card in cards.items() if card.get("data_sha256") == digest]
    if not named:
        held = ", ".join(f"{path.name}: {card.get('data')}" for path, card in cards.items())
        raise InputError(
            f"--data: no card in {folder} is of these data sets ({held or 'it has no cards'}); "
            "give what was learned from, as it was, in the cards' order"
        )
    for path in named:
        card = cards[path]
        held_out: frozenset[str] = frozenset()
        if path.name in (CLASSIFIER, ARGUMENTS) or "base" in card:  # the last is the planner's
            held_out = held_out_of(data[0], RankerSettings().folds, card["seed"])
        people = sorted(known - held_out)
        changed: dict[str, Any] = {}
        for name, value in card.items():
            changed |= {name: people if name == "people" else value}
            changed |= {"people": people} if name == "data_sha256" else {}
        write_text(path, one_line_each(json.dumps(changed, indent=1, ensure_ascii=False)) + "\n")
    return named
