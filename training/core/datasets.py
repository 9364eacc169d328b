"""Several labelled data sets as one, with vectors cached on disk.

A further data set has other people, or more requests of the same people; the latter stay in their
people's folds, so that nobody is in both training and test.
"""

from collections.abc import Sequence
from pathlib import Path

from ctrag.errors import InputError
from ctrag.models.encoder import Encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder
from eval.core.examples import RankingExample, load_examples
from stores.people.dataset import fingerprints


def load_with_memory(folder: Path, encoder: Encoder) -> list[RankingExample]:
    """`load_examples`, with vectors cached on disk."""
    return load_examples(folder, CachedEncoder(encoder, cache_folder() / "vectors"))


def load_together(folders: Sequence[Path], encoder: Encoder) -> list[list[RankingExample]]:
    """The examples of each folder.

    Raises:
        ValueError: A data set breaks a rule or has no labels, two have the same request, or people
            of one id have other items in another.
    """
    parts = [load_with_memory(folder, encoder) for folder in folders]
    asked: dict[str, Path] = {}
    items: dict[str, tuple[str, ...]] = {}
    for folder, part in zip(folders, parts, strict=True):
        for one in part:
            query, person = one.asked.query_id, one.asked.person_id
            if query in asked:
                raise InputError(f"--more: request {query} stands in {asked[query]} and {folder}")
            asked[query] = folder
            own = tuple(str(item) for item in one.context.view.ids)
            if items.setdefault(person, own) != own:
                raise InputError(f"--more: {folder} has other items of {person}; rename the person")
    return parts


def of_same_people(data: Path, more: Sequence[Path]) -> list[Path]:
    """Those of `more` that have more requests of the people in `data`.

    Raises:
        ValueError: One has some people of `data` and others too.
    """
    known = set(fingerprints(data).values())
    found = []
    for folder in more:
        people = fingerprints(folder)
        other = [person for person, one in people.items() if one not in known]
        if len(other) == len(people):
            continue
        if other:
            raise InputError(
                f"--more: {folder} has people of {data} and others ({min(other)}); part them"
            )
        found.append(folder)
    return found
