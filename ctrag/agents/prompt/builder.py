"""`PromptBuilder`: the smallest prompt that is enough for a step (paper, algorithm 1)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.next_tool.opening import configured_next_tool, open_next_tool
from ctrag.agents.prompt.assembly import OVERLAY, Prompt
from ctrag.agents.prompt.breaker import CircuitBreaker
from ctrag.agents.prompt.called_names import CalledNames
from ctrag.agents.prompt.choosing import best_rows
from ctrag.agents.prompt.encoders import IndexEncoder, MiniLMPassageEncoder, PassageEncoder
from ctrag.agents.prompt.forms import Form, check_form, document_tokens
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.gains import Gains
from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.prompt.retrieval import HybridRetriever, Scores
from ctrag.agents.prompt.selection_cache import SelectionCache, signature
from ctrag.agents.prompt.selector import Selection, Selector
from ctrag.agents.prompt.served import served_instructions
from ctrag.agents.prompt.settings import BUDGET, PromptSettings, weighed
from ctrag.agents.prompt.sufficiency import OPEN_WORLD, Sufficiency
from ctrag.agents.prompt.telemetry import Sink, nowhere, of_miss, of_prompt
from ctrag.agents.prompt.tool_documents import ToolDocument, load_documents, make_documents
from ctrag.agents.search.index import NextToolModel, ToolIndex
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix
from ctrag.models.tokens import CountTokens, token_counter
from ctrag.settings import settings as process_settings


class PromptBuilder:
    """Builds a prompt for each step of an agent from a few fragments and tools.

    Example::

        builder = PromptBuilder.open("policies", "tools.json")
        prompt = builder.build("cancel my order", budget=1500, form="openai")
        client.chat.completions.create(model="...", **prompt.openai())
    """

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument] = (),
        *,
        settings: PromptSettings | None = None,
        overlay: str = OVERLAY,
        encoder: PassageEncoder | None = None,
        reranker: Reranker | None = None,
        count: CountTokens | None = None,
        next_tool: NextToolModel | None = None,
        pinned: Mapping[str, Sequence[str]] | None = None,
        gains: Gains | None = None,
        sufficiency: Sufficiency | None = None,
        breaker: CircuitBreaker | None = None,
        sink: Sink = nowhere,
        folder: Path | None = None,
        index: ToolIndex | None = None,
        user: Principal | str | None = None,
    ) -> None:
        """Index the corpora.

        Args:
            fragments: Instruction fragments; may be empty.
            tools: Tool documents, ids distinct; at least one, except where there is an index.
            settings: See `PromptSettings`.
            overlay: Safety rules, first in every prompt and never cut.
            encoder: The encoder; MiniLM when None. An `index` with vectors uses its own.
            reranker: The packaged hybrid weights alone when None.
            count: Tokens of a text; in the embedded planner's vocabulary when None.
            next_tool: Tools by the calls so far; counts with `PromptSettings.next_tool_weight`.
            pinned: Domain (or `*`) → tools always shown to requests of that domain, by id, or by a
                name that no other tool has.
            gains: Feedback of earlier steps.
            sufficiency: The packaged calibration when None.
            breaker: Guards retrieval.
            sink: Takes telemetry.
            folder: Folder of the index; None keeps it in memory.
            index: The agent's own index: its encoder and its vectors of the tools are used, so that
                the catalogue is encoded once. Without `tools` its own are taken. Tools and access
                rules are read once, when the builder is made.
            user: Who asks, where the index has access rules.

        Raises:
            ValueError: There is no tool, a pinned one is unknown, or the overlay is empty.
        """
        if not overlay.strip():
            raise InputError("overlay: must not be empty; leave it out for the default one")
        known = reranker or Reranker.packaged()
        self.settings = settings or PromptSettings()
        self.reranks = self.settings.rerank and known.trained
        """Whether candidates are re-ranked; recorded in telemetry."""
        self.fragments = tuple(fragments)
        self.ignored: tuple[tuple[str, int], ...] = ()
        """Keys of front matter that mean nothing here, each with its number of files."""
        self.problems: tuple[tuple[str, str], ...] = ()
        """(file, why it was left out or what of it was read otherwise than it stands)."""
        self.warning = ""
        """What is not served because nobody approved it; empty if nothing."""
        self._count = count or token_counter()
        vectors = None
        if index is not None:
            tools, vectors = _indexed(index, tools, user, self._count)
            encoder = None if vectors is None else IndexEncoder(index)
        self.tools = tuple(tools)
        if not self.tools:
            raise InputError("tools: there is none; give documents of tools, or an index")
        self.gains = gains or Gains()
        self._overlay = overlay
        self._sink = sink
        self._breaker = breaker or CircuitBreaker()
        self._retriever = HybridRetriever(
            self.fragments,
            self.tools,
            encoder or MiniLMPassageEncoder(),
            weights=known.card.with_cross if self.reranks else known.card.without_cross,
            instruction_weights=known.card.without_cross,
            settings=self.settings,
            reranker=known if self.reranks else None,
            next_tool=next_tool,
            folder=folder,
            tool_vectors=vectors,
        )
        self._rows = {tool.id: row for row, tool in enumerate(self.tools)}
        self._called = CalledNames(self.tools)
        self._selector = Selector(
            self.fragments,
            self.tools,
            overlay=overlay,
            settings=self.settings,
            gains=self.gains,
            pinned=self._called.pinned(pinned),
            sufficiency=sufficiency or Sufficiency(*known.card.sufficiency),
            count=self._count,
        )
        self._cache: SelectionCache[Selection] = SelectionCache()
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
        overlay: str = OVERLAY,
        reranker: Reranker | str | Path | None = None,
        pinned: Mapping[str, Sequence[str]] | None = None,
        gains: Gains | None = None,
        prior: NextToolModel | str | Path | None = None,
        sink: Sink = nowhere,
    ) -> "PromptBuilder":
        """A builder over a folder of policies and a catalogue file.

        Args:
            instructions: Folder of `.md`, `.mdc` and `.txt` files and of skills, or one file.
            catalogue: A `tools.json` or `toolbox.yaml`.
            index: Folder of the index, the change log and the ledger; beside the cache when None.
            review: Serve fragments only as somebody approved them (`ctrag review`); as
                `CTRAG_REVIEW` says when None.
            settings: See `PromptSettings`; when None, the weights of next tool and request are
                those of the process settings, and the request's is `REQUEST_WEIGHT` where there is
                a prior and they name none.
            overlay: Safety rules, first in every prompt and never cut.
            reranker: One of your own, or the folder that `ctrag train reranker` wrote; as
                `CTRAG_RERANKER` says when None, else none: the packaged hybrid weights.
            pinned: Domain (or `*`) → tools always shown to requests of that domain.
            gains: Feedback of earlier steps; the file that `CTRAG_GAINS` names when None.
            prior: Model of the next tool; or its folder, or traces, as `open_next_tool` takes
                them; what `CTRAG_DEPENDENCY` names when None.
            sink: Takes telemetry.

        Raises:
            ValueError: A file breaks a rule.
            FileNotFoundError: A file or folder is missing.
        """
        count = token_counter()
        served = served_instructions(Path(instructions), index, review)
        tools = load_documents(Path(catalogue), count)
        ids = [one.id for one in tools]
        if prior is None:
            prior = configured_next_tool(ids)
        elif isinstance(prior, str | Path):
            prior = open_next_tool(prior, catalogue=ids)
        kept = process_settings().gains
        if gains is None and kept is not None:
            gains = Gains.load(kept.expanduser())
        if isinstance(reranker, str | Path):
            reranker = Reranker.load(Path(reranker))
        known = reranker or Reranker.configured() or Reranker.packaged()
        made = cls(
            served.fragments,
            tools,
            settings=settings or weighed(PromptSettings(), predicted=prior is not None),
            overlay=overlay,
            reranker=known,
            sufficiency=Sufficiency(*known.card.sufficiency, open_world=OPEN_WORLD),
            pinned=pinned,
            gains=gains,
            sink=sink,
            count=count,
            next_tool=prior,
            folder=served.folder,
        )
        made.ignored, made.problems = served.ignored, served.problems
        made.warning = served.warning
        return made

    def build(
        self,
        text: str,
        budget: int = BUDGET,
        *,
        history: Sequence[str] = (),
        domain: str = "",
        previous: Prompt | None = None,
        rated: float | None = None,
        form: Form = "text",
    ) -> Prompt:
        """The prompt of a step, never over the budget, always with the overlay.

        Args:
            text: The request, with any task state in it.
            budget: Tokens of the prompt in its form; the request itself is not among them.
            history: Tools called so far, oldest first: ids, or the names that prompts give them.
            domain: The request's domain, if known: its pinned tools are shown.
            previous: The previous step's prompt, whose order is kept for prompt caches.
            rated: The model's own probability that the tools are enough, if it was asked.
            form: What the budget applies to: `Prompt.text`, or system text and tools of
                `Prompt.openai` or `Prompt.anthropic`.

        Raises:
            ValueError: The text is empty, the form unknown, the rating no probability, or the
                budget holds no more than overlay and note.
        """
        began = time.perf_counter()
        if not text.strip():
            raise InputError("text: must not be empty")
        if rated is not None and not 0 <= rated <= 1:
            raise InputError(f"rated: must be a probability from 0 to 1, not {rated}")
        check_form(form)
        self._selector.fitter(form).check(budget)
        text, history = text.encode("utf-8", "replace").decode(), self._called.ids_of(history)
        learned = self.gains.learned
        key = signature(text, domain, history, budget, rated, form, self.settings, learned)
        kept = self._cache.get(key, self._content)
        if kept is None:
            try:
                scores = self._breaker.call(lambda: self._retriever.scores(text, history, domain))
            except Exception as error:  # a failure of retrieval must not fail the step
                return self._fallen_back(text, history, error, began, form)
            kept = self._selector.select(scores, budget, domain, rated, form)
            self._cache.put(key, self._content, kept)
            cached = False
        else:
            cached = True
        prompt = self._selector.assembled(text, history, kept, budget, previous, form)
        prompt = replace(prompt, cached=cached)
        self._report(prompt, began)
        return prompt

    def discover(self, prompt: Prompt) -> Prompt:
        """The one discovery step of a prompt whose tools were not enough.

        Raises:
            ValueError: The step was taken already, or this is the full prompt.
        """
        if prompt.discovered or prompt.budget is None:
            raise InputError("prompt: its discovery step was taken, or it hides nothing")
        began = time.perf_counter()
        try:
            scores = self._breaker.call(
                lambda: self._retriever.scores(prompt.request, prompt.history, prompt.domain)
            )
        except Exception as error:  # as in `build`
            return self._fallen_back(prompt.request, prompt.history, error, began, prompt.form)
        selection = self._selector.discovered(prompt, scores, prompt.budget)
        found = self._selector.assembled(
            prompt.request, prompt.history, selection, prompt.budget, prompt, prompt.form
        )
        self._report(found, began)
        return found

    def learn(self, prompt: Prompt, called: Sequence[str]) -> None:
        """Learn from a step's calls, and log those of hidden tools as misses.

        Tools shown with whole documents count as unused if not called; signatures are cheap and
        count only if called. The full prompt and steps without calls are ignored.

        Args:
            prompt: The step's prompt.
            called: Tools called: ids, or the names that the prompt gives them.
        """
        used = list(dict.fromkeys(self._called.ids_of(called)))
        shown = {one.id for one in prompt.exposed}
        for one in used:
            if one not in shown:
                self.miss(prompt, one)
        if used and not prompt.fallback:
            whole = [one.id for one in prompt.tools]
            taken = [one for one in used if one in shown]
            self.gains.learn(dict.fromkeys([*whole, *taken]), taken)

    def miss(self, prompt: Prompt, wanted: str) -> None:
        """Log that a step needed a tool its prompt did not show; `wanted` is its id or name, or the
        model's description."""
        wanted = self._called.id_of(wanted)
        self._sink(of_miss(prompt, wanted, wanted in self._rows))

    def full(
        self,
        text: str,
        history: Sequence[str] = (),
        reason: str = "asked for",
        form: Form = "text",
    ) -> Prompt:
        """The full prompt, within `PromptSettings.window` if set.

        Raises:
            ValueError: The window holds no more than overlay and note.
        """
        window = self.settings.window
        fitter = self._selector.fitter(form)
        parts, tokens = fitter.everything(self.fragments, self.tools, window)
        return Prompt(
            request=text,
            history=self._called.ids_of(history),
            overlay=self._overlay,
            fragments=tuple(parts.fragments),
            tools=tuple(parts.tools),
            tokens=tokens,
            budget=None,
            form=form,
            fallback=reason,
        )

    def ranked(self, text: str, history: Sequence[str] = ()) -> list[ToolDocument]:
        """All tools for a step, likeliest first."""
        scores = self.scores(text, history).tools
        return [self.tools[row] for row in best_rows(scores, len(self.tools))]

    def scores(self, text: str, history: Sequence[str] = ()) -> Scores:
        """Scores of all units for a step, as its prompt is chosen by."""
        return self._retriever.scores(text, self._called.ids_of(history))

    def rows(self, ids: Sequence[str]) -> list[int]:
        """Places of tools in `tools`, by their ids."""
        return [self._rows[one] for one in ids]

    def cost(self, tool_id: str, form: Form = "text") -> int:
        """Tokens of a tool's whole document in a prompt."""
        return document_tokens(form, self.tools[self._rows[tool_id]], self._count)

    def _fallen_back(
        self, text: str, history: Sequence[str], error: Exception, began: float, form: Form
    ) -> Prompt:
        prompt = self.full(text, history, f"{type(error).__name__}: {error}", form)
        self._report(prompt, began)
        return prompt

    def _report(self, prompt: Prompt, began: float) -> None:
        milliseconds = round(1000 * (time.perf_counter() - began), 2)
        self._sink(of_prompt(prompt, self.settings.tau, self.reranks, milliseconds))


def _indexed(
    index: ToolIndex,
    tools: Sequence[ToolDocument],
    user: Principal | str | None,
    count: CountTokens,
) -> tuple[list[ToolDocument], list[Matrix] | None]:
    """Documents of the tools that the caller may see, and their vectors if the index has any."""
    seen = index.resolve([one.id for one in tools or index.tools], user)
    if not seen:
        raise InputError(f"index: holds no tool that {user!r} may see")
    given = {one.id: one for one in tools}
    documents = [given[one.id] for one in seen if one.id in given] or make_documents(
        seen, {}, count
    )
    seen = [one for one in seen if not given or one.id in given]
    return documents, None if index.lexical_only else index.vectors_of(seen)


def _digest(fragments: Sequence[Fragment], tools: Sequence[ToolDocument]) -> str:
    content = [f"{one.id} {one.digest}" for one in fragments]
    content += [f"{one.id} {one.line}" for one in tools]
    return sha256("\n".join(content).encode()).hexdigest()
