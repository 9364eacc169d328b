"""Provenance of an artefact, in a JSON file beside it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Card(BaseModel):
    """Provenance of an artefact; subclasses add what is needed to use it."""

    model_config = ConfigDict(extra="forbid")
    command: str
    """Command that reproduces it."""
    settings: dict[str, Any]
    data: str
    data_sha256: str
    people: list[str] | None = None
    """Fingerprints (`stores.people.dataset.fingerprints`) of the people in its training data,
    sorted; None in older cards, where they are unknown."""
    sources: list[str] = Field(default_factory=list)
    """Other people's data among what it learned from, each with its licence."""
    before: str | None = None
    """Command that made the artefact it was trained further from; None where it was not."""
    seed: int
    figures: dict[str, dict[str, float]]
    """Method → figure, in percent, on people or requests outside its training data: held out or
    cross-validated; empty where nothing was held out."""
    versions: dict[str, str]
