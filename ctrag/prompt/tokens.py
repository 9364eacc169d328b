"""Counting tokens with a real tokenizer."""

from collections.abc import Callable
from functools import cache

CountTokens = Callable[[str], int]
"""Tokens of a text; deterministic."""


@cache
def token_counter(name: str | None = None) -> CountTokens:
    """Counts in the vocabulary of a language model: the embedded planner's when None.

    Args:
        name: Name, folder or hub name of a model that has a `tokenizer.json`.

    Raises:
        ModelMissing: The weights, which the tokenizer comes with, are not on this machine.
    """
    from tokenizers import Tokenizer

    from ctrag.planner.weights import planner_folder

    folder = planner_folder(name) if name else planner_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    @cache
    def count(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    return count
