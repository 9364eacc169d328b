"""Placeholders in the paths of OpenAPI documents, in the forms that servers' routers have too."""

import re
from collections.abc import Callable, Collection

_PLACEHOLDER = re.compile(
    r"\{(?P<whole>(?P<before>[+#]?)(?P<name>[^{}:*+]+)(?P<kind>:[^{}]*)?(?P<after>[*+]?))\}"
)
"""`{id}`; `{+path}`, `{path*}`, `{path+}` and `{path:path}` may hold slashes; `{id:int}` says a
type."""
_COLON = re.compile(r"(?<=/):([A-Za-z_]\w*)")


def braced(path: str, declared: Collection[str]) -> str:
    """A path with `{id}` for Express's `:id`, where a parameter of that name is declared."""
    return _COLON.sub(lambda found: f"{{{found[1]}}}" if found[1] in declared else found[0], path)


def with_slashes(path: str, names: Collection[str]) -> str:
    """A path with `{+id}` for `{id}` of those names, whose values may hold slashes."""
    for name in names:
        path = path.replace(f"{{{name}}}", f"{{+{name}}}")
    return path


def placeholders(path: str, declared: Collection[str] = ()) -> list[str]:
    """Names of a path's placeholders, in order; signs count where a parameter is declared so."""
    return [
        found["whole"] if found["whole"] in declared else found["name"]
        for found in _PLACEHOLDER.finditer(path)
    ]


def filled(path: str, known: Collection[str], value: Callable[[str, bool], str]) -> str:
    """A path with its placeholders replaced.

    Args:
        path: As the document has it.
        known: Names that have a value.
        value: Of a placeholder's name and whether it may hold slashes.
    """

    def one(found: "re.Match[str]") -> str:
        slashes = bool(found["before"] or found["after"])
        slashes = slashes or found["kind"] in (":path", ":.*", ":.+")
        return value(found["whole"] if found["whole"] in known else found["name"], slashes)

    return _PLACEHOLDER.sub(one, path)
