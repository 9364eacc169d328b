"""An experiment in which every figure is another one, and what a browser would make of its page."""

from html.parser import HTMLParser
from typing import Any

from eval.context.report import context_report
from eval.core.experiment import Experiment
from eval.report.page import render

RAN = ("bm25t", "cot", "lambdamart_rrf")
MEASURES = ("recall@3", "recall@5", "recall@10", "ndcg@3", "ndcg@5", "ndcg@10")
KINDS = ("habit", "multi")


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
            "permutation_importance": {f"feature{n}": 2.5 - n / 8 for n in range(30)},
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
