"""Lines such as `@docs/style.md`, by which `CLAUDE.md` and `GEMINI.md` take in other files."""

import re
from collections.abc import Callable
from pathlib import Path

from ctrag.agents.prompt.sections import Fence

_IMPORT = re.compile(r"\s*(?:[-*]\s+)?@([^\s@`]{1,300})\s*$")
DEEPEST = 5
"""Files that take one another in."""
MOST_FILES = 100
"""Files that one takes in, each once; lines that name further ones stay."""


def with_imports(text: str, path: Path, text_of: Callable[[Path], str | None]) -> str:
    """A text with the files that it takes in in place of the lines that name them.

    Args:
        text: Of the file.
        path: The file, from whose folder others are named.
        text_of: A file's text; empty where it is read on its own account; None where it may not be
            taken in, and the line stays.
    """
    taken = {path.resolve()}

    def inside(text: str, path: Path, depth: int) -> str:
        fence = Fence()
        lines: list[str] = []
        for line in text.splitlines():
            named = None if fence.read(line) or depth > DEEPEST else _IMPORT.match(line)
            target = None if named is None else _target(path.parent / named[1])
            if target in taken:
                continue
            found = None if target is None or len(taken) > MOST_FILES else text_of(target)
            if target is None or found is None:
                lines.append(line)
                continue
            taken.add(target)
            lines.append(inside(found, target, depth + 1))
        return "\n".join(lines)

    return inside(text, path, 1)


def _target(path: Path) -> Path | None:
    """The file that a path means, if it is one."""
    try:
        found = path.resolve()
        return found if found.is_file() else None
    except (OSError, RuntimeError):  # a name too long, or links in a circle
        return None
