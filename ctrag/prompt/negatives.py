"""Negative examples of tools from recorded traces: what a tool's next of kin was called for.

Nothing is made up: a sentence is of a request for which a sibling was called and the tool was not.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctrag.encoder import Matrix
from ctrag.prompt.reading import Reader
from ctrag.prompt.tokens import CountTokens
from ctrag.prompt.tool_documents import LARGEST, ToolDocument
from ctrag.prompt.traces import Trace

_SIBLINGS = 3
"""So many tools of the same server, the likest first, are tried."""
_WORDS = 12
"""Of a sentence; what is longer ends with three dots."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PERSONAL = re.compile(r"[@\d]")
"""In addresses and the numbers of orders and phones: such sentences are not shown to others."""

Vectors = Mapping[str, Matrix]


def with_negatives(
    documents: Sequence[ToolDocument],
    traces: Sequence[Trace],
    reader: Reader,
    count: CountTokens,
    most: int,
) -> tuple[ToolDocument, ...]:
    """The documents, in order, with negative examples where the catalogue has none.

    Each is a sentence that a sibling was called for: of those that are nearer to the sibling than
    to the tool, the one nearest to both. Documents that would be longer than `LARGEST` stay as
    they are.

    Args:
        documents: The catalogue.
        traces: Requests and the ids of the tools that served them.
        reader: The encoder.
        count: Tokens of a text.
        most: Negative examples of a tool.
    """
    called = {tool for one in traces for tool in one.tools}
    known = [one for one in documents if one.domain and one.id in called]
    vectors = {one.id: reader.read(one.searched).vector for one in known}
    said = {one.text: _sentences(one.text, reader) for one in traces}
    found = []
    for document in documents:
        if document.id in vectors and not document.not_for:
            siblings = _siblings(document, known, vectors)
            notes = [_note(document.id, one, traces, said, vectors) for one in siblings]
            longer = replace(document, not_for=tuple(note for note in notes if note)[:most])
            document = longer if count(longer.line) <= LARGEST else document
        found.append(document)
    return tuple(found)


def _siblings(
    document: ToolDocument, known: Sequence[ToolDocument], vectors: Vectors
) -> list[ToolDocument]:
    """Tools of the same server, the likest first."""
    others = [one for one in known if one.domain == document.domain and one.id != document.id]
    own = vectors[document.id]
    return sorted(others, key=lambda one: -float(vectors[one.id] @ own))[:_SIBLINGS]


def _note(
    tool: str,
    sibling: ToolDocument,
    traces: Sequence[Trace],
    said: Mapping[str, Vectors],
    vectors: Vectors,
) -> str:
    """`"sentence" (that is sibling)`; empty if no request tells the two apart."""
    best, nearest = "", -2.0
    for one in traces:
        if sibling.id not in one.tools or tool in one.tools:
            continue
        for sentence, vector in said[one.text].items():
            own, other = float(vector @ vectors[tool]), float(vector @ vectors[sibling.id])
            if own < other and own + other > nearest:
                best, nearest = sentence, own + other
    return f'"{_short(best)}" (that is {sibling.name})' if best else ""


def _sentences(text: str, reader: Reader) -> dict[str, Matrix]:
    """Vector of each sentence that may be shown."""
    parts = [one.strip() for one in _SENTENCE.split(text)]
    return {one: reader.read(one).vector for one in parts if one and not _PERSONAL.search(one)}


def _short(sentence: str) -> str:
    words = sentence.split()
    return " ".join(words[:_WORDS]) + ("…" if len(words) > _WORDS else "")
