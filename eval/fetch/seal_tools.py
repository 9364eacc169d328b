"""Seal-Tools: its tools and the requests of its development split."""

from pathlib import Path

from eval.fetch.reading import Row, lines_of

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array"}


def queries(checkout: Path) -> list[Row]:
    """Requests with the tools that they call, in order, and the calls."""
    return [
        {
            "query_id": row["id"],
            "text": row["query"],
            "tools": [one["api"] for one in row["calling"]],
            "calls": [
                {"api": one["api"], "arguments": one["parameters"]} for one in row["calling"]
            ],
        }
        for row in lines_of(checkout, "Seal-Tools_Dataset/dev.jsonl")
    ]


def tools(checkout: Path) -> list[Row]:
    """All tools, with their parameters as JSON Schema."""
    return [_tool(row) for row in lines_of(checkout, "Seal-Tools_Dataset/tool.jsonl")]


def _tool(row: Row) -> Row:
    properties = {
        name: {
            "type": _TYPES.get(one.get("type", "str"), "string"),
            "description": one.get("description", ""),
        }
        for name, one in row["parameters"].items()
    }
    return {
        "name": row["api_name"],
        "description": row["api_description"],
        "field": row.get("field", ""),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": row.get("required", []),
        },
    }
