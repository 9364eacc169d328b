"""Claims about filling a call: what is taken is taken, and what nobody spoke of is left out."""

from pathlib import Path

import pytest

from ctrag.agents.calls.filling import fill_call, filling_prompt
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.models.language_model import LanguageModel

TEXT = {"type": "string"}
FLIGHT = CatalogueTool(
    "book_flight",
    "Books a flight",
    parameters={
        "properties": {
            "airline": TEXT,
            "origin": {**TEXT, "description": 'Where it "begins"'},
            "destination": TEXT,
            "seats": {"type": "integer"},
            "cabin": {"enum": ["economy", "business"]},
            "meal": {"type": "boolean"},
        },
        "required": ["origin", "destination", "seats"],
    },
)


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> LanguageModel:
    return LanguageModel(str(tiny_llama), threads=1)


def filled(model: LanguageModel, said: str, tool: CatalogueTool = FLIGHT) -> dict[str, object]:
    arguments, _ = fill_call(model, tool, said, *filling_prompt(model, tool, said))
    assert arguments is not None
    return arguments


def test_what_one_argument_takes_no_other_gets(model: LanguageModel) -> None:
    found = filled(model, "2 seats: Oslo, Rome")
    assert found["seats"] == 2
    origin, destination = str(found["origin"]), str(found["destination"])
    assert not set(origin.split()) & set(destination.split())


def test_needed_ones_share_where_nothing_is_left(model: LanguageModel) -> None:
    found = filled(model, "Oslo")
    assert (found["origin"], found["destination"]) == ("Oslo", "Oslo")


def test_optional_ones_that_nobody_spoke_of_are_left_out(model: LanguageModel) -> None:
    assert filled(model, "oslo rome 2").keys() == {"origin", "destination", "seats"}


def test_a_number_is_taken_from_its_word(model: LanguageModel) -> None:
    tool = CatalogueTool(
        "grid", "", parameters={"properties": {"rows": {"type": "integer"},
                                "columns": {"type": "integer"}}, "required": ["rows", "columns"]},
    )  # fmt: skip
    assert sorted(map(str, filled(model, "two by 3", tool).values())) == ["2", "3"]


def test_arguments_are_described_to_the_model(model: LanguageModel) -> None:
    tokens, shared = filling_prompt(model, FLIGHT, "fly me")
    asked = model.decode(tokens[shared:])
    assert "- origin (string): Where it begins\n" in asked
    assert "- cabin (economy|business, optional): \n" in asked
    assert tokens[:shared] == filling_prompt(model, FLIGHT, "or not")[0][:shared]


@pytest.mark.parametrize("said", ["", "?"])
def test_with_nothing_said_a_call_is_still_one(model: LanguageModel, said: str) -> None:
    assert filled(model, said).keys() >= {"origin", "destination", "seats"}
