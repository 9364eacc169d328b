"""Probabilities of APIs outside the training data: mass is shared, never added."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stores.people.app_spec
from ctrag.assistant.api_choice.new_apps import families, from_none, shared_out
from ctrag.toolbox import Tool, Toolbox
from stores.people.app_spec import AppSpec, FieldSpec, register_apps

MESSAGES = AppSpec("messages", (FieldSpec("text", "text", "text"),), like="mail")


def tool(api: str, app: str, effect: str) -> Tool:
    return Tool.model_validate(
        {
            "app": app,
            "api": api,
            "description": api,
            "effect": effect,
            "arguments": (),
            "fails_when": "never",
        }
    )


TOOLS = [
    tool("read_mail", "mail", "read"),
    tool("delete_mail", "mail", "write"),
    tool("read_note", "notes", "read"),
    tool("read_message", "messages", "read"),
    tool("find_message", "messages", "read"),
]
# read_message means what read_mail means; find_message is at a right angle to it.
VECTORS = np.array([[1, 0], [0, 1], [0, 1], [1, 0], [0, 1]], dtype=np.float32)
LOGS = np.log([0.6, 0.2, 0.1, 1e-12, 1e-12])
ALIKE = np.zeros(5, dtype=np.float32)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.people.app_spec, "_further", {})
    register_apps([MESSAGES])


def shared(cosines: np.ndarray, items: dict[str, float]) -> list[float]:
    [family] = families(TOOLS)
    return list(np.exp(shared_out(LOGS, family, TOOLS, VECTORS, cosines, items)))


def test_only_further_applications_make_a_family() -> None:
    assert families(list(Toolbox.packaged())) == []
    [family] = families(TOOLS)
    assert family.apps == ("mail", "messages")
    assert [rows.tolist() for rows in family.rows] == [[0, 1], [3, 4]]


def test_what_is_given_goes_by_whose_items_were_retrieved() -> None:
    # 0.95 of the items are messages, so is 0.95 of what read_mail had.
    read_mail, _, _, read_message, find_message = shared(ALIKE, {"messages": 0.95, "mail": 0.05})
    assert read_mail == pytest.approx(0.6 * 0.05)
    assert read_message + find_message == pytest.approx(0.6 * 0.95)
    assert read_message / find_message == pytest.approx(np.exp(10))
    mail_only = shared(ALIKE, {"mail": 0.95, "messages": 0.05})
    assert mail_only[0] == pytest.approx(0.6 * 0.95)


def test_an_api_without_counterpart_keeps_what_it_has() -> None:
    found = shared(ALIKE, {"messages": 1.0})
    assert found[1:3] == pytest.approx([0.2, 0.1])


def test_the_words_of_the_request_decide_between_equals() -> None:
    plain = shared(ALIKE, {"messages": 0.5, "mail": 0.5})
    worded = shared(np.array([0, 0, 0, 0.5, 0], np.float32), {"messages": 0.5, "mail": 0.5})
    assert worded[3] > plain[3]


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=5, max_size=5),
    st.floats(0, 1),
    st.floats(-12, 0),
)
def test_nothing_is_made_or_lost(cosines: list[float], share: float, none: float) -> None:
    stores.people.app_spec._further["messages"] = MESSAGES
    near = np.array(cosines, dtype=np.float32)
    [family] = families(TOOLS)
    logs = shared_out(LOGS, family, TOOLS, VECTORS, near, {"messages": share, "mail": 1 - share})
    assert np.exp(logs).sum() == pytest.approx(np.exp(LOGS).sum())
    further = np.array([one.app == "messages" for one in TOOLS])
    after, left = from_none(logs, none, further, near)
    assert np.exp(after).sum() + np.exp(left) == pytest.approx(np.exp(logs).sum() + np.exp(none))
    if near[further].max() <= near[~further].max():
        assert np.exp(after) == pytest.approx(np.exp(logs))
