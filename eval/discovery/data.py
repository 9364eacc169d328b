"""Requests that name the tools they need: external folders, recorded sessions, and BFCL's functions
pooled."""

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ctrag.agents.catalogue.files import checked
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.session.lessons import lessons_of
from ctrag.agents.session.recording import is_recording, read_recordings
from ctrag.errors import InputError, MissingExtra, reading
from stores.compressed import kept, open_kept, read_kept

LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
SINGLE_TURN = (
    *LIVE,
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
)

POOLED = {"bfcl-live": LIVE, "bfcl": SINGLE_TURN}
"""Names of data beside folders: BFCL's functions, pooled over these categories."""


@dataclass(frozen=True, slots=True)
class Need:
    """A request and the ids of the tools that it needs."""

    query_id: str
    text: str
    tools: frozenset[str]
    """Empty where nothing in the catalogue does what is asked."""
    instead: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """A needed tool's id → ids of others that serve as well."""
    group: str = ""
    """The recorded session that it is from: no session is on both sides of a split."""

    @property
    def held_out(self) -> bool:
        """Whether it, or its session, was kept away from everything that is fitted."""
        return held_out(self.group or self.query_id)

    @property
    def serving(self) -> frozenset[str]:
        """All tools that serve the request or a part of it."""
        return self.tools.union(*self.instead.values())

    def as_needed(self, ids: Iterable[str]) -> list[str]:
        """The ids, with a needed tool in the place of the first that serves instead of it."""
        named = list(ids)
        for needed, others in self.instead.items():
            places = [place for place, one in enumerate(named) if one in others or one == needed]
            if not places:
                continue
            first = places[0]
            if needed in named:
                named[named.index(needed)] = named[first]
            named[first] = needed
        return named


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A catalogue with requests."""

    tools: list[CatalogueTool]
    needs: list[Need]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What of a recording teaches nothing, by reason."""


class _NeedRow(BaseModel):
    model_config = ConfigDict(extra="ignore")
    query_id: str
    text: str
    tools: list[str]
    instead: dict[str, list[str]] = {}


_NEED = TypeAdapter(_NeedRow)


def held_out(query_id: str) -> bool:
    """Whether a request was kept away from everything that is fitted: half of them, by hash."""
    return hashlib.sha256(f"held out {query_id}".encode()).digest()[0] % 2 == 1


def read_any(data: Path) -> Benchmark:
    """A folder of tools and requests, a data set of people, or one of the names in `POOLED`."""
    if str(data) in POOLED and not data.exists():
        return read_bfcl(POOLED[str(data)])
    if kept(data / "personas.jsonl").is_file():
        return read_people(data)
    return read_folder(data)


def read_folder(folder: Path) -> Benchmark:
    """A folder with `tools.json` and `queries.jsonl`.

    A request has `query_id`, `text`, `tools` (none where nothing does what is asked) and, where
    others serve as well, `instead`. A recording of sessions, a file or a folder of them, does too;
    see `read_recorded`.

    Raises:
        ValueError: A file breaks a rule; the message has file and line.
        FileNotFoundError: A file is missing.
    """
    path = folder / "queries.jsonl"
    if not kept(path).is_file() and is_recording(folder):
        return read_recorded(folder)
    tools = load_catalogue(folder / "tools.json")
    ids_of: dict[str, list[str]] = {}
    for tool in tools:
        ids_of.setdefault(tool.name, []).append(tool.id)
        if tool.id != tool.name:
            ids_of.setdefault(tool.id, []).append(tool.id)
    needs = []
    with reading(path):
        lines = read_kept(path).decode("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            row = checked(_NEED, json.loads(line), f"{path}:{number}")
        except json.JSONDecodeError as error:
            raise InputError(f"{path}:{number}: not JSON: {error.msg}") from None
        for name in (*row.tools, *row.instead, *itertools.chain(*row.instead.values())):
            if name not in ids_of:
                raise InputError(f"{path}:{number}: tools: {name!r} is not in tools.json")
        wanted = frozenset(one for name in row.tools for one in ids_of[name])
        instead = {
            tool_id: frozenset(one for other in others for one in ids_of[other])
            for name, others in row.instead.items()
            for tool_id in ids_of[name]
        }
        needs.append(Need(row.query_id, row.text, wanted, instead))
    return Benchmark(tools, needs)


def read_recorded(path: Path) -> Benchmark:
    """What recorded sessions searched for, and the tools that they then called of what was found.

    Args:
        path: A file of `ctrag serve mcp --record`, or a folder of them. The tools are those of a
            `tools.json` in the folder, else those that the recording defines.

    Raises:
        ValueError: Nobody defines the tools, or no search led to a call.
    """
    recording = read_recordings([path])
    catalogue = path / "tools.json"
    tools = list(recording.tools.values())
    if kept(catalogue).is_file():
        tools = load_catalogue(catalogue)
    if not tools:
        raise InputError(
            f"{path}: does not define the tools that were searched; put it into a folder with "
            "their tools.json"
        )
    lessons = lessons_of(recording)
    left_out = Counter(lessons.left_out)
    known = {tool.id for tool in tools}
    needs = []
    for one in lessons.searches:
        if known.issuperset(one.used):
            needs.append(Need(one.id, one.text, frozenset(one.used), group=one.session))
        else:
            left_out["searches for tools that nobody defines"] += 1
    if not needs:
        raise InputError(f"{path}: no search in it led to a call: {dict(left_out)}")
    return Benchmark(tools, needs, left_out)


def read_people(folder: Path) -> Benchmark:
    """The toolbox of a data set of people, and their requests with the best of the labelled APIs.

    Raises:
        FileNotFoundError: A file is missing.
    """
    own = folder / "toolbox.yaml"
    tools = load_catalogue(own if own.is_file() else Path(str(files("ctrag"))) / own.name)
    ids = {tool.name: tool.id for tool in tools}
    needs = [
        Need(row["query_id"], row["text"], frozenset([ids[row["tools"][0]]]))
        for row in _rows(folder / "queries.jsonl")
        if row.get("tools")
    ]
    return Benchmark(tools, needs)


def read_bfcl(categories: tuple[str, ...]) -> Benchmark:
    """BFCL's functions pooled by name, the first definition of each, with all requests.

    Raises:
        ValueError: `bfcl-eval`, which carries the data, is not installed.
    """
    spec = find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("data: BFCL's cases are in bfcl-eval: pip install --no-deps bfcl-eval")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    tools: dict[str, CatalogueTool] = {}
    needs = []
    for category in categories:
        answers = {
            row["id"]: row for row in _rows(folder / "possible_answer" / f"BFCL_v4_{category}.json")
        }
        for case in _rows(folder / f"BFCL_v4_{category}.json"):
            for function in case["function"]:
                tool = CatalogueTool(
                    function["name"], function["description"], "", function["parameters"]
                )
                tools.setdefault(tool.name, tool)
            wanted = {name for call in answers[case["id"]]["ground_truth"] for name in call}
            turns = [one["content"] for one in case["question"][0] if one["role"] == "user"]
            needs.append(Need(case["id"], "\n".join(turns), frozenset(wanted)))
    return Benchmark(list(tools.values()), needs)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with open_kept(path) as file:
        for line in file:
            yield json.loads(line)
