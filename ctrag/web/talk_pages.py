"""The conversation's pages: what is said, asked, agreed to, explained and taken back."""

from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ctrag.errors import InputError
from ctrag.web.pages import html, local, page, whole
from ctrag.web.people import Known, Opening, People, Starter
from ctrag.web.talk import Talk
from ctrag.web.things import present
from ctrag.web.turns import Turn
from ctrag.web.why import explained


class TalkPages:
    """Handlers under `/p/PERSON/`."""

    def __init__(self, people: People) -> None:
        self._people = people

    def routes(self) -> list[Route]:
        """Their routes."""
        base = "/p/{person}"
        return [
            Route(f"{base}/", self.talk),
            Route(f"{base}/ready", self.ready),
            Route(f"{base}/turns", self.turns),
            Route(f"{base}/why/{{turn}}", self.why),
            Route(f"{base}/say", self.say, methods=["POST"]),
            Route(f"{base}/decide", self.decide, methods=["POST"]),
            Route(f"{base}/undo", self.undo, methods=["POST"]),
            Route(f"{base}/anew", self.anew, methods=["POST"]),
            Route(f"{base}/reset", self.reset, methods=["POST"]),
        ]

    async def talk(self, request: Request) -> Response:
        """The conversation, with the explanation of the turn that the address names."""
        known, opening = found(self._people, request)
        if opening.talk is None:
            return not_yet(self._people, known, opening)
        talk = opening.talk
        chosen = talk.turn(whole(request.query_params.get("turn", "")))
        return await run_in_threadpool(self._page, known, opening, talk, chosen)

    def _page(self, known: Known, opening: Opening, talk: Talk, chosen: Turn | None) -> Response:
        values = _turns(known, opening, talk) | _why(known, talk, chosen)
        return page("talk.html.j2", **values, here="talk", frozen=talk.assistant.frozen_clock)

    async def ready(self, request: Request) -> Response:
        """Whether the assistant is open by now; the page is then loaded again."""
        _, opening = found(self._people, request)
        if opening.state == "opening":
            return Response(status_code=204)
        return Response(headers={"HX-Refresh": "true"})

    async def turns(self, request: Request) -> Response:
        """The turns, where something is new since the page's revision."""
        known, opening = found(self._people, request)
        talk = talk_of(opening)
        if request.query_params.get("revision") == str(talk.revision):
            return Response(status_code=204)
        return await run_in_threadpool(self._fragment, known, opening, talk)

    async def why(self, request: Request) -> Response:
        """The explanation of one turn."""
        known, opening = found(self._people, request)
        talk = talk_of(opening)
        chosen = talk.turn(whole(request.path_params["turn"]))
        if chosen is None:
            raise HTTPException(404)
        values = await run_in_threadpool(_why, known, talk, chosen)
        answer = HTMLResponse(html("why.html.j2", **values))
        answer.headers["HX-Push-Url"] = f"{_at(known)}?turn={chosen.number}"
        return answer

    async def say(self, request: Request) -> Response:
        """Begin a turn; or choose among the answers of an open question."""
        _, opening = found(self._people, request)
        talk = talk_of(opening)
        form = await request.form()
        text, choice = str(form.get("text", "")), str(form.get("choice", ""))
        text = text.replace("\r\n", "\n")  # browsers end lines so
        place, playing = str(form.get("place", "")).strip(), str(form.get("playing", ""))
        shown = None
        if choice:
            question = talk.question
            last = talk.turns[-1].number if talk.turns else 0
            if question is None or str(form.get("turn")) != str(last) or not whole(choice):
                raise InputError("that question was answered already")
            if whole(choice) > len(question.choices):
                raise InputError("that is none of the choices")
            text, shown, place = choice, question.choices[whole(choice) - 1], talk.place
        turn, _, confirmation = str(form.get("asked", "")).partition(".")
        if await run_in_threadpool(talk.answer, text, (whole(turn), whole(confirmation))):
            return await self._after(request)
        at = local(str(form.get("at", "")))
        if choice and talk.turns:
            at = talk.turns[-1].at
        talk.say(text, at, place or None, playing or None, shown=shown)
        return await self._after(request)

    async def decide(self, request: Request) -> Response:
        """Agree to what is asked, or not."""
        _, opening = found(self._people, request)
        form = await request.form()
        turn, question = (whole(str(form.get(one, ""))) for one in ("turn", "question"))
        talk_of(opening).decide(turn, question, form.get("agreed") == "yes")
        return await self._after(request)

    async def undo(self, request: Request) -> Response:
        """Take back what a turn changed."""
        _, opening = found(self._people, request)
        form = await request.form()
        await run_in_threadpool(talk_of(opening).undo, whole(str(form.get("turn", ""))))
        return await self._after(request)

    async def anew(self, request: Request) -> Response:
        """Begin a new conversation."""
        known, opening = found(self._people, request)
        talk_of(opening).forget()
        return RedirectResponse(_at(known), 303)

    async def reset(self, request: Request) -> Response:
        """Take back all changes of a person whose data are a copy."""
        known, opening = found(self._people, request)
        talk = talk_of(opening)
        if opening.circle.own:
            raise InputError("your own data are changed back one by one, by Undo")
        count = await run_in_threadpool(talk.reset)
        lines = [f"Changes taken back: {count}."]
        links = [("Talk", _at(known))]
        return page("told.html.j2", title="Afresh", lines=lines, links=links)

    async def _after(self, request: Request) -> Response:
        """What a form is answered with: the turns, or without scripts the whole page again."""
        known, opening = found(self._people, request)
        if "hx-request" not in request.headers:
            return RedirectResponse(_at(known), 303)
        return await run_in_threadpool(self._fragment, known, opening, talk_of(opening))

    def _fragment(self, known: Known, opening: Opening, talk: Talk) -> HTMLResponse:
        values = _turns(known, opening, talk)
        text = html("turns.html.j2", **values)
        last = talk.turns[-1] if talk.turns else None
        if last is not None and not last.working:  # the newest explanation comes with its answer
            why = html("why.html.j2", **_why(known, talk, last))
            text += f'<div id="why" hx-swap-oob="innerHTML">{why}</div>'
        return HTMLResponse(text)


def _at(known: Known) -> str:
    return f"/p/{quote(known.id, safe='')}/"


def found(people: People, request: Request) -> tuple[Known, Opening]:
    """The person of an address, and their assistant, which is opened where it is not."""
    person = str(request.path_params["person"])
    known, opening = people.known(person), people.opening(person)
    if known is None or opening is None:
        raise HTTPException(404)
    return known, opening


def not_yet(people: People, known: Known, opening: Opening) -> Response:
    """The page of an assistant that is being opened, which loads itself again; or of one that could
    not be, after which asking again tries again."""
    failed = opening.why if opening.state == "failed" else ""
    if failed:
        people.close(known.id)
    return page("opening.html.j2", known=known, failed=failed)


def talk_of(opening: Opening) -> Talk:
    """The conversation.

    Raises:
        ValueError: It is not open yet.
    """
    if opening.talk is None:
        raise InputError("the assistant is still being opened; wait a moment")
    return opening.talk


def _turns(known: Known, opening: Opening, talk: Talk) -> dict[str, Any]:
    revision, turns = talk.revision, list(talk.turns)  # an older revision is asked for again
    asked = turns[-1].number if turns and talk.question is not None else 0
    return {
        "known": known,
        "talk": talk,
        "turns": turns,
        "revision": revision,
        "working": talk.working,
        "asked": asked,
        "undoable": talk.undoable,
        "starters": [_starter(one) for one in opening.circle.starters(known.id)],
        "now": present(talk.assistant),
    }


def _starter(one: Starter) -> dict[str, str]:
    at = local(one.at)
    when = "" if at is None else f"{at:%a} {at.day} {at:%b, %H:%M}"
    return {
        "text": one.text, "at": one.at, "place": one.place, "playing": one.playing, "when": when,
    }  # fmt: skip


def _why(known: Known, talk: Talk, chosen: Turn | None) -> dict[str, Any]:
    if chosen is None and talk.turns:
        chosen, explicit = talk.turns[-1], False
    else:
        explicit = chosen is not None
    answer = None if chosen is None else chosen.answer
    before = None if chosen is None else talk.turn(chosen.number - 1)
    asked = None if before is None else before.answer
    return {
        "known": known,
        "chosen": chosen,
        "explicit": explicit,
        "explained": [] if answer is None else explained(answer, talk.assistant, asked),
    }
