"""What the scale benchmark leaves: a JSON file that parts are added to, a table, a drawing."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.core.experiment import versions
from stores.files import write_text

Row = Mapping[str, str | int | float]
LIMIT_MS = 60
"""What a request may take at the median."""
LIMIT_RECALL = 0.5
"""Points of Recall@10 that candidates may lose."""


def load(path: Path) -> dict[str, Any]:
    """Parts that were measured before, by name; none when there is no file."""
    if not path.exists():
        return {}
    return dict(json.loads(path.read_text(encoding="utf-8"))["parts"])


def save(path: Path, parts: Mapping[str, object]) -> None:
    """Write all parts."""
    write_text(path, json.dumps({"parts": parts}, indent=1, ensure_ascii=False) + "\n")


def conditions(seed: int) -> dict[str, object]:
    """Where and with what something is measured."""
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "commit": found.stdout.strip() or "unknown",
        "seed": seed,
        "versions": versions(),
    }


def table(rows: Sequence[Row]) -> str:
    """Columns in the order of the first row's; numbers to the right."""
    names = list(rows[0])
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = []
    for line in cells:
        padded = [
            cell.ljust(width) if isinstance(rows[0][name], str) else cell.rjust(width)
            for name, cell, width in zip(names, line, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def verdicts(parts: Mapping[str, Any]) -> list[str]:
    """What the limits say of the measured parts, a line each."""
    found = []
    for row in parts.get("cost", {}).get("rows", []):
        if row["p50 ms"] > LIMIT_MS:
            found.append(f"over {LIMIT_MS} ms at {row['items']:,} items: {row['p50 ms']:.1f} ms")
    for row in parts.get("recall", {}).get("rows", []):
        if row["difference"] < -LIMIT_RECALL:
            found.append(f"loses {-row['difference']:.2f} points at {row['items']:,} items")
    return found or ["all that was measured is within the limits"]


def draw_cost(rows: Sequence[Row], path: Path) -> bool:
    """Draw milliseconds over the number of items; False when matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    from matplotlib import pyplot

    items = [row["items"] for row in rows]
    with pyplot.rc_context({"svg.hashsalt": "ctrag", "svg.fonttype": "none", "font.size": 11}):
        figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
        for name, label, style in (
            ("p95 ms", "95th percentile", "s--"),
            ("p50 ms", "median", "o-"),
            ("again p50 ms", "median, asked again", "^:"),
        ):
            axes.plot(items, [row[name] for row in rows], style, label=label)
        axes.axhline(LIMIT_MS, color="0.5", linewidth=0.8)
        axes.annotate("limit for the median", (items[0], LIMIT_MS + 1), va="bottom", color="0.4")
        highest = max(LIMIT_MS, *(float(row["p95 ms"]) for row in rows))
        axes.set(
            xscale="log",
            ylim=(0, 1.15 * highest),
            xlabel="items of the person",
            ylabel="ms a request",
        )
        axes.set_xticks(items, [f"{size:,}" for size in items], minor=False)
        axes.minorticks_off()
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0.85))
        figure.savefig(path, metadata={"Date": None, "Title": "Cost by number of items"})
        pyplot.close(figure)
    return True


def _cell(value: str | int | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
