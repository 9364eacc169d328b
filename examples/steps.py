"""Retrieval's two steps alone. Needs `ctrag[assistant]`: `python examples/steps.py`."""

from datetime import datetime
from pathlib import Path

from ctrag import Assistant, ContextRetriever, ToolRetriever
from stores.people.items import Request

PEOPLE = Path(__file__).parents[1] / "synth" / "data" / "reference" / "dev"


def main() -> None:
    """Prints the retrieved items, then the tools without and with them."""
    view = Assistant.open(PEOPLE, "p007").view()
    request = Request("what did the school lady want earlier", datetime(2023, 10, 26, 12, 40))
    found = ContextRetriever.open().retrieve(view, request)
    print("items:", [one.item.id for one in found.items])
    tools = ToolRetriever.open()
    print("request alone:", [one.tool.api for one in tools.search(request).tools])
    items = [one.item for one in found.items]
    ranked = tools.search(request, items, relevance=found.relevance, scene=found.scene)
    print("with items:", [one.tool.api for one in ranked.tools])


if __name__ == "__main__":
    main()
