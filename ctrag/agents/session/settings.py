"""Settings of a server's sessions: the file of `--session`.

Every section and every key is optional::

    binding: {capacity: 12, ttl: 3600, hot_after: 5, cache_stable: true}
    guard:
      repeats: 5
      exempt: [jobs/poll]
      guidance: {web/fetch: "You have read this page {count} times; search for another one."}
    overlap: {ratio: 0.9}
    ignored: {web/fetch: [request_id]}
    preload: 3
    shown: {description: 2000, argument: 500, schema: 8000}
    list_under: 2000
    next: 2
"""

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ctrag.agents.catalogue.files import checked, read_file
from ctrag.agents.catalogue.shown import ShownLimits
from ctrag.agents.session.arguments import without
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.searches import OverlapSettings


class SessionSettings(BaseModel):
    """Settings of every new session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    binding: BindingSettings = BindingSettings()
    """How many tools stay bound, and for how long."""
    guard: GuardSettings = GuardSettings()
    """When a repeated call is a loop."""
    overlap: OverlapSettings = OverlapSettings()
    """When a search is redundant."""
    ignored: dict[str, list[str]] = {}
    """Tool id → arguments that are ignored when calls are compared, such as request ids."""
    warm: int = Field(default=3, ge=0)
    """Tools bound from the start because of the caller's affinity, beside pinned ones."""
    preload: int = Field(default=0, ge=0)
    """Tools of the categories predicted from a session's first search, bound beside its results."""
    list_under: int = Field(default=0, ge=0)
    """Tokens that the definitions of all tools a caller may see may cost for them to be listed from
    the start, without a search; 0 for never."""
    next: int = Field(default=2, ge=0)
    """Tools at most that a call's answer names as usual next ones, callable at once; only where a
    next-tool model is loaded. 0 for none."""

    shown: ShownLimits = ShownLimits()
    """How much of a tool's definition a model is shown."""

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
        """The guard's settings, `ignored` included."""
        ignored = {tool_id: without(*names) for tool_id, names in self.ignored.items()}
        return replace(self.guard, normalisers={**self.guard.normalisers, **ignored})
