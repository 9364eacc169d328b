"""Thoughts: one sentence per request, written by a language model, on where to look and for what.

The writer of a thought sees the request, when and where it was made, and which applications the
person has: no item and no label. The prompt is `prompts/thought.txt`.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Protocol

from stores.people.app_spec import known_apps, packaged_apps
from stores.people.items import Request

_CAPITALS = {"phonecall": "PhoneCall"}
_LONGEST_REQUEST = 300


class ThoughtWriter(Protocol):
    """Anything that answers prompts with thoughts."""

    name: str
    """The model, as a table may show it."""
    identity: str
    """What a thought depends on besides its prompt; other identities, other thoughts."""

    def write(self, prompts: Sequence[str]) -> Iterator[list[str]]:
        """One thought per prompt, in the order of the prompts, in lists as they get ready."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """Thoughts of several requests."""

    thoughts: tuple[str, ...]
    """In the order of the requests; empty where the writer said nothing."""
    fresh: int
    """How many prompts were answered now; the others had been before."""


def thought_prompt(request: Request, apps: Collection[str]) -> str:
    """What a writer reads.

    Args:
        request: What was said, when and where.
        apps: Names of the applications that the person has something in; the packaged ones when
            empty.
    """
    known = known_apps() if apps else packaged_apps()
    order = [app.name for app in known if not apps or app.name in apps]
    names = [_CAPITALS.get(app, app.capitalize()) for app in order]
    moment = f"{request.asked_at:%A %H:%M}"
    return Template(prompt_template()).substitute(
        apps=", ".join(names),
        when=f"{moment}, {_flat(request.place)}" if request.place else moment,
        request=_flat(request.text),
    )


def prompt_template() -> str:
    """The packaged prompt, with `$apps`, `$when` and `$request` open."""
    path = files("eval.context").joinpath("prompts", "thought.txt")
    return path.read_text(encoding="utf-8").rstrip("\n")


def write_thoughts(
    prompts: Sequence[str],
    writer: ThoughtWriter,
    kept: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Written:
    """A thought for each prompt; one that was written before is not written again.

    Args:
        prompts: As `thought_prompt` makes them.
        writer: Answers those that have no thought yet.
        kept: File of thoughts, a JSON line each: read first, appended to as they get ready.
        progress: Called with progress messages.
    """
    keys = [_key(writer, prompt) for prompt in prompts]
    known = _read(kept)
    missing = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in known}
    waiting = iter(missing)
    done = len(set(keys)) - len(missing)
    for thoughts in writer.write(list(missing.values())) if missing else ():
        fresh = {next(waiting): _first_line(thought) for thought in thoughts}
        known |= fresh
        _append(kept, writer.name, fresh)
        done += len(fresh)
        progress(f"{done}/{len(set(keys))} thoughts by {writer.name}")
    return Written(tuple(known[key] for key in keys), len(missing))


def _key(writer: ThoughtWriter, prompt: str) -> str:
    return sha256(f"{writer.identity}\0{prompt}".encode()).hexdigest()[:32]


def _read(kept: Path | None) -> dict[str, str]:
    known: dict[str, str] = {}
    if kept is not None and kept.exists():
        for line in kept.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                known[str(row["key"])] = str(row["thought"])
            except (ValueError, TypeError, KeyError):
                continue  # the line that a run was writing when it was killed
    return known


def _append(kept: Path | None, writer: str, fresh: dict[str, str]) -> None:
    if kept is None:
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        json.dumps({"key": key, "writer": writer, "thought": thought}, ensure_ascii=False)
        for key, thought in fresh.items()
    ]
    # A killed run may have left half a line: an empty line in front costs nothing.
    with kept.open("a", encoding="utf-8") as file:
        file.write("\n" + "\n".join(rows) + "\n")


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0].strip().strip('"“”').strip() if lines else ""


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_REQUEST else f"{flat[:_LONGEST_REQUEST]}…"
