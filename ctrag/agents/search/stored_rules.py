"""Access rules in a store of tools, shared by all indexes over it."""

import json
import threading
from collections.abc import Collection
from uuid import uuid4

from ctrag.agents.catalogue.access import AccessRules, Expert, Grant, Principal
from stores.tools.protocol import Filter, ToolStore

_VERSION = "rules"
"""Name of the stored fact that changes with the rules."""


class StoredRules:
    """Access rules, reloaded when another index over the same store changed them."""

    def __init__(self, store: ToolStore, access: AccessRules | None) -> None:
        """Write `access` to the store; None uses the stored rules."""
        self._store = store
        self._lock = threading.Lock()
        self._access: AccessRules | None = None
        self._read_as: str | None = None
        if access is None:
            self._load()
        else:
            self.access = access

    @property
    def access(self) -> AccessRules | None:
        """Who sees what; None where everybody sees everything."""
        if self._store.fact(_VERSION) != self._read_as:
            with self._lock:
                self._load()
        return self._access

    @access.setter
    def access(self, access: AccessRules | None) -> None:
        with self._lock:
            grants = None if access is None else [(one.scope, one.tool) for one in access.grants]
            members = {} if access is None else access.to_mapping()["members"]
            version = uuid4().hex
            self._store.set_grants(grants, {"members": json.dumps(members), _VERSION: version})
            self._access, self._read_as = access, version

    def _load(self) -> None:
        self._read_as = self._store.fact(_VERSION)
        grants = self._store.grants()
        members = json.loads(self._store.fact("members") or "{}")
        known = AccessRules.from_mapping({"members": members}, "store").members
        self._access = (
            None if grants is None else AccessRules(tuple(Grant(*one) for one in grants), known)
        )

    def filter(
        self,
        user: Principal | str | None,
        exclude: Collection[str] = (),
        allow: Collection[str] | None = None,
        expert: Expert | None = None,
    ) -> Filter:
        """Filter for the tools that a caller may see."""
        access = self.access
        scopes = None if access is None else access.scopes(user)
        lists = [one for one in (allow, expert.allow if expert else None) if one is not None]
        confined = frozenset.intersection(*map(frozenset, lists)) if lists else None
        left_out = frozenset(exclude) | (expert.always if expert else frozenset())
        return Filter(scopes, confined, left_out)
