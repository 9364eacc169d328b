"""Names of the tools and the server that an OpenAPI document becomes."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctrag.agents.catalogue.names import digest
from ctrag.agents.catalogue.openapi_parts import as_list, as_text

_SERVER_LENGTH = 24
"""Letters of a title that is taken whole; of a longer one, `_SHORT_LENGTH` are."""
_SHORT_LENGTH = 16
_FILLERS = frozenset(
    "a an and api apis documentation docs for full interface of official openapi platform public "
    "reference rest s service services spec specification swagger the v1 v2 v3 web with".split()
)


def server_name(title: str) -> str:
    """A title as a server's name; of a long one, the words that tell it from others."""
    words = re.findall(r"\w+", title.lower())
    whole = "_".join(words)
    if len(whole) <= _SERVER_LENGTH:
        return whole
    kept = ""
    for word in [one for one in words if one not in _FILLERS] or words:
        longer = f"{kept}_{word}" if kept else word[:_SHORT_LENGTH]
        if len(longer) > _SHORT_LENGTH:
            break
        kept = longer
    return kept


@dataclass(frozen=True, slots=True)
class FoundOperation:
    """An operation of a document."""

    path: str
    verb: str
    item: Mapping[str, Any]
    operation: Mapping[str, Any]

    @property
    def plain_name(self) -> str:
        """Verb and path."""
        return "_".join([self.verb, *re.findall(r"\w+", self.path)])

    @property
    def description(self) -> str:
        """Summary and description, else verb and path."""
        texts = [as_text(self.operation.get(key)) for key in ("summary", "description")]
        texts = [one.strip().rstrip(".") for one in texts if one.strip()]
        return ". ".join(dict.fromkeys(texts)) or f"{self.verb.upper()} {self.path}"

    @property
    def category(self) -> str:
        """Its tags."""
        tags = self.operation.get("tags")
        return ", ".join(one for one in as_list(tags) if isinstance(one, str))


def operation_names(found: list[FoundOperation]) -> tuple[list[str], dict[str, str]]:
    """A name for each operation, none twice."""
    problems: dict[str, str] = {}
    given = Counter(as_text(one.operation.get("operationId")) for one in found)
    plain = Counter(
        one.plain_name for one in found if given[as_text(one.operation.get("operationId"))] != 1
        or not as_text(one.operation.get("operationId"))
    )  # fmt: skip
    names: list[str] = []
    taken: set[str] = set()
    for one in found:
        own = as_text(one.operation.get("operationId"))
        name = own
        if not own or own in taken:
            name = one.plain_name
            if plain[name] > 1 or given[name]:
                name = f"{name}_{digest(f'{one.verb} {one.path}')}"
            if own:
                problems[f"{one.verb.upper()} {one.path}"] = (
                    f"has the operationId {own!r} of another operation; it is named {name!r}"
                )
        taken.add(name)
        names.append(name)
    return names, problems
