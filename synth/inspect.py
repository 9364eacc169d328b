"""Inspecting a data set: tables next to the paper's, distributions, sample requests."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from ctrag.assistant.open import toolbox_of
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.app_spec import spec_of
from stores.people.dataset import (
    DIALOGUES,
    SEVERAL,
    Dataset,
    DatasetRequest,
    load_dataset,
    load_labels,
)
from stores.people.items import Item, Labels
from synth.checks import normal_text
from synth.consistency import person_faults
from synth.dataset import PARTS
from synth.shape import PAPER_APIS, PAPER_ITEMS, PAPER_PERSONAS, PAPER_TEST, PAPER_TRAIN
from synth.writing import LEVELS

_SHOWN = 10
_FAULTS = 10
_FREE = ("body", "message", "text")
"""Arguments that hold whole sentences."""
_WIDTH = 100
_PAPER_SIZES = {"people": PAPER_PERSONAS, "train": PAPER_TRAIN, "test": PAPER_TEST}


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """One request with its labels, as text."""

    text: str
    who: str
    asked: str
    kind: str
    thought: str
    relevant: tuple[str, ...]
    tools: tuple[str, ...]
    plan: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: caption, column headers, rows of text."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The contents of a data set."""

    folder: str
    sizes: dict[str, int]
    """People, requests, and requests of each part."""
    items_per_person: dict[str, float]
    """Table 4."""
    apis: dict[str, int]
    """Table 5: APIs of the toolbox by application."""
    requests_per_app: dict[str, int]
    """By the application of the best API."""
    requests_per_api: dict[str, int]
    kinds: dict[str, int]
    relevant: dict[str, int]
    """Requests by number of relevant items."""
    ages: dict[str, int]
    """People by decade."""
    distinct_texts: float
    """Percentage of requests with a unique text, ignoring case and punctuation."""
    shown: tuple[ShownRequest, ...]
    levels: dict[str, int] = field(default_factory=dict)
    """Requests by level, where the data set says; also those for several calls, and dialogues."""
    commonest: tuple[str, float] = ("", 0.0)
    """The text that most requests or calls have, and their percentage."""
    consistency: dict[str, int] = field(default_factory=dict)
    """Kind of fault → people that have one; `people` is how many have any."""
    faults: tuple[str, ...] = ()
    """The first faults, in words."""
    shared: float | None = None
    """Percentage of requests that another data set has word for word; None without another."""

    def as_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def grids(self) -> list[Grid]:
        """The tables, in display order."""
        return [
            Grid(
                "Size",
                ("", "here", "paper"),
                tuple(
                    (name, f"{count:,}", _or_dash(_PAPER_SIZES.get(name)))
                    for name, count in self.sizes.items()
                ),
            ),
            _beside("Context items a person (Table 4)", self.items_per_person, PAPER_ITEMS, 2),
            _beside("APIs of the toolbox (Table 5)", self.apis, PAPER_APIS, 0),
            _shares("Requests by application of the best API", self.requests_per_app),
            *([_shares("Requests by level", self.levels)] if self.levels else []),
            _shares("Requests by kind", self.kinds),
            _shares("Requests by number of relevant items", self.relevant),
            _shares("People by age", self.ages),
            _shares("Requests by best API", self.requests_per_api),
        ]

    def lines(self) -> list[str]:
        """As lines for a terminal."""
        from rich.console import Console
        from rich.table import Table

        console = Console(file=StringIO(), width=_WIDTH, highlight=False)
        for line in self.summary():
            console.print(line, markup=False)
        for grid in self.grids():
            table = Table(title=grid.caption, title_justify="left", min_width=40)
            for place, head in enumerate(grid.heads):
                table.add_column(head, justify="left" if place == 0 or not head else "right")
            for row in grid.rows:
                table.add_row(*row)
            console.print(table)
        for one in self.shown:
            console.print(f"\n“{one.text}”", markup=False)
            console.print(f"  {one.who}, {one.asked}; {one.kind}", markup=False)
            for line in (one.thought, *one.relevant, ", ".join(one.tools), one.plan):
                console.print(f"  {line}", markup=False)
        file = console.file
        assert isinstance(file, StringIO)
        return file.getvalue().splitlines()

    def summary(self) -> list[str]:
        """What is said above the tables: repeats and faults."""
        people = self.sizes["people"]
        wrong = self.consistency.get("people", 0)
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.consistency.items()
                          if kind != "people")  # fmt: skip
        found = [
            f"{self.folder}: {self.distinct_texts:.1f} % of the texts are distinct; "
            f"the commonest of requests and calls, in {self.commonest[1]:.2f} %: "
            f"{self.commonest[0]!r}",
            f"consistency: {wrong} of {people:,} people ({100 * wrong / max(1, people):.1f} %) "
            f"have a fault{f': {kinds}' if kinds else ''}",
            *(f"  {one}" for one in self.faults),
        ]
        if self.shared is not None:
            found.append(f"beside: {self.shared:.1f} % of the requests stand there word for word")
        return found

    def html(self) -> str:
        """As a self-contained HTML page."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader("synth"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        return environment.get_template("inspect.html.j2").render(seen=self) + "\n"


def inspect(folder: Path, seed: int = 1, beside: Path | None = None) -> Inspection:
    """Inspect a data set folder, or a folder with `train` and `test`.

    Args:
        folder: Holds `personas.jsonl`, or the two parts.
        seed: Selects the sample requests.
        beside: Another data set, to count the requests that both have.

    Raises:
        FileNotFoundError: There is no `personas.jsonl`.
        ValueError: A line breaks a rule.
    """
    parts = _parts(folder)
    toolbox = toolbox_of(parts[0])
    loaded = [(load_dataset(part), load_labels(part)) for part in parts]
    people = [one for dataset, _ in loaded for one in dataset.personas]
    asked = [(one, labels[one.query_id]) for dataset, labels in loaded for one in dataset.requests]
    items = Counter(item.app for one in people for item in one.items)
    best = [labels.tools[0] if labels.tools else "none" for _, labels in asked]
    texts = Counter(normal_text(one.request.text) for one, _ in asked)
    chosen = random.Random(seed).sample(range(len(asked)), min(_SHOWN, len(asked)))
    sizes = {"people": len(people), "requests": len(asked)}
    faults = {one.person.person_id: person_faults(one) for one in people}
    kinds = Counter(kind for some in faults.values() for kind in {x.split(":")[0] for x in some})
    others = set() if beside is None else _texts(beside)
    if len(parts) > 1:
        sizes |= {dataset.folder.name: len(dataset.requests) for dataset, _ in loaded}
    return Inspection(
        folder=str(folder),
        sizes=sizes,
        items_per_person={
            app: round(count / len(people), 2) for app, count in sorted(items.items())
        },
        apis=dict(Counter(tool.app for tool in toolbox)),
        requests_per_app=_counted(_app_of(api, toolbox) for api in best),
        requests_per_api=_counted(best),
        kinds=_counted(labels.kind or "not said" for _, labels in asked),
        relevant=_counted(str(len(labels.relevant or ())) for _, labels in asked),
        ages=dict(sorted(Counter(_decade(one.person.profile.age) for one in people).items())),
        distinct_texts=round(100 * len(texts) / max(1, len(asked)), 2),
        shown=tuple(_shown(*asked[place], [dataset for dataset, _ in loaded]) for place in chosen),
        levels=_levels(parts),
        commonest=_commonest(asked),
        consistency={"people": sum(map(bool, faults.values())), **kinds},
        faults=tuple(one for some in faults.values() for one in some)[:_FAULTS],
        shared=None
        if beside is None
        else round(100 * sum(count for text, count in texts.items() if text in others)
                   / max(1, len(asked)), 1),
    )  # fmt: skip


def _parts(folder: Path) -> list[Path]:
    return [folder / part for part in PARTS if (folder / part).is_dir()] or [folder]


def _texts(folder: Path) -> set[str]:
    """The texts of all requests of a data set."""
    return {
        normal_text(one.request.text)
        for part in _parts(folder)
        for one in load_dataset(part).requests
    }


def _levels(parts: Sequence[Path]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for part in parts:
        if (part / LEVELS).is_file():
            found.update(json.loads((part / LEVELS).read_text(encoding="utf-8")).values())
        for name, level in ((SEVERAL, "several"), (DIALOGUES, "dialogue")):
            if (part / name).is_file():
                found[level] += (part / name).read_bytes().count(b"\n")
    return dict(found.most_common())


def _commonest(asked: Sequence[tuple[DatasetRequest, Labels]]) -> tuple[str, float]:
    """The text that most requests have, as their own or as an argument in free words."""
    found: Counter[str] = Counter()
    for one, labels in asked:
        texts = {one.request.text}
        if labels.plan is not None:
            texts |= {
                value for name, value in labels.plan.arguments.items()
                if name in _FREE and isinstance(value, str)
            }  # fmt: skip
        found.update(texts)
    if not found:
        return "", 0.0
    text, count = found.most_common(1)[0]
    return text, round(100 * count / len(asked), 2)


def _shown(asked: DatasetRequest, labels: Labels, datasets: Sequence[Dataset]) -> ShownRequest:
    persona = next(
        one
        for dataset in datasets
        for one in dataset.personas
        if one.person.person_id == asked.person_id
    )
    profile, request = persona.person.profile, asked.request
    known = {item.id: item for item in persona.items}
    playing = " with a song playing" if request.playing else ""
    plan = "none()"
    if labels.plan is not None:
        plan = str(Plan(labels.plan.api, dict(labels.plan.arguments)))
    return ShownRequest(
        text=request.text,
        who=f"{profile.name}, {profile.age or 'no age'}, {profile.profession or 'no profession'}",
        asked=f"{request.asked_at:%a %-d %b %Y %H:%M}, {request.place or 'anywhere'}{playing}",
        kind=labels.kind or "not said",
        thought=labels.chain_of_thought or "",
        relevant=tuple(_line(known[item_id]) for item_id in labels.relevant or ()),
        tools=labels.tools or (),
        plan=plan,
    )


def _line(item: Item) -> str:
    spec = spec_of(item.app)
    words = [item.text(name) for role in ("person", "title", "time") for name in spec.named(role)]
    return f"{item.app}: {', '.join(word for word in words if word)}"


def _app_of(api: str, toolbox: Toolbox) -> str:
    tool = toolbox.get(api)
    return tool.app if tool else "none"


def _decade(age: int | None) -> str:
    return "not said" if age is None else f"{age // 10 * 10:2d}-{age // 10 * 10 + 9}"


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _beside(
    caption: str, ours: Mapping[str, float], paper: Mapping[str, float], digits: int
) -> Grid:
    rows = []
    for name, value in ours.items():
        known = paper.get(name)
        off = "-" if known is None else f"{100 * (value - known) / known:+.1f} %"
        rows.append((name, f"{value:.{digits}f}", _or_dash(known), off))
    return Grid(caption, ("", "here", "paper", "difference"), tuple(rows))


def _shares(caption: str, counts: Mapping[str, int]) -> Grid:
    total = max(1, sum(counts.values()))
    rows = tuple(
        (name, f"{count:,}", f"{100 * count / total:.1f} %", "▇" * round(40 * count / total))
        for name, count in counts.items()
    )
    return Grid(caption, ("", "count", "share", ""), rows)


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"
