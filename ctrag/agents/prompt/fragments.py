"""Instruction fragments: policies and system prompts cut along their structure (paper, 3.2)."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from datetime import date as day
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from ctrag.errors import InputError, NotFound
from ctrag.models.tokens import CountTokens
from ctrag.text.words import words
from stores.bounded_yaml import load_yaml

MOST_BYTES = 4 << 20
"""Of a file: four million characters are a hundred times the longest manual."""
SMALLEST, LARGEST = 200, 600
"""Tokens of a fragment. A document that is shorter is one fragment."""
NEAR_DUPLICATE = 0.9
"""Jaccard similarity of five-word runs from which the later fragment is a duplicate."""
_RUN = 5
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


_SUFFIXES = (".md", ".mdc", ".txt")
_BELOW = ("SKILL.md", "AGENTS.md", "CLAUDE.md")
"""Files that are read in folders below too, as is every `.mdc`."""
ON_DEMAND = frozenset({"skill", "rule"})
"""Kinds that are of use for some requests alone; a policy may hold for all."""
_SKIPPED = frozenset({"node_modules", ".git", ".venv", "__pycache__"})
_OPENS = re.compile(r"---[ \t]*\n")
_CLOSES = re.compile(r"^---[ \t]*(?:\n|$)", re.MULTILINE)
_PLAIN_LINE = re.compile(r"([A-Za-z][\w-]*):[ \t]+([^\s\[{|>\"'#].*|\*.*)$", re.MULTILINE)
"""A line of front matter with a value without quotes, which may hold a colon."""


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="ignore")
    domain: str | None = None
    kind: str | None = None
    priority: int = 0
    date: day | None = None
    name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Fragment:
    """A unit of instructions that is retrieved as a whole."""

    id: str
    """`document#heading`, stable while the text under the heading changes; if a section's length
    changes how its neighbours are joined, their ids change."""
    text: str
    heading: str
    """Headings above the text, outermost first, joined by " > "."""
    domain: str
    kind: str
    """policy, or as the document states: manual, workflow, style, ..."""
    priority: int
    """Larger ones are rendered first."""
    place: int
    """Place in its document, from 0."""
    tokens: int
    recency: str = ""
    """Day (ISO 8601) of its document; empty if unknown. Not used for selection."""
    about: str = ""
    """What its document is for, as the front matter says; searched, not shown."""

    @property
    def document(self) -> str:
        """The document that it is a part of."""
        return self.id.partition("#")[0]

    @property
    def digest(self) -> str:
        """Hash of text and metadata, to tell versions of a fragment apart."""
        parts = [self.text, self.heading, self.domain, self.kind, str(self.priority)]
        parts += [self.about] if self.about else []
        return sha256("\0".join(parts).encode()).hexdigest()[:16]

    @property
    def searched(self) -> str:
        """The text for retrieval, after its domain and heading."""
        head = (
            f"{self.domain}. {self.about} {self.heading}"
            if self.about
            else (f"{self.domain}. {self.heading}")
        )
        return f"{head}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Cut:
    """Fragments of a folder, and those left out as duplicates."""

    fragments: tuple[Fragment, ...]
    duplicates: tuple[tuple[str, str], ...]
    """(id of the fragment left out, id of the one kept)."""
    ignored: tuple[tuple[str, int], ...] = ()
    """(key of front matter that means nothing here, number of files that have it)."""


def cut_folder(folder: Path, count: CountTokens) -> Cut:
    """The fragments of a folder's files, by file name, without duplicates; or of one file.

    A folder's `.md`, `.mdc` and `.txt` files are read, and from folders below what agents keep
    there: `SKILL.md`, `AGENTS.md`, `CLAUDE.md` and `.mdc`.

    Raises:
        ValueError: The folder holds no such file, or a file breaks a rule (named).
        FileNotFoundError: There is no such folder or file.
    """
    paths = [folder] if folder.is_file() else _files(folder)
    ignored: dict[str, int] = {}
    taken: set[str] = set()
    fragments: list[Fragment] = []
    for path in paths:
        front, text = _read(path)
        for key in front.ignored:
            ignored[key] = ignored.get(key, 0) + 1
        document = _document(path, folder, front.values)
        while document in taken:
            document = f"{document}{path.suffix}"
        taken.add(document)
        fragments += _cut(path, document, front.values, text, count)
    cut = without_duplicates(fragments)
    return Cut(cut.fragments, cut.duplicates, tuple(sorted(ignored.items())))


def cut_file(path: Path, count: CountTokens) -> list[Fragment]:
    """The fragments of one file.

    A file may begin with YAML front matter between `---` lines: `domain`, `kind`, `priority`,
    `date`; of skills and rules `name` and `description`. Other keys mean nothing here. Without it
    the name decides: `telecom-manual.md` has domain `telecom` and kind `manual`, `retail.md` has
    kind `policy`, a `SKILL.md` is named like its folder; and the date is the day (UTC) of the
    file's last change.

    Raises:
        ValueError: The file is not UTF-8, or its front matter breaks a rule.
    """
    front, text = _read(path)
    return _cut(path, _document(path, path, front.values), front.values, text, count)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise NotFound(2, "no such folder or file", str(folder))
    here = [path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file()]
    below = [
        path
        for path in folder.rglob("*")
        if path.parent != folder
        and (path.name in _BELOW or path.suffix == ".mdc")
        and _SKIPPED.isdisjoint(path.relative_to(folder).parts)
        and path.is_file()
    ]
    paths = sorted(here) + sorted(below)
    if not paths:
        raise InputError(f"{folder}: holds no .md, .mdc or .txt file, and no SKILL.md below it")
    return paths


def _document(path: Path, folder: Path, front: _FrontMatter) -> str:
    """The first part of the ids of a file's fragments."""
    if path.name == "SKILL.md":
        return front.name or path.resolve().parent.name
    if path in (folder, folder / path.name):
        return path.stem
    return path.relative_to(folder).with_suffix("").as_posix()


def _cut(
    path: Path, document: str, front: _FrontMatter, text: str, count: CountTokens
) -> list[Fragment]:
    domain, _, kind = path.stem.partition("-")
    if path.name == "SKILL.md":
        domain, kind = document, "skill"
    elif path.suffix == ".mdc":
        domain, kind = path.stem, "rule"
    return cut_text(
        text,
        document,
        count,
        domain=front.domain or domain,
        kind=front.kind or kind or "policy",
        priority=front.priority,
        recency=(
            front.date or datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
        ).isoformat(),
        about=front.description or "",
    )


def cut_text(
    text: str,
    document: str,
    count: CountTokens,
    *,
    domain: str = "",
    kind: str = "policy",
    priority: int = 0,
    recency: str = "",
    about: str = "",
) -> list[Fragment]:
    """Sections joined until they hold `SMALLEST` tokens, long ones split at paragraphs.

    Args:
        text: Markdown or plain text.
        document: First part of the ids.
        count: Tokens of a text.
        domain: See `Fragment.domain`.
        kind: See `Fragment.kind`.
        priority: See `Fragment.priority`.
        recency: See `Fragment.recency`.
        about: See `Fragment.about`.
    """
    fragments: list[Fragment] = []
    taken: dict[str, int] = {}
    for heading, part in _joined(list(_sections(text, count)), count):
        slug = "-".join(words(heading.rpartition(" > ")[2])) or "start"
        taken[slug] = taken.get(slug, 0) + 1
        number = f"-{taken[slug]}" if taken[slug] > 1 else ""
        fragments.append(
            Fragment(
                f"{document}#{slug}{number}",
                part,
                heading,
                domain,
                kind,
                priority,
                len(fragments),
                count(part),
                recency,
                about,
            )
        )
    return fragments


def without_duplicates(fragments: Sequence[Fragment]) -> Cut:
    """Leave out fragments whose words are those of an earlier one, or nearly."""
    kept: list[tuple[Fragment, frozenset[tuple[str, ...]]]] = []
    left_out = []
    for one in fragments:
        tokens = words(one.text)
        starts = range(max(1, len(tokens) - _RUN + 1))
        runs = frozenset(tuple(tokens[at : at + _RUN]) for at in starts)
        twin = next((other for other, seen in kept if _overlap(runs, seen) >= NEAR_DUPLICATE), None)
        if twin is None:
            kept.append((one, runs))
        else:
            left_out.append((one.id, twin.id))
    return Cut(tuple(one for one, _ in kept), tuple(left_out))


def _overlap(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b)


@dataclass(frozen=True, slots=True)
class _Front:
    values: _FrontMatter
    ignored: tuple[str, ...]


def _read(path: Path) -> tuple[_Front, str]:
    """A file's front matter and the text after it."""
    if (size := path.stat().st_size) > MOST_BYTES:
        raise InputError(
            f"{path}: a policy has at most {MOST_BYTES >> 20} MB, not {size / 2**20:.1f}; "
            "split it, or take out what is no rule"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    opening = _OPENS.match(text)
    if opening is None:
        return _Front(_FrontMatter(), ()), text
    closing = _CLOSES.search(text, opening.end())
    if closing is None:
        raise InputError(f"{path}:1: front matter: `---` opens it and nothing closes it")
    given = _yaml(path, text[opening.end() : closing.start()])
    known = {key: given[key] for key in given if key in _FrontMatter.model_fields}
    dropped = [str(key) for key in given if key not in known]
    if "name" in known or "description" in known or path.suffix == ".mdc":
        # A skill's or rule's own `priority` or `date` need not be of our kind.
        for key in ("domain", "kind", "priority", "date", "name", "description"):
            try:
                _FrontMatter.model_validate({key: known.get(key)} if key in known else {})
            except ValidationError:
                del known[key]
                dropped.append(key)
    try:
        return _Front(_FrontMatter.model_validate(known), tuple(dropped)), text[closing.end() :]
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise InputError(f"{path}:1: front matter: {where}: {problem['msg']}") from None


def _yaml(path: Path, head: str) -> dict[Any, Any]:
    """Front matter as a mapping; values without quotes may hold colons and stars."""
    quoted = _PLAIN_LINE.sub(lambda line: f"{line[1]}: {json.dumps(line[2].strip())}", head)
    for text in (head, quoted):
        try:
            value = load_yaml(text)
        except (yaml.YAMLError, ValueError):  # a date that is none is a ValueError
            continue
        if value is None or isinstance(value, dict):
            return value or {}
    raise InputError(f"{path}:1: front matter: not YAML with a key a line")


def _sections(text: str, count: CountTokens) -> Iterator[tuple[str, str]]:
    """(headings above, text with its own heading) of each section; long ones in several parts."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    fenced = False

    def close() -> Iterator[tuple[str, str]]:
        body = "\n".join(lines).strip()
        path = " > ".join(title for _, title in above)
        for part in _split(body, count) if body else ():
            yield path, part

    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        match = None if fenced else _HEADING.match(line)
        if match:
            yield from close()
            lines.clear()
            level = len(match[1])
            above = [(depth, title) for depth, title in above if depth < level]
            above.append((level, match[2]))
        lines.append(line)
    yield from close()


def _split(text: str, count: CountTokens) -> list[str]:
    """The text in parts of at most `LARGEST` tokens, cut between paragraphs, else lines, else
    sentences, else words."""
    if count(text) <= LARGEST:
        return [text]
    for pieces, glue in (
        (re.split(r"\n\s*\n", text), "\n\n"),
        (text.splitlines(), "\n"),
        (_SENTENCE.split(text), " "),
        (text.split(), " "),
    ):
        if len(pieces) > 1:
            parts = [part for piece in pieces for part in _split(piece, count)]
            return _packed(parts, glue, count)
    return [text]  # a single word longer than a fragment may be


def _packed(pieces: Sequence[str], glue: str, count: CountTokens) -> list[str]:
    parts: list[str] = []
    for piece in pieces:
        if parts and count(parts[-1] + glue + piece) <= LARGEST:
            parts[-1] += glue + piece
        else:
            parts.append(piece)
    return parts


def _joined(sections: Sequence[tuple[str, str]], count: CountTokens) -> list[tuple[str, str]]:
    """Neighbours joined until each has `SMALLEST` tokens, as far as `LARGEST` allows."""
    forward: list[tuple[str, str]] = []
    for heading, text in sections:
        if forward and count(forward[-1][1]) < SMALLEST and _fit(forward[-1][1], text, count):
            forward[-1] = (forward[-1][0], f"{forward[-1][1]}\n\n{text}")
        else:
            forward.append((heading, text))
    joined: list[tuple[str, str]] = []
    for (
        heading,
        text,
    ) in forward:  # a short rest that did not fit the next section joins the previous one
        if joined and count(text) < SMALLEST and _fit(joined[-1][1], text, count):
            joined[-1] = (joined[-1][0], f"{joined[-1][1]}\n\n{text}")
        else:
            joined.append((heading, text))
    return joined


def _fit(before: str, after: str, count: CountTokens) -> bool:
    return count(f"{before}\n\n{after}") <= LARGEST
