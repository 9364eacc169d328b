"""`PromptBuilder`: the smallest prompt that still does the step (paper, algorithm 1)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from ctrag.prompt.assembly import OVERLAY, Prompt, fixed_tokens, in_order, measured
from ctrag.prompt.breaker import CircuitBreaker
from ctrag.prompt.choosing import Choice, Chooser, PromptSettings, as_fit, best_rows
from ctrag.prompt.fragments import Fragment, cut_folder
from ctrag.prompt.gains import Gains
from ctrag.prompt.reading import MiniLMReader, Reader
from ctrag.prompt.reranker import Reranker
from ctrag.prompt.retrieval import HybridRetriever, Scores
from ctrag.prompt.review import ReviewLedger
from ctrag.prompt.selection_cache import SelectionCache, signature
from ctrag.prompt.sufficiency import Sufficiency
from ctrag.prompt.telemetry import Sink, nowhere
from ctrag.prompt.tokens import CountTokens, token_counter
from ctrag.prompt.tool_documents import ToolDocument, load_documents
from ctrag.settings import cache_folder
from ctrag.settings import settings as process_settings
from ctrag.tools.dependency import NextTool
from ctrag.tools.index import NextToolPrior

_HEADINGS = 12
"""Tokens of the headings and blank lines between parts."""
_SUMMARY_WORDS = 8


@dataclass(frozen=True, slots=True)
class _Selection:
    choice: Choice
    sufficiency: float
    discovered: bool


class PromptBuilder:
    """Builds a prompt for each step of an agent from a few fragments and tools.

    Example::

        builder = PromptBuilder.open("policies", "tools.json")
        prompt = builder.build("cancel my order", budget=1500)
        client.chat.completions.create(model="...", **prompt.openai())
    """

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument],
        *,
        settings: PromptSettings | None = None,
        overlay: str = OVERLAY,
        reader: Reader | None = None,
        reranker: Reranker | None = None,
        count: CountTokens | None = None,
        prior: NextToolPrior | None = None,
        pinned: Mapping[str, Sequence[str]] | None = None,
        gains: Gains | None = None,
        sufficiency: Sufficiency | None = None,
        breaker: CircuitBreaker | None = None,
        sink: Sink = nowhere,
        folder: Path | None = None,
    ) -> None:
        """Index the corpora.

        Args:
            fragments: Instruction fragments; may be empty.
            tools: Tool documents, ids distinct; at least one.
            settings: See `PromptSettings`.
            overlay: Safety rules, first in every prompt and never cut.
            reader: The encoder; MiniLM when None.
            reranker: The packaged one when None; `PromptSettings.rerank` turns it off.
            count: Tokens of a text; in the embedded planner's vocabulary when None.
            prior: Tools by the calls so far; counts with `PromptSettings.prior_weight`.
            pinned: Domain (or `*`) → ids of tools that are in whenever the request belongs there.
            gains: Feedback of earlier steps.
            sufficiency: The packaged calibration when None.
            breaker: Guards retrieval.
            sink: Takes telemetry.
            folder: Where the index is kept; None keeps it in memory.

        Raises:
            ValueError: There is no tool, or a pinned one is unknown.
        """
        known = reranker or Reranker.packaged()
        self.settings = settings or PromptSettings()
        self.reranks = self.settings.rerank and known.trained
        """Whether candidates are re-ranked; telemetry says it of each prompt."""
        self.fragments = tuple(fragments)
        self.tools = tuple(tools)
        self.overlay = overlay
        self.gains = gains or Gains()
        self._count = count or token_counter()
        self._least = fixed_tokens(overlay, self._count)
        self._sink = sink
        self._breaker = breaker or CircuitBreaker()
        self._sufficiency = sufficiency or Sufficiency(*known.card.sufficiency)
        self._retriever = HybridRetriever(
            self.fragments,
            self.tools,
            reader or MiniLMReader(),
            weights=known.card.with_cross if self.reranks else known.card.without_cross,
            instruction_weights=known.card.without_cross,
            reranker=known if self.reranks else None,
            candidates=self.settings.candidates,
            prior=prior,
            prior_weight=self.settings.prior_weight,
            folder=folder,
        )
        self._costs = {tool.id: self._count(tool.line) + 1 for tool in self.tools}
        self._rows = {tool.id: row for row, tool in enumerate(self.tools)}
        self._chooser = Chooser(
            self.fragments, self.tools, self._costs, self.settings, self.gains, pinned or {}
        )
        self._cache: SelectionCache[_Selection] = SelectionCache()
        self._content = _digest(self.fragments, self.tools)

    @classmethod
    def open(
        cls,
        instructions: str | Path,
        catalogue: str | Path,
        *,
        index: Path | None = None,
        review: bool | None = None,
        settings: PromptSettings | None = None,
        sink: Sink = nowhere,
    ) -> "PromptBuilder":
        """A builder over a folder of policies and a catalogue file.

        Args:
            instructions: Folder of `.md` and `.txt` files.
            catalogue: A `tools.json` or `toolbox.yaml`.
            index: Folder of the index, the change log and the ledger; beside the cache when None.
            review: Serve fragments only as somebody approved them (`ctrag review`); as
                `CTRAG_REVIEW` says when None.
            settings: See `PromptSettings`; what the process settings say of the prior when None.
            sink: Takes telemetry.

        The model of tool dependencies that the process settings name is the prior.

        Raises:
            ValueError: A file breaks a rule.
            FileNotFoundError: A file or folder is missing.
        """
        count = token_counter()
        cut = cut_folder(Path(instructions), count)
        folder = index or index_folder(Path(instructions))
        ledger = ReviewLedger(folder)
        ledger.note(cut.fragments)
        gated = process_settings().review if review is None else review
        served = ledger.served(cut.fragments, count) if gated else list(cut.fragments)
        tools = load_documents(Path(catalogue), count)
        weight = process_settings().dependency_prompt_weight
        return cls(
            served,
            tools,
            settings=settings or PromptSettings(prior_weight=weight),
            sink=sink,
            count=count,
            prior=NextTool.configured(),
            folder=folder,
        )

    def build(
        self,
        text: str,
        budget: int = 2000,
        *,
        history: Sequence[str] = (),
        domain: str = "",
        previous: Prompt | None = None,
        rated: float | None = None,
    ) -> Prompt:
        """The prompt of a step, never over the budget, always with the overlay.

        Args:
            text: The request, and whatever of the task's state it says.
            budget: Tokens of the prompt's text.
            history: Ids of the tools called so far, oldest first.
            domain: Where the request belongs, if known: its pinned tools are in.
            previous: The prompt of the step before, whose order is kept for prompt caches.
            rated: The model's own probability that the tools suffice, if it was asked.

        Raises:
            ValueError: The text is empty, or the budget holds no more than overlay and note.
        """
        began = time.perf_counter()
        self._check(text, budget)
        key = signature(text, domain, history, budget, rated, self.settings, self.gains.learned)
        kept = self._cache.get(key, self._content)
        if kept is None:
            try:
                scores = self._breaker.call(lambda: self._retriever.scores(text, history))
            except Exception as error:  # whatever retrieval dies of, the step goes on
                return self._fallen_back(text, history, error, began)
            kept = self._select(scores, budget, domain, rated)
            self._cache.put(key, self._content, kept)
            cached = False
        else:
            cached = True
        prompt = self._assembled(text, tuple(history), kept, budget, previous)
        prompt = replace(prompt, cached=cached)
        self._report(prompt, began)
        return prompt

    def discover(self, prompt: Prompt) -> Prompt:
        """The one discovery step of a prompt whose tools did not suffice.

        Raises:
            ValueError: It was taken already, or this is the full prompt, which hides nothing.
        """
        if prompt.discovered or prompt.budget is None:
            raise ValueError("prompt: its discovery step was taken, or it hides nothing")
        began = time.perf_counter()
        try:
            scores = self._breaker.call(
                lambda: self._retriever.scores(prompt.request, prompt.history)
            )
        except Exception as error:  # as in `build`
            return self._fallen_back(prompt.request, prompt.history, error, began)
        choice = self._choose(scores, prompt.budget, "", self._widest())
        selection = _Selection(choice, prompt.sufficiency or 0.0, True)
        found = self._assembled(prompt.request, prompt.history, selection, prompt.budget, prompt)
        self._report(found, began)
        return found

    def miss(self, prompt: Prompt, wanted: str) -> None:
        """Log that a step needed a tool that its prompt did not show."""
        self._sink(
            {
                "event": "miss",
                "request": prompt.request,
                "history": list(prompt.history),
                "wanted": wanted,
                "known": wanted in self._rows,
                "tools": [tool.id for tool in prompt.tools],
                "sufficiency": prompt.sufficiency,
                "discovered": prompt.discovered,
            }
        )

    def full(self, text: str, history: Sequence[str] = (), reason: str = "asked for") -> Prompt:
        """Everything there is, within `PromptSettings.window` where that is set.

        Raises:
            ValueError: The window holds no more than overlay and note.
        """
        window = self.settings.window
        fragments, tools = in_order(self.fragments, self.tools, None)
        if window is None:
            tokens = measured(self.overlay, fragments, tools, self._count)
        else:
            self._check(text, window)
            room = window - self._least - _HEADINGS
            fragments, room = as_fit(fragments, [one.tokens + 2 for one in fragments], room)
            tools, _ = as_fit(tools, [self._costs[one.id] for one in tools], room)
            fragments, tools, tokens = self._within(window, fragments, tools, None)
        return Prompt(
            request=text,
            history=tuple(history),
            overlay=self.overlay,
            fragments=tuple(fragments),
            tools=tuple(tools),
            tokens=tokens,
            budget=None,
            fallback=reason,
        )

    def ranked(self, text: str, history: Sequence[str] = ()) -> list[ToolDocument]:
        """All tools for a step, likeliest first."""
        scores = self._retriever.scores(text, history).tools
        return [self.tools[row] for row in best_rows(scores, len(self.tools))]

    def cost(self, tool_id: str) -> int:
        """Tokens that a tool takes in a prompt."""
        return self._costs[tool_id]

    def _check(self, text: str, budget: int) -> None:
        if not text.strip():
            raise ValueError("text: must not be empty")
        if budget < self._least:
            raise ValueError(
                f"budget: {budget} tokens do not hold the safety overlay and the routing note, "
                f"which take {self._least}; raise the budget"
            )

    def _select(self, scores: Scores, budget: int, domain: str, rated: float | None) -> _Selection:
        choice = self._choose(scores, budget, domain, self.settings.tools)
        rows = [self._rows[tool.id] for tool in choice.tools]
        enough = self._sufficiency.probability(scores.tools, rows, rated)
        if enough >= self.settings.tau or self.settings.discovery == "off":
            return _Selection(choice, enough, False)
        if self.settings.discovery == "widen":
            choice = self._choose(scores, budget, domain, self._widest())
        return _Selection(choice, enough, True)

    def _choose(self, scores: Scores, budget: int, domain: str, most: int) -> Choice:
        room = budget - self._least - _HEADINGS
        return self._chooser.choose(scores, room, domain, most)

    def _widest(self) -> int:
        return max(self.settings.discovery_tools, self.settings.tools)

    def _assembled(
        self,
        text: str,
        history: tuple[str, ...],
        selection: _Selection,
        budget: int,
        previous: Prompt | None,
    ) -> Prompt:
        choice = selection.choice
        kept, shown = list(choice.fragments), list(choice.tools)
        fragments, tools, tokens = self._within(budget, kept, shown, previous)
        summary: list[str] = []
        if selection.discovered and self.settings.discovery == "summary":
            summary = self._summary(fragments, tools, budget)
            tokens = measured(self.overlay, fragments, tools, self._count, summary)
            while tokens > budget and summary:
                summary.pop()
                tokens = measured(self.overlay, fragments, tools, self._count, summary)
        return Prompt(
            request=text,
            history=history,
            overlay=self.overlay,
            fragments=tuple(fragments),
            tools=tuple(tools),
            tokens=tokens,
            budget=budget,
            summary=tuple(summary),
            sufficiency=selection.sufficiency,
            discovered=selection.discovered,
            dropped=choice.dropped,
            scores={
                unit: round(choice.chances[unit], 6)
                for unit in (*(one.id for one in fragments), *(one.id for one in tools))
            },
        )

    def _within(
        self,
        budget: int,
        kept: list[Fragment],
        shown: list[ToolDocument],
        previous: Prompt | None,
    ) -> tuple[list[Fragment], list[ToolDocument], int]:
        """Units in the order of the text, and its tokens: the whole is counted, because parts
        counted alone may come to less, and while it is over the budget the last of `kept`, then
        of `shown`, goes."""
        while True:
            fragments, tools = in_order(kept, shown, previous)
            tokens = measured(self.overlay, fragments, tools, self._count)
            if tokens <= budget or not (kept or shown):
                return fragments, tools, tokens
            (kept or shown).pop()

    def _summary(
        self, fragments: Sequence[Fragment], tools: Sequence[ToolDocument], budget: int
    ) -> list[str]:
        """A line for each hidden tool, in the catalogue's order, as far as the budget goes."""
        room = budget - measured(self.overlay, fragments, tools, self._count, ["-"])
        lines = []
        for tool in self.tools:
            if tool not in tools:
                words = " ".join(tool.tool.description.split()[:_SUMMARY_WORDS])
                lines.append(f"- {tool.name}: {words}")
        return as_fit(lines, [self._count(line) + 1 for line in lines], room)[0]

    def _fallen_back(
        self, text: str, history: Sequence[str], error: Exception, began: float
    ) -> Prompt:
        prompt = self.full(text, history, f"{type(error).__name__}: {error}")
        self._report(prompt, began)
        return prompt

    def _report(self, prompt: Prompt, began: float) -> None:
        self._sink(
            {
                "event": "prompt",
                "request": prompt.request,
                "history": list(prompt.history),
                "fragments": [one.id for one in prompt.fragments],
                "tools": [one.id for one in prompt.tools],
                "scores": prompt.scores,
                "sufficiency": prompt.sufficiency,
                "tau": self.settings.tau,
                "discovered": prompt.discovered,
                "fallback": prompt.fallback,
                "cached": prompt.cached,
                "reranked": self.reranks,
                "dropped": list(prompt.dropped),
                "tokens": prompt.tokens,
                "budget": prompt.budget,
                "ms": round(1000 * (time.perf_counter() - began), 2),
            }
        )


def index_folder(instructions: Path) -> Path:
    """Where the index of a folder of instructions is kept when nothing else is said."""
    name = sha256(str(instructions.resolve()).encode()).hexdigest()[:16]
    return cache_folder() / "prompts" / name


def _digest(fragments: Sequence[Fragment], tools: Sequence[ToolDocument]) -> str:
    content = [f"{one.id} {one.digest}" for one in fragments]
    content += [f"{one.id} {one.line}" for one in tools]
    return sha256("\n".join(content).encode()).hexdigest()
