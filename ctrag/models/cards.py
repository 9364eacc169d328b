"""What every artefact says of its origin, in a JSON file beside it."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Card(BaseModel):
    """Where an artefact comes from; each kind of artefact adds what it needs to be used."""

    model_config = ConfigDict(extra="forbid")
    command: str
    """Makes it again."""
    settings: dict[str, Any]
    data: str
    data_sha256: str
    people: list[str] | None = None
    """Fingerprints (`stores.people.dataset.fingerprints`) of those whose requests it learned from,
    sorted; None in cards of before they were named: nobody knows."""
    seed: int
    figures: dict[str, dict[str, float]]
    """Method → figure, in percent, of people or requests that were not learned from: held out or
    cross-validated; empty where nothing was kept back."""
    versions: dict[str, str]
