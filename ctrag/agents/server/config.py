"""The servers behind the tools: how each is reached, and what of it is shown.

The file of `--upstream` is read by `client_config`, in any form that MCP clients write::

    {"mcpServers": {"time": {"command": "mcp-server-time"},
                    "crm": {"url": "https://crm.example/mcp",
                            "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}}}}

`registries`, of the same form, names other ctrag servers whose catalogues are searched as well.
"""

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    model_validator,
)

from ctrag.agents.catalogue.files import checked, read_file
from ctrag.agents.server.variables import Variables
from ctrag.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
NAME_LIMIT = 128
"""Characters of a server's name."""
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class SignInSpec(BaseModel):
    """Tokens of a person who has signed in with `ctrag serve login`."""

    model_config = ConfigDict(extra="forbid")

    tokens: Path
    """The file that keeps them; for its owner alone."""
    scope: str | None = None
    client_id: str | None = None
    """Of a client that is registered there; None has ctrag register itself."""
    client_secret: str | None = None
    port: int = Field(default=8_976, ge=1, le=65_535)
    """Of the address on this machine to which the browser comes back."""


class UserSpec(BaseModel):
    """What one caller brings to a server: added to its `env` and `headers`, or a sign-in."""

    model_config = ConfigDict(extra="forbid")

    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    sign_in: SignInSpec | None = None


class OAuthSpec(BaseModel):
    """A client that gets its own tokens from the server's authorisation server."""

    model_config = ConfigDict(extra="forbid")

    client_id: str
    client_secret: str
    """`${NAME}` stands for a variable of this process."""
    issuer: str
    """The authorisation server; the secret is sent to no other."""
    scope: str | None = None


class ServerSpec(BaseModel):
    """How one server is reached, a command to run or an address, and what of it is shown."""

    model_config = ConfigDict(extra="forbid")

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    """Added to a few harmless variables; `${NAME}` stands for a variable of this process."""
    cwd: Path | None = None
    url: str = ""
    headers: dict[str, str] = {}
    """Sent with every request to `url`; `${NAME}` as in `env`."""
    transport: Literal["", "stdio", "http", "sse"] = ""
    """Empty: by `command` or `url`, and at an address SSE where streamable HTTP is refused."""
    description: str = ""
    """What the server is for, for whoever reads the file."""
    users: dict[str, UserSpec] = {}
    """What single callers bring, by user; each has a connection of their own."""
    client_credentials: OAuthSpec | None = None
    """Client credentials for `url` (OAuth 2.1)."""
    sign_in: SignInSpec | None = None
    """Tokens for `url` of a person who has signed in."""
    timeout: _Seconds = 30.0
    """Seconds that one call may take."""
    timeouts: dict[str, _Seconds] = {}
    """The same for single tools, by name or pattern; the first that matches counts."""
    start_timeout: _Seconds = 20.0
    """Seconds until the server has answered and listed its tools."""
    include: list[str] | None = None
    """Names or patterns (`read_*`) of the tools that are shown; None for all."""
    exclude: list[str] = []
    """Names or patterns of tools that are not shown, `include` or not."""
    rename: dict[str, str] = {}
    """Other names for tools, by the server's own."""
    descriptions: dict[str, str] = {}
    """Other descriptions for tools, by the server's own names."""
    result_limit: int | None = Field(default=None, ge=1)
    """Characters that a call's result may have; None for the gateway's own limit."""
    trust: bool = False
    """Whether its definitions are taken whole, neither cut nor marked."""
    isolate: Literal[False, True, "session", "user"] = False
    """A connection, so a process, of its own for each session (also `True`) or user."""

    _filled: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _one_way(self) -> "ServerSpec":
        if bool(self.command) == bool(self.url):
            raise InputError("give either a command or a url")
        if self.sign_in is not None and self.client_credentials is not None:
            raise InputError("sign_in: not together with client_credentials")
        return self

    def timeout_of(self, tool: str) -> float:
        """Seconds that a call of the tool may take, by the server's own name for it."""
        return next(
            (limit for one, limit in self.timeouts.items() if fnmatchcase(tool, one)), self.timeout
        )

    def of_user(self, user: str) -> "ServerSpec":
        """The server as that user reaches it."""
        own = self.users.get(user)
        if own is None:
            return self
        env, headers = {**self.env, **own.env}, {**self.headers, **own.headers}
        sign_in = own.sign_in or self.sign_in
        return self.model_copy(update={"env": env, "headers": headers, "sign_in": sign_in})

    @property
    def digest(self) -> str:
        """Hash of what decides which tools are listed, without credentials."""
        shown = self.model_dump_json(
            include={
                *("command", "args", "cwd", "url", "trust"),
                *("include", "exclude", "rename", "descriptions"),
            }
        )
        return hashlib.sha256(shown.encode()).hexdigest()[:16]

    def resolved(self) -> "ServerSpec":
        """The specification with every variable filled.

        Raises:
            ValueError: A variable is not set; the message names it.
        """
        if self._filled:
            return self
        raw = self.model_dump(mode="json", exclude_defaults=True)
        full = ServerSpec.model_validate(Variables().fill(raw))
        full._filled = True
        return full

    def filled(self, values: Mapping[str, str]) -> dict[str, str]:
        """`env` or `headers` with the variables of this process substituted.

        Raises:
            ValueError: A variable is not set; the message names it.
        """
        return dict(values) if self._filled else dict(Variables().fill(dict(values)))


def server_name(text: str) -> str:
    """A server's name: any text that can be read, spaces, dots and slashes included.

    Raises:
        ValueError: It is empty, too long, or has invisible characters.
    """
    if not text.strip():
        raise InputError("name: must not be empty")
    if len(text) > NAME_LIMIT:
        raise InputError(f"name: has {len(text)} characters; {NAME_LIMIT} are allowed")
    if not text.isprintable():
        raise InputError(f"name: {text!r} has characters that cannot be read")
    if text in {"*", "."} or text.startswith("/") or text.endswith("/"):
        raise InputError(f"name: {text!r} cannot be told from a pattern or a path of tools")
    return text


_Name = Annotated[str, AfterValidator(server_name)]


class Upstreams(BaseModel):
    """All servers behind one gateway."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    servers: dict[_Name, ServerSpec] = Field(default={}, alias="mcpServers")
    registries: dict[_Name, ServerSpec] = {}
    disabled: list[str] = []
    """Names of servers that the file turns off."""
    problems: dict[str, str] = {}
    """Why an entry of the file was left out, by its name."""
    notes: list[str] = []
    """What was read otherwise than it stands, or passed over."""

    @classmethod
    def from_file(cls, path: str | Path) -> "Upstreams":
        """Read a file of servers in any form that MCP clients write: JSON, YAML or TOML.

        An entry that breaks a rule is left out and named in `problems`.

        Raises:
            ValueError: The file cannot be read as a whole, or holds no servers.
        """
        from ctrag.agents.server.client_config import read_servers

        return read_servers(Path(path))


def read_checked(path: Path, model: type[Model]) -> Model:
    """A JSON or YAML file as a pydantic model; no key may be given twice in one place.

    Raises:
        ValueError: The file breaks a rule, which the message names with file and field.
    """
    value = read_file(path, once=True)
    return checked(TypeAdapter(model), {} if value is None else value, path)
