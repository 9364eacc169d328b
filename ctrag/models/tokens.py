"""Counting tokens with a real tokenizer."""

from collections.abc import Callable
from functools import cache

from ctrag.models import packages
from ctrag.models.lm_tokenizer import load_tokenizer
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
    if name is None or name == packages.PLANNER:
        packaged = packaged_vocabulary(packages.PLANNER)

        def encode(text: str) -> list[int]:
            return list(packaged.encode(text).ids)

    else:
        encode = load_tokenizer(packages.find(name)).encode

    @cache
    def count(text: str) -> int:
        return len(encode(text))

    return count
