"""External requests with their expected calls: BFCL, ToolTalk, and catalogue folders."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.errors import InputError, reading
from eval.calls.bfcl import judge
from eval.calls.bfcl_reference import Calls, bfcl_rows, reference_verdict
from eval.core.experiment import data_sha256
from stores.compressed import kept, read_kept

OFFERED = 4
"""Tools on offer for a request of a catalogue folder: its own and its neighbours in the alphabet,
which often do much the same."""
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class CallCase:
    """One request, the available tools and the expected calls."""

    case_id: str
    group: str
    """Cases of one conversation stay together in the bootstrap."""
    text: str
    before: str
    """The conversation so far, and facts such as today's date."""
    tools: tuple[CatalogueTool, ...]
    truth: Calls
    """`{name: {argument: [possible values]}}` each; "" among them: may be left out."""
    right: Callable[[Calls], bool]
    """Whether predicted calls are."""


@dataclass(frozen=True, slots=True)
class CallCases:
    """Cases of one source."""

    cases: list[CallCase]
    sha256: str
    judged_by: str


def load_calls(data: str) -> CallCases:
    """The cases of `bfcl:CATEGORY`, or of a folder.

    A folder holds `tools.json` and either `conversations.jsonl`, in ToolTalk's form, or
    `queries.jsonl` whose rows have `calls`; of these, requests of one call are taken.

    Raises:
        ValueError: The source is unknown, or a row breaks a rule.
    """
    if data.startswith("bfcl:"):
        return _bfcl(data.removeprefix("bfcl:"))
    folder = Path(data)
    if (folder / "conversations.jsonl").is_file():
        cases = _tooltalk(folder)
    elif kept(folder / "queries.jsonl").is_file():
        cases = _queries(folder)
    else:
        raise InputError(
            f"--data: {data}: neither bfcl:CATEGORY nor a folder with conversations.jsonl or "
            "queries.jsonl"
        )
    return CallCases(cases, data_sha256(folder), "eval.calls.bfcl")


def drawn(cases: Sequence[CallCase], limit: int | None, seed: int) -> list[CallCase]:
    """`limit` cases drawn by seed, in their order; all when None."""
    if limit is None or limit >= len(cases):
        return list(cases)
    places = np.random.default_rng(seed).choice(len(cases), limit, replace=False)
    return [cases[place] for place in sorted(places)]


def _bfcl(category: str) -> CallCases:
    rows, digest = bfcl_rows(category)
    cases = []
    for asked, truth in rows:
        turns = [turn["content"] for turns in asked["question"] for turn in turns]
        functions = asked["function"]
        cases.append(
            CallCase(
                asked["id"],
                asked["id"],
                turns[-1],
                "\n".join(turns[:-1]),
                tuple(
                    CatalogueTool(one["name"], one["description"], "", one["parameters"])
                    for one in _once(functions)
                ),
                truth,
                partial(_reference, functions, truth, category),
            )
        )
    return CallCases(cases, digest, "bfcl-eval")


def _once(functions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some cases list a function twice."""
    return list({one["name"]: one for one in reversed(functions)}.values())[::-1]


def _reference(functions: Any, truth: Calls, category: str, calls: Calls) -> bool:
    return reference_verdict(functions, calls, truth, category)


class _Call(BaseModel):
    model_config = ConfigDict(extra="ignore")
    api: str
    arguments: dict[str, Any]


class _Turn(BaseModel):
    model_config = ConfigDict(extra="ignore")
    user: str
    calls: list[_Call]
    assistant: str | None = None


class _Conversation(BaseModel):
    model_config = ConfigDict(extra="ignore")
    conversation_id: str
    metadata: dict[str, str]
    turns: list[_Turn]


class _TalkTool(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: str
    description: str
    parameters: dict[str, dict[str, Any]]


class _Query(BaseModel):
    model_config = ConfigDict(extra="ignore")
    query_id: str
    text: str
    calls: list[_Call] = []


def _tooltalk(folder: Path) -> list[CallCase]:
    """A case for each turn that wants a call; the agent fills in session tokens by itself."""
    tools = tuple(
        CatalogueTool(one.name, one.description, "", _schema(one.parameters))
        for one in _rows(folder / "tools.json", _TalkTool, whole=True)
    )
    cases = []
    for talk in _rows(folder / "conversations.jsonl", _Conversation):
        facts = {name: one for name, one in talk.metadata.items() if name != "session_token"}
        history = [", ".join(f"{name} {one}" for name, one in facts.items())]
        for place, turn in enumerate(talk.turns):
            if turn.calls:
                truth = [
                    {one.api: _possible(one.arguments, but=("session_token",))}
                    for one in turn.calls
                ]
                case_id = f"{talk.conversation_id}/{place}"
                before = "\n".join(history)
                cases.append(_case(case_id, talk.conversation_id, turn.user, before, tools, truth))
            history += [one for one in (turn.user, turn.assistant) if one]
    return cases


def _schema(parameters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """JSON Schema of ToolTalk's parameters, which say `required` one by one."""
    return {
        "type": "object",
        "properties": {name: dict(one) for name, one in parameters.items()},
        "required": [name for name, one in parameters.items() if one.get("required") is True],
    }


def _queries(folder: Path) -> list[CallCase]:
    catalogue = load_catalogue(folder / "tools.json")
    by_name = {tool.name: tool for tool in catalogue}
    names = sorted(by_name)
    cases = []
    for number, row in enumerate(_rows(folder / "queries.jsonl", _Query)):
        if len(row.calls) != 1 or row.calls[0].api not in by_name:
            continue
        [call] = row.calls
        place = names.index(call.api)
        first = max(0, place - number % OFFERED)
        offered = tuple(by_name[name] for name in names[first : first + OFFERED])
        truth = [{call.api: _typed(_possible(call.arguments), by_name[call.api])}]
        cases.append(_case(row.query_id, row.query_id, row.text, "", offered, truth))
    if not cases:
        raise InputError(f"{folder}: no request has exactly one call of a tool of the catalogue")
    return cases


def _possible(arguments: Mapping[str, Any], but: Sequence[str] = ()) -> dict[str, list[Any]]:
    return {name: [value] for name, value in arguments.items() if name not in but}


def _typed(possible: dict[str, list[Any]], tool: CatalogueTool) -> dict[str, list[Any]]:
    """Numbers that are labelled as texts, as the numbers that the schema asks for."""
    properties = tool.parameters.get("properties") or {}
    found = {}
    for name, values in possible.items():
        kind = (properties.get(name) or {}).get("type")
        cast = {"integer": int, "number": float}.get(str(kind))
        try:
            found[name] = [cast(one) if cast and isinstance(one, str) else one for one in values]
        except ValueError:
            found[name] = values
    return found


def _case(
    case_id: str,
    group: str,
    text: str,
    before: str,
    tools: tuple[CatalogueTool, ...],
    truth: Calls,
) -> CallCase:
    functions = [{"name": tool.name, "parameters": _judged(tool.parameters)} for tool in tools]

    def right(calls: Calls) -> bool:
        return bool(judge(functions, calls, truth))

    return CallCase(case_id, group, text, before, tools, truth, right)


def _judged(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with types that the judge knows; untyped values are strings."""
    declared = schema.get("type")
    kind = declared if declared in _TYPES else "string"
    found: dict[str, Any] = {"type": kind}
    if kind == "object":
        inner = schema.get("properties") or {}
        found["properties"] = {name: _judged(one) for name, one in inner.items()}
        found["required"] = list(schema.get("required") or ())
    if kind == "array":
        found["items"] = _judged(schema.get("items") or {})
    return found


def _rows(path: Path, model: type[M], *, whole: bool = False) -> list[M]:
    """Rows of a JSON Lines file, or of one JSON list."""
    with reading(path):
        text = read_kept(path).decode("utf-8")
    try:
        lines = json.loads(text) if whole else [json.loads(line) for line in text.splitlines()]
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not JSON: {error.msg}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(model.model_validate(line))
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise InputError(f"{path}:{number}: {where}: {problem['msg']}") from None
    return rows
