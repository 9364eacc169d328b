"""How an endpoint is told to answer, and its answers as plans.

Servers differ in what they hold a model to: a JSON Schema, tools, or nothing. An answer is read
whichever of the three it comes as.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ctrag.assistant.planning.candidate_values import OPEN
from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.plan import NONE, Plan, PlanSyntaxError
from ctrag.errors import InputError
from ctrag.toolbox import Argument, Tool

AnswerForm = Literal["json", "tools", "call"]
TOLD: Mapping[AnswerForm, str] = {
    "json": 'Answer as JSON: {"api": "...", "arguments": {"...": "..."}}; '
    '{"api": "none", "arguments": {}} if no API fits.',
    "tools": "Call one of the tools; none if no API fits.",
    "call": "Answer with one call, its arguments named: api(name=value).",
}
"""Form → the last line of the question."""
MOST_VALUES = 40
"""Values of an argument in a schema at most; the answer is checked against all of them."""
_THOUGHTS = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


def options_of(form: AnswerForm, tools: Sequence[Tool], grammar: PlanGrammar) -> dict[str, Any]:
    """What a chat-completions request has beside its messages."""
    callable_tools = [tool for tool in tools if tool.api in grammar.apis]
    if form == "tools":
        return {"tools": _chat_tools(callable_tools, grammar), "tool_choice": "required"}
    if form == "json":
        schema = {"name": "call", "schema": _plan_schema(callable_tools, grammar), "strict": False}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {}


def read_answer(text: str, calls: Sequence[tuple[str, str]], tools: Sequence[Tool]) -> Plan:
    """The plan of an answer.

    Args:
        text: What the model wrote.
        calls: Name and JSON arguments of its tool calls; the first counts.
        tools: The exposed tools.

    Raises:
        PlanSyntaxError: It is no plan; says what is wrong with it.
    """
    if calls:
        name, arguments = calls[0]
        return _plan(name, _json(arguments or "{}"), tools)
    written = bare(_THOUGHTS.sub("", text))
    if written.startswith(("{", "[")):
        found = _json(written)
        found = found[0] if isinstance(found, list) and found else found
        if isinstance(found, dict):
            found = found.get("call", found) if isinstance(found.get("call"), dict) else found
            return _plan(
                _first(found, "api", "name", "function"),
                _first(found, "arguments", "parameters") or {},
                tools,
            )
    return Plan.parse(_with_names(written, tools))


def bare(text: str) -> str:
    """The answer without a code fence around it."""
    lines = text.strip().splitlines()
    if lines and re.fullmatch(r"```\w*", lines[0].strip()):
        lines = lines[1:]
    return "\n".join(lines).strip().strip("`").strip()


def _first(found: Mapping[str, Any], *keys: str) -> Any:
    return next((found[key] for key in keys if key in found), None)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanSyntaxError(f"not JSON: {error}") from None


def _plan(name: Any, arguments: Any, tools: Sequence[Tool]) -> Plan:
    if isinstance(arguments, str):
        arguments = _json(arguments)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise PlanSyntaxError('not a call: {"api": "...", "arguments": {...}} is wanted')
    name = name.partition("(")[0].strip()  # some repeat the signature
    if name == NONE.api:
        return NONE
    tool = next((one for one in tools if one.api == name), None)
    known = {} if tool is None else tool.arguments_by_name
    try:
        return Plan(
            name,
            {
                key: _spelled(value, known.get(key))
                for key, value in arguments.items()
                if value not in (None, "", [])
            },
        )
    except InputError as error:
        raise PlanSyntaxError(str(error)) from None


def _spelled(value: Any, argument: Argument | None) -> Any:
    """A value of JSON as a plan has it: models write one name for a list, and 4711 for a text."""
    if argument is None:
        return value
    if argument.type == "contacts" and isinstance(value, str):
        return [value]
    if argument.type == "integer" and isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value):
        return int(value)
    if argument.type != "integer" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _with_names(text: str, tools: Sequence[Tool]) -> str:
    """A call whose first arguments have no names, with those of the signature."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        return text
    names = next(
        ([one.name for one in tool.arguments] for tool in tools if tool.api == node.func.id), []
    )
    if len(node.args) > len(names) or any(isinstance(one, ast.Starred) for one in node.args):
        return text
    placed = [ast.keyword(name, value) for name, value in zip(names, node.args, strict=False)]
    return ast.unparse(ast.Call(node.func, [], [*placed, *node.keywords]))


def _plan_schema(tools: Sequence[Tool], grammar: PlanGrammar) -> dict[str, Any]:
    calls = [(tool.api, _arguments_schema(tool, grammar)) for tool in tools]
    calls.append((NONE.api, {"type": "object", "properties": {}, "additionalProperties": False}))
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"api": {"enum": [api]}, "arguments": arguments},
                "required": ["api", "arguments"],
                "additionalProperties": False,
            }
            for api, arguments in calls
        ]
    }


def _chat_tools(tools: Sequence[Tool], grammar: PlanGrammar) -> list[dict[str, Any]]:
    functions = [
        {
            "name": tool.api,
            "description": tool.description,
            "parameters": _arguments_schema(tool, grammar),
        }
        for tool in tools
    ]
    nothing = {"type": "object", "properties": {}}
    functions.append({"name": NONE.api, "description": "No API fits.", "parameters": nothing})
    return [{"type": "function", "function": one} for one in functions]


def _arguments_schema(tool: Tool, grammar: PlanGrammar) -> dict[str, Any]:
    candidates = grammar.candidates[tool.api]
    properties = {}
    for argument in tool.arguments:
        values = [str(one.value) for one in candidates.get(argument.name, ())][:MOST_VALUES]
        if argument.match == "text" or argument.name in OPEN:
            kind: dict[str, Any] = {"type": "string"}
        elif argument.type == "integer":
            kind = {"type": "integer"}
        elif not values:
            continue  # there is nothing that it could be
        else:
            kind = {"type": "string", "enum": list(dict.fromkeys(values))}
        kind = {"type": "array", "items": kind} if argument.type == "contacts" else kind
        properties[argument.name] = {"description": argument.description, **kind}
    return {
        "type": "object",
        "properties": properties,
        "required": [one.name for one in tool.arguments if one.required],
        "additionalProperties": False,
    }
