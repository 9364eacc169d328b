"""Claims about the order of calls that a request could mean."""

import pytest

from ctrag.assistant.planning.decoded import (
    Decoded,
    none_in_vain,
    only_new_note,
    unlikely_astray,
)
from ctrag.assistant.planning.plan import Plan


def call(api: str, *, astray: bool = False, named: float = 0.0) -> Decoded:
    return Decoded(Plan(api, {"title": "x"}), "", 0, astray=astray, named=named)


def apis(made: list[Decoded]) -> list[str]:
    return [one.plan.api for one in made if one.plan is not None]


def test_what_a_call_that_goes_astray_loses_goes_to_the_one_that_arrives() -> None:
    made = [call("notify_attendees", astray=True), call("send_mail"), call("create_reminder")]
    shares = [0.6, 0.3, 0.1]
    unlikely_astray(made, shares)
    assert apis(made) == ["send_mail", "create_reminder", "notify_attendees"]
    assert shares == pytest.approx([0.87, 0.1, 0.03])


def test_where_every_call_goes_astray_nothing_changes() -> None:
    made, shares = [call("notify_attendees", astray=True), call("create_reminder")], [0.6, 0.4]
    unlikely_astray(made, shares)
    assert (apis(made), shares) == (["notify_attendees", "create_reminder"], [0.6, 0.4])


@pytest.mark.parametrize(
    ("request_", "named", "first"),
    [
        ("jot down that the tap drips", 0.0, "create_note"),
        ("please make a note: berth 4, 06:40", 0.0, "create_note"),
        ("jot down that the tap drips", 1.0, "append_to_note"),
        ("jot down in the house log that the tap drips", 0.0, "append_to_note"),
        ("add the tap", 0.0, "append_to_note"),
    ],
)
def test_what_is_noted_down_without_a_note_s_name_is_a_new_note(
    request_: str, named: float, first: str
) -> None:
    made = [call("append_to_note", named=named), call("create_note")]
    shares = [0.7, 0.3]
    only_new_note(made, shares, request_)
    assert apis(made)[0] == first
    assert sum(shares) == pytest.approx(1)
    assert len(made) == (1 if first == "create_note" else 2)


def test_a_call_that_cannot_be_meant_gives_way_to_one_that_can() -> None:
    vain = Decoded(Plan("return_missed_call", {"contact": "Ole"}), "", 0, vain=True)
    made, shares = [vain, call("call_contact")], [0.8, 0.2]
    none_in_vain(made, shares)
    assert apis(made) == ["call_contact"]
    assert shares == pytest.approx([1.0])
    assert made[0].instead
    made, shares = [call("call_contact"), vain], [0.8, 0.2]
    none_in_vain(made, shares)
    assert not made[0].instead, "it was the likelier one"
    alone, share = [vain], [1.0]
    none_in_vain(alone, share)
    assert (alone, share) == ([vain], [1.0])
