"""Training the re-ranker: the cross-encoder it leaves, held-out requests, sources."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.agents.prompt.encoders import MiniLMPassageEncoder
from ctrag.agents.prompt.reranker import CARD as CARD_FILE
from ctrag.agents.prompt.reranker import Reranker, query_text
from tests.agents.prompt.toys import tiny_cross_encoder
from training.core.shares import shares_of
from training.prompts.decisions import Decision, DecisionSource, load_source
from training.prompts.reranker import RerankerSettings, _held_out, fit_choice, train_reranker

TOOLS = ("cancel an order", "return an order", "play a song", "book a flight")
ASKED = [
    (f"please {tool} {word}", row)
    for row, tool in enumerate(TOOLS)
    for word in ("now", "today", "for me", "at once", "again", "soon", "later", "if you can")
]
SOURCE = DecisionSource("toy", TOOLS, tuple(Decision(text, (), (row,)) for text, row in ASKED))
SETTINGS = RerankerSettings(steps=2, groups=2, negatives=2, held_out=0.3, threads=1)
CARD = {"command": "none", "data": "toy", "data_sha256": "", "seed": 1, "versions": {}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reranker")


@pytest.fixture(scope="module")
def trained(folder: Path) -> Reranker:
    made = train_reranker([SOURCE], MiniLMPassageEncoder(), SETTINGS, CARD, folder / "readings")
    made.save(folder)
    return made


def test_it_leaves_weights_figures_and_a_calibration(trained: Reranker) -> None:
    assert trained.trained
    assert set(trained.card.figures) == {"dense", "hybrid", "hybrid_reranked", "cross"}
    assert trained.card.figures["hybrid"]["recall@20"] == 100.0  # four tools
    assert trained.card.with_cross.cosine > 0
    assert trained.card.without_cross.cross == 0


def test_no_steps_leave_the_hybrid_weights_alone(tmp_path: Path) -> None:
    none = replace(SETTINGS, steps=0)
    made = train_reranker([SOURCE], MiniLMPassageEncoder(), none, CARD, tmp_path / "readings")
    made.save(tmp_path)
    loaded = Reranker.load(tmp_path)
    assert not loaded.trained
    assert set(loaded.card.figures) == {"dense", "hybrid"}
    assert loaded.card.with_cross == loaded.card.without_cross
    assert loaded.card.with_cross.cross == 0


def test_the_loaded_re_ranker_scores_pairs_alone_as_the_saved_one_does_together(
    trained: Reranker, folder: Path
) -> None:
    query = query_text("cancel it", ["shop/find_order"])
    together = trained.scores(query, TOOLS)
    loaded = Reranker.load(folder)
    assert loaded.card == trained.card
    alone = [float(loaded.scores(query, [one])[0]) for one in TOOLS]
    assert together == pytest.approx(alone, abs=1e-5)
    assert len(set(np.round(together, 4))) == len(TOOLS)
    assert loaded.scores(query, []).shape == (0,)


def test_training_puts_the_right_tool_first_and_the_seed_says_how(tmp_path: Path) -> None:
    """One tool is right whatever is asked, which a single layer can learn."""
    tiny_cross_encoder(tmp_path / "base")
    longer = replace(
        SETTINGS, base=str(tmp_path / "base"), steps=40, negatives=3, learning_rate=0.02
    )
    source = DecisionSource("toy", TOOLS, tuple(Decision(text, (), (2,)) for text, _ in ASKED))
    first, again = (
        train_reranker([source], MiniLMPassageEncoder(), longer, CARD, tmp_path / "readings")
        for _ in range(2)
    )
    assert first.card.figures["cross"]["recall@1"] == 100.0  # by chance 25
    assert first.card == again.card
    assert list(first.scores("pay", TOOLS)) == list(again.scores("pay", TOOLS))


def test_what_an_earlier_version_trained_is_named(trained: Reranker, tmp_path: Path) -> None:
    card = trained.card.model_dump() | {"scale": 2.0}
    card["with_cross"]["cross"] = 0.5
    (tmp_path / CARD_FILE).write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ValueError, match=r"holds no folder 'cross-encoder'.*train reranker` again"):
        Reranker.load(tmp_path)


def test_all_steps_of_a_request_are_on_one_side() -> None:
    sides = {_held_out(Decision("do it", done, (0,)), 0.5) for done in ((), ("a",), ("a", "b"))}
    assert len(sides) == 1
    share = np.mean([_held_out(Decision(str(n), (), (0,)), 0.1) for n in range(3000)])
    assert 0.08 < share < 0.12


def test_the_latest_calls_stand_before_the_request() -> None:
    done = ["a/w", "a/find_user", "a/get_order", "a/get_order"]
    assert query_text("cancel", done) == "After find user, get order, get order: cancel"
    assert query_text("cancel") == "cancel"


def test_the_choice_model_finds_the_column_that_tells() -> None:
    draw = np.random.default_rng(0)
    features, right = [], []
    for _ in range(300):
        rows = draw.normal(size=(5, 2))
        shares = np.exp(3 * rows[:, 0])
        gold = np.zeros(5, dtype=bool)
        gold[draw.choice(5, p=shares / shares.sum())] = True
        features.append(rows)
        right.append(gold)
    weights = fit_choice(features, right)
    assert weights[0] == pytest.approx(3, abs=0.5)
    assert abs(weights[1]) < 0.3
    with pytest.raises(ValueError, match="no decision has its tool among the candidates"):
        fit_choice(features[:2], [np.zeros(5, dtype=bool)] * 2)


def written(folder: Path, name: str) -> Path:
    target = folder / name
    target.mkdir()
    tools = [{"name": one, "description": one} for one in ("a", "b", "c")]
    (target / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    rows = [{"query_id": "1", "text": "do a then b", "tools": ["a", "b"]}]
    (target / "queries.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    return target


def test_chains_are_steps_and_sets_are_one_decision(tmp_path: Path) -> None:
    chains = load_source(written(tmp_path, "my-chains")).decisions
    assert [(one.history, one.right) for one in chains] == [((), (0,)), (("a",), (1,))]
    [whole] = load_source(written(tmp_path, "my-sets")).decisions
    assert (whole.history, whole.right) == ((), (0, 1))


def test_a_query_that_names_no_tool_of_the_catalogue_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, "sets")
    (folder / "queries.jsonl").write_text(
        '{"query_id": "7", "text": "x", "tools": ["z"]}\n', encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r"queries\.jsonl: 7: no tool 'z'"):
        load_source(folder)


@pytest.mark.parametrize("given", ["seal", "seal=2", "seal=0", "other=0.5", "seal=x"])
def test_a_share_names_a_folder_and_lies_within_one(given: str) -> None:
    assert shares_of(["seal=0.5"], ["seal"]) == {"seal": 0.5}
    with pytest.raises(ValueError, match="--share: "):
        shares_of([given], ["seal"])
