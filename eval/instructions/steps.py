"""The instruction experiment's data: steps of episodes, and one catalogue in four sizes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ctrag.agents.catalogue.formats import json_schema
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.prompt.tool_documents import (
    ToolDocument,
    load_documents,
    make_documents,
    toolbox_notes,
)
from ctrag.errors import InputError, MissingExtra, reading
from ctrag.models.tokens import CountTokens
from ctrag.toolbox import Toolbox
from eval.replay.simulators import SIMULATORS

LIST = "instruction-catalogue.txt"
SIZES = ("8", "40", "120", "full")


class _Call(BaseModel):
    model_config = ConfigDict(extra="ignore")
    tool: str
    arguments: dict[str, Any] = {}


class _Episode(BaseModel):
    model_config = ConfigDict(extra="ignore")
    episode_id: str
    domain: str
    instruction: str
    steps: list[_Call]


@dataclass(frozen=True, slots=True)
class DecisionStep:
    """One decision: which tool is called next."""

    id: str
    """`episode/number`, counted from 1."""
    episode: str
    domain: str
    instruction: str
    history: tuple[str, ...]
    """Ids of the tools called before."""
    calls: tuple[str, ...]
    """The same with their arguments, as text."""
    gold: str
    """Id of the tool that the episode calls."""
    episode_tools: tuple[str, ...]
    """Ids of all tools that the episode calls, sorted."""


def load_steps(folder: Path, limit: int | None = None) -> list[DecisionStep]:
    """The steps of `episodes.jsonl`, in file order.

    Args:
        folder: An episodes folder.
        limit: Only the first so many episodes.

    Raises:
        ValueError: A line breaks a rule (named).
        FileNotFoundError: There is no such file.
    """
    path = folder / "episodes.jsonl"
    steps: list[DecisionStep] = []
    with reading(path):
        lines = path.read_text(encoding="utf-8").splitlines()[:limit]
    for number, line in enumerate(lines, start=1):
        try:
            episode = _Episode.model_validate(json.loads(line))
        except (json.JSONDecodeError, ValidationError) as error:
            raise InputError(f"{path}:{number}: {str(error).splitlines()[0]}") from None
        ids = [f"{episode.domain}/{one.tool}" for one in episode.steps]
        calls = [_call(one) for one in episode.steps]
        steps += [
            DecisionStep(
                f"{episode.episode_id}/{at + 1}",
                episode.episode_id,
                episode.domain,
                episode.instruction,
                tuple(ids[:at]),
                tuple(calls[:at]),
                ids[at],
                tuple(sorted(set(ids))),
            )
            for at in range(len(ids))
        ]
    if not steps:
        raise InputError(f"{path}: holds no step")
    return steps


def _call(one: _Call) -> str:
    return f"{one.tool}({', '.join(f'{key}={value!r}' for key, value in one.arguments.items())})"


@dataclass(frozen=True, slots=True)
class ExperimentCatalogue:
    """The experiment's tools in the order of the committed list."""

    documents: tuple[ToolDocument, ...]
    sha256: str
    """Of the list."""

    def sized(self, size: str, step: DecisionStep) -> tuple[ToolDocument, ...]:
        """The catalogue that a step's agent has.

        Larger ones hold the smaller ones. Those that its episode calls come in first, then the
        tools of its domain, which are the hard ones to distinguish, then the list; the result is in
        the list's order.

        Args:
            size: One of `SIZES`.
            step: Whose catalogue it is.

        Raises:
            ValueError: The episode calls more tools than the size has.
        """
        if size == "full":
            return self.documents
        count = int(size)
        if len(step.episode_tools) > count:
            raise InputError(f"size: {step.episode} calls more than {count} tools")

        def rank(pair: tuple[int, ToolDocument]) -> tuple[bool, bool, int]:
            place, one = pair
            return (one.id not in step.episode_tools, one.domain != step.domain, place)

        chosen = sorted(enumerate(self.documents), key=rank)[:count]
        return tuple(one for _, one in sorted(chosen, key=lambda pair: pair[0]))


def load_experiment_catalogue(
    folder: Path, count: CountTokens, listed: Path | None = None
) -> ExperimentCatalogue:
    """The tools of a list: of the episodes, the 59 APIs, BFCL and Seal-Tools.

    Args:
        folder: The episodes folder; `seal-tools` is looked for beside it.
        count: Tokens of a text.
        listed: The list; the committed one when None.

    Raises:
        ValueError: A tool of the list is in none of its sources, or a source is missing.
    """
    text = (listed or files("eval.instructions.labels").joinpath(LIST)).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    wanted = [(source, tool) for source, _, tool in (line.partition(" ") for line in lines)]
    pool: dict[str, dict[str, ToolDocument]] = {}
    for source in dict.fromkeys(source for source, _ in wanted):
        pool[source] = {one.id: one for one in _source(source, folder, count)}
    missing = [f"{source} {tool}" for source, tool in wanted if tool not in pool[source]]
    if missing:
        name = LIST if listed is None else str(listed)
        raise InputError(f"{name}: {missing[0]!r} is in no source; {len(missing)} tools missing")
    # Names are made unique over the whole catalogue, as one agent would see it.
    found = [pool[source][tool] for source, tool in wanted]
    named = make_documents([one.tool for one in found], {}, count)
    documents = [
        ToolDocument(
            one.tool,
            other.name,
            one.needs,
            one.after,
            one.fails,
            tuple(call.replace(f"{one.name}(", f"{other.name}(", 1) for call in one.exemplars),
            one.not_for,
        )
        for one, other in zip(found, named, strict=True)
    ]
    return ExperimentCatalogue(tuple(documents), sha256(text.encode()).hexdigest())


def _source(name: str, folder: Path, count: CountTokens) -> Sequence[ToolDocument]:
    if name == "episodes":
        return load_documents(folder / "tools.json", count)
    if name == "toolbox":
        toolbox = Toolbox.packaged()
        tools = [
            CatalogueTool(
                one.api,
                one.description,
                one.app,
                {
                    "type": "object",
                    "properties": {
                        argument.name: {"type": "string", "description": argument.description}
                        for argument in one.arguments
                    },
                    "required": [argument.name for argument in one.arguments if argument.required],
                },
            )
            for one in toolbox
        ]
        return make_documents(tools, toolbox_notes(toolbox), count)
    if name == "bfcl":
        return make_documents(_bfcl_tools(), {}, count)
    if name == "seal-tools":
        path = folder.parent / "seal-tools" / "tools.json"
        if not path.exists():
            raise InputError(f"{path}: the experiment's catalogue has tools of seal-tools")
        return make_documents(load_catalogue(path), {}, count)
    raise InputError(f"{LIST}: {name!r} is no source")


def bfcl_folder() -> Path | None:
    """Where bfcl-eval keeps its data; None when it is not installed."""
    found = find_spec("bfcl_eval")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "data"


def _bfcl_tools() -> list[CatalogueTool]:
    data = bfcl_folder()
    if data is None:
        raise MissingExtra(
            "the experiment's catalogue has tools of BFCL: run `pip install --no-deps bfcl-eval`"
        )
    folder = data / "multi_turn_func_doc"
    tools = []
    for name in SIMULATORS.values():
        for line in (folder / f"{name}.json").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            tools.append(
                CatalogueTool(row["name"], row["description"], name, json_schema(row["parameters"]))
            )
    return tools
