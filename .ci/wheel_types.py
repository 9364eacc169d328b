"""Read by mypy against the installed wheel: what a caller's type checker sees of tool search."""

from ctrag import ToolIndex

reveal_type(ToolIndex.from_file("x").search("y"))  # noqa: F821  # known to type checkers
