"""The pages of a person's data as a whole: import, export, forget."""

import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ctrag.assistant.written import places
from ctrag.errors import InputError
from ctrag.web.bring import Jobs
from ctrag.web.own_data import exported, forgotten
from ctrag.web.pages import page
from ctrag.web.people import People
from ctrag.web.talk_pages import found, not_yet, talk_of

UPLOADS = "/bring"
"""Where files are sent."""
MOST_FILES = 2000
SPARED = 500_000_000
"""Bytes of the disk that uploads leave free."""
LONGEST_NAME = 200
"""Bytes of a file's name at most; the end with its suffix is kept."""
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class OwnPages:
    """Handlers of `/bring`, `/jobs` and `/p/PERSON/data`.

    Args:
        people: Whose data.
        jobs: The imports; None where there are no own stores to import into.
    """

    def __init__(self, people: People, jobs: Jobs | None) -> None:
        self._people, self._jobs = people, jobs

    def routes(self) -> list[Route]:
        """Their routes."""
        return [
            Route(UPLOADS, self.bring, methods=["POST"]),
            Route("/jobs/{job}", self.job),
            Route("/jobs/{job}/state", self.state),
            Route("/p/{person}/data", self.data),
            Route("/p/{person}/export", self.export, methods=["POST"]),
            Route("/p/{person}/forget", self.forget, methods=["POST"]),
        ]

    async def bring(self, request: Request) -> Response:
        """Import files that were dropped or chosen."""
        if self._jobs is None:
            raise HTTPException(404)
        folder = Path(tempfile.mkdtemp(prefix="ctrag-import-"))
        try:
            _room_for(request, folder)
            async with request.form(max_files=MOST_FILES) as form:
                person = str(form.get("person", "")).strip()
                circle = self._people.circle_of(person)
                if circle is not None and not circle.own:
                    raise InputError(f"{person!r} is a packaged person; choose another short name")
                if not _ID.fullmatch(person):
                    raise InputError(
                        f"short name: letters, digits, - _ . and no spaces: {person!r}"
                    )
                count = 0
                for one in form.getlist("files"):
                    if isinstance(one, UploadFile) and one.filename:
                        count += 1
                        await run_in_threadpool(_keep, one, folder / f"{count}")
                if not count:
                    raise InputError("files: none was chosen")
                name = str(form.get("name", "")).strip() or None
                zone = str(form.get("timezone", "")).strip() or None
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        job = self._jobs.begin(folder, person, name, zone)
        return RedirectResponse(f"/jobs/{job.id}", 303)

    async def job(self, request: Request) -> Response:
        """How far an import is, and what it did."""
        return page("job_page.html.j2", job=self._job(request))

    async def state(self, request: Request) -> Response:
        """The same as a part of the page."""
        return page("job.html.j2", job=self._job(request))

    async def data(self, request: Request) -> Response:
        """What can be done with a person's data; asks before it is done."""
        known, opening = found(self._people, request)
        talk = opening.talk
        if talk is None:
            return not_yet(self._people, known, opening)
        own = opening.circle.own and self._jobs is not None
        return page(
            "data.html.j2",
            known=known,
            here="data",
            own=own,
            ask=request.query_params.get("ask", ""),
            items=len(talk.assistant.view()),
            places=[str(one) for one in places(known.id)] if own else [],
        )

    async def export(self, request: Request) -> Response:
        """The person's data as a download."""
        known, opening = found(self._people, request)
        await _sure(request)
        packed = await run_in_threadpool(exported, talk_of(opening).assistant.stores, known.id)
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", known.id)
        headers = {"content-disposition": f'attachment; filename="ctrag-{name}.zip"'}
        return Response(packed, media_type="application/zip", headers=headers)

    async def forget(self, request: Request) -> Response:
        """Erase a person of the user's own stores."""
        known, opening = found(self._people, request)
        if not opening.circle.own:
            raise InputError("only your own data can be forgotten; packaged people start afresh")
        await _sure(request)
        stores = talk_of(opening).assistant.stores
        self._people.close(known.id)
        lines = await run_in_threadpool(forgotten, stores, known.id)
        links = [("Begin", "/")]
        return page("told.html.j2", title=f"{known.name} is forgotten", lines=lines, links=links)

    def _job(self, request: Request) -> object:
        job = None if self._jobs is None else self._jobs.get(request.path_params["job"])
        if job is None:
            raise HTTPException(404)
        return job


async def _sure(request: Request) -> None:
    form = await request.form()
    if form.get("sure") != "yes":
        raise InputError("confirm it on the page before")


def _room_for(request: Request, folder: Path) -> None:
    """Refuse more than fits on the disk, where it lies twice for a moment.

    Raises:
        ValueError: It does not fit, or does not say how much it is.
    """
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or len(length) > 18:
        raise InputError("files: how large they are must be said beforehand")
    free = shutil.disk_usage(folder).free - SPARED
    if 2 * int(length) > free:
        raise InputError(
            f"files: {int(length) / 1e9:.1f} GB do not fit beside what is on the disk; "
            "`ctrag import` reads them where they are"
        )


def _keep(upload: UploadFile, folder: Path) -> None:
    """Copy a file under its own name, whatever path the browser calls it by."""
    folder.mkdir()
    with (folder / _plain_name(upload.filename or "")).open("wb") as file:
        shutil.copyfileobj(upload.file, file)


def _plain_name(given: str) -> str:
    """The last part of a path, as a name that any disk takes."""
    name = PureWindowsPath(PurePosixPath(given.replace("\0", "")).name).name
    kept = name.encode("utf-8", "replace")[-LONGEST_NAME:].decode("utf-8", "ignore")
    return kept.strip(". ") or "file"
