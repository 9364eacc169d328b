"""Results as they are passed on: nothing is lost, and what was too long can be read on."""

import pytest
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from ctrag.agents.server.results import Results, inward, links, outward, page, passed_on

IMAGE = ImageContent(type="image", data="aGk=", mime_type="image/png")


def said(*texts: str) -> list[TextContent]:
    return [TextContent(type="text", text=one) for one in texts]


def test_a_result_within_its_limit_stays_as_it_is() -> None:
    result = CallToolResult(content=[*said("a" * 60), IMAGE], structured_content={"a": 1})
    assert Results().capped(result, "ada", 60, structured=False) is result


def test_a_result_over_its_limit_says_how_much_there_was_and_keeps_what_is_no_text() -> None:
    results = Results()
    content = [*said("a" * 60), IMAGE, *said("b" * 60)]
    result = CallToolResult(content=content, structured_content={"whole": "t" * 100})
    cut = results.capped(result, "ada", 70, structured=False)
    assert [one.type for one in cut.content] == ["text", "image", "text", "text", "resource_link"]
    assert cut.content[2].text == "b" * 10
    assert "Characters 0 to 10 of 60" in cut.content[3].text
    whole = results.whole("ada", cut.content[4].uri)
    assert isinstance(whole, TextResourceContents)
    assert whole.text == "b" * 60
    assert cut.structured_content is None, "it would carry what was cut"


def test_structured_content_stays_whole_where_the_client_checks_it() -> None:
    result = CallToolResult(content=said("a" * 99), structured_content={"whole": "t" * 100})
    cut = Results().capped(result, "ada", 70, structured=True)
    assert cut.structured_content == {"whole": "t" * 100}
    assert len(cut.content[0].text) == 70


def test_structured_content_alone_is_given_as_a_text_that_can_be_read_on() -> None:
    results = Results()
    result = CallToolResult(content=[], structured_content={"whole": "t" * 100})
    cut = results.capped(result, "ada", 20, structured=False)
    assert cut.content[0].text == '{"whole": "ttttttttt'
    whole = results.whole("ada", cut.content[2].uri)
    assert isinstance(whole, TextResourceContents)
    assert len(whole.text) == 113


def test_a_picture_over_its_limit_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctrag.agents.server.results.BINARY_LIMIT", 3)
    results = Results()
    cut = results.capped(CallToolResult(content=[IMAGE]), "ada", 70, structured=False)
    link = cut.content[0]
    assert isinstance(link, ResourceLink)
    assert link.mime_type == "image/png"
    whole = results.whole("ada", link.uri)
    assert isinstance(whole, BlobResourceContents)
    assert whole.blob == "aGk="


def test_the_oldest_of_what_is_kept_goes_first() -> None:
    results = Results(kept=100)
    first, second = results.keep("ada", "a" * 60), results.keep("ada", "b" * 60)
    assert results.whole("ada", second)
    with pytest.raises(ValueError, match="is not kept any more; make the call again"):
        results.whole("ada", first)


def test_what_is_kept_is_the_callers_alone() -> None:
    results = Results()
    uri = results.keep("ada", "secret")
    with pytest.raises(ValueError, match="is not kept any more"):
        results.whole("bob", uri)


@pytest.mark.parametrize("server", ["docs", "my server", "a/b", "数据"])
@pytest.mark.parametrize("uri", ["file:///a b", "note://one?x=1#y", "ctrag://other/note://one"])
def test_a_resources_name_tells_the_server_and_leads_back(server: str, uri: str) -> None:
    assert inward(outward(server, uri)) == (server, uri)


@pytest.mark.parametrize("uri", ["note://one", "ctrag://docs", "ctrag://docs/", "ctrag:///a"])
def test_a_name_that_is_not_ours_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="is not of this server"):
        inward(uri)


def test_links_and_embedded_resources_are_named_as_they_can_be_read_here() -> None:
    inside = TextResourceContents(uri="note://two", text="two")
    content = [
        ResourceLink(type="resource_link", name="one", uri="note://one"),
        EmbeddedResource(type="resource", resource=inside),
    ]
    meta = {"x": 1, "io.modelcontextprotocol/serverInfo": {"name": "docs"}}
    result = passed_on(CallToolResult(content=content, _meta=meta), "docs")
    assert links(result) == ["ctrag://docs/note://one", "ctrag://docs/note://two"]
    assert result.meta == {"x": 1}


def test_the_last_page_has_no_way_on() -> None:
    first = page("abcdef", "ctrag://docs/a", 0, 4)
    assert [first.content[0].text, len(first.content)] == ["abcd", 2]
    last = page("abcdef", "ctrag://docs/a", 4, 4)
    assert [last.content[0].text, len(last.content)] == ["ef", 1]
    with pytest.raises(ValueError, match="offset: 7 is not within the 6 characters"):
        page("abcdef", "ctrag://docs/a", 7, 4)
