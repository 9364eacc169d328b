"""`ctrag prompt` and `ctrag review`, on policies and tools of our own."""

import json
import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.gains import Gains
from ctrag.agents.prompt.reranker import HybridWeights, Reranker
from ctrag.agents.prompt.settings import BUDGET
from ctrag.models.tokens import token_counter
from tests.agents.prompt.toys import tiny_cross_encoder

POLICY = """# Shop

Greet people and be brief. {filler}

## Cancel an order

An order can be cancelled while it is pending, with a reason. {filler}

## Return an order

A delivered order can be returned within 30 days. {filler}
"""
CATALOGUE = [
    {"name": "cancel_order", "server": "shop", "description": "Cancel a pending order."},
    {"name": "return_order", "server": "shop", "description": "Return a delivered order."},
    {"name": "play_song", "server": "music", "description": "Play a song."},
]


@pytest.fixture
def shop(tmp_path: Path, with_planner: Path) -> list[object]:
    """Options that name a folder of policies and a catalogue."""
    folder = tmp_path / "policies"
    folder.mkdir()
    filler = "Say what you do before you do it, and wait for a yes. " * 16
    (folder / "shop.md").write_text(POLICY.format(filler=filler), encoding="utf-8")
    catalogue = tmp_path / "tools.json"
    catalogue.write_text(json.dumps(CATALOGUE), encoding="utf-8")
    return ["--instructions", folder, "--catalogue", catalogue]


def test_a_prompt_is_within_its_budget_and_says_what_is_in_it(
    ctrag: Callable[..., Any], shop: list[object], tmp_path: Path
) -> None:
    log = tmp_path / "log" / "prompts.jsonl"
    ran = ctrag("prompt", *shop, "--budget", 700, "--telemetry", log, "--json", "cancel my order")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json
    assert found["tokens"] <= 700
    assert found["text"].startswith("Safety rules.")
    assert "shop/cancel_order" in [one["id"] for one in found["tools"]]
    assert "shop#cancel-an-order" in [one["id"] for one in found["fragments"]]
    assert found["form"] == "text"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", one["recency"]) for one in found["fragments"])
    record = json.loads(log.read_text(encoding="utf-8"))
    assert record["tokens"] == found["tokens"]
    plain = ctrag("prompt", *shop, "--budget", 700, "cancel my order")
    assert f"{found['tokens']} of 700 tokens" in plain.out


@pytest.mark.parametrize(("form", "system"), [("openai", "messages"), ("anthropic", "system")])
def test_a_chat_request_keeps_to_the_budget_with_its_tools(
    ctrag: Callable[..., Any], shop: list[object], form: str, system: str
) -> None:
    asked = ["prompt", *shop, "--budget", 700, "--form", form, "cancel my order"]
    found = ctrag(*asked, "--json").json
    assert (found["form"], set(found) & {"openai", "anthropic"}) == (form, {form})
    said = found[form][system] if form == "anthropic" else found[form][system][0]["content"]
    tools = json.dumps(found[form]["tools"], ensure_ascii=False, separators=(",", ":"))
    count = token_counter()
    assert found["tokens"] == count(said) + count(tools) <= 700
    assert found[form]["tools"]
    plain = ctrag(*asked).out
    assert json.loads(plain[: plain.rindex("\n}") + 2]) == found[form]
    assert f"{found['tokens']} of 700 tokens" in plain


def test_an_unknown_form_is_refused(ctrag: Callable[..., Any], shop: list[object]) -> None:
    ran = ctrag("prompt", *shop, "--form", "xml", "cancel my order")
    assert (ran.code, ran.err) == (1, "ctrag: form: must be text, openai, anthropic, not 'xml'\n")


def test_a_budget_below_the_overlay_is_one_line_and_exit_1(
    ctrag: Callable[..., Any], shop: list[object]
) -> None:
    ran = ctrag("prompt", *shop, "--budget", 20, "cancel my order")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("ctrag: budget: 20 tokens do not hold the safety overlay")
    assert ran.err.count("\n") == 1


def test_under_review_nothing_is_served_before_somebody_approves(
    ctrag: Callable[..., Any], shop: list[object]
) -> None:
    instructions = shop[:2]
    asked = ["prompt", *shop, "--budget", 900, "--review", "--json", "cancel my order"]
    assert ctrag(*asked).json["fragments"] == []
    waiting = ctrag("review", *instructions, "--json").json["pending"]
    assert len(waiting) == 3
    nobody = ctrag("review", *instructions, "--approve", "all")
    assert (nobody.code, nobody.err) == (1, "ctrag: by: say who approves\n")
    done = ctrag("review", *instructions, "--approve", "all", "--by", "Ada")
    assert "0 of 3 fragments wait" in done.out
    served = [one["id"] for one in ctrag(*asked).json["fragments"]]
    assert "shop#cancel-an-order" in served


def test_an_edit_that_removes_a_rule_is_served_once_somebody_approves_it(
    ctrag: Callable[..., Any], shop: list[object]
) -> None:
    instructions = shop[:2]
    asked = ["prompt", *shop, "--budget", 2400, "--review", "--json", "return my order"]
    ctrag("review", *instructions, "--approve", "all", "--by", "Ada")
    before = {one["id"] for one in ctrag(*asked).json["fragments"]}
    policy = Path(str(shop[1])) / "shop.md"
    cut = policy.read_text(encoding="utf-8").partition("## Return an order")[0]
    policy.write_text(cut, encoding="utf-8")
    assert {one["id"] for one in ctrag(*asked).json["fragments"]} == before
    waiting = ctrag("review", *instructions)
    assert "0 of 2 fragments wait for approval, and the removal of 1" in waiting.out
    assert "shop#return-an-order  (removed since " in waiting.out
    assert ctrag("review", *instructions, "--json").json["removed"] == ["shop#return-an-order"]
    ctrag("review", *instructions, "--approve", "shop#return-an-order", "--by", "Ada")
    after = {one["id"] for one in ctrag(*asked).json["fragments"]}
    assert before - after == {"shop#return-an-order"}


def test_the_full_prompt_is_given_and_named_when_retrieval_breaks(
    ctrag: Callable[..., Any], shop: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the encoder is gone")

    monkeypatch.setattr("ctrag.agents.prompt.retrieval.HybridRetriever.scores", broken)
    ran = ctrag("prompt", *shop, "cancel my order")
    assert (ran.code, ran.err) == (0, "")
    assert "–  music/play_song" in ran.out
    assert "the full prompt, since retrieval broke: RuntimeError: the encoder is gone" in ran.out
    found = ctrag("prompt", *shop, "--json", "cancel my order").json
    assert (len(found["tools"]), found["budget"], found["scores"]) == (3, None, {})


@pytest.mark.parametrize("folder", ["packaged", "weights only"])
def test_re_ranking_without_a_re_ranker_is_an_error_that_says_how_to_train_one(
    ctrag: Callable[..., Any], shop: list[object], tmp_path: Path, folder: str
) -> None:
    Reranker.packaged().save(tmp_path / "hybrid")
    own = [] if folder == "packaged" else ["--reranker", tmp_path / "hybrid"]
    ran = ctrag("prompt", *shop, *own, "--rerank", "cancel my order")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("ctrag: --rerank: there is no re-ranker; train one with `ctrag train")
    assert ctrag("prompt", *shop, *own, "cancel my order").code == 0


@pytest.fixture
def alike(tmp_path: Path) -> Path:
    """Folder of a re-ranker that scores all pairs alike and is all that counts."""
    card = Reranker.packaged().card
    weights = HybridWeights(cosine=0.0, lexical=0.0, cross=1.0)
    folder = tmp_path / "own"
    model = tiny_cross_encoder(tmp_path / "tiny")
    Reranker(card.model_copy(update={"with_cross": weights}), model).save(folder)
    return folder


def test_a_trained_re_ranker_is_used(
    ctrag: Callable[..., Any], shop: list[object], tmp_path: Path, alike: Path
) -> None:
    log = tmp_path / "log.jsonl"
    asked = ["prompt", *shop, "--reranker", alike, "--telemetry", log]
    for more in (["--rerank"], [], ["--no-rerank"]):
        assert ctrag(*asked, *more, "cancel my order").code == 0
    records = [json.loads(one) for one in log.read_text(encoding="utf-8").splitlines()]
    assert [one["reranked"] for one in records] == [True, True, False]
    first, _, third = (one["scores"] for one in records)
    assert first["shop/cancel_order"] == first["shop/return_order"]  # it scores all pairs alike
    assert third["shop/cancel_order"] > third["shop/return_order"]


def test_the_re_ranker_of_the_settings_is_used_where_none_is_given(
    ctrag: Callable[..., Any],
    shop: list[object],
    tmp_path: Path,
    alike: Path,
    configure: Callable[..., None],
) -> None:
    configure(reranker=alike)
    found = ctrag("prompt", *shop, "--rerank", "--json", "cancel my order").json["scores"]
    assert found["shop/cancel_order"] == found["shop/return_order"]
    assert PromptBuilder.open(str(shop[1]), str(shop[3])).reranks
    Reranker.packaged().save(tmp_path / "hybrid")  # one that is given goes before
    ran = ctrag("prompt", *shop, "--reranker", tmp_path / "hybrid", "--rerank", "cancel my order")
    assert ran.err.startswith("ctrag: --rerank: there is no re-ranker")
    configure(reranker=tmp_path / "none")
    ran = ctrag("prompt", *shop, "cancel my order")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        f"ctrag: CTRAG_RERANKER: {tmp_path / 'none'} holds no reranker-card.json; name a folder "
        "that `ctrag train reranker` wrote\n"
    )


def test_overlay_pins_and_feedback_are_passed_on(
    ctrag: Callable[..., Any], shop: list[object], tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").write_text("Never lie.", encoding="utf-8")
    feedback = Gains()
    for _ in range(200):
        feedback.learn(["shop/cancel_order"], [])
    feedback.save(tmp_path / "gains.json")
    asked = ["prompt", *shop, "--json", "--tools", 1, "--signatures", 0, "--discovery", "off"]
    plain = ctrag(*asked, "cancel my order").json
    assert [one["id"] for one in plain["tools"]] == ["shop/cancel_order"]
    found = ctrag(
        *asked,
        "--overlay",
        tmp_path / "rules.txt",
        "--pin",
        "*=music/play_song",
        "--gains",
        tmp_path / "gains.json",
        "cancel my order",
    ).json
    assert found["text"].startswith("Never lie.")
    assert [one["id"] for one in found["signatures"]] == ["music/play_song"]
    assert [one["id"] for one in found["tools"]] == ["shop/return_order"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--pin", "play_song"], "--pin: must be DOMAIN=ID, or *=ID for anywhere, not 'play_song'"),
        (["--pin", "*=none"], "pinned: 'none' of domain '*' is no tool"),
    ],
)
def test_a_pin_that_names_no_tool_is_refused(
    ctrag: Callable[..., Any], shop: list[object], options: list[str], problem: str
) -> None:
    assert ctrag("prompt", *shop, *options, "cancel my order").err == f"ctrag: {problem}\n"


def test_the_default_budget_is_the_one_that_is_measured(
    ctrag: Callable[..., Any], shop: list[object]
) -> None:
    from ctrag.cli import evaluate_agents
    from eval.instructions import run

    assert ctrag("prompt", *shop, "--json", "cancel my order").json["budget"] == BUDGET
    assert run.BUDGET == BUDGET == 2400
    assert signature(evaluate_agents.instructions).parameters["budget"].default == BUDGET


def test_calls_before_are_named_by_id_or_name_and_others_are_refused(
    ctrag: Callable[..., Any], shop: list[object]
) -> None:
    asked = ["prompt", *shop, "--json", "cancel my order"]
    by_id = ctrag(*asked, "--after", "shop/return_order").json
    assert by_id == ctrag(*asked, "--after", "return_order").json
    assert by_id["scores"] != ctrag(*asked).json["scores"]
    ran = ctrag(*asked, "--after", "nonsense")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "ctrag: --after: 'nonsense' is no tool of the catalogue; give an id such as "
        "'shop/cancel_order'\n"
    )


def test_an_openapi_document_serves_as_the_catalogue(
    ctrag: Callable[..., Any], shop: list[object], tmp_path: Path
) -> None:
    operation = {"operationId": "cancel_order", "summary": "Cancel an order."}
    document = {"openapi": "3.0.0", "info": {"title": "Shop"}, "paths": {"/o": {"post": operation}}}
    (tmp_path / "api.json").write_text(json.dumps(document), encoding="utf-8")
    found = ctrag("prompt", *shop[:3], tmp_path / "api.json", "--json", "cancel my order").json
    assert [one["id"] for one in found["tools"]] == ["shop/cancel_order"]
