"""Who may talk with the assistant over HTTP: the file of `--access`.

::

    tokens:
      phone: ["sha256:9f86d0…"]
      kitchen: ["sha256:2c26b4…"]

The names are for the reader: every token opens the same person's assistant.
"""

from pathlib import Path
from typing import Annotated

import yaml
from mcp.server.auth.provider import AccessToken
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctrag.errors import InputError
from ctrag.serving.tokens import owner_of
from stores.bounded_yaml import load_yaml

_Hash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class _TokensFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tokens: dict[str, list[_Hash]]


class Tokens:
    """Verifies bearer tokens by the hashes of a file."""

    def __init__(self, hashes: dict[str, list[str]]) -> None:
        self._hashes = hashes

    @classmethod
    def from_file(cls, path: str | Path) -> "Tokens":
        """Read a YAML or JSON file.

        Raises:
            ValueError: The file breaks a rule, which the message names, or has no token.
        """
        try:
            content = load_yaml(Path(path).read_bytes())
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except (yaml.YAMLError, ValueError):  # a day that no month has is a ValueError
            raise InputError(f"{path}: not YAML") from None
        try:
            hashes = _TokensFile.model_validate({} if content is None else content).tokens
        except ValidationError as error:
            problem = error.errors(include_input=False)[0]
            where = ".".join(str(one) for one in problem["loc"])
            raise InputError(f"{path}: {where}: {problem['msg']}") from None
        if not any(hashes.values()):
            raise InputError(
                f"{path}: tokens: there is none, so nobody could call over HTTP; make one with "
                "`ctrag serve token`"
            )
        return cls(hashes)

    def owner(self, token: str) -> str | None:
        """The name that a token is under, or None."""
        return owner_of(token, self._hashes)

    async def verify_token(self, token: str) -> AccessToken | None:
        """The verified token in the MCP library's form; None if it is invalid."""
        name = self.owner(token)
        if name is None:
            return None
        return AccessToken(token="", client_id=name, subject=name, scopes=[])
