"""The accounts file: which sources there are, and where their passwords come from."""

import os
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ctrag.assistant.sync.address import Address
from ctrag.assistant.sync.dav import Dav
from ctrag.assistant.sync.imap import Imap
from ctrag.assistant.sync.source import Source
from ctrag.errors import InputError, NotFound
from stores.bounded_yaml import load_yaml

ACCOUNTS = "accounts.yaml"


class _Account(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(pattern=r"^[\w.-]{1,40}$")
    user: str | None = None
    password_env: str | None = None
    """Name of the environment variable that holds the password."""
    password_file: Path | None = None
    """File that holds the password, for its owner alone; `~` is the home folder."""

    def password(self) -> str:
        """The password, from the environment or the file.

        Raises:
            ValueError: It is in neither, or others may read the file.
        """
        if self.password_env is not None:
            found = os.environ.get(self.password_env)
            if not found:
                raise InputError(f"{self.name}: the variable {self.password_env} is not set")
            return found
        if self.password_file is None:
            raise InputError(f"{self.name}: give password_env or password_file")
        try:
            path = self.password_file.expanduser()
        except RuntimeError as error:
            raise InputError(f"{self.name}: {self.password_file}: {error}") from None
        if not path.is_file():
            raise NotFound(2, "no such file", str(path))
        if path.stat().st_mode & 0o077:
            raise InputError(f"{self.name}: others may read {path}; run: chmod 600 {path}")
        try:
            return path.read_text(encoding="utf-8").strip("\r\n")
        except UnicodeDecodeError:
            raise InputError(f"{self.name}: {path} is not UTF-8") from None


class DavAccount(_Account):
    """A CalDAV or CardDAV account."""

    kind: Literal["caldav", "carddav"]
    url: str
    user: str

    def source(self) -> Source:
        """The source, with its password."""
        kind: Literal["calendar", "contacts"] = "calendar" if self.kind == "caldav" else "contacts"
        return Dav(self.name, kind, self.url, self.user, self.password())


class ImapAccount(_Account):
    """A mailbox."""

    kind: Literal["imap"]
    host: str
    user: str
    port: int | None = Field(default=None, ge=1, le=65_535)
    tls: bool = True
    folders: tuple[str, ...] = ("INBOX",)
    days: int = Field(default=365, ge=1, le=36_500)

    def source(self) -> Source:
        """The source, with its password."""
        return Imap(
            self.name,
            self.host,
            self.user,
            self.password(),
            self.port,
            self.tls,
            self.folders,
            self.days,
        )


class CalendarAccount(_Account):
    """A calendar by its address."""

    kind: Literal["calendar"]
    url: str

    @model_validator(mode="after")
    def _user_with_password(self) -> Self:
        if self.user is None and (self.password_env or self.password_file):
            raise ValueError("a password needs a user")
        return self

    def source(self) -> Source:
        """The source, with its password if it has a user."""
        return Address(self.url, self.user, None if self.user is None else self.password())


Account = Annotated[DavAccount | ImapAccount | CalendarAccount, Field(discriminator="kind")]
_ACCOUNTS = TypeAdapter(list[Account])


def read_accounts(path: Path) -> list[DavAccount | ImapAccount | CalendarAccount]:
    """The accounts of a file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It breaks a rule; no value of it is shown.
    """
    if not path.is_file():
        raise NotFound(2, "no accounts file; docs/sync.md shows one", str(path))
    try:
        raw = load_yaml(path.read_text(encoding="utf-8-sig"))
    except InputError as error:  # which shows no value
        raise InputError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError):
        raise InputError(f"{path}: not YAML") from None
    listed = raw.get("accounts") if isinstance(raw, dict) else None
    try:
        accounts = _ACCOUNTS.validate_python(listed)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        where = ".".join(str(one) for one in problem["loc"])
        hint = ""
        if where.endswith("password"):
            hint = "; a password is not written here: give password_env or password_file"
        raise InputError(f"{path}: accounts.{where}: {problem['msg']}{hint}") from None
    names = [one.name for one in accounts]
    if len(set(names)) < len(names):
        raise InputError(f"{path}: accounts: two have one name")
    return accounts
