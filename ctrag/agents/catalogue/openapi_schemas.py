"""The schemas of an OpenAPI document as JSON Schemas of draft 2020-12, references as `$defs`."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ctrag.agents.catalogue.dialects import modern
from ctrag.agents.catalogue.names import digest
from ctrag.agents.catalogue.openapi_parts import as_map, without_properties
from ctrag.agents.catalogue.schema_walk import mapped, pointed, pointer_step

_NO_SCHEMA = ("xml", "externalDocs", "discriminator", "example", "readOnly", "writeOnly")
_DEFINITIONS = 150_000
"""Characters of a tool's `$defs` at most; what is nearest to the root comes first."""


class DocumentSchemas:
    """Reads the schemas of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._converted: dict[str, tuple[Any, list[str]]] = {}
        self._names: dict[str, str] = {}
        self.problems: dict[str, str] = {}
        """References that lead nowhere."""

    def target(self, reference: str) -> Any:
        """The schema that a reference points to; None where nothing is there."""
        found = pointed(self._document, reference)
        if found is None and reference.startswith("#/$defs/"):
            return self._own_definitions.get(reference)
        return found

    @cached_property
    def _own_definitions(self) -> dict[str, Any]:
        """Schemas under the `$defs` of single schemas, by the reference that those use for them."""
        found: dict[str, Any] = {}
        waiting: list[Any] = [self._document]
        for one in waiting:
            if isinstance(one, Mapping):
                for name, schema in as_map(one.get("$defs")).items():
                    found.setdefault(f"#/$defs/{pointer_step(str(name))}", schema)
                waiting.extend(one.values())
            elif isinstance(one, list):
                waiting.extend(one)
        return found

    def _lost(self, reference: str) -> None:
        self.problems.setdefault(
            reference, "is not in the document; what refers to it takes anything"
        )

    def schema(self, value: Any) -> tuple[Any, list[str]]:
        """A schema of the document in draft 2020-12, its references into `$defs`; and these."""
        needed: list[str] = []

        def visit(one: Any) -> Any:
            if not isinstance(one, Mapping):
                return one if isinstance(one, bool) else {}
            kept = {
                str(key): each
                for key, each in one.items()
                if key not in _NO_SCHEMA and not str(key).startswith("x-")
            }
            if answered := _only_in_answers(kept):
                kept = without_properties(kept, answered)
            if one.get("type") == "file":
                kept |= {"type": "string", "format": "binary"}
            reference = kept.get("$ref")
            if isinstance(reference, str):
                if self.target(reference) is None:
                    del kept["$ref"]
                    self._lost(reference)
                else:
                    needed.append(reference)
                    kept["$ref"] = f"#/$defs/{self._name(reference)}"
            return mapped(kept, visit)

        if not isinstance(value, Mapping):
            return {}, []
        made = modern(visit({key: each for key, each in value.items() if key != "$defs"}))
        return made, needed

    def definitions(self, needed: list[str]) -> dict[str, Any]:
        """All that the references need, nearest first, until there is too much."""
        found: dict[str, Any] = {}
        waiting, spent = list(dict.fromkeys(needed)), 0
        seen = set(waiting)
        for reference in waiting:
            if reference not in self._converted:
                schema, more = self.schema(self.target(reference))
                self._converted[reference] = schema, more
            schema, more = self._converted[reference]
            spent += len(str(schema))
            if spent > _DEFINITIONS:
                kept = {key: schema[key] for key in ("type", "description") if key in schema}
                found[self._name(reference)] = kept
                continue
            found[self._name(reference)] = schema
            new = [one for one in dict.fromkeys(more) if one not in seen]
            seen.update(new)
            waiting.extend(new)
        return found

    def _name(self, reference: str) -> str:
        """The last part of a reference, with a hash where another one ends alike."""
        if reference not in self._names:
            last = re.sub(r"[^A-Za-z0-9_.-]+", "_", reference.rpartition("/")[2]) or "schema"
            taken = last in self._names.values()
            self._names[reference] = f"{last}_{digest(reference)}" if taken else last
        return self._names[reference]


def _only_in_answers(schema: Mapping[str, Any]) -> set[str]:
    """Names of properties that a server sends and does not take."""
    properties = as_map(schema.get("properties"))
    return {str(name) for name, one in properties.items() if as_map(one).get("readOnly") is True}
