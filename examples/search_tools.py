"""Search a catalogue with access rules; runs with the bare core."""

from pathlib import Path

from ctrag import ToolIndex
from ctrag.agents.catalogue.access import AccessRules, Grant, Principal

CATALOGUE = Path(__file__).parents[1] / "ctrag" / "toolbox.yaml"


def main() -> None:
    """Prints the best three tools, first for everybody, then for one who may use a single tool."""
    index = ToolIndex.from_file(CATALOGUE)
    text = "put it off until tomorrow"
    hits = index.search(text, k=3)
    print("open:", [hit.tool.name for hit in hits])

    # Once there are rules, a tool is seen only by those whom a grant names.
    index.access = AccessRules(
        grants=(Grant("role:planner", hits[1].tool.id),),
        members={"ada": Principal("ada", roles=frozenset({"planner"}))},
    )
    print("ada:", [hit.tool.name for hit in index.search(text, k=3, user="ada")])
    print("bob:", [hit.tool.name for hit in index.search(text, k=3, user="bob")])


if __name__ == "__main__":
    main()
