"""The servers behind the tools: the file of `--upstream`.

The servers are configured in the format of MCP clients::

    {"mcpServers": {"time": {"command": "mcp-server-time"},
                    "crm": {"url": "https://crm.example/mcp",
                            "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}}}}

`registries`, of the same form, names other ctrag servers whose catalogues are searched as well.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from ctrag.agents.catalogue.files import checked, read_file
from ctrag.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class ServerSpec(BaseModel):
    """How one server is reached: a command to run, or an address."""

    model_config = ConfigDict(extra="forbid")

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    """Added to a few harmless variables; `${NAME}` stands for a variable of this process."""
    cwd: Path | None = None
    url: str = ""
    headers: dict[str, str] = {}
    """Sent with every request to `url`; `${NAME}` as in `env`."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds that one call may take."""
    start_timeout: float = Field(default=20.0, gt=0)
    """Seconds until the server has answered and listed its tools."""

    @model_validator(mode="after")
    def _one_way(self) -> "ServerSpec":
        if bool(self.command) == bool(self.url):
            raise InputError("give either a command or a url")
        return self

    def filled(self, values: Mapping[str, str]) -> dict[str, str]:
        """`env` or `headers` with the variables of this process substituted.

        Raises:
            ValueError: A variable is not set; the message names it.
        """
        return {key: _VARIABLE.sub(_variable, value) for key, value in values.items()}


def _variable(found: re.Match[str]) -> str:
    value = os.environ.get(found[1])
    if value is None:
        raise InputError(f"environment variable {found[1]} is not set")
    return value


_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,48}$")]


class Upstreams(BaseModel):
    """All servers behind one gateway."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    servers: dict[_Name, ServerSpec] = Field(default={}, alias="mcpServers")
    registries: dict[_Name, ServerSpec] = {}

    @classmethod
    def from_file(cls, path: str | Path) -> "Upstreams":
        """Read a JSON or YAML file.

        Raises:
            ValueError: The file breaks a rule, which the message names with file and field.
        """
        return read_checked(Path(path), cls)


def read_checked(path: Path, model: type[Model]) -> Model:
    """A JSON or YAML file as a pydantic model.

    Raises:
        ValueError: The file breaks a rule, which the message names with file and field.
    """
    value = read_file(path)
    return checked(TypeAdapter(model), {} if value is None else value, path)
