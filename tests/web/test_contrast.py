"""Every text on every ground that the styles put it on stands out as WCAG AA asks, in both themes."""

import re

import pytest

from ctrag.web.pages import static
from tests.contrast import contrast, themes

LIGHT, DARK = themes(static("colours.css"))
TEXT = [
    *((text, ground) for text in ("ink", "muted", "accent") for ground in ("page", "ground", "soft")),
    *((text, "warn-soft") for text in ("ink", "muted", "warn", "alarm")),
    ("on-accent", "accent"), ("good", "good-soft"), ("alarm", "alarm-soft"),
    *((text, ground) for text in ("good", "alarm", "warn") for ground in ("page", "ground")),
]  # fmt: skip
EDGES = [
    *((edge, ground) for edge in ("edge", "accent", "warn", "alarm") for ground in ("page", "ground")),
    *((f"line-{number}", "page") for number in (1, 2, 3, 7, 8)),
    ("accent", "warn-soft"),
]  # fmt: skip


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT, ids=str)
def test_text_stands_out(theme: dict[str, str], text: str, ground: str) -> None:
    assert contrast(theme[text], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("edge", "ground"), EDGES, ids=str)
def test_edges_of_controls_focus_and_bars_stand_out(
    theme: dict[str, str], edge: str, ground: str
) -> None:
    assert contrast(theme[edge], theme[ground]) >= 3


def test_both_themes_name_the_same_colours_and_the_styles_use_no_other() -> None:
    assert LIGHT.keys() == DARK.keys()
    css = static("pages.css")
    assert set(re.findall(r"var\(--([\w-]+)\)", css)) <= LIGHT.keys()
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", css), "colours have names"
