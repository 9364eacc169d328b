"""What the re-ranker learns from: requests of other people's catalogues, step by step."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.errors import InputError, reading
from ctrag.toolbox import Toolbox
from stores import compressed
from stores.people.dataset import load_dataset, load_labels
from training.core.shares import drawn


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")
    query_id: str
    text: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A step: after these calls, one of these tools is right."""

    text: str
    history: tuple[str, ...]
    right: tuple[int, ...]
    """Rows of the right tools in the catalogue."""


@dataclass(frozen=True, slots=True)
class DecisionSource:
    """A catalogue and decisions in it."""

    name: str
    tools: tuple[str, ...]
    """What is searched of each tool."""
    decisions: tuple[Decision, ...]


def load_source(folder: Path, share: float = 1.0) -> DecisionSource:
    """The decisions of a folder: chains step by step, where `tools` is an order of calls.

    Args:
        folder: A benchmark folder with `tools.json` and `queries.jsonl`, or a labelled data set,
            whose requests are decisions for their best API.
        share: Requests used, by hash of their text; the others stay unseen for tests.

    Raises:
        ValueError: A line breaks a rule, or names a tool that the catalogue lacks.
        FileNotFoundError: A file is missing.
    """
    if compressed.kept(folder / "personas.jsonl").exists():
        return _from_dataset(folder, share)
    tools = load_catalogue(folder / "tools.json")
    rows = {tool.name: place for place, tool in enumerate(tools)}
    ordered = "chains" in folder.name
    decisions: list[Decision] = []
    used: dict[int, None] = {}
    for query in _queries(folder / "queries.jsonl"):
        if not drawn(query.text, share):
            continue
        places = []
        for name in query.tools:
            if name not in rows:
                raise InputError(f"{folder}/queries.jsonl: {query.query_id}: no tool {name!r}")
            places.append(rows[name])
        used.update(dict.fromkeys(places))
        if ordered:
            decisions += [
                Decision(query.text, query.tools[:at], (place,)) for at, place in enumerate(places)
            ]
        else:
            decisions.append(Decision(query.text, (), tuple(places)))
    kept = _catalogue(len(tools), used)
    renamed = {row: place for place, row in enumerate(kept)}
    return DecisionSource(
        folder.name,
        tuple(searched(tools[row]) for row in kept),
        tuple(
            Decision(one.text, one.history, tuple(renamed[row] for row in one.right))
            for one in decisions
        ),
    )


def searched(tool: CatalogueTool) -> str:
    """As `ToolDocument.searched`."""
    return f"{tool.server} {tool.text}".strip()


def _catalogue(size: int, used: dict[int, None], most: int = 600) -> list[int]:
    """Rows kept: the right ones, and others in file order up to `most`."""
    others = [row for row in range(size) if row not in used]
    return sorted([*used, *others[: max(0, most - len(used))]])


def _queries(path: Path) -> Sequence[_Row]:
    found = []
    with reading(path):
        lines = compressed.read_kept(path).decode("utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            found.append(_Row.model_validate(json.loads(line)))
        except (json.JSONDecodeError, ValidationError) as error:
            raise InputError(f"{path}:{number}: {str(error).splitlines()[0]}") from None
    return found


def _from_dataset(folder: Path, share: float) -> DecisionSource:
    toolbox = list(Toolbox.packaged())
    rows = {tool.api: place for place, tool in enumerate(toolbox)}
    labels = load_labels(folder)
    decisions = tuple(
        Decision(asked.request.text, (), (rows[known[0]],))
        for asked in load_dataset(folder).requests
        for known in [labels[asked.query_id].tools or ("none",)]
        if known[0] in rows and drawn(asked.request.text, share)
    )
    tools = [CatalogueTool(one.api, one.description, one.app) for one in toolbox]
    return DecisionSource(folder.name, tuple(searched(one) for one in tools), decisions)
