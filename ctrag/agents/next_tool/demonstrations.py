"""Demonstrations: requests with the tools that were called for them, in order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.next_tool.chats import chats_of, turns_of
from ctrag.agents.session.lessons import lessons_of
from ctrag.agents.session.recording import is_recording, read_recordings
from ctrag.errors import InputError, NotFound
from stores.compressed import kept, read_kept

CATALOGUE = "tools.json"
OBSERVED = "observed: "
"""Prefix of the group of an observation that is of no recorded session; its request follows."""
_LOOKED_AT = 20
"""Lines of a file by which it is told whether it holds conversations."""
END = "end"
"""The prediction when nothing is left to call."""


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One decision: what was called so far, and what comes next."""

    history: tuple[str, ...]
    next: str
    """A tool, or `END`."""
    others: tuple[str, ...] = ()
    """Tools that would be right as well."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A request and its calls."""

    id: str
    text: str
    tools: tuple[str, ...]
    before: tuple[str, ...] = ()
    """Calls of earlier turns, where the request continues a conversation."""
    group: str = ""
    """The conversation or episode; no group is on both sides of a split."""
    domain: str = ""
    """The server whose tools are called, where calls are bare names; empty when unknown."""
    others: tuple[tuple[str, ...], ...] = ()
    """Per call, the tools that would be right in its place: alternatives, or later calls whose
    order is free; empty where the data name none."""

    @property
    def chain(self) -> str:
        """The unit of splits: the group, or the demonstration alone."""
        return self.group or self.id

    def called_by(self, names: Mapping[str, str]) -> "Demonstration":
        """A copy with renamed calls: `names` of `domain/call`, else of the call itself."""

        def named(call: str) -> str:
            return names.get(f"{self.domain}/{call}", names.get(call, call))

        return replace(
            self,
            tools=tuple(map(named, self.tools)),
            before=tuple(map(named, self.before)),
            others=tuple(tuple(map(named, some)) for some in self.others),
        )

    def fulfilled_by(self, calls: Sequence[str]) -> bool:
        """Whether these are its calls in order, each the one of the data or another right one.

        Another right one that is among the later calls comes earlier and not twice: what it came
        before is still to be called.
        """
        left = list(zip(self.tools, self.others or [()] * len(self.tools), strict=True))
        for call in calls:
            if not left or (call != left[0][0] and call not in left[0][1]):
                return False
            wanted = [tool for tool, _ in left]
            at = wanted.index(call) if call in wanted else 0
            left.pop(at)
            if at and call not in [tool for tool, _ in left]:
                left = [(tool, tuple(one for one in some if one != call)) for tool, some in left]
        return not left

    def steps(self) -> Iterator[ToolStep]:
        """Every decision of the request, including the one to end."""
        called = (*self.before, *self.tools)
        for at, others in enumerate(self.others or [()] * len(self.tools), len(self.before)):
            yield ToolStep(called[:at], called[at], others)
        yield ToolStep(called, END)


def checked_text(text: str) -> str:
    """The text, if an encoder accepts it.

    Raises:
        ValueError: It is blank, or contains an unpaired surrogate.
    """
    if not text.strip():
        raise InputError("must not be empty")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("holds half of a surrogate pair, which is no Unicode")
    return text


def _written(value: object) -> object:
    """An id as text; ids are often numbers, or absent."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else "" if value is None else value


_Text = Annotated[str, AfterValidator(checked_text)]
_Id = Annotated[_Text, BeforeValidator(_written)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")


def _others(
    tools: Sequence[str], acceptable: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], ...]:
    """The sets without the call itself; empty where no call has others."""
    found = [
        tuple(name for name in dict.fromkeys(some) if name != tool)
        for tool, some in zip(tools, acceptable, strict=False)
    ]
    return tuple(found) if any(found) else ()


class _Query(_Row):
    query_id: Annotated[str, BeforeValidator(_written)] = ""
    text: Annotated[_Text, Field(validation_alias=AliasChoices("text", "request"))]
    tools: Annotated[list[_Text], Field(validation_alias=AliasChoices("tools", "calls"))]
    acceptable: list[list[_Text]] = []

    @model_validator(mode="after")
    def _one_set_a_call(self) -> "_Query":
        if self.acceptable and len(self.acceptable) != len(self.tools):
            rule = "give one list a call, empty where only the call is right"
            lists, calls = len(self.acceptable), len(self.tools)
            raise ValueError(f"acceptable: {lists} lists for {calls} calls; {rule}")
        return self

    def demonstrations(self, place: str) -> Iterator[Demonstration]:
        others = _others(self.tools, self.acceptable)
        yield Demonstration(self.query_id or place, self.text, tuple(self.tools), others=others)


class _EpisodeStep(_Row):
    tool: _Text
    acceptable: list[_Text] = []


class _Episode(_Row):
    episode_id: _Id
    instruction: _Text
    steps: list[_EpisodeStep]
    domain: str = ""

    def demonstrations(self, place: str) -> Iterator[Demonstration]:
        tools = tuple(step.tool for step in self.steps)
        others = _others(tools, [step.acceptable for step in self.steps])
        yield Demonstration(
            self.episode_id, self.instruction, tools, domain=self.domain, others=others
        )


class _Call(_Row):
    api: _Text
    acceptable: list[_Text] = []


class _Turn(_Row):
    user: _Text
    calls: list[_Call] = []


class _Conversation(_Row):
    conversation_id: _Id
    turns: list[_Turn]

    def demonstrations(self, place: str) -> Iterator[Demonstration]:
        """One per turn with calls: the user's messages up to then, and the earlier calls."""
        messages: list[str] = []
        before: tuple[str, ...] = ()
        for number, turn in enumerate(self.turns):
            messages.append(turn.user)
            tools = tuple(call.api for call in turn.calls)
            if tools:
                yield Demonstration(
                    f"{self.conversation_id}/{number}",
                    "\n".join(messages),
                    tools,
                    before,
                    self.conversation_id,
                    others=_others(tools, [call.acceptable for call in turn.calls]),
                )
            before += tools


_QUERY_KEYS = frozenset({"text", "request", "tools", "calls"})
_KINDS: dict[str, type[_Query] | type[_Episode] | type[_Conversation]] = {
    "queries.jsonl": _Query,
    "episodes.jsonl": _Episode,
    "conversations.jsonl": _Conversation,
}


@dataclass(frozen=True, slots=True)
class DemonstrationData:
    """Demonstrations with the catalogue that they call, as they are read together."""

    demonstrations: list[Demonstration]
    tools: list[CatalogueTool]
    """Empty where neither a `tools.json` nor the recording has them."""
    learned: dict[str, int]
    """What of a recording the demonstrations are made of; empty for other data."""
    left_out: dict[str, int]
    """What of a recording they leave out, by reason."""


def read_demonstrations(path: Path, catalogue: Path | None = None) -> DemonstrationData:
    """Demonstrations, and the tools of `catalogue`, else of the `tools.json` in the folder, else of
    the recording; otherwise as `load_demonstrations`."""
    known = catalogue
    if known is None and kept(path / CATALOGUE).is_file():
        known = path / CATALOGUE
    tools = [] if known is None else load_catalogue(known)
    if not _records(path):
        return DemonstrationData(load_demonstrations(path), tools, {}, {})
    recording = read_recordings([path])
    lessons = lessons_of(recording)
    found = [
        Demonstration(one.id, one.text, one.calls, one.before, one.session)
        for one in lessons.next_tool
    ]
    if not found:
        reasons = ", ".join(f"{count} {why}" for why, count in lessons.left_out.items())
        raise InputError(f"{path}: no session in it teaches a next tool: {reasons or 'no task'}")
    offered = tools or list(recording.tools.values())
    return DemonstrationData(found, offered, lessons.learned, lessons.left_out)


def load_demonstrations(path: Path) -> list[Demonstration]:
    """Demonstrations in file order.

    Args:
        path: A folder with `queries.jsonl` (`{query_id, text, tools}`, and `acceptable`, a list of
            tools a call, where several would be right), `episodes.jsonl` (`{episode_id, domain,
            instruction, steps: [{tool}]}`, `acceptable` in a step) or `conversations.jsonl`
            (`{conversation_id, turns: [{user, calls: [{api}]}]}`, `acceptable` in a call), or a
            file of `{text, tools}` lines, or of `{request, calls}` as `NextTool.observe` logs
            them, or of messages (`ctrag.agents.next_tool.chats`); or a recording of sessions
            (`ctrag serve mcp --record`), a file or a folder of them.

    Raises:
        ValueError: A line breaks a rule: file, line, field and rule are named. Lines of a recording
            cost only themselves.
        FileNotFoundError: There is no such file, or none of these in the folder.
    """
    if _records(path):
        return read_demonstrations(path).demonstrations
    if path.is_dir():
        found = next((name for name in _KINDS if kept(path / name).is_file()), None)
        if found is None:
            raise NotFound(2, f"no {', '.join(_KINDS)} and no recording in the folder", str(path))
        path = path / found
    kind = _KINDS.get(path.name, _Query)
    try:
        text = read_kept(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    rows = _conversations(text, path) if path.name not in _KINDS else []
    for number, line in enumerate([] if rows else text.split("\n"), 1):
        if line.strip():
            rows += _read(line, kind, f"{path}:{number}")
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise InputError(f"{path}: {row.id!r} appears twice; ids must be unique")
        seen.add(row.id)
    if not rows:
        raise InputError(f"{path}: holds no demonstration")
    return rows


def _conversations(text: str, path: Path) -> list[Demonstration]:
    """What conversations in a file of JSON, or of JSON lines, show; nothing if it holds others.

    Raises:
        ValueError: They call no tool.
    """
    try:
        found = chats_of(_messages(text))
    except (json.JSONDecodeError, RecursionError):
        return []
    if found is None:
        return []
    rows: list[Demonstration] = []
    for number, messages in enumerate(found, 1):
        turns = [
            {"user": turn.user, "calls": [{"api": one} for one in turn.calls if one != END]}
            for turn in turns_of(messages)
        ]
        chat = _Conversation.model_validate({"conversation_id": f"chat-{number}", "turns": turns})
        rows += chat.demonstrations(f"chat-{number}")
    if not rows:
        raise InputError(f"{path}: no conversation in it calls a tool for what a user said")
    return rows


def _messages(text: str) -> object:
    """The lines of a file that are messages or conversations, else all of it."""
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        first = [json.loads(line) for line in lines[:_LOOKED_AT]]
    except json.JSONDecodeError:
        return _one_after_another(text)
    if all(chats_of([one]) is None for one in first):
        return None
    values = [*first, *map(json.loads, lines[_LOOKED_AT:])]
    return [one for one in values if chats_of([one]) is not None]


def _one_after_another(text: str) -> object:
    """All of a text as one value of JSON, or the list of several, as exporters print them."""
    values: list[object] = []
    decoder, rest = json.JSONDecoder(), text.strip()
    at = 0
    while at < len(rest):
        value, at = decoder.raw_decode(rest, at)
        values.append(value)
        while at < len(rest) and rest[at].isspace():
            at += 1
    return values[0] if len(values) == 1 else values


def _records(path: Path) -> bool:
    """Whether these are recorded sessions, and no other kind of data."""
    if any(kept(path / name).is_file() for name in _KINDS):
        return False
    return path.name not in _KINDS and is_recording(path)


def _read(
    line: str, kind: type[_Query] | type[_Episode] | type[_Conversation], place: str
) -> list[Demonstration]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, too
        raise InputError(f"{place}: not JSON: {error}") from None
    if isinstance(value, dict) and "asked_at" in value and "plan" in value:
        raise InputError(
            f"{place}: is a turn of `ctrag chat --record`; its `tools` were shown, not called"
        )
    if kind is _Query and isinstance(value, dict) and value.keys().isdisjoint(_QUERY_KEYS):
        raise InputError(
            f"{place}: must have `text` and `tools`, or `request` and `calls`, or be a "
            "message, a conversation of `messages` or a GenAI span; an MCP log does not say "
            "what was asked"
        )
    try:
        row = kind.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"]))
        rule = problem["msg"].removeprefix("Value error, ")
        raise InputError(f"{place}: {f'{field}: ' if field else ''}{rule}") from None
    found = list(row.demonstrations(f"line-{place.rpartition(':')[2]}"))
    if any(END in (*one.tools, *chain(*one.others)) for one in found):
        raise InputError(f"{place}: no tool may be called {END!r}, which ends a plan")
    return found
