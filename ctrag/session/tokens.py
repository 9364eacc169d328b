"""What tools and texts cost in a model's context."""

from functools import cache

from ctrag import models
from ctrag.integrations.formats import schema_line
from ctrag.prompt.tokens import CountTokens, token_counter
from ctrag.tools.catalogue import CatalogueTool

CHARACTERS_PER_TOKEN = 4
"""k of the tool-discovery paper's equation 3."""


def characters(text: str) -> int:
    """Tokens as a quarter of the characters, rounded up: no vocabulary needed."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def tool_tokens(tool: CatalogueTool, count: CountTokens = characters) -> int:
    """What one definition costs, written as compact JSON."""
    return count(schema_line(tool.id, tool.description, tool.parameters))


@cache
def packaged_tokenizer(name: str = models.ENCODER) -> CountTokens:
    """A counter with a real vocabulary; special tokens are not counted.

    Args:
        name: `all-MiniLM-L6-v2` (word pieces, read from its package) or `SmolLM2-135M-Instruct`
            (byte pairs; its weights are converted once, when it counts for the first time).

    Raises:
        ValueError: No other vocabulary is packaged.
        ModelMissing: The package is not installed.
    """
    if name == models.ENCODER:
        return _word_pieces()
    if name == models.PLANNER:
        return token_counter(name)
    raise ValueError(f"name: {name!r} is neither {models.ENCODER} nor {models.PLANNER}")


def _word_pieces() -> CountTokens:
    from tokenizers import Tokenizer

    vocabulary = models.require(models.ENCODER) / "model" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
