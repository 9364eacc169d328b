"""The pages of what a person has."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ctrag.errors import InputError
from ctrag.web.names import app_name
from ctrag.web.pages import page
from ctrag.web.people import Known, People
from ctrag.web.talk import Talk
from ctrag.web.talk_pages import found, not_yet
from ctrag.web.things import (
    PAGE,
    Listing,
    apps_of,
    listing,
    monday_of,
    present,
    week,
)

_MOST = 5000
"""Rows of a page at most."""
_OTHER = {"people": "Contacts", "sent": "Sent"}


class ThingsPages:
    """Handlers of `/p/PERSON/things`."""

    def __init__(self, people: People) -> None:
        self._people = people

    def routes(self) -> list[Route]:
        """Their routes."""
        return [Route("/p/{person}/things", self.things)]

    async def things(self, request: Request) -> Response:
        """One application, a week of the calendar, contacts, what was sent, or a search."""
        known, opening = found(self._people, request)
        talk = opening.talk
        if talk is None:
            return not_yet(self._people, known, opening)
        return await run_in_threadpool(self._page, request, known, talk)

    def _page(self, request: Request, known: Known, talk: Talk) -> Response:
        assistant, given = talk.assistant, request.query_params
        apps = apps_of(assistant)
        words, app = given.get("q", "").strip(), given.get("app", "")
        if app not in {*(name for name, _, _ in apps), *_OTHER}:
            app = apps[0][0] if apps else "people"
        most = _number(given.get("most", ""), PAGE)
        common: dict[str, Any] = {
            "known": known,
            "here": "things",
            "here_app": app,
            "apps": apps,
            "contact_count": len(assistant.person.contacts),
            "words": words,
            "most": most,
            "days": [],
            "title": _OTHER.get(app) or app_name(app),
        }
        if app in _OTHER and not words:
            sent = assistant.stores.outbox(known.id) if app == "sent" else []
            contacts = sorted(assistant.person.contacts, key=lambda one: one.name.casefold())
            newest = list(reversed(sent))
            return page(
                "people.html.j2", **common, contacts=contacts, sent=newest, listing=Listing((), 0)
            )
        found_rows = listing(assistant, None if words else app, words, most=most)
        if app == "calendar" and not words:
            now = present(assistant)
            monday = monday_of(_day(given.get("week", ""), now.date()))
            common |= {
                "days": week(assistant, monday, now),
                "before": (monday - timedelta(days=7)).isoformat(),
                "after": (monday + timedelta(days=7)).isoformat(),
            }
            found_rows = replace(found_rows, groups=())
        return page("things.html.j2", **common, listing=found_rows)


def _number(text: str, otherwise: int) -> int:
    return min(int(text), _MOST) if text.isdecimal() and len(text) < 6 else otherwise


def _day(text: str, otherwise: date) -> date:
    if not text:
        return otherwise
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InputError(f"week: must be a date such as 2025-04-14, not {text!r}") from None
    if not 1901 <= day.year <= 9000:
        raise InputError("week: that is beyond the calendar")
    return day
