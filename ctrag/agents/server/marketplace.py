"""Plugins that are not installed yet: found when the catalogue has few tools, installed on request.

The catalogue of plugins is a JSON or YAML list::

    - name: pdf-tools
      description: Reads and splits PDF files.
      category: documents
      publisher: Example Ltd
      pricing: free
      rating: 4.6
      tools: [{name: extract_text, description: Text of a PDF., parameters: {type: object}}]
      server: {command: pdf-tools-mcp}

What is installed, and for whom, is kept in a separate small file.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, RootModel

from ctrag.agents.catalogue.access import Grant, Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.surfacing import surface
from ctrag.agents.server.config import ServerSpec, read_checked
from ctrag.agents.server.untrusted import DESCRIPTION_LIMIT, FIELD_LIMIT, NAME_LIMIT, cleaned
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder
from stores.files import write_text

EVERYBODY = ""
"""The scope of a plugin installed for all callers; with access rules, for those with a grant for
it."""


class _PluginTool(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    parameters: dict[str, Any] = {}


class Plugin(BaseModel):
    """A plugin as its publisher describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,48}$")]
    description: Annotated[str, Field(min_length=1)]
    category: str = ""
    publisher: str = ""
    pricing: str = ""
    rating: float | None = None
    tools: Annotated[list[_PluginTool], Field(min_length=1)]
    server: ServerSpec
    """Runs once the plugin is installed; its tools are then listed live."""

    def shown(self) -> dict[str, Any]:
        """The description for a model, without the start command."""
        marks: list[str] = []
        entry = {
            "plugin": self.name,
            "description": cleaned(self.description, DESCRIPTION_LIMIT, marks),
            "category": cleaned(self.category, FIELD_LIMIT, marks),
            "publisher": cleaned(self.publisher, FIELD_LIMIT, marks),
            "pricing": cleaned(self.pricing, FIELD_LIMIT, marks),
            "rating": self.rating,
            "tools": [cleaned(tool.name, NAME_LIMIT, marks) for tool in self.tools],
        }
        return {**entry, "marks": sorted(set(marks))} if marks else entry


class _Plugins(RootModel[list[Plugin]]):
    pass


class _Installed(RootModel[dict[str, list[str]]]):
    """Scopes by plugin."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin that is installed, and for whom."""

    plugin: Plugin
    scopes: tuple[str, ...]


class Marketplace:
    """A catalogue of plugins, and which of them are installed.

    Args:
        plugins: What can be installed.
        state: File with what is installed; created at the first installation.
        encoder: See `ToolIndex`.

    Raises:
        ValueError: Two plugins have the same name, or there is none.
    """

    def __init__(
        self, plugins: Sequence[Plugin], state: Path, encoder: Encoder | None = None
    ) -> None:
        self.plugins = {plugin.name: plugin for plugin in plugins}
        if len(self.plugins) < len(plugins):
            raise InputError("plugins: two have the same name")
        tools = [
            CatalogueTool(tool.name, f"{tool.description} {plugin.description}", plugin.name)
            for plugin in plugins
            for tool in plugin.tools
        ]
        self._index = ToolIndex(tools, encoder)
        self._state = state

    @classmethod
    def from_file(
        cls, path: str | Path, state: Path, encoder: Encoder | None = None
    ) -> "Marketplace":
        """Read a JSON or YAML list of plugins.

        Raises:
            ValueError: The file breaks a rule, which the message names with file and field.
        """
        return cls(read_checked(Path(path), _Plugins).root, state, encoder)

    def installed(self) -> list[Installed]:
        """What is installed, in the order it was; plugins that are no longer offered are left out.

        Raises:
            ValueError: The file of what is installed is damaged.
        """
        return [
            Installed(self.plugins[name], tuple(scopes))
            for name, scopes in self._scopes().items()
            if name in self.plugins
        ]

    def search(
        self, text: str, who: Principal | None = None, k: int = 3, *, above: float = 0.0
    ) -> list[Plugin]:
        """Plugins with a fitting tool, best first, without those the caller already has.

        Args:
            text: What the plugin should do.
            who: The caller.
            k: How many plugins at most.
            above: Least probability of a plugin's tool.
        """
        mine = {EVERYBODY} if who is None else {EVERYBODY, *who.scopes}
        had = {one.plugin.name for one in self.installed() if mine & set(one.scopes)}
        exclude = [tool.id for tool in self._index.tools if tool.server in had]
        given = surface(self._index.find(text, 5 * k, exclude=exclude), text, 5 * k)
        fitting = [] if given.doubt else given.hits.values()
        names = dict.fromkeys(hit.tool.server for hit in fitting if hit.probability >= above)
        return [self.plugins[name] for name in names][:k]

    def install(self, name: str, scope: str = EVERYBODY) -> Installed:
        """Mark a plugin as installed for a scope; repeating this has no effect.

        Raises:
            ValueError: There is no such plugin, or a grant cannot name the scope.
        """
        if name not in self.plugins:
            raise InputError(f"plugin: there is none named {name!r}")
        if scope != EVERYBODY:
            Grant(scope, f"{name}/*")  # fails now rather than when the server starts
        with self._changing() as scopes:
            scopes[name] = sorted({*scopes.get(name, []), scope})
        return Installed(self.plugins[name], tuple(scopes[name]))

    def uninstall(self, name: str) -> bool:
        """Mark a plugin as not installed for anybody; returns whether it was."""
        with self._changing() as scopes:
            return scopes.pop(name, None) is not None

    def _scopes(self) -> dict[str, list[str]]:
        if not self._state.exists():
            return {}
        return read_checked(self._state, _Installed).root

    @contextmanager
    def _changing(self) -> Iterator[dict[str, list[str]]]:
        """Scopes by plugin, written back if the block changes them; one process at a time."""
        self._state.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._state.with_name(self._state.name + ".lock")):
            scopes = self._scopes()
            before = deepcopy(scopes)
            yield scopes
            if scopes != before:
                write_text(self._state, json.dumps(scopes, indent=1) + "\n")


def scope_of(who: Principal | None) -> str:
    """The scope a caller installs for: their organisation if they have one, else themselves."""
    if who is None:
        return EVERYBODY
    if len(who.organisations) == 1:
        return f"organisation:{min(who.organisations)}"
    return f"user:{who.user}"
