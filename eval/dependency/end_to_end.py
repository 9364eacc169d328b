"""Whole requests by a model behind an endpoint: functions and parameters (table 4 of DTDR).

The retriever masks the tools, the model names the next one and then fills its arguments; every
choice becomes history. A request succeeds if calls and arguments are those of the data, in order.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.agents.catalogue.formats import schema_line
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import END, Demonstration, NextTool
from ctrag.agents.prompt.masks import GUIDE, prompt_of
from ctrag.models.endpoint import ChatEndpoint
from eval.core.intervals import bootstrap_interval
from eval.dependency.prompt import ranked_names
from eval.instructions.tool_choice import ToolChooser

LONGEST = 12
"""Calls of a request at most."""
METHODS = ("none", "dependency", "learned", "dtdr_c", "dtdr_l", "combined")
"""Who masks the tools; none shows all."""
_FILL = (
    "You are given a request, the calls made so far and a tool. Answer with the tool's arguments "
    "as one JSON object and nothing else."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Who answers."""

    chooser: ToolChooser
    """Names the next tool."""
    endpoint: ChatEndpoint
    """Fills its arguments."""


def arguments_of(data: Path) -> dict[str, list[dict[str, Any]]]:
    """Arguments of each call by the demonstration's id, where the data have them.

    Args:
        data: A folder with `episodes.jsonl` (`steps: [{tool, arguments}]`) or `queries.jsonl`
            (`calls: [{api, arguments}]`).
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name, key, calls in (
        ("episodes.jsonl", "episode_id", "steps"),
        ("queries.jsonl", "query_id", "calls"),
    ):
        path = data / name
        if not path.is_file():
            continue
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            row = json.loads(line) if line.strip() else {}
            steps = row.get(calls)
            if isinstance(steps, list) and all("arguments" in one for one in steps):
                found[row[key]] = [one["arguments"] for one in steps]
    return found


def run_end_to_end(
    model: NextTool,
    held: Sequence[Demonstration],
    arguments: Mapping[str, Sequence[Mapping[str, Any]]],
    among: NDArray[Any],
    asked: Asked,
    count: int,
    progress: Callable[[str], None],
    methods: Sequence[str] = METHODS,
) -> dict[str, JsonValue]:
    """Percent of requests with the right calls, and with the right arguments as well, by method.

    Args:
        model: Retrieves the tools.
        held: What is asked.
        arguments: By the demonstration's id; a request without any counts for its calls alone.
        among: Numbers of `end` and of the tools that are ranked and exposed.
        asked: Who answers.
        count: So many requests.
        progress: Called with progress messages.
        methods: Who masks the tools, of `METHODS`.

    Raises:
        EndpointError: The endpoint does not answer.
    """
    chosen = held[:count]
    tools = {name: tool for tool in model.tools for name in (tool.id, tool.name)}
    found: dict[str, JsonValue] = {}
    for method in methods:
        calls_right, all_right = [], []
        for number, one in enumerate(chosen, 1):
            progress(f"end to end by {method}: request {number} of {len(chosen)}")
            called = _called(model, one, method, among, asked.chooser)
            same = one.fulfilled_by(called)
            calls_right.append(100.0 * same)
            if one.id in arguments:
                right = same and _filled(one, tools, arguments[one.id], asked.endpoint)
                all_right.append(100.0 * right)
        found[method] = {
            "calls": _mean(calls_right, [one.chain for one in chosen]),
            "success": _mean(all_right, [one.chain for one in chosen if one.id in arguments]),
        }
    with_arguments = sum(one.id in arguments for one in chosen)
    return {"requests": len(chosen), "with_arguments": with_arguments, "methods": found}


def _called(
    model: NextTool,
    one: Demonstration,
    method: str,
    among: NDArray[Any],
    chooser: ToolChooser,
) -> list[str]:
    """Calls up to `end`; a name that no tool has ends them too."""
    calls: list[str] = []
    demonstrations, names = model.memory.demonstrations, model.memory.names[1:]
    strategy = "none" if method == "none" else "weighted_hard_mask"
    by = "combined" if method == "none" else method
    while len(calls) < LONGEST:
        history = (*one.before, *calls)
        ranked = ranked_names(model, one.text, history, by, among)
        prompt = prompt_of(strategy, ranked, one.text, history, demonstrations, names)
        said = chooser.choose(GUIDE, prompt.constant + prompt.variable, prompt.exposed)
        if said.name in ("", END):
            break
        calls.append(said.name)
    return calls


def _filled(
    one: Demonstration,
    tools: Mapping[str, CatalogueTool],
    wanted: Sequence[Mapping[str, Any]],
    endpoint: ChatEndpoint,
) -> bool:
    """Whether every call of a request gets its arguments, the earlier ones being there."""
    before: list[str] = []
    for name, right in zip(one.tools, wanted, strict=True):
        tool = tools.get(name)
        line = name if tool is None else schema_line(tool.name, tool.description, tool.parameters)
        so_far = "; ".join(before) or "none"
        text = f"Request: {one.text}\nCalls so far: {so_far}\nTool: {line}\nArguments:"
        messages = [{"role": "system", "content": _FILL}, {"role": "user", "content": text}]
        answer = endpoint.complete(messages, temperature=0)
        if not same_arguments(read_arguments(answer.text), right):
            return False
        before.append(f"{name}({json.dumps(dict(right), ensure_ascii=False)})")
    return True


def read_arguments(text: str) -> dict[str, Any] | None:
    """The first JSON object of an answer; None without one."""
    decoder = json.JSONDecoder()
    for at, sign in enumerate(text):
        if sign == "{":
            try:
                value, _ = decoder.raw_decode(text, at)
            except ValueError:
                continue
            return value if isinstance(value, dict) else None
    return None


def same_arguments(given: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether arguments are the same but for case and blanks of texts, numbers as texts, and
    empty ones."""
    return given is not None and _plain(given) == _plain(wanted)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {str(key): _plain(one) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one not in ("", None, [], {})}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if value is None else " ".join(str(value).casefold().split())


def _mean(values: Sequence[float], chains: Sequence[str]) -> dict[str, JsonValue]:
    if not values:
        return {"mean": None, "interval": None}
    found = bootstrap_interval(values, chains)
    bounds: JsonValue = None if found is None else [round(found.low, 1), round(found.high, 1)]
    return {"mean": round(sum(values) / len(values), 1), "interval": bounds}
