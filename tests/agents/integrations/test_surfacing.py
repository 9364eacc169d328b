"""What an agent is given of a search."""

from ctrag.agents.integrations.surfacing import surfaced

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.results import ToolHit


def hit(tool_id: str, *, fits: bool) -> ToolHit:
    server, _, name = tool_id.rpartition("/")
    return ToolHit(CatalogueTool(name, "", server), 0.5, 0.5, 0.5, fits=fits)


def test_hits_below_the_floor_are_left_out_unless_they_are_named() -> None:
    hits = [hit("mail/send", fits=True), hit("mail/read", fits=False), hit("a/list", fits=False)]
    assert list(surfaced(hits, "tell somebody")) == ["mail/send"]
    assert list(surfaced(hits, "list them")) == ["mail/send", "a/list"]


def test_a_named_server_keeps_its_best_hit_alone() -> None:
    hits = [hit("mail/send", fits=False), hit("mail/read", fits=False)]
    assert list(surfaced(hits, "something with mail")) == ["mail/send"]
    assert surfaced(hits, "something") == {}
