"""Who calls: the file of `--access`, and bearer tokens checked against it.

::

    users:
      ada: {roles: [nurse], organisations: [clinic], tokens: ["sha256:9f86d0…"]}
    grants:
      - {scope: "role:nurse", tool: "mail/*"}
      - {scope: "organisation:clinic", tool: "calendar/*"}
    jwt: {key_file: issuer.pem, algorithms: [RS256], audience: tools.example}

Tokens are kept as hashes (`ctrag serve token` makes one). Without `grants` every tool is open to
every caller; with the key, even with an empty list, a tool is seen by whom a grant names.
"""

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Annotated, Any

import jwt
from mcp.server.auth.provider import AccessToken
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ctrag.server.config import read_checked
from ctrag.tools.access import AccessRules, Grant, Principal

_Hash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
_ASYMMETRIC = {"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS512", "EdDSA"}


def token_hash(token: str) -> str:
    """What the file keeps of a token."""
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def new_token() -> tuple[str, str]:
    """A fresh token and its hash."""
    token = secrets.token_urlsafe(32)
    return token, token_hash(token)


class _User(BaseModel):
    model_config = ConfigDict(extra="forbid")
    roles: list[str] = []
    organisations: list[str] = []
    tokens: list[_Hash] = []


class _Grant(BaseModel):
    model_config = ConfigDict(extra="forbid")
    scope: Annotated[str, Field(pattern=r"^(user|role|organisation):.+$")]
    tool: Annotated[str, Field(min_length=1)]


class JwtRules(BaseModel):
    """How tokens of an issuer are verified."""

    model_config = ConfigDict(extra="forbid")

    key_file: Path
    """PEM of the issuer's public key; beside the access file when not absolute."""
    algorithms: Annotated[list[str], Field(min_length=1)]
    audience: Annotated[str, Field(min_length=1)]
    """Tokens made for another server are refused."""
    issuer: str | None = None
    user_claim: str = "sub"
    roles_claim: str = "roles"
    organisations_claim: str = "organisations"

    @model_validator(mode="after")
    def _public(self) -> "JwtRules":
        if unknown := [one for one in self.algorithms if one not in _ASYMMETRIC]:
            raise ValueError(f"algorithms: {unknown[0]!r} is not one of {sorted(_ASYMMETRIC)}")
        return self


class AccessFile(BaseModel):
    """Users, their tokens, and what is granted to whom."""

    model_config = ConfigDict(extra="forbid")

    users: dict[str, _User] = {}
    grants: list[_Grant] | None = None
    jwt: JwtRules | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> "AccessFile":
        """Read a YAML or JSON file.

        Raises:
            ValueError: The file breaks a rule, which the message names with file and field; no
                token hash is repeated in it.
        """
        file = read_checked(Path(path), cls)
        hashes = [one for user in file.users.values() for one in user.tokens]
        if len(set(hashes)) < len(hashes):
            raise ValueError(f"{path}: users: two tokens are the same; each names one user")
        if file.jwt is not None:
            file.jwt.key_file = Path(path).parent / file.jwt.key_file
        return file

    @property
    def verifies(self) -> bool:
        """Whether there is any token that would pass."""
        return self.jwt is not None or any(user.tokens for user in self.users.values())

    def rules(self) -> AccessRules | None:
        """The access rules for an index; None where everything is open."""
        if self.grants is None:
            return None
        return AccessRules(
            tuple(Grant(one.scope, one.tool) for one in self.grants),
            {name: self.principal(name) for name in self.users},
        )

    def principal(self, name: str) -> Principal:
        """The user of that name; without roles and organisations when the file lacks it."""
        user = self.users.get(name, _User())
        return Principal(name, frozenset(user.roles), frozenset(user.organisations))


class BearerTokens:
    """Verifies bearer tokens: those of the file by their hashes, then signed ones."""

    def __init__(self, file: AccessFile) -> None:
        self._file = file
        self._jwt = None if file.jwt is None else _SignedTokens(file.jwt)

    async def verify_token(self, token: str) -> "AccessToken | None":
        """What the token proves, as the MCP library wants it; None when it proves nothing."""
        who = self.principal(token)
        if who is None:
            return None
        claims = {"roles": sorted(who.roles), "organisations": sorted(who.organisations)}
        return AccessToken(token="", client_id=who.user, subject=who.user, scopes=[], claims=claims)

    def principal(self, token: str) -> Principal | None:
        """Whom the token stands for, or None."""
        presented = token_hash(token)
        found = None
        for name, user in self._file.users.items():
            for kept in user.tokens:  # all are compared: time tells nothing about the match
                if hmac.compare_digest(kept, presented):
                    found = name
        if found is not None:
            return self._file.principal(found)
        return None if self._jwt is None else self._jwt.principal(token)


def verified(token: "AccessToken | None") -> Principal | None:
    """The caller that a verified token names."""
    if token is None or token.subject is None:
        return None
    claims = token.claims or {}
    return Principal(
        token.subject,
        frozenset(claims.get("roles", ())),
        frozenset(claims.get("organisations", ())),
    )


class _SignedTokens:
    def __init__(self, rules: JwtRules) -> None:
        self._rules = rules
        self._key = rules.key_file.read_bytes()

    def principal(self, token: str) -> Principal | None:
        rules = self._rules
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key,
                algorithms=rules.algorithms,
                audience=rules.audience,
                issuer=rules.issuer,
                options={"require": ["exp", "aud", rules.user_claim]},
            )
        except jwt.PyJWTError:
            return None
        return Principal(
            str(claims[rules.user_claim]),
            _names(claims.get(rules.roles_claim)),
            _names(claims.get(rules.organisations_claim)),
        )


def _names(claim: Any) -> frozenset[str]:
    """A claim of names: a list, or one text with spaces between."""
    listed = claim.split() if isinstance(claim, str) else claim
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()
