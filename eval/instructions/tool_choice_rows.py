"""Choices that a model has made, in memory and in a file, so that a run goes on where it ended."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from eval.instructions.tool_choice import Chosen

_RULE = "likeliest"
"""How a choice is read from the model: rows of another rule are not taken for this one's."""


class ChoiceRow(BaseModel):
    """One choice; the prompt's hash differs between versions and models."""

    model_config = ConfigDict(extra="forbid")
    size: str
    method: str
    step: str
    prompt: str
    name: str
    prompt_tokens: int
    computed_tokens: int


class ChoiceRows:
    """One model's rows by size, method, step and prompt."""

    def __init__(self, path: Path | None, model: str = "") -> None:
        """Read what is there; a line that a killed run left half is skipped.

        Args:
            path: The file; None keeps rows in memory alone.
            model: Whose choices these are; those of other models stay in the file, unused.
        """
        self._path, self._model = path, model
        self._used: set[tuple[str, str, str, str]] = set()
        self._rows: dict[tuple[str, str, str, str], ChoiceRow] = {}
        self._before = ""
        if path is None or not path.exists():
            return
        text = path.read_text(encoding="utf-8")
        self._before = "" if not text or text.endswith("\n") else "\n"
        for line in text.splitlines():
            try:
                row = ChoiceRow.model_validate_json(line)
            except ValueError:
                continue
            self._rows[row.size, row.method, row.step, row.prompt] = row

    def get(self, size: str, method: str, step: str, prompt: str) -> ChoiceRow | None:
        """The choice made from this prompt, the question included, or None."""
        key = (size, method, step, self._hash(prompt))
        row = self._rows.get(key)
        if row is not None:
            self._used.add(key)
        return row

    def add(self, size: str, method: str, step: str, prompt: str, chosen: Chosen) -> None:
        """Keep a choice, and append it to the file."""
        row = ChoiceRow(
            size=size, method=method, step=step, prompt=self._hash(prompt), **asdict(chosen)
        )
        key = (size, method, step, row.prompt)
        self._rows[key] = row
        self._used.add(key)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                # After a line that a killed run left half.
                file.write(f"{self._before}{row.model_dump_json()}\n")
            self._before = ""

    def costs(self) -> dict[str, dict[str, int]]:
        """Per size and method: choices made or used, tokens of their prompts, tokens computed."""
        found: dict[str, dict[str, int]] = {}
        for row in (self._rows[key] for key in sorted(self._used)):
            one = found.setdefault(
                f"{row.method}@{row.size}", {"choices": 0, "prompt": 0, "computed": 0}
            )
            one["choices"] += 1
            one["prompt"] += row.prompt_tokens
            one["computed"] += row.computed_tokens
        return found

    def _hash(self, prompt: str) -> str:
        return sha256(f"{_RULE}\n{self._model}\n{prompt}".encode()).hexdigest()[:24]
