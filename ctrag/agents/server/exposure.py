"""What of a server is shown, as its specification says: which tools, under which names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.untrusted import ToolDefinition


@dataclass(slots=True)
class Exposed:
    """A server's tools as shown."""

    tools: dict[str, ToolDefinition] = field(default_factory=dict)
    """By the name that is shown."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Why a tool is not shown, by the server's own name."""
    unused: list[str] = field(default_factory=list)
    """Names and patterns of the specification that no tool has."""


def exposed(spec: ServerSpec, tools: Mapping[str, ToolDefinition]) -> Exposed:
    """Apply `include`, `exclude`, `rename` and `descriptions` to the tools that a server lists."""
    shown = Exposed()
    for name, tool in tools.items():
        if spec.include is not None and not _matches(name, spec.include):
            shown.left_out[name] = "is not among those that `include` names"
            continue
        if _matches(name, spec.exclude):
            shown.left_out[name] = "is named by `exclude`"
            continue
        new = spec.rename.get(name, name)
        if new in shown.tools:
            shown.left_out[name] = f"would be a second {new!r}; the first is kept"
            continue
        text = spec.descriptions.get(name, tool.description)
        shown.tools[new] = replace(tool, name=new, description=text)
    patterns = [*(spec.include or ()), *spec.exclude, *spec.rename, *spec.descriptions]
    shown.unused = [one for one in dict.fromkeys(patterns) if not _any(tools, one)]
    return shown


def shows(spec: ServerSpec, shown: str) -> bool:
    """Whether a tool, by the name that is shown, would still be shown."""
    name = own_name(spec, shown)
    return not (
        (name in spec.rename and spec.rename[name] != shown)
        or _matches(name, spec.exclude)
        or (spec.include is not None and not _matches(name, spec.include))
    )


def own_name(spec: ServerSpec, shown: str) -> str:
    """The server's own name of a tool, by the one that is shown."""
    return next((name for name, new in spec.rename.items() if new == shown), shown)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(name == one or fnmatchcase(name, one) for one in patterns)


def _any(names: Iterable[str], pattern: str) -> bool:
    return any(_matches(name, [pattern]) for name in names)
