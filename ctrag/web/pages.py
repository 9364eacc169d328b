"""Templates to pages.

Whatever a template shows is escaped, and control characters are made visible: a name must not pass
as markup, nor turn the text around it.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ctrag.text.bidi import RIGHT_TO_LEFT
from ctrag.text.terminal import visible
from ctrag.web.names import app_name
from ctrag.web.steps import under_way

if TYPE_CHECKING:
    from starlette.responses import HTMLResponse


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")


@cache
def environment() -> Environment:
    """The templates of this package."""
    made = Environment(
        loader=PackageLoader("ctrag.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    filters: dict[str, Callable[[Any], str]] = {
        "moment": lambda at: f"{at:%a} {at.day} {at:%b %Y, %H:%M}",
        "path": lambda text: quote(text, safe=""),
        "app": app_name,
        "isolated": _isolated,
        "value": _value,
        "seconds": _seconds,
        "percent": _percent,
    }
    made.filters |= filters
    made.globals["under_way"] = under_way
    return made


def html(template: str, **values: Any) -> str:
    """A template with values."""
    return environment().get_template(template).render(**values)


def page(template: str, code: int = 200, **values: Any) -> "HTMLResponse":
    """A template as an answer."""
    from starlette.responses import HTMLResponse

    return HTMLResponse(html(template, **values), code)


def static(name: str) -> str:
    """A packaged file's text."""
    return files("ctrag.web").joinpath("static", name).read_text(encoding="utf-8")


def _shown(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _isolated(text: str) -> Markup:
    """A sentence whose right-to-left names turn nothing of it."""
    shown, at, parts = visible(text), 0, []
    for run in RIGHT_TO_LEFT.finditer(shown):
        parts += [escape(shown[at : run.start()]), Markup("<bdi>{}</bdi>").format(run[0])]
        at = run.end()
    return Markup("").join([*parts, escape(shown[at:])])


def _value(text: str) -> str:
    """A value of a call as people write it: a moment without its T."""
    return text.replace("T", " ") if _MOMENT.fullmatch(text) else text


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def _percent(share: float) -> str:
    """A probability without claiming more than is known."""
    if 0 < share < 0.01:
        return "< 1 %"
    return "> 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def whole(text: str) -> int:
    """The number of a form's field or an address, such as a turn's; 0 where it is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def local(text: str) -> datetime | None:
    """The time of a form's field; None when it is empty.

    Raises:
        ValueError: It is none.
    """
    from ctrag.errors import InputError
    from stores.people.local_time import parse_local_time

    try:
        return parse_local_time(text) if text.strip() else None
    except ValueError as error:
        raise InputError(f"at: {error}") from None
