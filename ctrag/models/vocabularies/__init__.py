"""Vocabularies of the embedded models, so that tokenizing needs no weights.

`NAME.json.bz2` is the `tokenizer.json` of the model, compressed, without truncation and padding.
Of byte pairs the merges are one text, and what they make is not listed: it stands in the vocabulary
behind the first tokens, in the order of the merges.
Both models are under the Apache licence, version 2.0.
"""

import bz2
import json
from functools import cache
from importlib.resources import files
from typing import Any

from ctrag.errors import InputError
from ctrag.models import packages

PACKAGED = (packages.ENCODER, packages.PLANNER)


def packaged_vocabulary(name: str, longest: int | None = None) -> Any:
    """A `tokenizers.Tokenizer` of its own, which the caller may change.

    Args:
        name: `all-MiniLM-L6-v2` or `SmolLM2-135M-Instruct`.
        longest: Tokens after which a text is truncated; None for no limit.

    Raises:
        ValueError: No other vocabulary is packaged.
    """
    from tokenizers import Tokenizer

    if name not in PACKAGED:
        raise InputError(f"name: {name!r} is neither {' nor '.join(PACKAGED)}")
    tokenizer = Tokenizer.from_str(_text(name))
    if longest is not None:
        tokenizer.enable_truncation(longest)
    return tokenizer


@cache
def _text(name: str) -> str:
    packed = files("ctrag.models.vocabularies").joinpath(f"{name}.json.bz2").read_bytes()
    text = bz2.decompress(packed).decode("utf-8")
    vocabulary = json.loads(text)
    model = vocabulary["model"]
    if not isinstance(model.get("merges"), str):
        return text
    model["merges"] = [pair.split(" ") for pair in model["merges"].splitlines()]
    first = len(model["vocab"])
    model["vocab"] |= {"".join(pair): first + at for at, pair in enumerate(model["merges"])}
    return json.dumps(vocabulary)
