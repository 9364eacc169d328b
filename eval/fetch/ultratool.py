"""UltraTool's chains as GNN4TaskPlan has them; its test chains are left for tests."""

from pathlib import Path

from eval.fetch.reading import Row, json_of, lines_of

_FOLDER = "data/ultratool"


def queries(checkout: Path) -> list[Row]:
    """Requests with the tools of their chains in the order of the links, those of the test split
    left out."""
    split = json_of(checkout, f"{_FOLDER}/split_ids.json")["test_ids"]
    tests = {
        str(one) for ids in (split.values() if isinstance(split, dict) else [split]) for one in ids
    }
    return [
        {
            "query_id": str(row["id"]),
            "text": row["user_request"].strip(),
            "tools": [one["task"] for one in row["task_nodes"]],
        }
        for row in lines_of(checkout, f"{_FOLDER}/data.json")
        if str(row["id"]) not in tests
    ]


def tools(checkout: Path) -> list[Row]:
    """Names and descriptions; the source has no parameters."""
    nothing = {"type": "object", "properties": {}}
    return [
        {"name": one["id"], "description": one["desc"], "parameters": nothing}
        for one in json_of(checkout, f"{_FOLDER}/tool_desc.json")["nodes"]
    ]
