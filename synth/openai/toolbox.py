"""APIs of any application from a language model, validated and deduplicated (A.3)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ctrag.errors import InputError
from ctrag.toolbox import Tool, Toolbox
from stores.people.app_spec import AppSpec
from synth.openai.asking import Asker, Form, Unusable
from synth.toolbox import app_names, distinct

COUNT = 8
"""APIs to request per application; the paper's have 6 to 11 (Table 5)."""
_FEWEST = 3
_EXAMPLES = ("read_note", "search_notes", "create_note", "share_note")
_DOES = {
    "read_note": "find",
    "search_notes": "find",
    "create_note": "create",
    "share_note": "send",
}


def openai_toolbox(
    asker: Asker, names: Sequence[str], specs: Mapping[str, AppSpec], seed: int
) -> Toolbox:
    """APIs of applications, from their names or the fields of their items.

    Args:
        asker: Sends the questions.
        names: The applications.
        specs: Name → fields of its items, where known.
        seed: Different seeds give different APIs.

    Raises:
        ProviderError, BudgetSpent: See `Asker.ask`.
        ValueError: A name is not a valid application name.
    """
    tools: list[Tool] = []
    for name in app_names(names):
        form = _form(name, {tool.api for tool in (*Toolbox.packaged(), *tools)})
        prompt = asker.prompts.text(
            "toolbox",
            app=name,
            spec=specs.get(name),
            examples=_examples(),
            count=COUNT,
            schema=json.dumps(form.schema),
        )
        try:
            made = asker.ask(prompt, form, seed)
        except Unusable as error:
            asker.answers.drop(error.keys)
            raise
        tools += made
    return Toolbox(tools)


def _form(app: str, taken: set[str]) -> Form[list[Tool]]:
    schema = Tool.model_json_schema()
    definitions = schema.pop("$defs", {})
    schema["properties"].pop("app")
    schema["required"] = [*(name for name in schema["required"] if name != "app"), "does"]

    def read(raw: Any) -> list[Tool]:
        rows = raw.get("apis") if isinstance(raw, Mapping) else None
        if not isinstance(rows, list):
            raise InputError("apis: a list is needed")
        tools: list[Tool] = []
        problems: list[str] = []
        for place, row in enumerate(rows):
            try:
                tool = Tool.model_validate({**row, "app": app})
            except (ValidationError, TypeError) as error:
                problems += [f"apis.{place}: {line}" for line in _lines(error)]
                continue
            if tool.does is None:
                problems.append(f"apis.{place}: does: is needed")
            if tool.api in taken:
                problems.append(f"apis.{place}: api: {tool.api} is another application's")
            tools.append(tool)
        kept = distinct(tools)
        if not problems and len(kept) < _FEWEST:
            problems.append(f"apis: {len(kept)} that differ are too few")
        if problems:
            raise InputError("\n".join(problems))
        return kept

    whole = {
        "type": "object",
        "properties": {"apis": {"type": "array", "items": schema}},
        "required": ["apis"],
        "$defs": definitions,
    }
    return Form("toolbox", whole, read, 4000)


def _lines(error: Exception) -> list[str]:
    if not isinstance(error, ValidationError):
        return ["must be an object"]
    return [
        f"{'.'.join(map(str, one['loc'])) or 'api'}: {one['msg'].removeprefix('Value error, ')}"
        for one in error.errors()
    ]


def _examples() -> str:
    shown = [tool for tool in Toolbox.packaged() if tool.api in _EXAMPLES]
    return Toolbox(tool.model_copy(update={"does": _DOES[tool.api]}) for tool in shown).to_yaml()
