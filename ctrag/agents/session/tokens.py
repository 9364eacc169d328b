"""Token counts of tools and texts in a model's context."""

from functools import cache

from ctrag.agents.catalogue.formats import schema_line
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.models import packages
from ctrag.models.tokens import CountTokens
from ctrag.models.vocabularies import packaged_vocabulary

CHARACTERS_PER_TOKEN = 4
"""k of the tool-discovery paper's equation 3."""


def characters(text: str) -> int:
    """Tokens as a quarter of the characters, rounded up: no vocabulary needed."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def tool_tokens(tool: CatalogueTool, count: CountTokens = characters) -> int:
    """Tokens of one definition as compact JSON."""
    return count(schema_line(tool.id, tool.description, tool.parameters))


@cache
def packaged_tokenizer(name: str = packages.ENCODER) -> CountTokens:
    """A counter with a real vocabulary; special tokens do not count.

    Args:
        name: `all-MiniLM-L6-v2` (word pieces) or `SmolLM2-135M-Instruct` (byte pairs).

    Raises:
        ValueError: No vocabulary of that name is packaged.
    """
    tokenizer = packaged_vocabulary(name)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
