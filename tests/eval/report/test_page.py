"""Claims about the page of an experiment: nothing fetched, no text taken for markup, readable."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.context.report import context_report
from eval.core.experiment import Experiment
from eval.report.page import ReportPage, render, write_report
from eval.report.svg import LINES
from tests.contrast import contrast, themes
from tests.eval.context_page import Page, made, paged

HOSTILE = "</td><script>alert(1)</script><img src=http://a.example/x> $x_1$ & \"'"


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


def test_text_and_lines_stand_out_on_a_light_and_on_a_dark_page() -> None:
    html = render(ReportPage("t", "l"))
    light, dark = themes(html)
    assert light.keys() == dark.keys()
    assert [light[f"line-{number}"] for number in range(1, len(LINES) + 1)] == list(LINES)
    for theme in (light, dark):
        lines = [f"line-{number}" for number in range(1, len(LINES) + 1)]
        for colour in ("ink", "muted", "accent", "alarm", *lines):
            # Lines are named in their own colour, so they must be as readable as text.
            assert contrast(theme[colour], theme["page"]) >= 4.5, colour
        mixed = [
            round(
                0.38 * int(theme["accent"][i : i + 2], 16)
                + 0.62 * int(theme["page"][i : i + 2], 16)
            )
            for i in (1, 3, 5)
        ]
        assert contrast("#" + "".join(f"{part:02x}" for part in mixed), theme["ink"]) >= 4.5


def test_page_and_experiment_are_written_into_a_folder_that_is_made(tmp_path: Path) -> None:
    experiment = made()
    folder = tmp_path / "a" / "b"
    page = write_report(experiment, context_report, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["context.html", "context.json"]
    assert page == folder / "context.html"
    written = json.loads((folder / "context.json").read_text(encoding="utf-8"))
    assert Experiment.model_validate(written) == experiment


def test_the_experiment_is_kept_where_its_page_cannot_be_made(tmp_path: Path) -> None:
    def no_page(experiment: Experiment) -> ReportPage:
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

    monkeypatch.setattr("eval.context.run.run_context", lambda *_, **__: made())
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
    monkeypatch.setattr("eval.context.run.run_context", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    ran = command("--report", tmp_path / "file")
    assert isinstance(ran.exception, FileExistsError)
