"""A shelf of tools with rules: who sees which of them, in searches and when one is called."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from uuid import uuid4

from ctrag.encoder import Encoder
from ctrag.tools.access import AccessRules, Expert, Grant, Principal
from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.fields import compact
from ctrag.tools.shelf import EVERYTHING, ToolShelf
from stores.tool_rows import Filter, ToolStore

_VERSION = "rules"
"""Fact of the store that changes with its rules."""


class GovernedShelf(ToolShelf):
    """Tools, and the rules by which a store's queries let callers see them."""

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        encoder: Encoder | None,
        access: AccessRules | None,
        store: ToolStore | None,
        *,
        lexical_only: bool,
    ) -> None:
        super().__init__(tools, encoder, store, lexical_only=lexical_only)
        self._access: AccessRules | None = None
        self._read_as: str | None = None
        if access is None:
            self._load_rules()
        else:
            self.access = access

    def resolve(
        self,
        ids: Iterable[str],
        user: Principal | str | None = None,
        *,
        allow: Collection[str] | None = None,
    ) -> list[CatalogueTool]:
        """Full definitions of found tools, in order: the second phase of a search.

        An id that is stale (another server or none) falls back to the one visible tool of the
        same name. Access is checked again; what the caller may not see, or is gone, is left out.
        """
        seen = replace(self._filter(user, (), allow, None), always=True)
        wanted = list(dict.fromkeys(ids))
        found = self.store.definitions(wanted, seen)
        resolved: dict[str, CatalogueTool] = {}
        for one in wanted:
            definition = found.get(one) or self._of_that_name(one, seen)
            if definition is not None:
                tool = CatalogueTool.from_json(definition)
                resolved.setdefault(tool.id, tool)
        return list(resolved.values())

    def _of_that_name(self, stale: str, seen: Filter) -> str | None:
        """The definition of the one visible tool that has a stale id's name."""
        if self.store.definitions([stale], EVERYTHING):
            return None  # it is there: the caller may not see it
        name = stale.partition("/")[2] or stale
        same = self.store.definitions(self.store.named(compact(name), seen), seen)
        exact = [one for one in same.values() if CatalogueTool.from_json(one).name == name]
        return exact[0] if len(exact) == 1 else None

    def allowed(self, tool_id: str, user: Principal | str | None = None) -> bool:
        """Whether there is such a tool and the caller may see, and so call, it."""
        seen = replace(self._filter(user, (), None, None), always=True)
        return tool_id in self.store.definitions([tool_id], seen)

    @property
    def access(self) -> AccessRules | None:
        """Who sees what; None where everybody sees everything. Can be set while serving, by this
        index or by another one over the same store."""
        if self.store.fact(_VERSION) != self._read_as:
            with self._lock:
                self._load_rules()
        return self._access

    @access.setter
    def access(self, access: AccessRules | None) -> None:
        with self._lock:
            grants = None if access is None else [(one.scope, one.tool) for one in access.grants]
            members = {} if access is None else access.to_mapping()["members"]
            version = uuid4().hex
            self.store.set_grants(grants, {"members": json.dumps(members), _VERSION: version})
            self._access, self._read_as = access, version

    def _load_rules(self) -> None:
        self._read_as = self.store.fact(_VERSION)
        grants = self.store.grants()
        members = json.loads(self.store.fact("members") or "{}")
        known = AccessRules.from_mapping({"members": members}, "store").members
        self._access = (
            None if grants is None else AccessRules(tuple(Grant(*one) for one in grants), known)
        )

    def _filter(
        self,
        user: Principal | str | None,
        exclude: Collection[str],
        allow: Collection[str] | None,
        expert: Expert | None,
    ) -> Filter:
        access = self.access
        scopes = None if access is None else access.scopes(user)
        lists = [one for one in (allow, expert.allow if expert else None) if one is not None]
        confined = frozenset.intersection(*map(frozenset, lists)) if lists else None
        left_out = frozenset(exclude) | (expert.always if expert else frozenset())
        return Filter(scopes, confined, left_out)
