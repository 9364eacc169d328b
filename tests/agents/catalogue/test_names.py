"""A name given to a client means the same tool for ever."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.formats import (
    anthropic_search_result,
    anthropic_tools,
    openai_chat_tools,
    openai_search_output,
    openai_tools,
    wire_names,
)
from ctrag.agents.catalogue.names import META_NAMES, called_id, listed_id, wire_name
from ctrag.agents.catalogue.tool import CatalogueTool

PIECES = st.sampled_from(
    ["a", "b", "_", "__", "/", ".", "-", "é", "读", "取", "0123456789", "x" * 30]
)
IDS = st.lists(PIECES, min_size=1, max_size=6).map("".join) | st.text(min_size=1, max_size=90)
quick = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(st.sets(IDS, min_size=2, max_size=12))
def test_no_two_ids_have_one_name_and_none_is_a_servers_own(ids: set[str]) -> None:
    names = {wire_name(one) for one in ids}
    assert len(names) == len(ids)
    assert not names & META_NAMES
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one) for one in names)


@quick
@given(st.lists(IDS, min_size=1, max_size=8, unique=True), st.data())
def test_a_name_once_given_never_means_another_tool(ids: list[str], data: st.DataObject) -> None:
    bound: list[str] = []
    known: list[str] = []
    given_names: dict[str, str] = {}
    written: dict[str, str] = {}
    for _ in range(12):
        one = data.draw(st.sampled_from(ids))
        if one in bound:
            bound.remove(one)
        else:
            bound.append(one)
            known.append(one)
        tools = [CatalogueTool(each, "") for each in bound]
        for name, tool in wire_names(tools).items():
            assert given_names.setdefault(name, tool.id) == tool.id
        for name, meant in given_names.items():
            assert listed_id(name, bound) in (None, meant)
        for name in [*ids, *given_names, *(each.partition("/")[2] for each in ids)]:
            found = called_id(name, bound, known)
            if found is not None:
                assert written.setdefault(name, found) == found


@pytest.mark.parametrize(
    ("tool_id", "name"),
    [
        ("mail/send", "mail__send"),
        ("disk/a_b", "disk__a_b"),
        ("disk/a.b", "disk__a_b_f2ea5a07cd"),
        ("créer_utilisateur", "creer_utilisateur_c03b54bc42"),
        ("disk/删除文件", "disk__tool_dded4ad1a8"),
    ],
)
def test_names_are_the_same_in_every_process_and_can_be_read(tool_id: str, name: str) -> None:
    assert wire_name(tool_id) == name


def test_a_long_id_loses_letters_of_its_server_before_those_of_its_name() -> None:
    name = wire_name("the_very_official_and_complete_enterprise_platform_interface/issues-create-x")
    assert name.startswith("the_very_official_and_complete_enter__issues-create-x_")
    assert len(name) == 64


def test_a_tool_that_was_dropped_is_refused_and_its_name_is_not_taken_over() -> None:
    assert called_id("read", ["disk/read"], ["disk/read"]) == "disk/read"
    assert called_id("read", ["cloud/read"], ["disk/read", "cloud/read"]) is None
    assert listed_id(wire_name("disk/读取文件"), ["disk/删除文件"]) is None


def test_the_forms_of_all_apis_agree_with_the_whole_catalogue() -> None:
    tools = [CatalogueTool("a.b", "Delete", "disk"), CatalogueTool("a_b", "Read", "disk")]
    for all_of in (tools, tools[::-1]):
        names = {tool.id: name for name, tool in wire_names(all_of).items()}
        for one in tools:
            output = openai_search_output("call_1", [one], all_of)
            assert [each["name"] for each in output["tools"]] == [names[one.id]]
            [reference] = anthropic_search_result("toolu_1", [one], all_of)["content"]
            assert reference["tool_name"] == names[one.id]
        assert [one["name"] for one in openai_tools(all_of)] == list(names.values())
        assert [one["name"] for one in anthropic_tools(all_of)] == list(names.values())
        chat = [one["function"]["name"] for one in openai_chat_tools(all_of)]
        assert chat == list(names.values())


def test_an_openai_answer_holds_tools_of_the_catalogue_alone() -> None:
    tool = CatalogueTool("send", "", "mail")
    with pytest.raises(ValueError, match="tools: 'mail/send' is not in the catalogue"):
        openai_search_output("call_1", [tool], [])
