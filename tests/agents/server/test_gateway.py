"""Sessions, access and guidance at the gateway."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.access import AccessRules, Expert, Grant, Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.results import ToolSearch
from ctrag.agents.search.surfacing import DOUBT, packaged_surfacing
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.servers import SELF
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.events import Event, without_content
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.searches import OverlapSettings
from ctrag.agents.session.settings import SessionSettings
from tests.agents.server.conftest import TOPICS, Topics, entry, tool

pytestmark = pytest.mark.anyio
MakeGateway = Callable[..., Gateway]
Servers = Callable[..., ServerSpec]

ADA = Principal("ada", frozenset({"nurse"}), frozenset({"clinic"}))
BOB = Principal("bob")
TOOLS = [
    tool("send", "Send a mail", "mail"),
    tool("print", "Print a page", "printer"),
    tool("add", "Add a calendar event", "calendar"),
]


def text_of(answer: Any) -> str:
    return "\n".join(block.text for block in answer.result.content)


def names(answer: Any) -> list[str]:
    return [one["name"] for one in answer.shown]


async def test_a_tool_that_no_search_of_the_session_found_is_refused(
    gateway: MakeGateway,
) -> None:
    async with gateway(TOOLS).running() as running:
        session = (await running.search(None, "send a mail", limit=1)).handle
        refused = await running.call(None, session, "printer/print", {})
        assert refused.result.is_error
        assert "call search_tools" in text_of(refused)


async def test_a_tool_without_a_server_behind_it_says_so(gateway: MakeGateway) -> None:
    async with gateway(TOOLS).running() as running:
        session = (await running.search(None, "send a mail")).handle
        assert "no server stands behind it" in text_of(
            await running.call(None, session, "mail/send", {})
        )


@pytest.mark.parametrize("handle", ["", "guessed", "x" * 100])
async def test_a_session_nobody_gave_out_is_unknown(gateway: MakeGateway, handle: str) -> None:
    async with gateway(TOOLS).running() as running:
        answer = await running.call(None, handle, "mail/send", {})
        assert answer.result.is_error
        with pytest.raises(ValueError, match="session"):
            await running.search(None, "mail", handle)


async def test_a_session_belongs_to_who_opened_it_with_the_roles_they_had(
    gateway: MakeGateway,
) -> None:
    async with gateway(TOOLS).running() as running:
        session = (await running.search(ADA, "send a mail")).handle
        for other in (BOB, None, Principal("ada"), Principal("ada", frozenset({"nurse"}))):
            with pytest.raises(ValueError, match="session"):
                await running.search(other, "send a mail", session)


async def test_with_grants_an_unknown_caller_sees_nothing_and_a_revoked_grant_refuses_the_call(
    gateway: MakeGateway,
) -> None:
    rules = AccessRules((Grant("role:nurse", "mail/*"),))
    made = gateway(TOOLS, access=rules)
    async with made.running() as running:
        for stranger in (None, BOB):
            assert names(await running.search(stranger, "send print add a mail")) == []
        found = await running.search(ADA, "send print add a mail")
        assert names(found) == ["mail/send"]
        made.index.access = AccessRules()
        refused = await running.call(ADA, found.handle, "mail/send", {})
        assert "may no longer be used" in text_of(refused)


SCOPES = ["user:ada", "role:nurse", "organisation:clinic", "user:bob", "role:admin"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    granted=st.lists(
        st.tuples(
            st.sampled_from(SCOPES),
            st.sampled_from(["mail/*", "printer/*", "calendar/add", "mail/send", "*"]),
        ),
        max_size=4,
    ),
    words=st.lists(st.sampled_from(TOPICS), min_size=1, max_size=3),
    wanted=st.sampled_from([one.id for one in TOOLS]),
    who=st.sampled_from([ADA, BOB, None]),
)
def test_over_random_grants_nothing_outside_them_is_ever_found_or_called(
    granted: list[tuple[str, str]], words: list[str], wanted: str, who: Principal | None
) -> None:
    rules = AccessRules(tuple(Grant(scope, pattern) for scope, pattern in granted))
    seen = {pattern for scope, pattern in granted if who is not None and scope in who.scopes}
    allowed = {one.id for one in TOOLS if seen & {"*", f"{one.server}/*", one.id}}
    made = Gateway(ToolIndex([SELF, *TOOLS], Topics(), rules))

    async def try_it() -> None:
        async with made.running() as running:
            answer = await running.search(who, " ".join(words))
            assert {*names(answer), *(one["name"] for one in answer.closest)} <= allowed
            message = text_of(await running.call(who, answer.handle, wanted, {}))
            assert ("no server stands behind it" in message) == (wanted in names(answer))

    anyio.run(try_it)


async def test_a_loop_takes_the_tool_away_with_guidance_and_a_search_gives_it_back(
    plain: Servers, gateway: MakeGateway
) -> None:
    printer = entry("print", "Print a page", annotations={"readOnlyHint": False})
    servers = {"printer": plain("printer", [printer])}
    async with gateway(servers=servers).running() as running:
        session = (await running.search(None, "print a page")).handle
        answers = []
        for _ in range(20):
            answers.append(await running.call(None, session, "printer/print", {"text": "a"}))
            if answers[-1].changed:
                break
        assert not answers[-1].result.is_error, "the call that closes the loop is made"
        assert answers[-1].result.meta["ctrag/loop_detected"] is True
        assert "search_tools" in text_of(answers[-1])
        assert (await running.call(None, session, "printer/print", {})).result.is_error
        await running.search(None, "print a page", session)
        again = await running.call(None, session, "printer/print", {"text": "b"})
        assert not again.result.is_error


async def test_sessions_are_made_with_the_servers_settings(
    plain: Servers, gateway: MakeGateway
) -> None:
    hints = {"readOnlyHint": False}
    entries = [
        entry("print", "Print a page", annotations=hints),
        entry("echo", "Echo a text", annotations=hints),
    ]
    settings = SessionSettings(
        binding=BindingSettings(hot_after=1),
        guard=GuardSettings(exempt=frozenset({"desk/print"}), guidance={"desk/echo": "Think."}),
        overlap=OverlapSettings(kept=1),
        ignored={"desk/echo": ["request_id"]},
    )
    servers = {"desk": plain("desk", entries)}
    async with gateway(servers=servers, session=settings).running() as running:
        handle = (await running.search(None, "print a page, echo a text")).handle
        for _ in range(6):
            polled = await running.call(None, handle, "desk/print", {"text": "a"})
            assert not polled.result.is_error
            assert not polled.changed
        for n in range(4):
            echoed = await running.call(None, handle, "desk/echo", {"request_id": n})
        assert "Think. desk/echo is no longer in this session" in text_of(echoed)
        pinned = [one for one in running.sessions.get(handle, "").manager.entries if one.pinned]
        assert [one.tool.id for one in pinned] == ["desk/print"]
        await running.search(None, "echo a text", handle, limit=1)
        again = await running.search(None, "print a page", handle, limit=1)
        assert again.found.note is None, "of the searches before, only the last is remembered"


async def test_found_tools_that_a_session_has_no_room_for_are_named_to_the_model(
    encoder: Topics,
) -> None:
    index = ToolIndex(
        [SELF, *(tool("send_mail", "Send a mail", f"m{n}") for n in range(5))], encoder
    )
    settings = SessionSettings(binding=BindingSettings(capacity=3))
    async with Gateway(index, session=settings).running() as running:
        answer = (await running.search(None, "send_mail", limit=5)).as_json()
        shown = [one["name"] for one in answer["tools"]]
        assert (len(shown), len(answer["left_out"])) == (3, 2)
        assert {*shown, *answer["left_out"]} == {f"m{n}/send_mail" for n in range(5)}
        assert "release_tools" in answer["note"]
        [left, _] = answer["left_out"]
        running.release(None, answer["session"], shown)
        await running.search(None, left, answer["session"], limit=1)
        assert left in {one.id for one in running.tools(None, answer["session"])}


async def test_a_search_that_finds_the_same_again_says_so(gateway: MakeGateway) -> None:
    async with gateway(TOOLS).running() as running:
        first = await running.search(None, "send a mail")
        second = await running.search(None, "send the mail", first.handle)
        assert first.found.note is None
        assert second.found.note
        assert second.found.note in second.as_json()["note"]


async def test_a_tool_at_hand_needs_no_search_and_is_left_out_of_them(
    plain: Servers, gateway: MakeGateway
) -> None:
    servers = {"printer": plain("printer", [entry("print", "Print a page")])}
    tools = [*TOOLS[:1], tool("print", "Print a page", "printer")]
    async with gateway(tools, servers, always=["printer/print"]).running() as running:
        answer = await running.search(None, "print a page or send a mail")
        assert names(answer) == ["mail/send"]
        assert [one["name"] for one in answer.always] == ["printer/print"]
        later = await running.search(None, "send a mail", answer.handle)
        assert later.always == []


async def test_a_released_tool_is_refused_until_it_is_found_again(gateway: MakeGateway) -> None:
    async with gateway(TOOLS).running() as running:
        session = (await running.search(None, "send a mail")).handle
        assert running.release(None, session, ["mail/send", "mail/none"]) == ["mail/send"]
        assert (await running.call(None, session, "mail/send", {})).result.is_error


@pytest.mark.parametrize("limit", [0, 21, -1])
async def test_a_limit_out_of_range_is_refused(gateway: MakeGateway, limit: int) -> None:
    async with gateway(TOOLS).running() as running:
        with pytest.raises(ValueError, match="limit: must be from 1 to 20"):
            await running.search(None, "mail", limit=limit)


async def test_nothing_that_fits_is_an_answer_with_advice(gateway: MakeGateway) -> None:
    async with gateway().running() as running:
        answer = (await running.search(None, "send a mail")).as_json()
        assert answer["tools"] == []
        assert "No tool here fits" in answer["note"]


async def test_every_decision_is_recorded(
    plain: Servers, gateway: MakeGateway, tmp_path: Path
) -> None:
    events: list[Event] = []
    servers = {"printer": plain("printer", [entry("print", "Print a page")])}
    async with gateway(servers=servers, record=events.append).running() as running:
        session = (await running.search(None, "print a page")).handle
        await running.call(None, session, "printer/print", {"text": "a"})
        await running.call(None, session, "printer/none", {})
    assert [one.event for one in events] == [
        "ctrag.session.open",
        "ctrag.search",
        "ctrag.tool.bind",
        "ctrag.tool.call",
        "ctrag.tool.refuse",
    ]
    assert session not in "".join(one.model_dump_json() for one in events)


async def test_a_searchs_event_has_every_step_and_what_was_rejected(encoder: Topics) -> None:
    events: list[Event] = []
    index = ToolIndex(
        [SELF, *TOOLS, tool("rotate_spool", "Rotate the print spool", "ops")], encoder
    )
    async with Gateway(index, record=events.append).running() as running:
        shown = names(await running.search(ADA, "send a mail"))
    [searched] = [one for one in events if one.event == "ctrag.search"]
    attributes = searched.attributes
    steps = index.find("send a mail", 5, ADA).trace
    same = ("mode", "visible", "governed", "readings", "tiers", "floor", "prior_weight")
    assert {name: attributes[f"ctrag.search.{name}"] for name in same} == {
        name: steps[name] for name in same
    }
    rejected = [one["id"] for one in attributes["ctrag.search.rejected"]]
    assert rejected
    assert sorted([*shown, *rejected]) == sorted(
        hit.tool.id for hit in index.search("send a mail", 5, ADA)
    )
    assert all(
        one["score"] < attributes["ctrag.search.floor"]
        for one in attributes["ctrag.search.rejected"]
    )
    assert "send a mail" not in str(without_content(attributes)), (
        "readings are people's words as well"
    )


class Asked:
    """A next-tool model that knows nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.histories: list[tuple[str, ...]] = []

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        self.histories.append(tuple(history))
        return []


async def test_the_next_tool_model_is_asked_with_every_call_of_the_session_in_order(
    plain: Servers, gateway: MakeGateway
) -> None:
    entries = [entry("print", "Print a page"), entry("send", "Send a mail")]
    silent = SessionSettings(next=0)
    made = gateway(servers={"desk": plain("desk", entries)}, session=silent)
    made.index.next_tool = asked = Asked()
    async with made.running() as running:
        handle = (await running.search(None, "print a page, send a mail")).handle
        for name in ("print", "send", "print"):
            await running.call(None, handle, f"desk/{name}", {"text": "a"})
        running.release(None, handle, ["desk/send"])
        await running.search(None, "print a page", handle)
    assert asked.histories == [(), ("desk/print", "desk/send", "desk/print")]


async def test_a_sessions_first_search_can_bring_the_rest_of_its_category(encoder: Topics) -> None:
    tools = [tool("send", "Send a mail", "mail"), tool("sort", "Sort mail", "mail"), TOOLS[1]]
    settings = SessionSettings(preload=2)
    async with Gateway(ToolIndex([SELF, *tools], encoder), session=settings).running() as running:
        answer = await running.search(None, "send a mail", limit=1)
        assert names(answer) == ["mail/send"]
        assert [one["name"] for one in answer.always] == ["mail/sort"]
        running.release(None, answer.handle, ["mail/sort"])
        await running.search(None, "send a mail", answer.handle, limit=1)
        assert [one.id for one in running.tools(None, answer.handle)] == ["mail/send"]


async def test_all_pinned_tools_are_at_hand_beside_those_that_a_caller_likes(
    encoder: Topics,
) -> None:
    hot = [CatalogueTool(f"hot{n}", "Send a mail", "m", pinned=True) for n in range(6)]
    index = ToolIndex([SELF, *hot, TOOLS[1]], encoder)
    index.learn(ADA, "printer/print", "succeeded")
    async with Gateway(index).running() as running:
        found = running.tools(ADA, await running.open(ADA))
    assert {one.id for one in found} == {*(one.id for one in hot), "printer/print"}


class Moving(ToolIndex):
    """Its tools get another server's ids between a search and the resolving of what it found."""

    def find(self, *arguments: Any, **named: Any) -> ToolSearch:
        found = super().find(*arguments, **named)
        if any(tool.server == "mail" for tool in self.tools):
            self.replace_server("mail", [])
            self.add([tool("send", "Send a mail", "post")])
        return found


async def test_a_tool_that_gets_another_id_during_a_search_is_found_by_its_name(
    encoder: Topics,
) -> None:
    async with Gateway(Moving([SELF, *TOOLS], encoder)).running() as running:
        answer = await running.search(None, "send a mail")
        assert names(answer) == ["post/send"]
        assert [one.id for one in running.tools(None, answer.handle)] == ["post/send"]


async def test_an_expert_is_confined_to_its_list_in_searches_calls_and_what_it_begins_with(
    encoder: Topics,
) -> None:
    pinned = CatalogueTool("print", "Print a page", "printer", {}, pinned=True)
    expert = Expert("clerk", allow=frozenset({"mail/send"}), always=frozenset({"calendar/add"}))
    index = ToolIndex([SELF, TOOLS[0], pinned, TOOLS[2]], encoder, experts=[expert])
    async with Gateway(index, expert="clerk").running() as running:
        answer = await running.search(None, "send a mail, print a page, add an event")
        assert names(answer) == ["mail/send"]
        assert [one["name"] for one in answer.always] == ["calendar/add"]
        assert "printer/print" not in {one.id for one in running.tools(None, answer.handle)}
    with pytest.raises(ValueError, match="expert: the catalogue has none named 'chef'"):
        Gateway(index, expert="chef")


async def test_what_a_caller_uses_is_there_at_once_the_next_time(
    plain: Servers, gateway: MakeGateway
) -> None:
    servers = {"printer": plain("printer", [entry("print", "Print a page")])}
    async with gateway(servers=servers).running() as running:
        first = await running.search(ADA, "print a page")
        for text in "abc":
            await running.call(ADA, first.handle, "printer/print", {"text": text})
        later = running.tools(ADA, await running.open(ADA))
        assert [one.id for one in later] == ["printer/print"]
        assert running.tools(BOB, await running.open(BOB)) == ()


async def test_when_nothing_fits_the_closest_are_named_and_one_search_away(
    gateway: MakeGateway,
) -> None:
    tools = [tool("rotate_spool", "Rotate the print spool", "ops")]
    async with gateway(tools).running() as running:
        answer = await running.search(None, "weather")
        assert answer.shown == []
        assert [one["name"] for one in answer.closest] == ["ops/rotate_spool"]
        assert "search for it by its name" in answer.as_json()["note"]
        assert (await running.call(None, answer.handle, "ops/rotate_spool", {})).result.is_error
        again = await running.search(None, "ops/rotate_spool", answer.handle)
        assert names(again) == ["ops/rotate_spool"]


async def test_few_tools_are_at_hand_without_a_search_and_many_are_not(
    plain: Servers, gateway: MakeGateway
) -> None:
    servers = {"desk": plain("desk", [entry("print", "Print a page"), entry("echo", "Echo")])}
    settings = SessionSettings(list_under=200)
    async with gateway(servers=servers, session=settings).running() as running:
        handle = await running.open(None)
        listed = {one.id for one in running.tools(None, handle)}
        assert listed == {"desk/print", "desk/echo"}
        called = await running.call(None, handle, "desk/echo", {"text": "a"})
        assert not called.result.is_error
    async with gateway(
        servers=servers, session=SessionSettings(list_under=20)
    ).running() as running:
        assert running.tools(None, await running.open(None)) == ()


async def test_who_may_see_a_part_has_that_part_listed(gateway: MakeGateway) -> None:
    rules = AccessRules((Grant("role:nurse", "mail/*"),))
    made = gateway(TOOLS, access=rules, session=SessionSettings(list_under=500))
    async with made.running() as running:
        ada = running.tools(ADA, await running.open(ADA))
        assert [one.id for one in ada] == ["mail/send"]
        assert running.tools(BOB, await running.open(BOB)) == ()


class Follows:
    """A next-tool model that knows one thing: a mail follows a print."""

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        return [("desk/send", 0.9)] if list(history)[-1:] == ["desk/print"] else [("end", 1.0)]


@pytest.mark.parametrize("most", [0, 2])
async def test_a_calls_answer_names_the_next_tool_and_it_can_be_called_at_once(
    plain: Servers, gateway: MakeGateway, most: int
) -> None:
    entries = [entry("print", "Print a page"), entry("send", "Send a mail")]
    made = gateway(servers={"desk": plain("desk", entries)}, session=SessionSettings(next=most))
    made.index.next_tool = Follows()
    async with made.running() as running:
        handle = (await running.search(None, "desk/print")).handle
        running.release(None, handle, ["desk/send"])
        answer = await running.call(None, handle, "desk/print", {"text": "a"})
        named = (answer.result.meta or {}).get("ctrag/next_tools", [])
        assert named == ["desk/send"][:most]
        assert ('"input_schema"' in text_of(answer)) == bool(most)
        following = await running.call(None, handle, "desk/send", {"text": "a"})
        assert following.result.is_error == (most == 0)


async def test_a_doubtful_search_gives_its_best_with_a_note_and_the_closest_beside(
    gateway: MakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = gateway(TOOLS)
    rule = packaged_surfacing()
    sure = made.index.find("send a mail").certainty
    doubting = replace(rule, doubt=(1 + sure) / 2, hopeless=0.0)
    for module in ("index", "surfacing"):
        where = f"ctrag.agents.search.{module}.surfacing_rule"
        monkeypatch.setattr(where, lambda: doubting)
    async with made.running() as running:
        answer = (await running.search(None, "pass a letter and a mail on")).as_json()
        assert answer["tools"][0]["name"] == "mail/send"
        assert DOUBT in answer["note"]
        assert [one["name"] for one in answer["closest"]] == ["printer/print", "calendar/add"]
