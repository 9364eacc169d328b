"""tau2-bench: episodes of retail and telecom, policies and tools of three domains."""

import ast
from pathlib import Path

from ctrag.errors import InputError
from eval.fetch.docstrings import joined, parameters_of, sections_of
from eval.fetch.reading import Row, json_of, module_of, text_of

_DOMAINS = ("retail", "airline", "telecom")
_TASKS = {
    "retail": "data/tau2/domains/retail/tasks.json",
    "telecom": "data/tau2/domains/telecom/tasks_small.json",
}
"""Those whose episodes are taken; those of airline are left for tests."""
_POLICIES = {
    "retail": "retail/policy.md",
    "airline": "airline/policy.md",
    "telecom": "telecom/main_policy.md",
    "telecom-manual": "telecom/tech_support_manual.md",
    "telecom-workflow": "telecom/tech_support_workflow.md",
}
_EFFECTS = {"READ": "read", "WRITE": "write"}
_SAID = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


def policies(checkout: Path) -> dict[str, str]:
    """Text of each policy file by its name here."""
    return {
        f"{name}.md": text_of(checkout, f"data/tau2/domains/{path}")
        for name, path in _POLICIES.items()
    }


def episodes(checkout: Path) -> list[Row]:
    """Tasks in which the agent calls something: its calls, in order."""
    return [
        episode
        for domain, name in _TASKS.items()
        for task in json_of(checkout, name)
        if (episode := _episode(domain, task))["steps"]
    ]


def tools(checkout: Path) -> list[Row]:
    """The agent's tools of all domains, by name within each."""
    return [tool for domain in _DOMAINS for tool in _tools(checkout, domain)]


def _episode(domain: str, task: Row) -> Row:
    said = task["user_scenario"]["instructions"]
    if not isinstance(said, dict):
        raise InputError(f"{domain}: task {task.get('id')}: instructions are no object")
    parts = [" ".join(str(said[key]).split()) for key in _SAID if said.get(key)]
    actions = (task.get("evaluation_criteria") or {}).get("actions") or []
    return {
        "episode_id": f"{domain}-{task['id']}",
        "domain": domain,
        "instruction": " ".join(parts),
        "steps": [
            {"tool": one["name"], "arguments": one["arguments"]}
            for one in actions
            if one.get("requestor", "assistant") == "assistant"
        ],
    }


def _tools(checkout: Path, domain: str) -> list[Row]:
    module = module_of(checkout, f"src/tau2/domains/{domain}/tools.py")
    return [
        _tool(domain, function, effect)
        for one in module.body
        if isinstance(one, ast.ClassDef)
        for function in one.body
        if isinstance(function, ast.FunctionDef) and (effect := _effect(function))
    ]


def _tool(domain: str, function: ast.FunctionDef, effect: str) -> Row:
    sections = sections_of(ast.get_docstring(function) or "")
    fails = joined(sections.get("Raises", []))
    return {
        "name": function.name,
        "domain": domain,
        "description": joined(sections[""]),
        "effect": effect,
        "fails_when": fails or None,
        "parameters": parameters_of(function, sections.get("Args", [])),
    }


def _effect(function: ast.FunctionDef) -> str:
    """What `@is_tool(ToolType.X)` says; empty for what is no tool."""
    for one in function.decorator_list:
        if (
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Name)
            and one.func.id == "is_tool"
        ):
            kind = one.args[0] if one.args else None
            name = kind.attr if isinstance(kind, ast.Attribute) else "READ"
            return _EFFECTS.get(name, "other")
    return ""
