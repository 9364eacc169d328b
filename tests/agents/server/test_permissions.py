"""Who may use a tool of the catalogue or of a registry: rules, experts, both."""

import pytest

from ctrag.agents.catalogue.access import AccessRules, Expert, Grant, Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.servers import SELF
from tests.agents.server.conftest import Topics, tool

ADA = Principal("ada", frozenset({"nurse"}))
TOOLS = [tool("send", "Send a mail", "mail"), tool("print", "Print a page", "printer")]


def permissions(access: AccessRules | None = None, expert: Expert | None = None) -> Permissions:
    return Permissions(ToolIndex([SELF, *TOOLS], Topics(), access), {"hub"}, expert)


def test_without_rules_everybody_may_use_what_the_catalogue_or_a_registry_has() -> None:
    free = permissions()
    assert free.allowed("mail/send", None)
    assert free.allowed("hub/mail/send", None)
    assert not free.allowed("mail/none", None), "nobody has it"


@pytest.mark.parametrize(
    ("granted", "allowed"),
    [
        ("*", {"mail/send", "printer/print", "hub/mail/send", "hub/clock"}),
        ("mail/*", {"mail/send"}),
        ("hub/*", {"hub/mail/send", "hub/clock"}),
        ("hub/mail/*", {"hub/mail/send"}),
        ("hub/clock", {"hub/clock"}),
    ],
)
def test_a_grant_opens_a_tool_a_server_a_registry_or_a_server_behind_it(
    granted: str, allowed: set[str]
) -> None:
    ruled = permissions(AccessRules((Grant("role:nurse", granted),)))
    every = ["mail/send", "printer/print", "hub/mail/send", "hub/clock"]
    assert {one for one in every if ruled.allowed(one, ADA)} == allowed
    for stranger in (None, Principal("bob")):
        assert not any(ruled.allowed(one, stranger) for one in every)


def test_an_expert_is_confined_in_registries_too_whatever_its_user_may() -> None:
    clerk = Expert("clerk", allow=frozenset({"hub/clock"}), always=frozenset({"mail/send"}))
    confined = permissions(AccessRules((Grant("role:nurse", "*"),)), clerk)
    assert [one for one in ("hub/clock", "mail/send") if confined.allowed(one, ADA)] == [
        "hub/clock",
        "mail/send",
    ]
    assert not confined.allowed("hub/mail/send", ADA)
    assert not confined.allowed("printer/print", ADA)
    assert not confined.allowed("hub/clock", None)


def test_what_is_at_hand_is_named_once_and_never_the_search_itself() -> None:
    flagged = CatalogueTool("clock", "Tell the time", "own", always=True)
    index = ToolIndex([SELF, *TOOLS, flagged], Topics())
    expert = Expert("clerk", always=frozenset({"printer/print", "mail/send"}))
    found = Permissions(index, (), expert, ["mail/send"]).always
    assert found == ("mail/send", "own/clock", "printer/print")
