"""The line that names the likeliest tool: where it stands, and where there is none."""

import re

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.prompt.assembly import OVERLAY, ROUTING_NOTE, fixed_tokens
from ctrag.agents.prompt.forms import Form
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.tool_documents import make_documents
from tests.agents.prompt.toys import FORMS, Flights, builder, in_form


def count_letters_and_signs(text: str) -> int:
    """Words between underscores, and every sign: long names are dear."""
    return len(re.findall(r"[^\W_]+|[^\w\s]|_", text))


@pytest.mark.parametrize("form", FORMS)
def test_the_likeliest_tool_is_named_last_where_a_next_tool_model_has_its_say(form: Form) -> None:
    settings = PromptSettings(discovery="off", next_tool_weight=2.0)
    prompt = builder(next_tool=Flights(), settings=settings).build(
        "cancel my order", 600, form=form
    )
    assert prompt.likely is not None
    assert prompt.likely.chance == pytest.approx(prompt.scores["air/book_flight"], abs=1e-6)
    percent = f"{100 * prompt.likely.chance:.0f} %"
    ending = f"{ROUTING_NOTE}\n\nLikely next tool: book_flight ({percent})"
    assert in_form(prompt)[0].endswith(ending)


@pytest.mark.parametrize(
    "model",
    [Flights(("end", 0.9), ("air/book_flight", 0.1)), Flights(("sea/book_ship", 1.0))],
    ids=["the end comes first", "it knows none of these tools"],
)
def test_no_tool_is_named_where_the_model_foretells_none(model: Flights) -> None:
    settings = PromptSettings(discovery="off", next_tool_weight=2.0)
    assert builder(next_tool=model, settings=settings).build("cancel my order", 600).likely is None


def test_a_tool_that_the_agent_lacks_does_not_keep_another_from_being_named() -> None:
    model = Flights(("sea/book_ship", 0.8), ("air/book_flight", 0.2))
    settings = PromptSettings(discovery="off", next_tool_weight=2.0)
    prompt = builder(next_tool=model, settings=settings).build("cancel my order", 600)
    assert prompt.likely is not None
    assert prompt.likely.id == "air/book_flight"


def test_a_name_too_long_for_its_line_costs_no_unit() -> None:
    long = "x_" * 40 + "flight"
    tools = make_documents(
        [CatalogueTool(long, "Book a flight.", "air")], {}, count_letters_and_signs
    )
    for likely in (True, False):
        settings = PromptSettings(discovery="off", next_tool_weight=2.0, likely=likely)
        made = builder(
            tools=tools,
            fragments=(),
            count=count_letters_and_signs,
            next_tool=Flights((f"air/{long}", 1.0)),
            settings=settings,
        )
        room = count_letters_and_signs(tools[0].line) + 60
        prompt = made.build("a flight", fixed_tokens(OVERLAY, count_letters_and_signs) + room)
        assert prompt.tools == tuple(tools)
        assert prompt.likely is None


def test_no_tool_is_named_without_a_model_without_its_weight_or_where_it_is_off() -> None:
    for model, weight, likely in [
        (None, 2.0, True),
        (Flights(), 0.0, True),
        (Flights(), 2.0, False),
    ]:
        settings = PromptSettings(discovery="off", next_tool_weight=weight, likely=likely)
        prompt = builder(next_tool=model, settings=settings).build("cancel my order", 600)
        assert prompt.likely is None
        assert prompt.text.endswith(ROUTING_NOTE)
