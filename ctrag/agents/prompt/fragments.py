"""Instruction fragments: policies and system prompts cut along their structure (paper, 3.2)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ctrag.agents.prompt.front_matter import FrontMatter
from ctrag.models.tokens import CountTokens
from ctrag.text.words import words

SMALLEST, LARGEST = 200, 600
"""Tokens of a fragment. A document that is shorter is one fragment."""
NEAR_DUPLICATE = 0.9
"""Jaccard similarity of five-word runs from which the later fragment is a duplicate."""
_RUN = 5
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


ON_DEMAND = frozenset({"skill", "rule", "agents", "readme"})
"""Kinds that are of use for some requests alone; a policy may hold for all."""


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
    tools: tuple[str, ...] = ()
    """Tools that its document declares, by whatever names it has for them."""
    globs: tuple[str, ...] = ()
    """Files that its document is about; empty if it is about none."""
    always: bool = False
    """Whether it holds for every request."""

    @property
    def document(self) -> str:
        """The document that it is a part of."""
        return self.id.partition("#")[0]

    @property
    def digest(self) -> str:
        """Hash of text and metadata, to tell versions of a fragment apart."""
        parts = [self.text, self.heading, self.domain, self.kind, str(self.priority)]
        parts += [self.about] if self.about else []
        parts += [f"tools {' '.join(self.tools)}"] if self.tools else []
        parts += [f"globs {' '.join(self.globs)}"] if self.globs else []
        parts += ["always"] if self.always else []
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
    problems: tuple[tuple[str, str], ...] = ()
    """(file, why it was left out or what of it was read otherwise than it stands)."""
    skills: tuple[tuple[str, Path], ...] = ()
    """(document, its `SKILL.md`)."""


def cut_text(
    text: str,
    document: str,
    count: CountTokens,
    *,
    domain: str = "",
    kind: str = "policy",
    priority: int = 0,
    recency: str = "",
    front: FrontMatter | None = None,
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
        front: Its front matter; it says about, tools, globs and always.
    """
    front = front or FrontMatter()
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
                front.description or "",
                front.tools,
                front.globs,
                front.always,
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
