"""A model's input within its window: tools first, then the history that is left room for."""

from collections.abc import Sequence

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.history import Message, fit_history, history_tokens
from ctrag.agents.session.outcomes import PreparedContext, TokenEstimate
from ctrag.agents.session.tokens import tool_tokens
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

_SHARE_OF_DISCOVERED = 0.1
"""Share of the window that discovered tools may take regardless of the conversation's length."""


def room_for_tools(
    messages: Sequence[Message],
    always: Sequence[CatalogueTool],
    window: int,
    output: int,
    count: CountTokens,
) -> int:
    """Tokens that the tools may cost beside messages and answer.

    Raises:
        ValueError: The window is no larger than the answer.
    """
    if not 0 <= output < window:
        raise InputError(f"output: must be from 0 to below the window {window}, not {output}")
    room = window - output
    core = sum(tool_tokens(tool, count) for tool in always)
    least = core + int(_SHARE_OF_DISCOVERED * window)
    return min(room, max(least, room - history_tokens(messages, count)))


def within(
    messages: Sequence[Message],
    tools: tuple[CatalogueTool, ...],
    window: int,
    output: int,
    count: CountTokens,
) -> PreparedContext:
    """The history cut to the tokens that the tools leave, and what all of it costs."""
    spent = sum(tool_tokens(tool, count) for tool in tools)
    fitted = fit_history(messages, max(0, window - output - spent), count)
    estimate = TokenEstimate(
        tools=spent,
        messages=fitted.tokens,
        output=output,
        window=window,
        by_characters=sum(map(tool_tokens, tools)) + history_tokens(fitted.messages),
    )
    return PreparedContext(fitted.messages, tools, estimate, fitted.dropped, fitted.shortened)
