"""The language-model provider against a real HTTP server: what is made, repaired, spent."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctrag.settings import settings
from stores.people.dataset import Kind, Persona, load_dataset, write_personas
from synth.dataset import make_dataset
from synth.openai.provider import OpenAIProvider, open_asker
from synth.provider import BudgetSpent, ProviderError
from tests.synth.conftest import COUNTS, Model

KINDS: list[Kind] = ["reference", "refind", "multi", "no_tool"]


def made_by(provider: OpenAIProvider, seed: int = 7) -> tuple[Persona, list[Any]]:
    persona = provider.person("p1", COUNTS, seed)
    return persona, provider.requests(persona, KINDS, seed)


def tried(provider: OpenAIProvider) -> tuple[Any, str]:
    """What the provider made, or None and the reason why it stopped."""
    try:
        return made_by(provider), ""
    except BudgetSpent as spent:
        return None, str(spent)


def test_a_person_and_their_requests_match_the_models_answers(
    opened: Callable[..., OpenAIProvider], tmp_path: Path
) -> None:
    persona, labelled = made_by(opened())
    assert [item.app for item in persona.items] == ["mail", "notes", "notes", "notes"] + 2 * [
        "music"
    ]
    assert [one.labels.kind for one in labelled] == KINDS
    assert labelled[0].labels.relevant == ("p1-notes-1",)
    note = next(item for item in persona.items if item.id == "p1-notes-1")
    plan = labelled[0].labels.plan
    assert plan is not None
    assert (plan.api, plan.arguments) == ("read_note", {"title": note.text("title")})
    assert labelled[0].labels.tools == ("read_note", "search_notes", "list_notes")
    assert (labelled[3].labels.tools, labelled[3].labels.plan) == ((), None)
    write_personas(tmp_path, [persona])
    [loaded] = load_dataset(tmp_path).personas
    assert (loaded.person, loaded.items) == (persona.person, persona.items)


def test_a_rerun_uses_the_cache_and_gives_the_same(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    first = made_by(opened())
    asked = len(model.asked)
    again = opened()
    assert made_by(again) == first
    assert len(model.asked) == asked
    assert (again.asker.budget.questions, again.asker.budget.cost) == (0, 0.0)
    assert again.asker.budget.kept == asked


def test_another_seed_gives_another_person(opened: Callable[..., OpenAIProvider]) -> None:
    provider = opened()
    one, two = (provider.person("p1", COUNTS, seed) for seed in (1, 2))
    assert one.person.profile.name != two.person.profile.name


def test_a_repair_quotes_the_problems(opened: Callable[..., OpenAIProvider], model: Model) -> None:
    model.faults = {"notes_items": [lambda answer: {"items": [{"title": "x"}, *answer["items"]]}]}
    opened().person("p1", COUNTS, 7)
    quoted = model.last("notes_items")
    assert "items.0: body: Field required" in quoted
    roles = [one["role"] for one in model.asked[model.forms.index("notes_items") + 1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_plan_that_fails_the_schema_or_a_check_is_repaired(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    model.faults = {"arguments": [{"name": "x"}, {"title": "nowhere"}]}

    def faults(persona: Persona, labelled: Any) -> list[str]:
        if labelled.labels.plan is None:
            return []
        title = labelled.labels.plan.arguments["title"]
        return [f"There is no note {title!r}."] if title == "nowhere" else []

    provider = opened()
    checked = OpenAIProvider(provider.asker, provider.apps, provider.toolbox, 1, faults)
    persona = checked.person("p1", COUNTS, 7)
    [labelled] = checked.requests(persona, ["refind"], 7)
    assert labelled.labels.plan is not None
    assert labelled.labels.plan.arguments["title"] != "nowhere"
    quoted = [one["messages"][-1]["content"] for one in model.asked if len(one["messages"]) > 2]
    assert "title: read_note needs this argument" in quoted[0]
    assert "There is no note 'nowhere'." in quoted[1]


def test_a_repeated_request_is_asked_for_again(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    provider = opened()
    persona = provider.person("p1", COUNTS, 7)
    [known] = provider.requests(persona, ["refind"], 7)
    model.faults = {
        "requests": [
            lambda answer: {
                "requests": [{**answer["requests"][0], "text": known.request.text.upper()}]
            }
        ]
    }
    [fresh] = provider.requests(persona, ["refind"], 8, avoid=[known.request.text])
    assert fresh.request.text != known.request.text
    assert "is known already" in model.last("requests")


def test_a_request_without_usable_labels_is_left_out(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    provider = opened()
    persona = provider.person("p1", COUNTS, 7)
    model.faults = {"tools": [{"tools": ["no_such_api"]}] * 3}
    labelled = provider.requests(persona, ["reference", "refind"], 7)
    assert [one.labels.kind for one in labelled] == ["refind"]


def test_a_rerun_after_unusable_answers_uses_the_cache_and_gives_the_same(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    model.faults = {"persona": ["no"] * 3, "thought": [{"thought": "x"}] * 3}
    persona, labelled = made_by(opened())
    assert model.count("persona") == 4  # three unusable answers, then another seed's
    assert [one.labels.kind for one in labelled] == ["refind", "multi", "no_tool"]
    asked = len(model.asked)
    assert made_by(opened()) == (persona, labelled)
    assert len(model.asked) == asked


def test_valid_requests_of_an_answer_that_stays_invalid_are_kept(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    provider = opened()
    persona = provider.person("p1", COUNTS, 7)

    def wrong(answer: Any) -> Any:
        first, second, third, fourth = answer["requests"]
        return {"requests": [{**first, "relevant": ["p1-notes-99"]}, second, third | {"kind": "x"}, fourth]}  # fmt: skip

    model.faults = {"requests": [wrong] * 3}
    labelled = provider.requests(persona, KINDS, 7)
    assert model.count("requests") == 3
    assert [one.labels.kind for one in labelled] == ["refind", "no_tool"]


def test_a_person_without_valid_requests_does_not_stop_the_run(
    through_model: Model, opened: Callable[..., OpenAIProvider], tmp_path: Path
) -> None:
    class Wrong(list[Any]):
        """Names an item that nobody has, whenever the first person is asked."""

        def pop(self, place: Any = 0) -> Any:
            about_first = "- s00001-" in through_model.asked[-1]["messages"][1]["content"]
            return unknown if about_first else None

    def unknown(answer: Any) -> Any:
        return {"requests": [{**one, "relevant": ["nothing"]} for one in answer["requests"]]}

    through_model.faults = {"requests": Wrong([None])}
    made = make_dataset(replace(opened(), workers=1), tmp_path / "out", 2)
    assert made.personas == 2
    owners = {one.person_id for part in ("train", "test")
              for one in load_dataset(tmp_path / "out" / part).requests}  # fmt: skip
    assert owners == {"s00002"}
    asked = len(through_model.asked)
    make_dataset(replace(opened(), workers=1), tmp_path / "again", 2)
    assert len(through_model.asked) == asked


def test_an_answer_that_stays_invalid_is_an_error_and_not_cached(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    model.faults = {"persona": ["no"] * 9}
    provider = opened()
    with pytest.raises(ProviderError, match=r"persona: no usable answer: the answer is not JSON"):
        provider.person("p1", COUNTS, 7)
    assert len(provider.asker.answers) == 0
    assert provider.person("p1", COUNTS, 7).person.person_id == "p1"


def test_spending_stays_within_the_limit_and_a_rerun_resumes(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    whole = opened(cache="whole")
    right = made_by(whole)
    assert whole.asker.budget.cost == pytest.approx((2000 * 1 + 500 * 2) * len(model.asked) / 1e6)
    questions = len(model.asked)
    limit, runs = 0.012, 0
    while True:
        provider = opened(max_cost=limit)
        runs += 1
        again, stopped = tried(provider)
        assert (provider.asker.budget.cost or 0) <= limit
        if again is not None:
            break
        assert "run the same command again" in stopped
        assert provider.asker.budget.questions > 0
    assert again == right
    assert runs > 1
    assert len(model.asked) == 2 * questions  # nothing was asked twice


def test_a_limit_requires_prices(through_model: Model, configure: Any, tmp_path: Path) -> None:
    configure(openai_base_url=through_model.url, openai_model="toy")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CTRAG_OPENAI_PRICE_PROMPT")
        settings.cache_clear()
        with pytest.raises(ValueError, match="max_cost: the price of the model is unknown"):
            open_asker(settings(), tmp_path, None, 1.0)


def test_concurrency_is_limited_and_threads_share_the_budget(
    opened: Callable[..., OpenAIProvider], model: Model, configure: Any
) -> None:
    configure(openai_concurrency=3)
    model.pause = 0.1
    provider = opened(max_cost=10.0)
    with ThreadPoolExecutor(12) as pool:
        people = list(
            pool.map(lambda seed: provider.person(f"p{seed}", {"mail": 1}, seed), range(12))
        )
    assert [one.person.person_id for one in people] == [f"p{n}" for n in range(12)]
    assert 1 < model.most <= 3
    assert provider.asker.budget.questions == len(model.asked) == 24


def test_a_user_can_override_any_prompt(
    opened: Callable[..., OpenAIProvider], model: Model, tmp_path: Path
) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "system.jinja").write_text("Answer in rhymes. {% raw %}{{ }}{% endraw %}")
    opened(prompts=folder).person("p1", {}, 7)
    assert model.asked[0]["messages"][0]["content"] == "Answer in rhymes. {{ }}"
    (folder / "persona.jinja").write_text("Invent {{ somebody }}")
    with pytest.raises(ValueError, match=r"persona\.jinja: 'somebody' is undefined"):
        opened(prompts=folder).person("p1", {}, 7)
    (folder / "persona.jinja").write_text("one\n{% if %}")
    with pytest.raises(ValueError, match=r"persona\.jinja:2: Expected an expression"):
        opened(prompts=folder).person("p1", {}, 7)
    (folder / "persons.jinja").write_text("x")
    with pytest.raises(ValueError, match=r"persons\.jinja is no prompt; known: system, persona"):
        opened(prompts=folder)
    with pytest.raises(FileNotFoundError, match="no folder of prompts"):
        opened(prompts=tmp_path / "nowhere")


def test_an_invalid_cache_file_is_named(opened: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "answers.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(ValueError, match=r"answers\.sqlite: .*; remove the file to start over"):
        opened()
