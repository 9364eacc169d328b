"""Which servers' tools a store holds is remembered, whoever lists at the same time."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.leftovers import note_servers, take_out_leftovers
from stores.tools.memory import MemoryToolStore
from tests.agents.server.conftest import Topics, tool


class Slow(MemoryToolStore):
    """As slow to answer as a database elsewhere."""

    def fact(self, name: str) -> str | None:
        found = super().fact(name)
        time.sleep(0.005)
        return found

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        def slowly(text: str | None) -> str:
            time.sleep(0.005)
            return change(text)

        super().change_fact(name, slowly)


def test_servers_that_list_at_the_same_time_are_all_remembered() -> None:
    names = [f"server{n}" for n in range(8)]
    store = Slow()
    index = ToolIndex([tool("send", "Send a mail", one) for one in names], Topics(), store=store)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda one: note_servers(store, [one]), names))
    left = take_out_leftovers(store, names[:3])
    assert left == [f"{one}/send" for one in names[3:]]
    assert [one.server for one in index.tools] == names[:3]
    assert take_out_leftovers(store, names[:3]) == []


def test_tools_that_no_server_listed_stay() -> None:
    store = MemoryToolStore()
    tools = [tool("send", "Send a mail", "mail"), tool("print", "Print a page", "printer")]
    index = ToolIndex(tools, Topics(), store=store)
    note_servers(store, ["printer"])
    assert take_out_leftovers(store, []) == ["printer/print"]
    assert [one.id for one in index.tools] == ["mail/send"]
