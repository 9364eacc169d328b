"""The files that agents and editors keep instructions in, and the folder that each speaks for."""

from itertools import pairwise
from pathlib import Path

SKILL = "skill.md"
_AGENTS = frozenset(
    {
        "agents.md",
        "agents.override.md",
        "claude.md",
        "claude.local.md",
        "gemini.md",
        "copilot-instructions.md",
    }
)
_WHOLE = frozenset({".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints"})
"""Files without a suffix."""
_RULES = frozenset(
    {
        (".aiassistant", "rules"),
        (".amazonq", "rules"),
        (".augment", "rules"),
        (".claude", "rules"),
        (".continue", "rules"),
        (".cursor", "rules"),
        (".kiro", "steering"),
        (".roo", "rules"),
        (".trae", "rules"),
        (".windsurf", "rules"),
    }
)
"""Folders all of whose texts are rules, those below too; and `.clinerules`."""
_SUFFIXES = frozenset({".md", ".mdc", ".txt"})


def is_agents(path: Path) -> bool:
    """Whether it speaks for its folder and all below, such as `AGENTS.md`."""
    name = path.name.lower()
    junie = name == "guidelines.md" and path.parent.name == ".junie"
    return name in _AGENTS or name in _WHOLE or junie


def is_scoped(path: Path) -> bool:
    """Whether it is a rule that says itself which files it is about."""
    return path.name.lower().endswith((".mdc", ".instructions.md"))


def in_rules(path: Path) -> bool:
    """Whether it is a text in a folder of rules."""
    parts = path.absolute().parts[:-1]
    pairs = set(pairwise(parts))
    return path.suffix.lower() in _SUFFIXES and (
        ".clinerules" in parts or not _RULES.isdisjoint(pairs)
    )


def kept_below(path: Path) -> bool:
    """Whether it is read from a folder below the one that is given."""
    return path.name.lower() == SKILL or is_agents(path) or is_scoped(path) or in_rules(path)


def place_of(path: Path, folder: Path) -> str:
    """The folder that a file speaks for; what stands in `.claude` is said of its parent."""
    parts = list(path.parent.relative_to(folder).parts)
    if in_rules(path):
        hidden = (at for at, part in enumerate(parts) if part.startswith("."))
        return "/".join(parts[: next(hidden, 0)])
    while parts and parts[-1].startswith("."):
        parts.pop()
    return "/".join(parts)
