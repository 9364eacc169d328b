"""How a server's sessions behave: the file of `--session`.

Every part and every key may be left out::

    binding: {capacity: 12, ttl: 3600, hot_after: 5, cache_stable: true}
    guard:
      repeats: 5
      exempt: [jobs/poll]
      guidance: {web/fetch: "You have read this page {count} times; search for another one."}
    overlap: {ratio: 0.9}
    ignored: {web/fetch: [request_id]}
    preload: 3
"""

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ctrag.agents.catalogue.files import checked, read_file
from ctrag.agents.session.arguments import without
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.searches import OverlapSettings


class SessionSettings(BaseModel):
    """What every new session is made with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    binding: BindingSettings = BindingSettings()
    """How many tools stay, and for how long."""
    guard: GuardSettings = GuardSettings()
    """When a repeated call is a loop."""
    overlap: OverlapSettings = OverlapSettings()
    """When a search repeats an earlier one."""
    ignored: dict[str, list[str]] = {}
    """Tool id → arguments that make no other call of one, such as ids of requests."""
    warm: int = Field(default=3, ge=0)
    """Tools that a session has at once because its caller likes them, beside pinned ones."""
    preload: int = Field(default=0, ge=0)
    """Tools of the categories that a session's first search speaks of, bound beside its results."""

    @classmethod
    def from_file(cls, path: str | Path) -> "SessionSettings":
        """Read a JSON or YAML file.

        Raises:
            ValueError: The file breaks a rule, which the message names with file and key.
        """
        value = read_file(Path(path))
        return checked(TypeAdapter(cls), {} if value is None else value, path)

    @property
    def whole_guard(self) -> GuardSettings:
        """The guard's settings with what `ignored` says."""
        ignored = {tool_id: without(*names) for tool_id, names in self.ignored.items()}
        return replace(self.guard, normalisers={**self.guard.normalisers, **ignored})
