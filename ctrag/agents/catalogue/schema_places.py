"""Where in a JSON Schema its references point, by whatever they name it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urldefrag, urljoin

from ctrag.agents.catalogue.schema_walk import placed_subschemas, pointed, pointer_step

_DEFINED = ("$defs", "definitions")


class Places:
    """The places of one schema: anchors, identities, and definitions that do not stand at its root.

    A schema that was made for itself and then put into another one keeps references like
    `#/$defs/Point`, though its `$defs` are no longer at the root: the nearest around the reference
    are meant, else the first of that name.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    def of(self, reference: str, within: Any = None) -> str:
        """The reference as a pointer from the root; as it is where it points to nothing here.

        Args:
            reference: As a subschema has it.
            within: That subschema, the same object as in the schema.
        """
        if reference.startswith("#/") and pointed(self._schema, reference) is not None:
            return reference
        base, fragment = urldefrag(urljoin(self._base, reference))
        whole = f"{base}#{fragment}" if fragment else base
        for name in (reference, whole, f"#{fragment}" if base == self._base else whole):
            if name in self._named:
                return self._named[name]
        root = self._identities.get(base)
        if root is not None and (not fragment or fragment.startswith("/")):
            inside = f"{root}{fragment}"
            if pointed(self._schema, inside) is not None:
                return inside
        steps = fragment.split("/")
        if len(steps) == 3 and steps[1] in _DEFINED and base == self._base:
            return self._around(within, steps[2]) or self._loose.get(steps[2], reference)
        return reference

    def _around(self, within: Any, name: str) -> str:
        """A definition of that name in the nearest object around a subschema; empty without."""
        place = self._placed.get(id(within), "#")
        while "/" in place:
            for key in _DEFINED:
                inside = f"{place}/{key}/{name}"
                if pointed(self._schema, inside) is not None:
                    return inside
            place = place.rpartition("/")[0]
        return ""

    @cached_property
    def _placed(self) -> dict[int, str]:
        """Subschemas, as objects, → where they stand."""
        return {id(one): place for place, one in placed_subschemas(self._schema)}

    @cached_property
    def _base(self) -> str:
        named = [self._schema.get(key) for key in ("$id", "id")]
        return urldefrag(next((one for one in named if isinstance(one, str)), "")).url

    @cached_property
    def _identities(self) -> dict[str, str]:
        """Addresses of schemas → where they stand."""
        found = {self._base: "#"} if self._base else {}
        for place, one in placed_subschemas(self._schema):
            for key in ("$id", "id"):
                if isinstance(one.get(key), str):
                    found.setdefault(urldefrag(urljoin(self._base, one[key])).url, place)
        return found

    @cached_property
    def _named(self) -> dict[str, str]:
        """References by `$id` and `$anchor` → references by place."""
        found = dict(self._identities)
        for place, one in placed_subschemas(self._schema):
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(one.get(key), str):
                    found.setdefault(f"#{one[key]}", place)
            for key in ("$id", "id"):
                if isinstance(one.get(key), str):
                    found.setdefault(one[key], place)
        return found

    @cached_property
    def _loose(self) -> dict[str, str]:
        """Names of definitions that stand deeper → where, the first of each name."""
        found: dict[str, str] = {}
        for place, one in placed_subschemas(self._schema):
            for key in _DEFINED:
                inner = one.get(key)
                for name in inner if isinstance(inner, Mapping) else ():
                    step = pointer_step(str(name))
                    found.setdefault(step, f"{place}/{key}/{step}")
        return found
