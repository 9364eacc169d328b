"""Which files instructions are about, by globs, and the files that a request names."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

LONGEST_GLOB = 200
"""Characters; longer ones match nothing."""
LONGEST_PATH = 300
_GLOB = re.compile(r"(?:\{[^{}]*\}|[^,\s])+")
"""One of a list; between braces there may be commas and blanks."""
_PATH = re.compile(r"(?<![\w.~@/-])[\w.~@-]*(?:/[\w.@+\[\]-]+)*\.[A-Za-z]\w{0,7}(?![\w/-])")
"""A file with an extension, with or without folders before it."""
_BARE = re.compile(
    r"(?<![\w.~@/-])(?:[\w.-]+/)*(?:Makefile|Dockerfile|Containerfile|Jenkinsfile|Justfile|Gemfile"
    r"|Rakefile|Procfile|Vagrantfile|Brewfile|Caddyfile|CODEOWNERS)(?![\w/.-]*\w)"
)
"""A file that has no extension."""
_PART = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}]*\}|\[!?[^\]/]+\]|[^*?{\[]+|[\[{]")


def globs_of(value: Any) -> Any:
    """Globs as a tuple: of a list, or of a text with commas or blanks between them."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    parts = _GLOB.findall(value) if isinstance(value, str) else value
    if isinstance(parts, list) and all(isinstance(one, str) for one in parts):
        return tuple(one.strip().strip("\"'") for one in parts if one.strip())
    return value


def named_files(text: str) -> tuple[str, ...]:
    """Files that a text names, such as `src/app.ts` or `app.ts`, each once, in order."""
    text = text.replace("\\", "/")
    named = [*_PATH.findall(text), *_BARE.findall(text)]
    found = (one.removeprefix("./").lstrip("/") for one in named)
    # "i.e." and "e.g." are no files.
    files = (one for one in found if one.find(".", 1) != 1 or "/" in one)
    return tuple(dict.fromkeys(one for one in files if one and len(one) <= LONGEST_PATH))


def about(globs: Iterable[str], files: Sequence[str]) -> bool:
    """Whether one of the files fits one of the globs, and none of those that begin with `!`.

    A glob without `/` is of a file's name alone; one with it may begin anywhere above the file, as
    requests seldom give whole paths.
    """
    given = list(globs)
    wanted = [_pattern(one) for one in given if not one.startswith("!")] or [_pattern("**")]
    but = [_pattern(one[1:].strip()) for one in given if one.startswith("!")]
    return any(
        any(one.fullmatch(file) for one in wanted) and not any(one.fullmatch(file) for one in but)
        for file in files
    )


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
