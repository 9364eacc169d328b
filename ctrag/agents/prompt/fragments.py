"""Instruction fragments: policies and system prompts cut along their structure (paper, 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ctrag.agents.prompt.front_matter import FrontMatter
from ctrag.agents.prompt.sections import LARGEST, SMALLEST, sections
from ctrag.models.tokens import CountTokens
from ctrag.text.words import words

__all__ = ["LARGEST", "SMALLEST", "Cut", "Fragment", "cut_text", "without_duplicates"]

NEAR_DUPLICATE = 0.9
"""Jaccard similarity of five-word runs from which the later fragment is a duplicate."""
_RUN = 5
_DECISIVE = frozenset({"not", "no", "never", "cannot", "without", "nicht", "nie", "kein", "keine"})
"""Words that turn a rule round; numbers decide as well."""


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
    for heading, part in sections(text, count):
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
    """Leave out fragments whose words are those of an earlier one, or nearly, with the same numbers
    and negations, where the earlier one holds wherever the later one does."""
    kept: dict[tuple[str, ...], list[tuple[Fragment, frozenset[tuple[str, ...]]]]] = {}
    unique: list[Fragment] = []
    left_out = []
    for one in fragments:
        tokens = words(one.text) or [one.text]
        decisive = tuple(
            word for word in tokens if word in _DECISIVE or any(map(str.isdigit, word))
        )
        starts = range(max(1, len(tokens) - _RUN + 1))
        runs = frozenset(tuple(tokens[at : at + _RUN]) for at in starts)
        like = kept.setdefault(decisive, [])
        twins = (other for other, seen in like if _covers(other, one) and _alike(runs, seen))
        twin = next(twins, None)
        if twin is None:
            like.append((one, runs))
            unique.append(one)
        else:
            left_out.append((one.id, twin.id))
    return Cut(tuple(unique), tuple(left_out))


def _covers(one: Fragment, other: Fragment) -> bool:
    """Whether it holds wherever the other does."""
    return one.always or (not other.always and set(other.globs) == set(one.globs))


def _alike(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> bool:
    return _overlap(a, b) >= NEAR_DUPLICATE


def _overlap(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b)
