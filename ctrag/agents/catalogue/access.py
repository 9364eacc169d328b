"""Who may see which tool: user, role and organisation scopes, and agents' own lists."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ctrag.errors import InputError


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller. Roles and organisations come from a place that the caller cannot write to."""

    user: str
    roles: frozenset[str] = frozenset()
    organisations: frozenset[str] = frozenset()

    @property
    def scopes(self) -> frozenset[str]:
        """`user:…`, `role:…` and `organisation:…`: what a grant may name."""
        return frozenset(
            [
                f"user:{self.user}",
                *(f"role:{role}" for role in self.roles),
                *(f"organisation:{one}" for one in self.organisations),
            ]
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """One scope sees one tool, all tools of a server, or all tools."""

    scope: str
    """`user:ada`, `role:nurse` or `organisation:clinic`."""
    tool: str
    """A tool's id, `server/*`, or `*`."""

    def __post_init__(self) -> None:
        kind, _, name = self.scope.partition(":")
        if kind not in {"user", "role", "organisation"} or not name:
            raise InputError(
                f"grant: scope {self.scope!r} must be user:NAME, role:NAME or organisation:NAME"
            )
        if not self.tool or ("*" in self.tool and not _is_pattern(self.tool)):
            raise InputError(
                f"grant: tool {self.tool!r} of {self.scope} must be an id, SERVER/* or *"
            )


def _is_pattern(tool: str) -> bool:
    return tool == "*" or (tool.endswith("/*") and "*" not in tool[:-1])


@dataclass(frozen=True, slots=True)
class Expert:
    """An agent instance that somebody configured."""

    name: str
    tools: tuple[str, ...] = ()
    """Ids of its specialty: those that fit rank before all other tools."""
    allow: frozenset[str] | None = None
    """Ids it is restricted to, within what its user may see; None for no restriction."""
    always: frozenset[str] = frozenset()
    """Ids bound in all its sessions, so left out of its searches."""


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Grants, and who has which roles and organisations.

    Without rules (`ToolIndex(access=None)`) a catalogue is open to everybody. With rules, even
    with no grants left, a tool is visible only to those whom a grant names.
    """

    grants: tuple[Grant, ...] = ()
    members: Mapping[str, Principal] = field(default_factory=dict)
    """Users by name."""

    def principal(self, user: Principal | str | None) -> Principal | None:
        """The caller; None for an unknown name, which sees nothing."""
        return user if isinstance(user, Principal) or user is None else self.members.get(user)

    def scopes(self, user: Principal | str | None) -> frozenset[str]:
        """Scopes of the caller; empty for an unknown one."""
        who = self.principal(user)
        return frozenset() if who is None else who.scopes

    def visible(self, ids: Iterable[str], user: Principal | str | None) -> set[str]:
        """The ids that the caller may see: the reference implementation, for a few ids.

        An index asks its store instead, whose query implements the same rule.
        """
        scopes = self.scopes(user)
        granted = {grant.tool for grant in self.grants if grant.scope in scopes}
        return {one for one in ids if granted & {one, f"{one.rpartition('/')[0]}/*", "*"}}

    @classmethod
    def from_mapping(cls, value: Any, where: str) -> "AccessRules":
        """Rules as files hold them: `{"members": {...}, "grants": [...]}`.

        Raises:
            ValueError: The value breaks a rule; the message begins with `where`.
        """
        from ctrag.agents.catalogue.files import checked

        rules = checked(_RULES, value, where)
        try:
            grants = tuple(
                Grant(f"{kind}:{name}", tool)
                for one in rules.grants
                for kind, name in one.scopes()
                for tool in one.tools
            )
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
        members = {
            name: Principal(name, frozenset(one.roles), frozenset(one.organisations))
            for name, one in rules.members.items()
        }
        return cls(grants, members)

    def to_mapping(self) -> dict[str, Any]:
        """What `from_mapping` reads."""
        grants = []
        for one in self.grants:
            kind, _, name = one.scope.partition(":")
            grants.append({kind: name, "tools": [one.tool]})
        members = {
            name: {"roles": sorted(one.roles), "organisations": sorted(one.organisations)}
            for name, one in self.members.items()
        }
        return {"members": members, "grants": grants}


_Names = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]


class _Member(BaseModel):
    model_config = ConfigDict(extra="forbid")
    roles: list[str] = []
    organisations: list[str] = []


class _Grant(BaseModel):
    model_config = ConfigDict(extra="forbid")
    user: str = ""
    role: str = ""
    organisation: str = ""
    tools: _Names

    def scopes(self) -> list[tuple[str, str]]:
        named = [("user", self.user), ("role", self.role), ("organisation", self.organisation)]
        found = [(kind, name) for kind, name in named if name]
        if len(found) != 1:
            raise InputError("grant: name exactly one of user, role and organisation")
        return found


class _Rules(BaseModel):
    model_config = ConfigDict(extra="forbid")
    members: dict[str, _Member] = {}
    grants: list[_Grant] = []


_RULES = TypeAdapter(_Rules)
