"""Front matter of policies, skills (`SKILL.md`) and editors' rules (`.mdc`)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as day
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from ctrag.agents.prompt.scopes import globs_of
from ctrag.errors import InputError
from stores.bounded_yaml import load_yaml

_OPENS = re.compile(r"(?:[ \t]*\n)*---[ \t]*\n")
_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|$)", re.MULTILINE)
_PLAIN_LINE = re.compile(r"^([ \t]*[A-Za-z][\w-]*):[ \t]+([^\s\[{|>\"'#].*|\*.*)$", re.MULTILINE)
"""A line of front matter with a value without quotes, which may hold a colon."""
_LIST_LINE = re.compile(r"^([A-Za-z][\w-]*):[ \t]+\[([^\]\n]*)\][ \t]*$", re.MULTILINE)
"""A list on one line; globs in it begin with stars, which mean something else in YAML."""
_ITEM_LINE = re.compile(r"^([ \t]*-[ \t]+)([*!&@%`].*)$", re.MULTILINE)
"""An item of a list that YAML reads as something else."""
_KEY_LINE = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*))?$")
_NAMED = re.compile(r"[^\s,()]+(?:\([^)]*\))?")
"""A tool in a list without quotes: `Read, Bash(git add:*)`."""
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_ALIASES = {
    "allowedtools": "tools",
    "paths": "globs",
    "applyto": "globs",
    "filematchpattern": "globs",
    "alwaysapply": "always",
}
"""Names that others give to a key, without case and signs."""
_WHEN = frozenset({"trigger", "inclusion"})
"""Keys that say when a rule holds, in words."""
_MOMENTS = {"alwayson": True, "always": True, "glob": False, "filematch": False}
_MOMENTS |= {"modeldecision": False, "auto": False, "manual": False}
"""Whether that is always, without case and signs."""
_ANY_FILE = frozenset({"*", "**", "**/*", "/**", "/**/*"})


def _text(value: Any) -> Any:
    """Numbers, yes and no arrive as written."""
    return None if isinstance(value, str) and value in _NOTHING else value


def _sentence(value: Any) -> Any:
    """A text in brackets is read as a list; it is one with commas."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return _text(value)


def _day(value: Any) -> Any:
    """The day of a moment."""
    value = _text(value)
    timed = isinstance(value, str) and len(value) > 10 and value[10] in "T t"
    return value[:10] if timed else value


def _plain(word: str) -> str:
    """A key or word without case and signs."""
    return re.sub(r"[-_ ]", "", word).lower()


def _tools(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    named = _NAMED.findall(value) if isinstance(value, str) else value
    if isinstance(named, list) and all(isinstance(one, str) for one in named):
        return tuple(one.partition("(")[0].strip() for one in named if one.strip())
    return value


class FrontMatter(BaseModel):
    """The keys that mean something here."""

    model_config = ConfigDict(extra="ignore")
    domain: Annotated[str | None, BeforeValidator(_text)] = None
    kind: Annotated[str | None, BeforeValidator(_text)] = None
    priority: int = 0
    date: Annotated[day | None, BeforeValidator(_day)] = None
    name: Annotated[str | None, BeforeValidator(_text)] = None
    description: Annotated[str | None, BeforeValidator(_sentence)] = None
    tools: Annotated[tuple[str, ...], BeforeValidator(_tools)] = ()
    """Tools that it speaks of."""
    globs: Annotated[tuple[str, ...], BeforeValidator(globs_of)] = ()
    """Files that it is about."""
    always: bool = False
    """Whether it holds for every request."""


@dataclass(frozen=True, slots=True)
class Front:
    """What a file says before its text."""

    values: FrontMatter
    ignored: tuple[str, ...] = ()
    """Keys that mean nothing here."""
    problems: tuple[str, ...] = ()
    """What was read otherwise than it stands."""


def split_front(text: str, *, own_meaning: bool, strict: bool) -> tuple[Front, str]:
    """A file's front matter and the text after it.

    Args:
        text: Of the file, with `\\n` as the end of lines.
        own_meaning: A key with a value that means nothing here may mean something to others: it
            is ignored. So it is with skills and rules, and with all that has a `name` or
            `description`.
        strict: Raise where otherwise a problem is noted and the rest is read.

    Raises:
        ValueError: It breaks a rule, and `strict` was asked for.
    """
    opening = _OPENS.match(text)
    if opening is None:
        return Front(FrontMatter()), text
    closing = _CLOSES.search(text, opening.end())
    problems: list[str] = []
    given: Mapping[Any, Any] | None
    if closing is None:
        given, body = _unclosed(text[opening.end() :])
        if not given:  # a line across the page, not front matter
            return Front(FrontMatter()), text
        problems.append("`---` opens it and nothing closes it")
    else:
        head, body = text[opening.end() : closing.start()], text[closing.end() :]
        given = _mapping(head)
        if given is None:
            given = _by_lines(head)
            if re.search(r"\w", head) and not any(map(_meaning, given)):
                # Text between two lines across the page.
                return Front(FrontMatter()), text
            problems.append("not YAML with a key a line")
    if strict and problems:
        raise InputError(f"front matter: {problems[0]}")
    own_meaning = own_meaning or not {"name", "description"}.isdisjoint(map(_meaning, given))
    values, ignored, more = _valid(given, own_meaning)
    if strict and more:
        raise InputError(f"front matter: {more[0]}")
    return Front(values, ignored, (*problems, *more)), body


def _valid(
    given: Mapping[Any, Any], own_meaning: bool
) -> tuple[FrontMatter, tuple[str, ...], list[str]]:
    """Values, keys that mean nothing here, and keys whose value breaks a rule."""
    known: dict[str, Any] = {}
    ignored: list[str] = []
    problems: list[str] = []
    for key, value in given.items():
        ours = _meaning(key)
        if _plain(str(key)) in _WHEN and _plain(str(value)) in _MOMENTS:
            known["always"] = _MOMENTS[_plain(str(value))]
            continue
        if not ours:
            ignored.append(str(key))
            continue
        try:
            FrontMatter.model_validate({ours: value})
        except ValidationError as error:
            if value is None or value in ("", []):
                continue
            if own_meaning or key != ours:
                ignored.append(str(key))
            else:
                problems.append(f"{key}: {error.errors()[0]['msg']}")
        else:
            known[ours] = value
    values = FrontMatter.model_validate(known)
    if "always" not in known and values.globs and _ANY_FILE.issuperset(values.globs):
        values = values.model_copy(update={"always": True, "globs": ()})
    return values, tuple(ignored), problems


def _meaning(key: object) -> str:
    """The field that a key means, however it is written; empty if it means nothing here."""
    plain = _plain(str(key))
    ours = _ALIASES.get(plain, plain)
    return ours if ours in FrontMatter.model_fields else ""


def _mapping(head: str) -> dict[Any, Any] | None:
    """Front matter as a mapping, scalars as written; values without quotes may hold colons and
    stars. None if it is none."""
    quoted = _PLAIN_LINE.sub(lambda line: f"{line[1]}: {json.dumps(line[2].strip())}", head)
    quoted = _LIST_LINE.sub(lambda line: f"{line[1]}: {json.dumps(line[2].strip())}", quoted)
    quoted = _ITEM_LINE.sub(lambda line: f"{line[1]}{json.dumps(line[2].strip())}", quoted)
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    for text in (head, quoted):
        try:
            value = load_yaml(text, loader)
        except (yaml.YAMLError, ValueError):
            continue
        if not value or isinstance(value, dict):
            return value or {}
    return None


def _by_lines(head: str) -> dict[str, str]:
    """What single lines of broken front matter say, with the lines that go on with a value."""
    found: dict[str, list[str]] = {}
    last = ""
    for line in head.splitlines():
        at_start = _KEY_LINE.match(line)
        one = at_start or _KEY_LINE.match(line.strip())
        if one and (at_start or (_meaning(one[1]) and one[1] not in found)):
            last = one[1]
            found[last] = [(one[2] or "").strip()]
        elif last and line.strip() and not one:
            found[last].append(line.strip())
    return {key: _joined(lines).strip().strip("\"'") for key, lines in found.items()}


def _joined(lines: list[str]) -> str:
    """A value of several lines; items of a list with commas between them."""
    items = [one.removeprefix("- ") for one in lines[1:] if one.startswith("- ")]
    return ", ".join(items) if items and not lines[0] else " ".join(lines)


def _unclosed(text: str) -> tuple[dict[str, str], str]:
    """The keys at the beginning of a text, and the rest of it."""
    lines = text.splitlines(keepends=True)
    others = (at for at, line in enumerate(lines) if not _KEY_LINE.match(line.rstrip("\n")))
    end = next(others, len(lines))
    return _by_lines("".join(lines[:end])), "".join(lines[end:])
