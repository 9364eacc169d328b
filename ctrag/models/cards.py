"""Provenance of an artefact, in a JSON file beside it."""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

_FINGERPRINTS = re.compile(r'\[\s*("[0-9a-f]{12}"(?:,\s*"[0-9a-f]{12}")*)\s*\]')


class Card(BaseModel):
    """Provenance of an artefact; subclasses add what is needed to use it."""

    # A weight or threshold that is no number would make every comparison with it false.
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
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

    def written(self) -> str:
        """The card as it is stored: hundreds of fingerprints are one line."""
        return one_line_each(self.model_dump_json(indent=1)) + "\n"


def one_line_each(text: str) -> str:
    """JSON in which each list of fingerprints is one line."""
    return _FINGERPRINTS.sub(lambda found: "[" + "".join(found[1].split()) + "]", text)
