"""Counting tokens with a real tokenizer."""

from collections.abc import Callable
from functools import cache

from ctrag.models import packages
from ctrag.models.tokenizer_files import load_tokenizer
from ctrag.models.vocabularies import packaged_vocabulary

CountTokens = Callable[[str], int]
"""Number of tokens of a text; deterministic."""


@cache
def token_counter(name: str | None = None) -> CountTokens:
    """A token counter of a language model, the embedded planner's when None.

    Args:
        name: Folder or hub name of another model, with any tokenizer that `load_tokenizer` reads.

    Raises:
        ModelMissing: The other model is not on this machine.
        ValueError: Its tokenizer cannot be read.
    """
    own = name is not None and name != packages.PLANNER
    model = load_tokenizer(packages.find(str(name))) if own else None
    packaged = packaged_vocabulary(packages.PLANNER)

    @cache
    def count(text: str) -> int:
        return len(packaged.encode(text).ids if model is None else model.encode(text))

    return count
