"""Counting tokens with a real tokenizer."""

from collections.abc import Callable
from functools import cache

from ctrag.models import packages
from ctrag.models.vocabularies import packaged_vocabulary

CountTokens = Callable[[str], int]
"""Number of tokens of a text; deterministic."""


@cache
def token_counter(name: str | None = None) -> CountTokens:
    """A token counter of a language model, the embedded planner's when None.

    Args:
        name: Folder or hub name of another model, which has a `tokenizer.json`.

    Raises:
        ModelMissing: The other model is not on this machine.
    """
    if name in (None, packages.PLANNER):
        tokenizer = packaged_vocabulary(packages.PLANNER)
    else:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(packages.find(name) / "tokenizer.json"))

    @cache
    def count(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    return count
