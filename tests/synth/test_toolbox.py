"""Toolboxes of custom applications, from fields and by a language model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.settings import settings
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.app_spec import load_apps
from synth.openai.provider import open_asker
from synth.openai.toolbox import openai_toolbox
from synth.toolbox import distinct, offline_toolbox, write_toolbox
from tests.synth.conftest import Model

LOANS = """
loans:
  fields:
    title: {type: string, role: title}
    library: {type: string, role: place}
    due: {type: datetime, role: time}
    renewed: {type: boolean, role: state, required: false, default: false}
"""


def tool(api: str, purpose: str, *arguments: str, does: Any = "find") -> Tool:
    return Tool(
        app="loans",
        api=api,
        description=f"Loans app's {api} API is used to {purpose}.",
        effect="read",
        arguments=tuple(
            Argument(name=one, type="string", match="value", required=True, description="x")
            for one in arguments
        ),
        fails_when="never",
        does=does,
    )


@pytest.fixture
def asker(through_model: Model, tmp_path: Path) -> Any:
    return open_asker(settings(), tmp_path / "answers", None, None)


def test_apis_are_derived_from_the_fields_of_an_application(tmp_path: Path) -> None:
    (tmp_path / "apps.yaml").write_text(LOANS)
    [loans] = load_apps(tmp_path / "apps.yaml")
    tools = {one.api: one for one in offline_toolbox(["loans"], {"loans": loans})}
    assert {api: (one.effect, one.does) for api, one in tools.items()} == {
        "search_loans": ("read", "find"),
        "list_loans": ("read", "find"),
        "read_loan": ("read", "find"),
        "delete_loan": ("write", "remove"),
        "create_loan": ("write", "create"),
        "move_loan": ("write", "change"),
        "set_loan_renewed": ("write", "change"),
    }
    assert tools["move_loan"].signature == "move_loan(title, new_due)"
    assert tools["set_loan_renewed"].arguments[1].values == ("yes", "no")


def test_an_application_without_known_fields_gets_apis_too() -> None:
    assert "send_parcel" in offline_toolbox(["parcels"], {}).names


def test_packaged_applications_keep_their_apis() -> None:
    packaged = [one for one in Toolbox.packaged() if one.app == "notes"]
    assert list(offline_toolbox(["notes"], {})) == packaged


def test_a_written_toolbox_reads_back(tmp_path: Path) -> None:
    tools = Toolbox([*Toolbox.packaged(), *offline_toolbox(["parcels"], {})])
    assert Toolbox.from_file(write_toolbox(tmp_path / "new", tools)) == tools


def test_duplicate_apis_are_merged() -> None:
    tools = [
        tool("search_loans", "search all loans by words", "query"),
        tool("find_loans", "search the loans by words", "query"),
        tool("search_loans", "something else", "title"),
        tool("list_loans", "list loans"),
        tool("count_loans", "count loans that are late"),
    ]
    assert [one.api for one in distinct(tools)] == ["search_loans", "list_loans", "count_loans"]


def test_a_model_makes_apis_for_any_application_name(asker: Any) -> None:
    tools = openai_toolbox(asker, ["maps", "wallet"], {}, seed=1)
    assert tools.apps == ("maps", "wallet")
    assert "search_wallet" in tools.names


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda api: {**api, "effect": "magic"}, "apis.1: effect: Input should be 'read'"),
        (lambda api: {**api, "api": "Read Maps"}, "apis.1: api: must be a lower-case Python name"),
        (lambda api: {**api, "does": "send"}, "does: an API of effect read does find, not send"),
        (
            lambda api: {**api, "api": "read_note"},
            "apis.1: api: read_note is another application's",
        ),
        (lambda api: "read", "apis.1: must be an object"),
    ],
    ids="effect name does taken shape".split(),
)
def test_an_invalid_api_is_repaired(
    fault: Callable[[Any], Any], message: str, asker: Any, model: Model
) -> None:
    def wrong(answer: Any) -> Any:
        apis = list(answer["apis"])
        return {"apis": [apis[0], fault(apis[1]), *apis[2:]]}

    model.faults = {"toolbox": [wrong]}
    assert len(openai_toolbox(asker, ["maps"], {}, seed=1)) == 4
    assert message in model.last("toolbox")


def test_duplicate_apis_from_a_model_are_merged(asker: Any, model: Model) -> None:
    model.faults = {"toolbox": [lambda answer: {"apis": [*answer["apis"], *answer["apis"]]}]}
    assert len(openai_toolbox(asker, ["maps"], {}, seed=1)) == 4
