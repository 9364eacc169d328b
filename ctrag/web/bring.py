"""Own files in: an import that runs beside the page, how far it is, and what was left out."""

import re
import secrets
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ctrag.errors import CtragError
from ctrag.text.terminal import note

if TYPE_CHECKING:
    from ctrag.assistant.imports.files import Place
    from ctrag.assistant.imports.found import LeftOut
    from ctrag.assistant.imports.report import Report
    from stores.people.stores import Counts

NAMED = 20
"""Records that are named of each reason."""


class Importer(Protocol):
    """What `ctrag import` does with files; errors as there."""

    def __call__(
        self,
        paths: Sequence[Path],
        person: str,
        name: str | None,
        timezone: str | None,
        told: Callable[[int, "Place | None"], None],
    ) -> "Report":
        """Import `paths` for `person`; `told` hears how many items are encoded, and where."""
        ...


@dataclass(frozen=True, slots=True)
class Reason:
    """Records that were left out for one reason."""

    kind: str
    why: str
    count: int
    names: tuple[str, ...]


@dataclass(slots=True)
class Job:
    """One import."""

    id: str
    person: str
    running: bool = True
    error: str = ""
    items: int = 0
    place: str = ""
    share: float = 0.0
    """How much of the files is read, 0 to 1."""
    added: int = 0
    changed: int = 0
    same: int = 0
    copies: int = 0
    kinds: "list[tuple[str, Counts]]" = field(default_factory=list)
    lost: list[Reason] = field(default_factory=list)
    noted: list[Reason] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def finish(self, report: "Report") -> None:
        """Take over what was imported and left out."""
        stored = report.stored
        self.added, self.changed, self.same = stored.added, stored.changed, stored.unchanged
        self.copies, self.notes = report.copies, list(report.notes)
        self.kinds = list(report.counts().items())
        self.lost = reasons([one for one in report.left_out if one.lost])
        self.noted = reasons([one for one in report.left_out if not one.lost])


class Jobs:
    """The imports since the server was started; one runs at a time.

    Args:
        importer: Does the work.
        after: Called with the person when an import has ended.
    """

    def __init__(self, importer: Importer, after: Callable[[str], None]) -> None:
        self._importer, self._after = importer, after
        self._jobs: dict[str, Job] = {}
        self._one = threading.Lock()

    def get(self, job_id: str) -> Job | None:
        """The import of that id."""
        return self._jobs.get(job_id)

    def begin(self, folder: Path, person: str, name: str | None, timezone: str | None) -> Job:
        """Import the files of a folder, which is deleted afterwards."""
        job = Job(secrets.token_urlsafe(8), person)
        self._jobs[job.id] = job
        work = (job, folder, name, timezone)
        threading.Thread(target=self._work, args=work, name="import", daemon=True).start()
        return job

    def _work(self, job: Job, folder: Path, name: str | None, timezone: str | None) -> None:
        paths = sorted(one for one in folder.rglob("*") if one.is_file())
        total = sum(one.stat().st_size for one in paths) or 1
        read: dict[str, float] = {}

        def told(items: int, place: "Place | None") -> None:
            job.items = items
            if place is not None:
                job.place = Path(place.name).name
                read[place.name] = place.share * place.size
                job.share = min(0.99, sum(read.values()) / total)

        try:
            with self._one:
                job.finish(self._importer(paths, job.person, name, timezone, told))
        except (CtragError, OSError) as error:
            job.error = _without(str(error), folder)
        except Exception as error:  # a defect costs this import, not the server
            job.error = f"Something is wrong in ctrag: {type(error).__name__}: {error}"
            note(job.error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._after(job.person)
            job.running = False


def reasons(left_out: "Sequence[LeftOut]") -> list[Reason]:
    """What was left out, grouped by kind and reason, the largest group first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        source = Path(one.source).name if one.source else ""
        what = " ".join(one.what.split())[:80] or "?"
        named = what if not source or Path(what).name == source else f"{what} in {source}"
        groups.setdefault((one.kind, " ".join(one.why.split())), []).append(named)
    found = [
        Reason(kind if len(names) == 1 else f"{kind}s", why, len(names), tuple(names[:NAMED]))
        for (kind, why), names in groups.items()
    ]
    return sorted(found, key=lambda one: -one.count)


def _without(text: str, folder: Path) -> str:
    """An error without the folder into which the files were copied."""
    return re.sub(rf"{re.escape(str(folder))}/(\d+/)?", "", text)
