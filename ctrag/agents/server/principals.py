"""Who calls: the file of `--access`, and bearer tokens checked against it.

::

    members:
      ada: {roles: [nurse], organisations: [clinic]}
    grants:
      - {role: nurse, tools: ["mail/*"]}
      - {organisation: clinic, tools: ["calendar/*"]}
    tokens:
      ada: ["sha256:9f86d0…"]
    jwt: {key_file: issuer.pem, algorithms: [RS256], audience: tools.example}

`members` and `grants` are those of a catalogue. Tokens are kept as hashes (`ctrag serve token`
makes one). Without `grants` every tool is open to every caller, unless the catalogue says
otherwise; with the key, even if empty, a tool is visible only to those whom a grant names.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import jwt
from mcp.server.auth.provider import AccessToken
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ctrag.agents.catalogue.access import AccessRules, Principal
from ctrag.agents.server.config import read_checked
from ctrag.errors import InputError
from ctrag.serving.tokens import new_token as new_token
from ctrag.serving.tokens import owner_of
from ctrag.serving.tokens import token_hash as token_hash

_Hash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
_ASYMMETRIC = {"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS512", "EdDSA"}


class JwtRules(BaseModel):
    """How tokens of an issuer are verified."""

    model_config = ConfigDict(extra="forbid")

    key_file: Path
    """PEM of the issuer's public key; relative to the access file."""
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
            raise InputError(f"algorithms: {unknown[0]!r} is not one of {sorted(_ASYMMETRIC)}")
        return self


class _AccessFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    members: dict[str, Any] = {}
    grants: list[Any] | None = None
    tokens: dict[str, list[_Hash]] = {}
    jwt: JwtRules | None = None


@dataclass(frozen=True, slots=True)
class AccessFile:
    """The known users, their credentials and their grants."""

    members: Mapping[str, Principal] = field(default_factory=dict)
    rules: AccessRules | None = None
    """None where the file has no `grants`: it only defines users."""
    tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Hashes by user."""
    jwt: JwtRules | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> "AccessFile":
        """Read a YAML or JSON file.

        Raises:
            ValueError: The file breaks a rule, which the message names with file and field; no
                token hash is repeated in it.
        """
        file = read_checked(Path(path), _AccessFile)
        content = {"members": file.members, "grants": file.grants or []}
        rules = AccessRules.from_mapping(content, str(path))
        hashes = [one for kept in file.tokens.values() for one in kept]
        if len(set(hashes)) < len(hashes):
            raise InputError(f"{path}: tokens: two are the same; each names one user")
        if file.jwt is not None:
            file.jwt.key_file = Path(path).parent / file.jwt.key_file
        # `grants:` with nothing below it opens nothing: all of them may stand in comments.
        granted = rules if "grants" in file.model_fields_set else None
        return cls(rules.members, granted, file.tokens, file.jwt)

    @property
    def verifies(self) -> bool:
        """Whether any token can be accepted."""
        return self.jwt is not None or any(self.tokens.values())

    def principal(self, name: str) -> Principal:
        """The user of that name; without roles and organisations when the file lacks it."""
        return self.members.get(name) or Principal(name)


class BearerTokens:
    """Verifies bearer tokens: those of the file by their hashes, then signed ones."""

    def __init__(self, file: AccessFile) -> None:
        """Take the file's tokens and key.

        Raises:
            ValueError: The file has neither tokens nor `jwt`, so that nobody could call, or the
                key is none for its algorithms.
        """
        self.change(file)

    def change(self, file: AccessFile) -> None:
        """Verify by another file from now on; errors as for the class, then nothing changes."""
        if not file.verifies:
            raise InputError(
                "access: the file has neither tokens nor jwt, so nobody could call over HTTP; "
                "make a token with `ctrag serve token`"
            )
        signed = None if file.jwt is None else _SignedTokens(file.jwt)
        self._file, self._jwt = file, signed

    @property
    def issuer(self) -> str | None:
        """The address of the authorisation server whose tokens are accepted, if it has one."""
        rules = self._file.jwt
        return None if rules is None else _address(rules.issuer)

    @property
    def audience(self) -> str | None:
        """The address that signed tokens are made for, if it is one."""
        rules = self._file.jwt
        return None if rules is None else _address(rules.audience)

    async def verify_token(self, token: str) -> "AccessToken | None":
        """The verified token in the MCP library's form; None if it is invalid."""
        who = self.principal(token)
        if who is None:
            return None
        claims = {"roles": sorted(who.roles), "organisations": sorted(who.organisations)}
        return AccessToken(token="", client_id=who.user, subject=who.user, scopes=[], claims=claims)

    def principal(self, token: str) -> Principal | None:
        """The caller that the token authenticates, or None."""
        found = owner_of(token, self._file.tokens)
        if found is not None:
            return self._file.principal(found)
        return None if self._jwt is None else self._jwt.principal(token)


def _address(named: str | None) -> str | None:
    return named if named is not None and named.startswith(("https://", "http://")) else None


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


def caller_key(who: Principal | None) -> str:
    """A caller as text: a session belongs to a user with these roles and organisations."""
    if who is None:
        return ""
    return json.dumps([who.user, sorted(who.roles), sorted(who.organisations)])


@lru_cache(maxsize=1_000)
def caller_of(key: str) -> Principal | None:
    """The inverse of `caller_key`."""
    if not key:
        return None
    user, roles, organisations = json.loads(key)
    return Principal(user, frozenset(roles), frozenset(organisations))


class _SignedTokens:
    def __init__(self, rules: JwtRules) -> None:
        self._rules = rules
        self._key = rules.key_file.read_bytes()
        for name in rules.algorithms:
            try:
                jwt.get_algorithm_by_name(name).prepare_key(self._key)
            except (ValueError, TypeError, jwt.PyJWTError) as error:
                raise InputError(
                    f"jwt: {rules.key_file} holds no public key for {name}: {error}"
                ) from None

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
    """Names in a claim: a list, or a string separated by spaces."""
    listed = claim.split() if isinstance(claim, str) else claim
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()
