"""Who may see which tool: user, role and organisation scopes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. Roles and organisations come from a place the caller cannot write to."""

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
    """One scope sees the tools whose id matches a pattern."""

    scope: str
    """`user:ada`, `role:nurse` or `organisation:clinic`."""
    tool: str
    """A tool's id, or a pattern such as `mail/*`."""

    def __post_init__(self) -> None:
        kind, _, name = self.scope.partition(":")
        if kind not in {"user", "role", "organisation"} or not name:
            raise ValueError(
                f"grant: scope {self.scope!r} must be user:NAME, role:NAME or organisation:NAME"
            )
        if not self.tool:
            raise ValueError(f"grant: {self.scope} names no tool; give an id or a pattern")


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Grants, and who has which roles and organisations.

    Without rules (`ToolIndex(access=None)`) a catalogue is open to everybody. With rules, even
    with none left in them, a tool is seen only by whom a grant names.
    """

    grants: tuple[Grant, ...] = ()
    members: dict[str, Principal] = field(default_factory=dict)
    """Users by name."""

    def principal(self, user: "Principal | str | None") -> Principal | None:
        """The caller; None for a name that nobody has, which sees nothing."""
        return user if isinstance(user, Principal) or user is None else self.members.get(user)

    def visible(self, ids: Iterable[str], user: "Principal | str | None") -> set[str]:
        """Those of the ids that the caller may see."""
        who = self.principal(user)
        if who is None:
            return set()
        scopes = who.scopes
        patterns = [grant.tool for grant in self.grants if grant.scope in scopes]
        return {one for one in ids if any(fnmatchcase(one, pattern) for pattern in patterns)}
