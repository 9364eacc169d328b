"""Drawings for a page, as wide as a phone and larger where there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from eval.report.svg import INK, LINES, MUTED, PAGE, RULE, drawing, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vPXp"
_DASHES = ("-", "--", "-.", ":")
_WIDTH = 346.0
"""Points: as wide as a phone's page, so that the font keeps its size there."""
_FONT = 11.0
_LETTER = 0.56 * _FONT


def curves(
    lines: Mapping[str, Sequence[float]],
    *,
    name: str,
    title: str,
    description: str,
    x_label: str,
    y_label: str,
    ticks: Sequence[int] = (1, 3, 5, 10, 15, 20),
    places: Sequence[str] | None = None,
) -> Markup:
    """One line per name over 1, 2, 3, …, named at its end.

    Args:
        lines: Values of 0-100 per name.
        name: As of `drawing`, like title and description.
        title: Instead of the drawing where it cannot be seen.
        description: Instead of the drawing, in full.
        x_label: Below the axis.
        y_label: Above the axis.
        ticks: Places on the x axis that are marked, where they are not past the lines.
        places: Label at each place instead of its number; then all are marked.
    """
    depth = max(len(values) for values in lines.values())
    ticks = ticks if places is None else range(1, depth + 1)
    longest = max(len(one) for one in lines)
    with settings():
        figure, axes = _canvas(330, left=30, right=min(24 + _LETTER * longest, 0.55 * _WIDTH))
        _plain(axes, x_label, y_label)
        axes.set(xlim=(1, max(depth, 2)), ylim=(0, 100), yticks=range(0, 101, 20))
        axes.set_xticks([one for one in ticks if one <= depth], places)
        axes.grid(color=RULE, linewidth=0.8)
        ends = spread([values[-1] for values in lines.values()], gap=4.6, low=0, high=100)
        for number, (one, values) in enumerate(lines.items()):
            colour = LINES[number % len(LINES)]
            axes.plot(
                range(1, len(values) + 1),
                values,
                color=colour,
                linewidth=1.6,
                linestyle=_DASHES[number % len(_DASHES)],
                marker=_MARKERS[number % len(_MARKERS)],
                markersize=3.5,
                markevery=[place - 1 for place in ticks if place <= len(values)],
                clip_on=False,
            )
            axes.annotate(
                one,
                (len(values), values[-1]),
                (depth + (depth - 1) * 0.07, ends[number]),
                annotation_clip=False,
                va="center",
                color=colour,
                fontsize=_FONT,
                arrowprops={
                    "arrowstyle": "-",
                    "color": colour,
                    "linewidth": 0.6,
                    "relpos": (0, 0.5),
                },
            )
        return drawing(figure, name, title, description)


def ranges(
    rows: Mapping[str, tuple[float, float, float] | None],
    others: Mapping[str, float],
    *,
    name: str,
    title: str,
    description: str,
    x_label: str,
) -> Markup:
    """Per row a dot with its interval, and a diamond for somebody else's figure.

    Args:
        rows: Value, lower and upper bound of 0-100; None draws no dot.
        others: Values of 0-100 under names of `rows`.
        name: As of `drawing`, like title and description.
        title: Instead of the drawing where it cannot be seen.
        description: Instead of the drawing, in full.
        x_label: Below the axis.
    """
    longest = max(len(one) for one in rows)
    with settings():
        left = min(10 + _LETTER * longest, 0.55 * _WIDTH)
        figure, axes = _canvas(46 + 24 * len(rows), left=left, right=12)
        _plain(axes, x_label, "")
        axes.set(xlim=(0, 100), ylim=(len(rows) - 0.5, -0.5), xticks=range(0, 101, 20))
        axes.set_yticks(range(len(rows)), list(rows), color=INK)
        axes.grid(axis="x", color=RULE, linewidth=0.8)
        for place, (one, row) in enumerate(rows.items()):
            if row is None:
                axes.text(1, place, "not run", va="center", color=MUTED, fontsize=_FONT)
            else:
                axes.plot(row[1:], [place, place], color=LINES[0], linewidth=2, clip_on=False)
                axes.plot(row[0], place, "o", color=LINES[0], markersize=6, clip_on=False)
            if one in others:
                axes.plot(
                    others[one],
                    place,
                    "D",
                    markersize=6,
                    markerfacecolor=PAGE,
                    markeredgecolor=LINES[1],
                    markeredgewidth=1.5,
                    clip_on=False,
                )
        return drawing(figure, name, title, description)


def spread(values: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Places for labels, in the order of `values`: near them, at least `gap` apart.

    All lie between `low` and `high` where there is room for that.
    """
    order = sorted(range(len(values)), key=lambda one: values[one])
    placed: list[float] = []
    for one in order:
        placed.append(max(values[one], placed[-1] + gap if placed else low))
    ceiling = high
    for number in reversed(range(len(placed))):
        placed[number] = min(placed[number], ceiling)
        ceiling = placed[number] - gap
    found = [0.0] * len(values)
    for one, place in zip(order, placed, strict=True):
        found[one] = place
    return found


def _canvas(height: float, *, left: float, right: float) -> tuple[Figure, Axes]:
    """A figure with one pair of axes; sizes in points."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH / 72, height / 72))
    bottom, top = 34, 18
    axes = figure.add_axes(
        (
            left / _WIDTH,
            bottom / height,
            (_WIDTH - left - right) / _WIDTH,
            (height - bottom - top) / height,
        )
    )
    return figure, axes


def _plain(axes: Axes, x_label: str, y_label: str) -> None:
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=_FONT, labelcolor=MUTED)
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label, fontsize=_FONT, color=MUTED)
    axes.set_title(y_label, fontsize=_FONT, color=MUTED, loc="left", x=-0.08)
