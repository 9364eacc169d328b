"""Where it is kept what a person taught their assistant."""

from hashlib import sha256
from pathlib import Path

FOLDER = "learned"


def learned_file(root: Path, person_id: str) -> Path:
    """The file of a person, which need not exist; its name says nothing of the id's characters.

    Args:
        root: Folder of the stores.
        person_id: Whose.
    """
    return root / FOLDER / f"{sha256(person_id.encode()).hexdigest()[:32]}.jsonl"


def forget_learned(root: Path, person_id: str) -> None:
    """Erase what a person taught."""
    learned_file(root, person_id).unlink(missing_ok=True)
