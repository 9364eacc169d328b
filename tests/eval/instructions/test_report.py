"""The page about the instruction experiment holds its tables and the fitted hazard."""

from typing import Any

from eval.core.experiment import Experiment
from eval.instructions.report import instruction_report
from eval.report.page import HtmlTable, Plot, Text
from eval.report.tables import said


def experiment(hazard: dict[str, Any]) -> Experiment:
    def row(tokens: float, exposed: float) -> dict[str, Any]:
        return {"tokens_per_step": tokens, "tools_correct": None, "gold_exposed": exposed}

    bounds = {"gold_exposed": [80.0, 90.0]}
    misses = {"no_discovery": 15.0, "discovery": 10.0, "discovery_share": 12.0}
    return Experiment(
        experiment="instructions",
        data="episodes",
        data_sha256="0",
        seed=0,
        versions={},
        settings={},
        figures={
            "full": {"monolithic": row(1000, 100.0), "itr": row(50, 85.0)},
            "miss_rate": misses,
        },
        intervals={"full": {"monolithic": bounds, "itr": bounds}},
        extra={
            "steps": 7,
            "with_traces": {
                "figures": {"full": {"itr": row(40, 95.0)}, "miss_rate": misses},
                "intervals": {"full": {"itr": bounds}},
            },
            "hazard": hazard,
            "growth": {
                "history_tokens_per_loop": 30.0,
                "itr@full": {"tokens_at_loop": {"1": 80}, "loops_in_1M_at_2000_a_loop": 499},
            },
            "sufficiency": {"itr": {"auc": 70.0}},
            "halves": {"itr": {"others": {"steps": 3, "gold_exposed": 84.0}}},
            "needed_units": {"full": {"recall": 70.0}},
            "latency_ms": {
                "full": {"p50": 3.0, "p95": 5.0, "episode_p50": 9.0, "episode_p95": 20.0}
            },
        },
        skipped={},
        seconds=1.0,
    )


def test_the_page_says_what_is_saved_and_exposed() -> None:
    page = instruction_report(experiment({"fitted_on": [], "reason": "nothing was scored"}))
    assert "50 tokens in place of 1000: 95.0 % fewer" in page.lead
    assert "85.0 % of 7 steps" in page.lead
    assert "95.0 %." in page.lead
    titles = [one.title for one in page.sections]
    assert "Table 4: misses and discovery" in titles
    assert "Latency" in titles
    main = page.sections[0].parts[0]
    assert isinstance(main, HtmlTable)
    assert [one.head for one in main.rows] == ["whole prompt (B0)", "ITR", "ITR with traces"]
    assert main.rows[1].cells[1].text == "95.0"


def test_the_hazard_is_drawn_where_it_was_fitted_and_its_absence_has_a_reason() -> None:
    missing = instruction_report(experiment({"fitted_on": [], "reason": "nothing was scored"}))
    [reason] = next(one for one in missing.sections if "hazard" in one.title).parts
    assert isinstance(reason, Text)
    assert reason.text == "Not fitted: nothing was scored."
    fitted = {
        "fitted_on": ["8", "40"],
        "beta_over_alpha": 0.05,
        "itr@8": {"predicted": said(50.0), "measured": 25.0},
    }
    drawn = next(
        one for one in instruction_report(experiment(fitted)).sections if "hazard" in one.title
    )
    assert [type(one) for one in drawn.parts] == [HtmlTable, Plot, HtmlTable]


def test_growth_over_loops_is_drawn_for_the_largest_catalogue() -> None:
    page = instruction_report(experiment({"fitted_on": [], "reason": "nothing was scored"}))
    parts = next(one for one in page.sections if "rowth" in one.title).parts
    assert [type(one) for one in parts] == [Plot, HtmlTable]
