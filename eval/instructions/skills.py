"""Which skills requests get: in prompts, and beside a search of the gateway."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ctrag.agents.catalogue.tool import load_catalogue
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.prompt.settings import FLOOR, PromptSettings
from ctrag.agents.prompt.tool_documents import load_documents
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.surfacing import surface
from ctrag.agents.server.guidance import Guidance
from ctrag.errors import InputError
from ctrag.models.tokens import token_counter
from eval.core.tables import Table, figure

LABELLED = Path(__file__).parent / "labels" / "skills"
"""Twelve skills and 32 requests, eight of them about none; the floor was set on them."""
_WITHOUT_FLOOR, _PROMPT, _BESIDE = "prompt, no floor", "prompt", "beside a search"
Given = Callable[[str], Sequence[Fragment]]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str
    skills: list[str]


def run_skills(folder: Path = LABELLED) -> dict[str, dict[str, float]]:
    """Percent of right and of other skills that requests get, by who gives them.

    Args:
        folder: `corpus` with skills, `tools.json`, `requests.jsonl` (`{text, skills}`).

    Raises:
        ValueError: A file breaks a rule, or a request names a skill that is not there.
    """
    lines = (folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    requests = [_Request.model_validate(json.loads(line)) for line in lines if line.strip()]
    count = token_counter()
    fragments = cut_folder(folder / "corpus", count).fragments
    documents = {one.document for one in fragments}
    for one in requests:
        if unknown := sorted(set(one.skills) - documents):
            raise InputError(f"{folder}: requests.jsonl: there is no skill {unknown[0]!r}")
    return {
        name: _measured(given, requests, documents)
        for name, given in _givers(folder, fragments).items()
    }


def _givers(folder: Path, fragments: Sequence[Fragment]) -> dict[str, Given]:
    count = token_counter()
    documents = load_documents(folder / "tools.json", count)
    built = {
        name: PromptBuilder(fragments, documents, settings=PromptSettings(floor=floor), count=count)
        for name, floor in ((_WITHOUT_FLOOR, 0.0), (_PROMPT, FLOOR))
    }
    index = ToolIndex(load_catalogue(folder / "tools.json"))
    guidance = Guidance(fragments, count=count)

    def beside(text: str) -> list[Fragment]:
        given = surface(index.find(text, 5), text, 5)
        bound = index.resolve(list(given.hits), None)
        return [one.fragment for one in guidance.beside(text, bound, text, sure=not given.note)]

    return {
        _WITHOUT_FLOOR: lambda text: built[_WITHOUT_FLOOR].build(text).fragments,
        _PROMPT: lambda text: built[_PROMPT].build(text).fragments,
        _BESIDE: beside,
    }


def _measured(given: Given, requests: Sequence[_Request], documents: set[str]) -> dict[str, float]:
    right = others = nothing = tokens = 0
    for one in requests:
        shown = given(one.text)
        names = {part.document for part in shown}
        right += len(names & set(one.skills))
        others += len(names - set(one.skills))
        nothing += not one.skills and not shown
        tokens += sum(part.tokens for part in shown)
    wanted = sum(len(one.skills) for one in requests)
    idle = sum(not one.skills for one in requests)
    return {
        "right": round(100 * right / wanted, 1),
        "others": round(100 * others / (len(requests) * len(documents) - wanted), 1),
        "nothing": round(100 * nothing / max(idle, 1), 1),
        "tokens": round(tokens / len(requests), 1),
    }


def table(figures: dict[str, dict[str, float]]) -> Table:
    """Who gives skills against how many of the right ones, of the others, and at what cost."""
    rows: list[list[Any]] = [
        [name, *(figure(one[key]) for key in ("right", "others", "nothing", "tokens"))]
        for name, one in figures.items()
    ]
    notes = ["nothing: of the requests that no skill is about, those that get none"]
    return Table(["given", "right ones", "others", "nothing", "tokens a request"], rows, notes)
