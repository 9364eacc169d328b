"""What may be said to the assistant: how long a request, a place and a song are, and when."""

from dataclasses import replace
from datetime import datetime

from ctrag.errors import InputError
from ctrag.text.courtesy import without_courtesy
from ctrag.text.dates.time_phrases import FIRST_YEAR, LAST_YEAR, in_usual_years
from ctrag.text.false_starts import as_meant
from stores.people.items import Request

LONGEST_REQUEST = 1000
"""Characters of a request at most."""
LONGEST_PLACE = 300
"""Characters of a place, and of what plays, at most."""
_SPOKEN = {"text": "the request", "place": "a place", "playing": "what plays"}


def check_words(text: str, place: str | None, playing: str | None) -> None:
    """Refuse what nobody says.

    Raises:
        InputError: The text is empty; one of the three is too long or no text.
    """
    if not text.strip():
        raise InputError("text: the request is empty")
    for name, given in (("text", text), ("place", place or ""), ("playing", playing or "")):
        if not given.isprintable() and any("\ud800" <= one <= "\udfff" for one in given):
            raise InputError(f"{name}: {_SPOKEN[name]} is not valid UTF-8")
        if name != "text" and len(given) > LONGEST_PLACE:
            raise InputError(
                f"{name}: {_SPOKEN[name]} has at most {LONGEST_PLACE} characters, this one "
                f"{len(given)}"
            )
    if len(text) > LONGEST_REQUEST:
        raise InputError(
            f"text: a request has at most {LONGEST_REQUEST} characters, this one {len(text)}"
        )


def moment(at: datetime) -> datetime:
    """The minute in which a request is made.

    Raises:
        InputError: It is in no year in which requests are made.
    """
    if not in_usual_years(at):
        raise InputError(
            f"at: a request is made in the years {FIRST_YEAR} to {LAST_YEAR}, not {at.year}"
        )
    return at.replace(second=0, microsecond=0)


def as_order(request: Request) -> Request:
    """A request as it is answered: however politely and haltingly it is put, it is the same."""
    return replace(request, text=without_courtesy(as_meant(request.text)))
