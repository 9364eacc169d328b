"""Telemetry: one JSON line per build, discovery step or miss."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stores.files import append_private

if TYPE_CHECKING:
    from ctrag.agents.prompt.assembly import Prompt

Record = dict[str, Any]
Sink = Callable[[Mapping[str, Any]], None]
"""Takes one record."""


def to_file(path: Path) -> Sink:
    """A sink that appends one line per record to a file; its folder is created when missing,
    the file for its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def write(record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False)
        append_private(path, f"{line}\n")

    return write


def nowhere(_: Mapping[str, Any]) -> None:
    """A sink that drops records."""


def of_prompt(prompt: "Prompt", tau: float, reranked: bool, milliseconds: float) -> Record:
    """The record of a prompt: its content, how it was made, and how long that took."""
    return {
        "event": "prompt",
        "request": prompt.request,
        "history": list(prompt.history),
        "fragments": [one.id for one in prompt.fragments],
        "tools": [one.id for one in prompt.tools],
        "signatures": [one.id for one in prompt.signatures],
        "scores": prompt.scores,
        "likely": prompt.likely.id if prompt.likely else "",
        "sufficiency": prompt.sufficiency,
        "tau": tau,
        "discovered": prompt.discovered,
        "fallback": prompt.fallback,
        "cached": prompt.cached,
        "reranked": reranked,
        "dropped": list(prompt.dropped),
        "tokens": prompt.tokens,
        "budget": prompt.budget,
        "form": prompt.form,
        "ms": milliseconds,
    }


def of_miss(prompt: "Prompt", wanted: str, known: bool) -> Record:
    """The record of a step that needed a tool its prompt did not show.

    Args:
        prompt: The step's prompt.
        wanted: Id of the tool, or the model's description of it.
        known: Whether the catalogue has it.
    """
    return {
        "event": "miss",
        "request": prompt.request,
        "history": list(prompt.history),
        "wanted": wanted,
        "known": known,
        "tools": [one.id for one in prompt.exposed],
        "sufficiency": prompt.sufficiency,
        "discovered": prompt.discovered,
    }
