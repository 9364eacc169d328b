"""ToolTalk: its tools, the easy conversations and half of the hard ones."""

import ast
from pathlib import Path

from ctrag.errors import NotFound
from eval.fetch.reading import Row, json_of, module_of

_FIELDS = ("description", "parameters", "output", "database_name", "is_action", "requires_auth")
_BASE = "api.py"


def conversations(checkout: Path) -> list[Row]:
    """All easy conversations, and every second hard one by name: the others are left for tests."""
    easy = _names(checkout, "data/easy")
    hard = _names(checkout, "data/tooltalk")[::2]
    return [_conversation(json_of(checkout, name)) for name in (*easy, *hard)]


def tools(checkout: Path) -> list[Row]:
    """The classes of the source that have parameters, by file."""
    found = []
    for name in _names(checkout, "src/tooltalk/apis", "*.py"):
        file = name.rpartition("/")[2]
        if file == _BASE:
            continue
        for one in module_of(checkout, name).body:
            fields = _fields(one) if isinstance(one, ast.ClassDef) else {}
            if isinstance(one, ast.ClassDef) and {"description", "parameters"} <= fields.keys():
                found.append({"name": one.name, "file": file, **fields})
    return found


def _names(checkout: Path, folder: str, pattern: str = "*.json") -> list[str]:
    names = sorted(f"{folder}/{one.name}" for one in (checkout / folder).glob(pattern))
    if not names:
        raise NotFound(2, f"no {folder}/{pattern} in the checkout", str(checkout))
    return names


def _fields(one: ast.ClassDef) -> Row:
    """The class's literals that describe the tool."""
    found = {}
    for line in one.body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            name = line.targets[0].id
            try:
                value = ast.literal_eval(line.value)
            except ValueError:  # computed: not part of the description
                continue
            if name in _FIELDS:
                found[name] = value
    return {name: found[name] for name in _FIELDS if name in found}


def _conversation(row: Row) -> Row:
    turns: list[Row] = []
    for one in row["conversation"]:
        if one["role"] == "user":
            turns.append({"user": one["text"], "calls": [], "assistant": None})
        elif turns:
            turns[-1]["calls"] += [_call(call) for call in one.get("apis", [])]
            turns[-1]["assistant"] = one["text"]
    return {
        "conversation_id": row["name"],
        "user": {key: value for key, value in row["user"].items() if key != "password"},
        "metadata": row["metadata"],
        "turns": turns,
    }


def _call(one: Row) -> Row:
    request = one["request"]
    return {
        "api": request["api_name"],
        "arguments": request["parameters"],
        "exception": one.get("exception"),
    }
