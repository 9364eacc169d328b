"""Several labelled data sets as one, with vectors remembered on disk."""

from collections.abc import Collection, Sequence
from pathlib import Path

from ctrag.encoder import Encoder
from ctrag.settings import cache_folder
from ctrag.tools.vectors import CachedEncoder
from eval.examples import Example, load_examples


def load_with_memory(folder: Path, encoder: Encoder) -> list[Example]:
    """`load_examples`, with vectors that are kept in the cache folder."""
    return load_examples(folder, CachedEncoder(encoder, cache_folder() / "vectors"))


def load_further(
    folders: Sequence[Path], known: Collection[Example], encoder: Encoder
) -> list[list[Example]]:
    """The examples of each folder, of other people than `known`.

    Raises:
        ValueError: A data set breaks a rule or has no labels, or has people of `known`.
    """
    people = {one.asked.person_id for one in known}
    found = []
    for folder in folders:
        examples = load_with_memory(folder, encoder)
        shared = people & {one.asked.person_id for one in examples}
        if shared:
            raise ValueError(
                f"--more: {folder} has people of the other data: {sorted(shared)[:3]}; "
                "learn from other people"
            )
        found.append(examples)
    return found
