"""The files of instructions: policies, skills, rules of editors, `AGENTS.md`.

A file of a folder that cannot be read costs only itself: it is left out, and said.
"""

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ctrag.agents.prompt.editor_files import (
    SKILL,
    in_rules,
    is_agents,
    is_scoped,
    kept_below,
    place_of,
)
from ctrag.agents.prompt.fragments import Cut, Fragment, cut_text, without_duplicates
from ctrag.agents.prompt.front_matter import Front, FrontMatter, split_front
from ctrag.agents.prompt.imports import with_imports
from ctrag.errors import InputError, NotFound
from ctrag.models.tokens import CountTokens

MOST_BYTES = 4 << 20
"""Of a file: four million characters are a hundred times the longest manual."""
MOST_FILES = 5_000
"""Of a folder: a tree of more is no folder of instructions."""
NAMED_FILES = 20
"""Files beside a skill that are named; of further ones only the number."""
_SUFFIXES = (".md", ".mdc", ".txt")
_NO_RULES = re.compile(r"(license|licence|copying|notice|changelog)\b.*", re.IGNORECASE)
_SKIPPED = frozenset({"node_modules", ".git", ".venv", "venv", "__pycache__", "site-packages"})
_UNFIT = re.compile(r"[\x00-\x1f\x7f#\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
"""What a name of a document cannot have: it is printed, and `#` ends it."""


@dataclass(slots=True)
class _Read:
    """What reading a folder has found so far."""

    fragments: list[Fragment] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    skills: list[tuple[str, Path]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def name(self, wanted: str, path: Path, folder: Path) -> str:
        """A document's name that no other has: as wanted, else with its folder or suffix."""
        if wanted not in self.taken:
            self.taken.add(wanted)
            return wanted
        other = wanted + path.suffix
        if _is_skill(path):
            other = _fit(path.parent.relative_to(folder).as_posix())
            self.problems.append(
                (_shown(path, folder), f"another skill is named {wanted!r}; this one is {other!r}")
            )
        while other in self.taken:
            other = f"{other}{path.suffix}"
        self.taken.add(other)
        return other


def cut_folder(folder: Path, count: CountTokens) -> Cut:
    """The fragments of a folder's files, by file name, without duplicates; or of one file.

    A folder's `.md`, `.mdc` and `.txt` files are read, and from folders below what agents keep
    there: `SKILL.md`, `AGENTS.md`, `CLAUDE.md`, `.mdc` and `.instructions.md`, and all texts of
    folders such as `.claude/rules`, `.windsurf/rules` and `.clinerules`. A folder with a
    `SKILL.md` is that skill, and what else it holds is named there, not read.

    Raises:
        ValueError: No file of the folder can be read; or the one file breaks a rule.
        FileNotFoundError: There is no such folder or file.
    """
    if folder.is_file():
        return without_duplicates(cut_file(folder, count))
    if not folder.is_dir():
        raise NotFound(2, "no such folder or file", str(folder))
    found = _Read()
    paths = _files(folder, found)
    for path in paths:
        try:
            front, text = _read(path, strict=False)
        except (ValueError, OSError) as error:
            why = getattr(error, "strerror", None) or str(error).removeprefix(f"{path}: ")
            found.problems.append((_shown(path, folder), f"left out: {why}"))
            continue
        found.problems += [
            (_shown(path, folder), f"front matter: {one}; the rest is read")
            for one in front.problems
        ]
        for key in front.ignored:
            found.ignored[key] = found.ignored.get(key, 0) + 1
        document = found.name(_document(path, folder, front.values), path, folder)
        cut = _cut(path, document, front.values, text, count, folder)
        if not cut:
            found.problems.append((_shown(path, folder), "left out: it says nothing of its own"))
        elif _is_skill(path) and not front.values.description:
            why = "has no description, so it is found by its text alone"
            found.problems.append((_shown(path, folder), why))
        found.fragments += cut
        if cut and _is_skill(path):
            found.skills.append((document, path))
    if not found.fragments:
        first = f"{found.problems[0][0]}: {found.problems[0][1]}; " if found.problems else ""
        raise InputError(
            f"{folder}: {first}holds no .md, .mdc or .txt file, and no SKILL.md below it"
        )
    unique = without_duplicates(found.fragments)
    return replace(
        unique,
        ignored=tuple(sorted(found.ignored.items())),
        problems=tuple(found.problems),
        skills=tuple(found.skills),
    )


def cut_file(path: Path, count: CountTokens) -> list[Fragment]:
    """The fragments of one file.

    A file may begin with YAML front matter between `---` lines: `domain`, `kind`, `priority`,
    `date`; of skills and rules `name`, `description`, the tools that they speak of
    (`allowed-tools`), the files that they are about (`globs`) and whether they hold for every
    request (`alwaysApply`). Other keys mean nothing here. Without it the name decides:
    `telecom-manual.md` has domain `telecom` and kind `manual`, `retail.md` has kind `policy`, a
    `SKILL.md` is named like its folder; and the date is the day (UTC) of the file's last change.

    Raises:
        ValueError: The file is not UTF-8, or its front matter breaks a rule.
    """
    front, text = _read(path, strict=True)
    return _cut(path, _document(path, path, front.values), front.values, text, count, path.parent)


def bundled(skill: Path) -> list[str]:
    """Files beside a `SKILL.md` and below, by their path from its folder; not those of a skill in
    a folder below, nor hidden ones or links out of the folder."""
    root = skill.parent.resolve()
    found: list[str] = []
    for at, folders, names in os.walk(skill.parent):
        here = Path(at)
        folders[:] = sorted(
            one
            for one in folders
            if one not in _SKIPPED
            and not one.startswith(".")
            and not any(_is_skill(below) for below in (here / one).glob("[sS][kK]*"))
        )
        for name in sorted(names):
            path = here / name
            plain = not name.startswith(".") and not _NO_RULES.match(name)
            if path != skill and plain and _inside(path, root) and path.is_file():
                found.append(path.relative_to(skill.parent).as_posix())
        if len(found) > MOST_FILES:
            break
    return found


def _files(folder: Path, found: _Read) -> list[Path]:
    """What is read of a folder: its own files first, then those below."""
    own_skill = [path for path in folder.iterdir() if _is_skill(path)]
    if own_skill:
        return [path for path in own_skill if _usable(path, folder, found)][:1]
    here: list[Path] = []
    below: list[Path] = []
    unread: list[Path] = []
    for path in _walked(folder, found):
        if path.parent == folder:
            text = path.suffix.lower() in _SUFFIXES and not _NO_RULES.match(path.name)
            if text or is_agents(path):
                here.append(path)
        elif kept_below(path):
            below.append(path)
        elif path.suffix.lower() in _SUFFIXES and not _NO_RULES.match(path.name):
            unread.append(path)
    paths = [*sorted(here), *sorted(below)]
    _say_unread(unread, paths, folder, found)
    replaced = {path.parent for path in paths if path.name.lower() == "agents.override.md"}
    for path in [one for one in paths if one.name.lower() == "agents.md"]:
        if path.parent in replaced:
            paths.remove(path)
            why = "left out: AGENTS.override.md stands in its place"
            found.problems.append((_shown(path, folder), why))
    return [path for path in paths if _usable(path, folder, found)]


def _say_unread(unread: Sequence[Path], read: Sequence[Path], folder: Path, found: _Read) -> None:
    """Note texts in folders below that are neither read nor beside a skill, in one line."""
    skills = {path.parent for path in read if _is_skill(path)}
    others = sorted(path for path in unread if skills.isdisjoint(path.parents))
    if others:
        more = f", as {len(others) - 1} more below are not" if len(others) > 1 else ""
        why = f"not read{more}: from folders below only skills and rules are; name its own folder"
        found.problems.append((_shown(others[0], folder), why))


def _walked(folder: Path, found: _Read) -> Iterator[Path]:
    """All files, but not those inside a skill's folder that are no skills or rules themselves."""
    number = 0
    for at, folders, names in os.walk(folder):
        here = Path(at)
        for one in sorted(folders):
            if (here / one).is_symlink() and one not in _SKIPPED:
                found.problems.append(
                    (_shown(here / one, folder), "left out: a link to a folder is not followed")
                )
        folders[:] = sorted(one for one in folders if one not in _SKIPPED)
        for name in names:
            number += 1
            if number > MOST_FILES * 20:
                raise InputError(
                    f"{folder}: holds more than {MOST_FILES * 20:,} files; name the folder of "
                    "the instructions alone"
                )
            yield here / name


def _usable(path: Path, folder: Path, found: _Read) -> bool:
    """Whether a file may be read; one that is a link out of the folder may not."""
    if not path.is_file():
        return False
    if not _inside(path, folder.resolve()):
        found.problems.append((_shown(path, folder), "left out: a link out of the folder"))
        return False
    return True


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root)


def _is_skill(path: Path) -> bool:
    return path.name.lower() == SKILL and path.is_file()


def _shown(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _fit(name: str) -> str:
    return " ".join(_UNFIT.sub(" ", name).split())[:100]


def _document(path: Path, folder: Path, front: FrontMatter) -> str:
    """The first part of the ids of a file's fragments."""
    if path.name.lower() == SKILL:
        return _fit(front.name or "") or _fit(path.resolve().parent.name) or "skill"
    if path in (folder, folder / path.name):
        return _fit(path.stem) or "start"
    return _fit(path.relative_to(folder).with_suffix("").as_posix())


def _cut(
    path: Path, document: str, front: FrontMatter, text: str, count: CountTokens, folder: Path
) -> list[Fragment]:
    name = path.name.lower()
    domain, _, kind = path.stem.partition("-")
    if name == SKILL:
        domain, kind = document, "skill"
        text = _with_files(text, path)
    elif is_scoped(path):
        domain, kind = path.stem, "rule"
    elif is_agents(path):
        place = place_of(path, folder)
        domain, kind = place.rpartition("/")[2] or "agents", "agents"
        front = _standing(front, place)
        text = with_imports(text, path, lambda other: _taken_in(other, folder))
    elif in_rules(path):
        domain, kind = path.stem, "rule"
        if not (front.globs or front.description or "always" in front.model_fields_set):
            kind, front = "agents", _standing(front, place_of(path, folder))
    elif name == "readme.md":
        kind = "readme"
    elif front.name and front.description:
        kind = "skill"  # in one file
    fragments = cut_text(
        text,
        document,
        count,
        domain=front.domain or domain,
        kind=front.kind or kind or "policy",
        priority=front.priority,
        recency=(
            front.date or datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
        ).isoformat(),
        front=front,
    )
    if kind != "agents":
        return fragments
    # Its general rules stand first; the rest is for those whom it concerns.
    return [replace(one, always=one.always and one.place == 0) for one in fragments]


def _taken_in(path: Path, folder: Path) -> str | None:
    """The text of a file that another one takes in; empty where it is read anyway."""
    if path.suffix.lower() not in _SUFFIXES or not _inside(path, folder.resolve()):
        return None
    if kept_below(path) or (path.parent == folder.resolve() and not _NO_RULES.match(path.name)):
        return ""
    try:
        return _read(path, strict=False)[1]
    except (ValueError, OSError):
        return None


def _standing(front: FrontMatter, place: str) -> FrontMatter:
    """As it holds for all that is in a folder; at the root, for every request."""
    said = {"globs": (*front.globs, f"{place}/**")} if place else {"always": True}
    return front.model_copy(update=said)


def _with_files(text: str, path: Path) -> str:
    """A skill's text with the files beside it named before its second section, those that it names
    itself first."""
    files = bundled(path)
    if not files or not text.strip():
        return text
    files.sort(key=lambda one: (one not in text, one))
    more = f" and {len(files) - NAMED_FILES} more" if len(files) > NAMED_FILES else ""
    said = f"Files beside this skill: {', '.join(map(_fit, files[:NAMED_FILES]))}{more}"
    head, line, rest = text.lstrip("\n").partition("\n")
    if head.startswith("#"):
        return f"{head}\n\n{said}\n{line}{rest}"
    return f"{said}\n\n{text}"


def _read(path: Path, *, strict: bool) -> tuple[Front, str]:
    """A file's front matter and the text after it."""
    if (size := path.stat().st_size) > MOST_BYTES:
        raise InputError(
            f"{path}: a policy has at most {MOST_BYTES >> 20} MB, not {size / 2**20:.1f}; "
            "split it, or take out what is no rule"
        )
    with path.open("rb") as file:
        wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # Windows writes it
    try:
        text = path.read_text(encoding="utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        of = "UTF-16" if wide else "UTF-8"
        raise InputError(f"{path}: not {of} at byte {error.start + 1}") from None
    if "\0" in text:
        raise InputError(f"{path}: not a text: it holds a zero byte")
    own_meaning = kept_below(path)
    try:
        return split_front(text, own_meaning=own_meaning, strict=strict)
    except ValueError as error:
        raise InputError(f"{path}:1: {error}") from None
