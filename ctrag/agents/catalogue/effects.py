"""What a call of a tool does, as far as the tool's own hints say."""

from typing import Literal

from ctrag.agents.catalogue.tool import CatalogueTool

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The annotations of MCP that say what a call does."""
Effect = Literal["reads", "settles", "changes", "unknown"]
"""`reads`: changes nothing; `settles`: an equal call has no further effect; `changes`: each call
may change something; `unknown`: the tool does not say."""


def effect_of(tool: CatalogueTool) -> Effect:
    """The effect by the MCP annotations `readOnlyHint`, `destructiveHint`, `idempotentHint`.

    They are the server's claims. Where two of them contradict each other, the tool changes.
    """
    found = tool.mcp.get("annotations")
    hints = found if isinstance(found, dict) else {}
    if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True:
        return "reads"
    if hints.get("idempotentHint") is True and hints.get("readOnlyHint") is not True:
        return "settles"
    said = hints.get("readOnlyHint") is not None or hints.get("destructiveHint") is True
    return "changes" if said else "unknown"
