"""Fitting the chosen units into a prompt's budget."""

from collections.abc import Sequence

from ctrag.agents.prompt.assembly import Parts, Prompt, fixed_tokens, form_tokens, in_order
from ctrag.agents.prompt.choosing import as_fit
from ctrag.agents.prompt.forms import Form, document_tokens
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.signatures import first_sentence
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

_HEADINGS = 32
"""Tokens of the headings and blank lines between parts."""
LIKELY_TOKENS = 24
"""Reserved for the line that names the likely tool; a longer name may not fit."""
_SUMMARY_WORDS = 8


class Fitter:
    """Fits units between overlay and routing note, in one form of prompts."""

    def __init__(self, overlay: str, count: CountTokens, form: Form = "text") -> None:
        self.overlay = overlay
        self.form = form
        self._count = count
        self.least = fixed_tokens(overlay, count, form)
        """Tokens of overlay and note: the smallest budget."""

    def check(self, budget: int) -> None:
        """Raise ValueError for a budget that does not hold overlay and note."""
        if budget < self.least:
            raise InputError(
                f"budget: {budget} tokens do not hold the safety overlay and the routing note, "
                f"which take {self.least}; raise the budget"
            )

    def room(self, budget: int) -> int:
        """Tokens for units alone."""
        return budget - self.least - _HEADINGS

    def fitted(self, parts: Parts, budget: int, previous: Prompt | None) -> tuple[Parts, int]:
        """Units in the order of the text, and the tokens of the prompt.

        The whole prompt is counted, because its parts may add up to less. While it is over the
        budget, the line that names the likely tool goes; then the last signature; then the last
        fragment; then the last tool.

        Args:
            parts: Units, best first.
            budget: Tokens of the prompt.
            previous: The prompt of the step before, whose order is kept.
        """
        fragments, tools, short = list(parts.fragments), list(parts.tools), list(parts.signatures)
        likely = parts.likely
        while True:
            ordered = in_order(Parts(fragments, tools, short, likely=likely), previous)
            tokens = self.tokens(ordered)
            if tokens <= budget or not (likely or short or fragments or tools):
                return ordered, tokens
            if likely:
                likely = None
            else:
                (short or fragments or tools).pop()

    def tokens(self, parts: Parts) -> int:
        """Of the whole prompt."""
        return form_tokens(self.form, self.overlay, parts, self._count)

    def summarised(
        self, parts: Parts, tools: Sequence[ToolDocument], budget: int
    ) -> tuple[Parts, int]:
        """With a line for each hidden tool, in the catalogue's order, as far as the budget goes."""
        room = budget - self.tokens(_with(parts, ["-"]))
        shown = {one.id for one in (*parts.tools, *parts.signatures)}
        lines = [_line(one) for one in tools if one.id not in shown]
        lines = as_fit(lines, [self._count(line) + 1 for line in lines], room)[0]
        while lines and self.tokens(_with(parts, lines)) > budget:
            lines.pop()
        found = _with(parts, lines)
        return found, self.tokens(found)

    def everything(
        self, fragments: Sequence[Fragment], tools: Sequence[ToolDocument], window: int | None
    ) -> tuple[Parts, int]:
        """All units with whole documents, as far as a window goes.

        Args:
            fragments: All there are.
            tools: All there are.
            window: Tokens of the prompt at most; None for no bound.

        Raises:
            ValueError: The window holds no more than overlay and note.
        """
        parts = in_order(Parts(fragments, tools), None)
        if window is None:
            return parts, self.tokens(parts)
        self.check(window)
        costs = [one.tokens + 2 for one in parts.fragments]
        kept, room = as_fit(parts.fragments, costs, self.room(window))
        costs = [document_tokens(self.form, one, self._count) for one in parts.tools]
        shown, _ = as_fit(parts.tools, costs, room)
        return self.fitted(Parts(kept, shown), window, None)


def _line(tool: ToolDocument) -> str:
    words = first_sentence(tool.tool.description).split()[:_SUMMARY_WORDS]
    return f"- {tool.name}: {' '.join(words)}"


def _with(parts: Parts, summary: Sequence[str]) -> Parts:
    return Parts(parts.fragments, parts.tools, parts.signatures, summary, parts.likely)
