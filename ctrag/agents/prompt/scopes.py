"""Which files instructions are about, by globs, and the files that a request names."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

LONGEST_GLOB = 200
"""Characters; longer ones match nothing."""
LONGEST_PATH = 300
_OUTSIDE_BRACES = re.compile(r"[,\s]+(?![^{]*\})")
_PATH = re.compile(r"(?<![\w.~@/-])[\w.~@-]*(?:/[\w.@+\[\]-]+)*\.[A-Za-z]\w{0,7}(?![\w/-])")
"""A file with an extension, with or without folders before it."""
_PART = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}]*\}|\[!?[^\]/]+\]|[^*?{\[]+|[\[{]")


def globs_of(value: Any) -> Any:
    """Globs as a tuple: of a list, or of a text with commas or blanks between them."""
    parts = _OUTSIDE_BRACES.split(value) if isinstance(value, str) else value
    if isinstance(parts, list) and all(isinstance(one, str) for one in parts):
        return tuple(one.strip().strip("\"'") for one in parts if one.strip())
    return value


def named_files(text: str) -> tuple[str, ...]:
    """Files that a text names, such as `src/app.ts` or `app.ts`, each once, in order."""
    found = (one.removeprefix("./").lstrip("/") for one in _PATH.findall(text))
    # "i.e." and "e.g." are no files.
    files = (one for one in found if one.find(".", 1) != 1 or "/" in one)
    return tuple(dict.fromkeys(one for one in files if one and len(one) <= LONGEST_PATH))


def about(globs: Iterable[str], files: Sequence[str]) -> bool:
    """Whether one of the files fits one of the globs.

    A glob without `/` is of a file's name alone; one with it may begin anywhere above the file, as
    requests seldom give whole paths.
    """
    return any(_pattern(glob).fullmatch(file) for glob in globs for file in files)


@lru_cache(maxsize=4096)
def _pattern(glob: str) -> re.Pattern[str]:
    if len(glob) > LONGEST_GLOB:
        return re.compile(r"(?!)")
    bare = glob.removeprefix("./").lstrip("/")
    bare = f"{bare}**" if bare.endswith("/") else bare
    try:
        return re.compile(rf"(?:.*/)?{_translated(bare)}", re.DOTALL)
    except re.error:  # such as a range that runs backwards
        return re.compile(r"(?!)")


def _translated(glob: str) -> str:
    return "".join(_piece(part) for part in _PART.findall(glob))


def _piece(part: str) -> str:
    if part in _SIGNS:
        return _SIGNS[part]
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(_translated(one) for one in part[1:-1].split(','))})"
    if part.startswith("[") and part.endswith("]"):
        inside = part[1:-1].replace("\\", r"\\")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(part)


_SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
