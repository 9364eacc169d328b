"""Claims about the page of an experiment: all figures, nothing fetched, no text taken for markup."""

import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.context import METHODS, PAPER
from eval.context_report import context_report
from eval.experiment import Experiment
from eval.plots import curves, spread
from eval.ranking import evaluate_run, recall_curve
from eval.report import Cell, Column, Folded, HtmlTable, Report, Row, Section, render, write_report
from eval.report_tables import any_tables, said
from eval.svg import LINES

RAN = ("bm25t", "cot", "lambdamart_rrf")
MEASURES = ("recall@3", "recall@5", "recall@10", "ndcg@3", "ndcg@5", "ndcg@10")
KINDS = ("habit", "multi")
HOSTILE = "</td><script>alert(1)</script><img src=http://a.example/x> $x_1$ & \"'"


def made(**changes: Any) -> Experiment:
    """An experiment in which every figure is another one."""
    numbers = iter(range(10_000))

    def next_one() -> float:
        return round(next(numbers) * 0.37 % 100, 2)

    figures = {one: {measure: next_one() for measure in MEASURES} for one in RAN}
    values: dict[str, Any] = {
        "experiment": "context",
        "data": "some/folder",
        "data_sha256": "ab" * 32,
        "seed": 41,
        "versions": {"python": "3.11.7", "numpy": "2.4.6"},
        "settings": {"encoder": "toy encoder", "limit": None},
        "figures": figures,
        "intervals": {
            one: {measure: [max(0, value - 3.5), value + 4.5] for measure, value in row.items()}
            for one, row in figures.items()
        },
        "extra": {
            "by_kind": {
                one: {kind: {"recall@3": next_one(), "recall@10": next_one()} for kind in KINDS}
                for one in RAN
            },
            "requests": 351,
            "people": 40,
            "paired_tests": {
                "bm25t": {"recall@3_difference": 50.43, "p": 0.0002},
                "cot": {"recall@3_difference": -4.56, "p": 0.0446},
            },
            "curves": {one: [next_one() for _ in range(20)] for one in RAN},
            "ranker_saw_this_data": False,
            "ablation": {"times": dict(zip(MEASURES[:3], (81.23, 82.34, 83.45), strict=True))},
            "permutation_importance": {f"signal{n}": 2.5 - n / 8 for n in range(30)},
            "misses": [
                {"query_id": f"q{n}", "kind": "multi", "text": f"request {n}", "missing": ["p1-m1"]}
                | ({"rank": [n + 4, n + 9]} if n else {"found": ["p1-c1", "p1-c2"]})
                for n in range(14)
            ],
            "later": {"deep": {"deeper": {"deepest": 77.77}}, "flag": True},
        },
        "skipped": {
            "finetuned": "no encoder",
            "finetuned_cot": "none either",
            "lambdamart": "shy",
        },
        "seconds": 12.5,
    }
    return Experiment.model_validate({**values, **changes})


class Page(HTMLParser):
    """What a browser would make of the page, as far as the claims need it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, dict[str, list[str]]] = {}
        self.text = ""
        self._rows: list[list[str]] = []
        self._caption = ""
        self._into: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._rows[-1].append("")
        if tag in {"td", "th", "caption", "style"}:
            self._into = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._into:
            self._into = None
        if tag == "table":
            self.tables[self._caption.strip()] = {row[0]: row[1:] for row in self._rows}

    def handle_data(self, data: str) -> None:
        if self._into == "style":
            return
        self.text += data
        if self._into == "caption":
            self._caption += data
        elif self._into:
            self._rows[-1][-1] += data

    def named(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag in names]

    def table(self, start: str) -> dict[str, list[str]]:
        [caption] = [one for one in self.tables if one.startswith(start)]
        return self.tables[caption]


def paged(experiment: Experiment) -> Page:
    return Page(render(context_report(experiment)))


def one(value: float) -> str:
    return f"{value:.1f}"


def name(method: str) -> str:
    return "cot (oracle)" if method == "cot" else method


def test_the_table_holds_every_figure_with_the_papers_beside_it() -> None:
    experiment = made()
    rows = paged(experiment).table("Percent, ours and the paper's")
    for method, found in experiment.figures.items():
        figures: Any = found
        paper = [one(value) for value in PAPER[method]]
        ours = [one(figures[measure]) for measure in MEASURES]
        assert rows[name(method)] == [*ours[:3], *paper, *ours[3:]]


def test_a_skipped_method_keeps_its_place_and_the_papers_figures_with_the_reason() -> None:
    page = paged(made())
    rows = page.table("Percent, ours and the paper's")
    assert list(rows)[-len(METHODS) :] == [name(method) for method in METHODS]
    assert rows["finetuned"][:4] == ["not run: no encoder", "73.5", "88.5", "95.1"]
    assert rows["lambdamart"] == ["not run: shy", *"–––", *"–––"]
    assert rows["semantic"][0] == "not asked for"
    for caption in ("Recall@3 by kind", "Recall@10 by kind", "Percent, with 95 % intervals"):
        rows = page.table(caption)
        assert list(rows)[-len(METHODS) :] == [name(method) for method in METHODS]
        assert rows["finetuned"] == ["not run"]


def test_the_page_holds_every_interval_test_and_kind() -> None:
    experiment = made()
    page = paged(experiment)
    extra: Any = experiment.extra
    intervals: Any = experiment.intervals
    figures: Any = experiment.figures
    for method in RAN:
        between = [
            f"{one(figures[method][x])} {one(intervals[method][x][0])}–{one(intervals[method][x][1])}"
            for x in MEASURES
        ]
        assert page.table("Percent, with 95 % intervals")[name(method)] == between
        for measure, caption in (("recall@3", "Recall@3 by"), ("recall@10", "Recall@10 by")):
            by_kind = [one(extra["by_kind"][method][kind][measure]) for kind in KINDS]
            assert page.table(caption)[name(method)] == by_kind
    tests = page.table("lambdamart_rrf minus each other method")
    assert tests["bm25t"] == ["50.43", "0.0002"]
    assert tests["cot (oracle)"] == ["−4.56", "0.0446"]


def test_the_page_holds_every_point_of_the_curves() -> None:
    experiment = made()
    rows = paged(experiment).table("Recall@K")
    extra: Any = experiment.extra
    for k in range(20):
        assert rows[str(k + 1)] == [one(extra["curves"][method][k]) for method in RAN]


def test_the_page_holds_what_else_was_measured() -> None:
    page = paged(made())
    assert page.table("The ranker trained again")["times"] == ["81.23", "82.34", "83.45"]
    assert page.tables["Points of Recall@3 lost when a signal is shuffled"]["signal29"] == ["−1.12"]
    misses = page.table("Requests with a relevant item")
    assert misses["q0"] == ["multi", "request 0", "p1-m1", "p1-c1, p1-c2", "–"]
    assert misses["q13"] == ["multi", "request 13", "p1-m1", "–", "17, 22"]
    assert page.tables["Without a place of their own: later: deep"]["deeper"] == ["77.77"]
    assert page.tables["Without a place of their own: later"]["flag"] == ["yes"]


def test_the_page_says_where_the_figures_come_from() -> None:
    text = paged(made()).text
    for said_so in ("some/folder", "ab" * 32, "41", "toy encoder", "3.11.7", "2.4.6", "12.50"):
        assert said_so in text
    assert "351 requests of 40 people" in text


def test_an_experiment_without_the_optional_parts_has_a_page() -> None:
    page = paged(made(extra={}, intervals={}))
    assert [one for one in page.tables if "by kind" in one or "interval" in one] == []
    assert len(page.named("svg")) == 1
    nothing = paged(made(figures={}, intervals={}, extra={}))
    assert "No method could run." in nothing.text


def test_a_ranker_that_saw_the_data_is_told() -> None:
    told = "The ranker was trained on these people"
    assert told not in paged(made()).text
    assert told in paged(made(extra={"ranker_saw_this_data": True})).text


def test_text_from_data_is_escaped() -> None:
    plain = made()
    extra: Any = plain.extra
    hostile = made(
        data=HOSTILE,
        versions={HOSTILE: HOSTILE},
        settings={HOSTILE: HOSTILE},
        figures={**plain.figures, HOSTILE: plain.figures["cot"]},
        extra={
            **extra,
            "by_kind": {"cot": {HOSTILE: {"recall@3": 1.5, "recall@10": 2.5}}},
            "curves": {**extra["curves"], HOSTILE: [1.0, 2.0]},
            "ablation": {HOSTILE: {HOSTILE: 1.0}},
            "permutation_importance": {HOSTILE: 1.0},
            "misses": [{HOSTILE: HOSTILE, "text": HOSTILE}],
            HOSTILE: HOSTILE,
        },
        skipped={"finetuned": HOSTILE},
    )
    page = paged(hostile)
    assert page.named("script", "img") == []
    assert page.text.count(HOSTILE) > 12
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in paged(plain).tags}


def test_nothing_is_fetched() -> None:
    html = render(context_report(made()))
    page = Page(html)
    assert page.named("script", "link", "img", "iframe", "object", "embed", "base", "form") == []
    for _, attributes in page.tags:
        assert "src" not in attributes
        assert not any(attribute.startswith("on") for attribute in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\((?!#)|@import|https?:", html)


def test_tables_headings_and_plots_can_be_read_without_seeing_them() -> None:
    page = paged(made())
    assert len(page.named("h1")) == 1
    assert len(page.named("h2")) == len(page.named("section")) == 8
    assert len(page.named("caption")) == len(page.named("table")) > 8
    assert all(cell.get("scope") for cell in page.named("th"))
    assert page.named("html") == [{"lang": "en"}]
    ids = [str(attributes["id"]) for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for attributes in (attributes for _, attributes in page.tags):
        for target in (attributes.get("aria-labelledby") or "").split():
            assert target in ids
        if (attributes.get("href") or "").startswith("#"):
            assert str(attributes["href"])[1:] in ids
    plots = page.named("svg")
    assert [plot["role"] for plot in plots] == ["img", "img"]
    assert "bm25t: ours 0.0, paper 11.3" in page.text


def test_the_same_experiment_gives_the_same_page() -> None:
    assert render(context_report(made())) == render(context_report(made()))


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_text_and_lines_stand_out_on_a_light_and_on_a_dark_page() -> None:
    html = render(Report("t", "l"))
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", html, re.S)
    )
    assert light.keys() == dark.keys()
    assert [light[f"line-{number}"] for number in range(1, len(LINES) + 1)] == list(LINES)
    for theme in (light, dark):
        for colour, value in theme.items():
            if colour not in {"page", "rule"}:
                # Lines are named in their own colour, so they must be as readable as text.
                assert contrast(value, theme["page"]) >= 4.5, colour
        mixed = [
            round(
                0.38 * int(theme["accent"][i : i + 2], 16)
                + 0.62 * int(theme["page"][i : i + 2], 16)
            )
            for i in (1, 3, 5)
        ]
        assert contrast("#" + "".join(f"{part:02x}" for part in mixed), theme["ink"]) >= 4.5


def test_labels_of_lines_do_not_overlap_and_stay_on_the_plot() -> None:
    ends = [99.5, 99.2, 100.0, 96.2, 65.8, 0.0]
    places = spread(ends, gap=5, low=0, high=100)
    assert sorted(places) == [places[ends.index(end)] for end in sorted(ends)]
    ordered = sorted(places)
    gaps = [upper - lower for lower, upper in pairwise(ordered)]
    assert min(gaps) >= 5 - 1e-9
    assert 0 <= min(places) <= max(places) <= 100
    assert places[4:] == [65.8, 0.0]


def test_a_plot_of_more_lines_than_colours_names_each() -> None:
    lines = {f"method {number}": [number, 5.0 * number] for number in range(12)}
    svg = curves(lines, name="x", title="t", description="d", x_label="k", y_label="y")
    for line in lines:
        assert f">{line}</text>" in svg


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        (True, "yes"),
        (7, "7"),
        (12.0, "12.00"),
        (-0.5, "−0.50"),
        (0.0446, "0.045"),
        (0.0, "0.00"),
        ([], "–"),
        ([1, "a"], "1, a"),
        ({"a": [1]}, "a: 1"),
    ],
)
def test_values_are_said_so_that_people_can_read_them(value: object, words: str) -> None:
    assert said(value) == words


def test_json_of_any_shape_becomes_tables_that_hold_all_of_it() -> None:
    value = {
        "ast": 39.62,
        "rows": [{"a": 1, "b": "x"}, {"a": 2, "c": [3, 4]}],
        "8": {"itr": {"tokens": 512.0}, "all": {"tokens": 900.0}},
        "empty": {},
        "none": [],
        "blank": [{}],
    }
    tables = {table.caption: table for table in any_tables("extra", value)}
    assert list(tables) == ["extra", "extra: rows", "extra: 8"]
    assert [(row.head, row.cells[0].text) for row in tables["extra"].rows] == [
        ("ast", "39.62"),
        ("none", "–"),
        ("blank", ""),
    ]
    assert [cell.text for cell in tables["extra: rows"].rows[1].cells] == ["–", "3, 4"]
    assert [row.head for row in tables["extra: 8"].rows] == ["itr", "all"]


def test_a_row_that_does_not_fill_its_table_is_refused() -> None:
    table = HtmlTable("t", [Column("a"), Column("b"), Column("c")], [Row("x", [Cell("1")])])
    with pytest.raises(ValueError, match="t: row 'x' fills 1 columns, not 2"):
        render(Report("r", "", [Section("s", [Folded("f", [table])])]))


def test_the_curve_passes_through_the_recall_of_the_table() -> None:
    run = {"q1": ["a", "b", "c", "d"], "q2": ["c", "a"], "q3": [], "q4": ["a"]}
    qrels = {"q1": {"a", "d"}, "q2": {"b", "a"}, "q3": {"a"}, "q4": set[str]()}
    curve = recall_curve(run, qrels, depth=6)
    recalls = (0.5 + 0 + 0, 0.5 + 0.5 + 0, 1, 1.5, 1.5, 1.5)
    assert curve == [round(100 * found / 3, 2) for found in recalls]
    figures = evaluate_run(run, qrels, ks=range(1, 7)).figures
    assert curve == [pytest.approx(figures[f"recall@{k}"], abs=0.01) for k in range(1, 7)]
    assert curve == sorted(curve)


def test_page_and_experiment_are_written_into_a_folder_that_is_made(tmp_path: Path) -> None:
    experiment = made()
    folder = tmp_path / "a" / "b"
    page = write_report(experiment, context_report, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["context.html", "context.json"]
    assert page == folder / "context.html"
    written = json.loads((folder / "context.json").read_text(encoding="utf-8"))
    assert Experiment.model_validate(written) == experiment


def test_the_experiment_is_kept_where_its_page_cannot_be_made(tmp_path: Path) -> None:
    def no_page(experiment: Experiment) -> Report:
        raise ValueError("no page")

    with pytest.raises(ValueError, match="no page"):
        write_report(made(), no_page, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["context.json"]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`command("--report", DIR)`: `ctrag eval context` whose experiment is there at once."""
    from ctrag.cli.main import app

    def run(*arguments: object) -> Any:
        return CliRunner().invoke(app, ["eval", "context", "--data", "x", *map(str, arguments)])

    monkeypatch.setattr("eval.context.run_context", lambda *_, **__: made())
    return run


def test_the_command_writes_the_page_and_names_it(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    ran = command("--report", tmp_path / "r")
    assert ran.exit_code == 0
    assert ran.output.splitlines()[-1] == f"page: {tmp_path / 'r' / 'context.html'}"
    assert "lambdamart_rrf" in (tmp_path / "r" / "context.html").read_text(encoding="utf-8")
    assert "page:" not in command().output


def test_the_experiments_file_gets_a_folder_when_there_is_none(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    assert command("--out", tmp_path / "new" / "deep" / "context.json").exit_code == 0
    text = (tmp_path / "new" / "deep" / "context.json").read_text(encoding="utf-8")
    assert Experiment.model_validate_json(text) == made()


def test_with_json_the_output_is_json_alone(command: Callable[..., Any], tmp_path: Path) -> None:
    ran = command("--report", tmp_path, "--json")
    assert Experiment.model_validate(json.load(io.StringIO(ran.output))) == made()
    assert (tmp_path / "context.html").is_file()


def test_a_folder_that_cannot_be_made_is_told_before_the_work(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.context.run_context", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    ran = command("--report", tmp_path / "file")
    assert isinstance(ran.exception, FileExistsError)
