"""Where it is kept what a person taught their assistant, said, used, and changed in one turn."""

from hashlib import sha256
from pathlib import Path

FOLDER = "learned"
USAGE, PERSONAL = "usage", "npz"
"""Endings of the files of what was used, and of what was fitted on it."""


def learned_file(root: Path, person_id: str) -> Path:
    """What corrections taught; the file need not exist, and its name says nothing of the id's
    characters.

    Args:
        root: Folder of the stores.
        person_id: Whose.
    """
    return _file(root, person_id, "jsonl")


def history_file(root: Path, person_id: str) -> Path:
    """What was typed on a terminal; arguments as for `learned_file`."""
    return _file(root, person_id, "history")


def turns_file(root: Path, person_id: str) -> Path:
    """Which changes were made in one turn; arguments as for `learned_file`."""
    return _file(root, person_id, "turns")


def usage_file(root: Path, person_id: str) -> Path:
    """What requests were answered with; arguments as for `learned_file`."""
    return _file(root, person_id, USAGE)


def personal_file(root: Path, person_id: str) -> Path:
    """What was fitted on the person's record of use; arguments as for `learned_file`."""
    return _file(root, person_id, PERSONAL)


def forget_learned(root: Path, person_id: str) -> None:
    """Erase all of these files of a person, and what a crash left of them."""
    for file in (learned_file, history_file, turns_file, usage_file, personal_file):
        path = file(root, person_id)
        path.unlink(missing_ok=True)
        for left in path.parent.glob(f".{path.name}.*.tmp"):
            left.unlink(missing_ok=True)


def _file(root: Path, person_id: str, suffix: str) -> Path:
    return root / FOLDER / f"{sha256(person_id.encode()).hexdigest()[:32]}.{suffix}"
