"""The next tool, from a request and the calls so far."""

import re
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import baselines, observed
from ctrag.agents.next_tool.artefact import (
    LOG,
    DependencyCard,
    Fitted,
    Stored,
    read_artefact,
    write_artefact,
)
from ctrag.agents.next_tool.demonstrations import (
    OBSERVED,
    Demonstration,
    checked_calls,
    checked_text,
)
from ctrag.agents.next_tool.evidence import (
    EvidenceWeights,
    Ints,
    RequestEvidence,
    ask,
    candidates,
    features,
)
from ctrag.agents.next_tool.graph import Probabilities
from ctrag.agents.next_tool.linear import (
    history_alone,
    history_text,
    joint,
    moved,
    softmax_probabilities,
)
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.texts import ToolTexts, tool_names
from ctrag.agents.session.lessons import Lesson
from ctrag.errors import InputError
from ctrag.extras import need
from ctrag.models.blas import one_blas_thread
from ctrag.models.encoder import Encoder, Matrix, load_encoder

METHODS = (
    "random",
    "bm25",
    "qts",
    "dependency",
    "learned",
    "bigram",
    "trigram",
    "dtdr_c",
    "dtdr_l",
    "combined",
)
_WITHOUT_VECTOR = ("random", "bm25", "dependency", "bigram", "trigram")
"""Methods that need no embedding of the request."""
_UNRANKED = 1e-4
"""Probability mass shared by all tools that are not candidates."""
_ALWAYS, _MORE = 50, 1.1
"""Each of the first `_ALWAYS` observations is followed by a refit; later, every tenth more is."""
_REQUESTS = 256
"""Requests whose embeddings are cached."""


class NextTool:
    """Ranks tools, and `end`, by the probability that they come next.

    Tools are returned by their catalogue's ids (`server/name` where there is a server), and may be
    given by id, or by name where no other tool has it. Safe to use from many threads.

    Example::

        model = NextTool.load("runs/dependency")
        for tool, chance in model.rank("cancel my flight and book a later one", ["flight_search"]):
            print(tool, chance)
        model.observe("cancel my flight", ["flight_search", "flight_ticket_cancelling"])
    """

    def __init__(
        self,
        memory: Memory,
        fitted: Fitted,
        tools: Sequence[CatalogueTool],
        texts: ToolTexts,
        encoder: Encoder,
        card: DependencyCard,
        log: Path | None = None,
    ) -> None:
        self.memory = memory
        self.fitted = fitted
        self.tools = list(tools)
        self.texts = texts
        self.encoder = encoder
        self.card = card
        self.log = log
        """Where `observe` writes; None keeps what is observed in memory alone."""
        self._ids = {name: tool.id for tool, name in zip(tools, tool_names(tools), strict=True)}
        for name, tool_id in self._ids.items():
            memory.also_called(name, tool_id)
        self.weights = EvidenceWeights(fitted.step, fitted.whole)
        self._lock = threading.RLock()
        self._adding = threading.Lock()
        """Held while added tools are encoded; ranking does not wait for it."""
        self._fitted_tools = len(self.tools)
        self._watched: list[tuple[Demonstration, Matrix]] = []
        self._refitted = 0
        self._lessons: tuple[set[tuple[str, str, tuple[str, ...]]], int] = set(), -1
        self._vector = lru_cache(_REQUESTS)(lambda text: self.encoder.encode([text])[0])
        self._asked = lru_cache(_REQUESTS)(self._ask)

    @classmethod
    def load(
        cls, path: str | Path, encoder: Encoder | None = None, log: Path | None = None
    ) -> "NextTool":
        """The model that `ctrag train dependency` wrote, with all observations since.

        Observations that it was fitted on are not counted again.

        Args:
            path: Its folder.
            encoder: The one that it was fitted with; loaded when None.
            log: Where observations are read and appended; `observed.jsonl` in the folder when
                None.

        Raises:
            FileNotFoundError: A file is missing.
            ValueError: The encoder is another one, the trees were fitted on other features than
                this version computes, or the log was written by something else.
        """
        folder = Path(path)
        stored = read_artefact(folder)
        card, memory = stored.card, stored.memory
        encoder = load_encoder(card.encoder) if encoder is None else encoder
        if encoder.name != card.encoder:
            raise InputError(
                f"encoder: {folder} was fitted with {card.encoder}, not {encoder.name}"
            )
        texts = ToolTexts(stored.tools, stored.texts)
        model = cls(memory, stored.fitted, stored.tools, texts, encoder, card)
        model.log = folder / LOG if log is None else log
        model.refresh()
        return model

    def save(self, folder: Path) -> None:
        """Write all but what was observed or added into `folder`, which is created when missing."""
        with self._lock:
            count = len(self.memory) - len(self._watched)
            own = self._fitted_tools
            tools, vectors = self.tools[:own], self.texts.vectors[:own]
            stored = Stored(self.card, self.memory, self.fitted, tools, vectors)
            write_artefact(folder, stored, count)

    def rank(
        self,
        text: str,
        history: Sequence[str] = (),
        *,
        method: str = "combined",
        tools: Sequence[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Ids of tools and `end` with their probabilities (sum 1), best first; ties by number.

        Args:
            text: The request.
            history: Tools that were called for it, in order; unknown ones are ignored.
            method: One of `METHODS`.
            tools: Those that can be called, where these are not all that the model knows: for an
                agent that learns from other agents' demonstrations. None for all.

        Raises:
            ValueError: The text is empty or not Unicode, the history or the tools are one name
                instead of a list, a tool or the method is unknown.
        """
        _check("text", text)
        if isinstance(history, str):
            raise InputError(f"history: must be a list of tools, not the text {history!r}")
        among = self.among(tools)
        chances = self.chances(text, tuple(history), method, among)[among]
        names = self.memory.names
        return [
            (self._ids.get(names[among[n]], names[among[n]]), float(chances[n]))
            for n in np.argsort(-chances, kind="stable")
        ]

    def among(self, tools: Sequence[str] | None) -> Ints:
        """Numbers of `end` and of these tools, ascending; of all that are known when None.

        Raises:
            ValueError: One name instead of a list, or an unknown tool.
        """
        if tools is None:
            return np.arange(len(self.memory.names))
        if isinstance(tools, str):
            raise InputError(f"tools: must be a list of tools, not the text {tools!r}")
        numbers = self.memory.numbers
        for tool in tools:
            if tool not in numbers:
                raise InputError(f"tools: {tool!r} is unknown; give its text to `add_tools` first")
        return np.unique([0, *(numbers[tool] for tool in tools)])

    def retrieve(
        self,
        text: str,
        history: Sequence[str],
        alpha: float,
        *,
        method: str = "combined",
        tools: Sequence[str] | None = None,
    ) -> list[tuple[str, float]]:
        """What `rank` gives a probability of at least `alpha`, best first; may be empty.

        The paper's threshold (section 4.1): a prompt then shows few tools where the next one is
        clear and more where it is not. `end` is included where it is likely enough. Method and
        tools are as for `rank`.

        Raises:
            ValueError: `alpha` is not between 0 and 1, or as `rank`.
        """
        if not 0 <= alpha <= 1:
            raise InputError(f"alpha: must be between 0 and 1, not {alpha}")
        ranked = self.rank(text, history, method=method, tools=tools)
        return [pair for pair in ranked if pair[1] >= alpha]

    def chances(
        self, text: str, history: tuple[str, ...], method: str, among: Ints | None = None
    ) -> Probabilities:
        """Probability of each of `memory.names`; see `rank`.

        Args:
            text: The request.
            history: Tools that were called for it.
            method: One of `METHODS`.
            among: From the method of that name; all others get 0. None for all.

        Raises:
            ValueError: The method is unknown.
        """
        self.prepare(text, history, method)
        # Methods without matrix products need not wait for models with them.
        limit = nullcontext() if method in _WITHOUT_VECTOR else one_blas_thread()
        with self._lock, limit:
            memory = self.memory
            among = self.among(None) if among is None else among
            history = memory.named(history)
            known = memory.known([name for name in history if name in memory.numbers])
            match method:
                case "random":
                    found = baselines.random_order(memory, text, known)
                case "bm25":
                    lexical = self.texts.lexical(text)
                    found = baselines.by_text(memory, self.texts, lexical, None)
                case "qts":
                    cosines = self.texts.cosine(self._vector(text))
                    sharpness = baselines.COSINE_SHARPNESS
                    found = baselines.by_text(memory, self.texts, cosines, sharpness)
                case "dependency":
                    found = baselines.after_last(memory, known)
                case "bigram" | "trigram":
                    found = baselines.n_gram(memory, known, 1 if method == "bigram" else 2)
                case "learned":
                    found = softmax_probabilities(self.fitted.learned, self._vector(text))
                case "dtdr_l":
                    found = softmax_probabilities(self.fitted.linear, self._joint(text, history))
                case "dtdr_c":
                    prior = memory.frequencies()
                    found = memory.graphs.probabilities(self._vector(text), known, prior)
                case "combined" if self.fitted.trees:
                    found = self._combined(text, known, among)
                case _:
                    raise InputError(f"method: {method!r} is unknown; known: {', '.join(METHODS)}")
            found = np.pad(found, (0, len(memory.names) - len(found)))
            return baselines.restricted_to(found, among)

    def prepare(self, text: str, history: tuple[str, ...], method: str) -> None:
        """Encode what a method needs: outside the lock, since it takes longer than ranking."""
        if method in _WITHOUT_VECTOR:
            return
        if method == "dtdr_l":
            with self._lock:
                history = self.memory.named(history)
            self._joint(text, history)
            return
        self._vector(text)

    def _joint(self, text: str, history: tuple[str, ...]) -> Matrix:
        """What DTDR-L reads; models fitted earlier read the first part alone."""
        both: Matrix = self._vector(history_text(text, history))
        if len(self.fitted.linear) == len(both) + 1:
            return both
        alone: Matrix = self._vector(history_alone(history))
        return np.concatenate(joint(both[None], alone[None]))

    def tree_nodes(self) -> int:
        """Splits and leaves of the combined ranker."""
        leaves = [int(n) for n in re.findall(r"^num_leaves=(\d+)$", self.fitted.trees, re.M)]
        return sum(2 * n - 1 for n in leaves)

    def refresh(self) -> int:
        """Learn what others have written to the log since it was read; returns how many lines.

        Raises:
            ValueError: The log was written by something else.
        """
        if self.log is None:
            return 0
        with self._lock:
            memory = self.memory
            fitted = len(memory) - len(self._watched) - self.card.observed
            learned = Counter(
                _key(one)
                for at, one in enumerate(memory.demonstrations)
                if at >= fitted or one.group
            )
            new = []
            for one in observed.read(self.log):
                calls, before = memory.named(one.calls), memory.named(one.before)
                key = one.request, calls, before, one.session
                if learned[key]:
                    learned[key] -= 1
                else:
                    new.append(one)
            for one in new:
                self._remember(one)
            if new:
                self._refit()
                self._asked.cache_clear()
            return len(new)

    def knows(self, one: Lesson) -> bool:
        """Whether it has learned this search of this recorded session."""
        with self._lock:
            known, counted = self._lessons
            if counted != len(self.memory):
                shown = self.memory.demonstrations[max(counted, 0) :]
                known |= {(own.group, own.text, own.before) for own in shown if own.group}
                self._lessons = known, len(self.memory)
            return (one.session, one.text, self.memory.named(one.before)) in known

    def learn(self, one: Lesson) -> None:
        """`observe` a lesson of a recorded session."""
        self.observe(one.text, one.calls, one.before, one.session)

    def observe(
        self,
        request: str,
        calls: Sequence[str],
        before: Sequence[str] = (),
        session: str = "",
    ) -> None:
        """Learn from what an agent did, at once; logged before it is learned.

        Graphs and similar requests include it right away; the linear models are updated as if it
        had been among their rows. The trees, DTDR-L and the learned retriever change with the next
        `ctrag train dependency` into the same folder, which reads the log.

        Args:
            request: What was asked.
            calls: What was called for it, in order; an unknown tool is added.
            before: What its task had called before it was asked.
            session: The recorded session that it is from.

        Raises:
            ValueError: The request is empty or not Unicode, the calls are one name instead of a
                list, or a tool is called `end`.
            OSError: The log cannot be written; then nothing is learned either.
        """
        _check("request", request)
        try:
            one = observed.Observation(
                request, checked_calls(calls), checked_calls(before), session
            )
        except ValueError as error:
            raise InputError(f"calls: {error}") from None
        self._vector(request)
        with self._lock:
            if self.log is not None:
                observed.append(self.log, one)
            self._remember(one)
            known = self.weights.step.shape[1] == len(self.memory.names)
            count = len(self._watched)
            if not known or count <= _ALWAYS or count >= _MORE * self._refitted:
                self._refit()
            self._asked.cache_clear()

    def add_tools(self, tools: Sequence[CatalogueTool]) -> None:
        """Add tools that came after fitting; they are ranked by their texts from now on.

        A tool that demonstrations call, but that had no text, gets this one. Tools with a known id
        stay as they are. What is added lives as long as this object.

        Raises:
            ValueError: A tool is called `end`.
        """
        tool_names(tools)  # rejects `end`
        with self._adding:
            known = set(self._ids.values())
            new = list({tool.id: tool for tool in tools if tool.id not in known}.values())
            if new:
                self._add(new, self.encoder.encode([tool.text for tool in new]))

    def _add(self, new: Sequence[CatalogueTool], vectors: Matrix) -> None:
        with self._lock:
            memory, numbers = self.memory, self.texts.numbers.tolist()
            for tool in new:
                at = memory.numbers.get(tool.name)
                name = tool.id if at in numbers else tool.name
                numbers.append(memory.number(name))
                memory.also_called(name, tool.id)
                self._ids[name] = tool.id
            self.tools += new
            self.texts = ToolTexts(self.tools, np.vstack([self.texts.vectors, vectors]), numbers)
            self._asked.cache_clear()

    def _remember(self, one: observed.Observation) -> None:
        vector = self._vector(one.request)
        calls, before = self.memory.named(one.calls), self.memory.named(one.before)
        name = f"observed-{len(self._watched)}"
        shown = Demonstration(name, one.request, calls, before, one.session)
        self.memory.add(shown, vector)
        self._watched.append((shown, vector))

    def _refit(self) -> None:
        if not self._watched:
            return
        memory, inputs = self.memory, self.memory.inputs
        before, after = self.fitted.step.shape[1], len(memory.names)
        rows, following = [], []
        for one, vector in self._watched:
            block = inputs.of_text(one.text, vector)
            for decision in one.steps():
                rows.append(inputs.of_step(block, memory.known(decision.history)))
                following.append(memory.numbers[decision.next])
        step = np.pad(self.fitted.step, ((0, 0), (0, after - before)))
        targets = np.eye(after, dtype=np.float32)[following]
        step = moved(step, np.stack(rows), targets, self.fitted.precision)
        self.weights = EvidenceWeights(step, self.fitted.whole)
        self._refitted = len(self._watched)

    def _ask(self, text: str) -> RequestEvidence:
        return ask(self.memory, self.weights, self.texts, text, self._vector(text))

    def _combined(self, text: str, history: tuple[int, ...], among: Ints) -> Probabilities:
        table = features(self.memory, self.weights, self._asked(text), history, among)
        rows = candidates(table)
        raw = np.asarray(self._trees.predict(table[rows], num_threads=1), dtype=np.float64)
        found = self.memory.frequencies() * _UNRANKED
        found[among[rows]] = np.maximum(raw, _UNRANKED)
        return found

    @cached_property
    def _trees(self) -> Any:
        need("the next tool", "lightgbm", extra="next-tool")
        import lightgbm

        return lightgbm.Booster(model_str=self.fitted.trees)


def _key(one: Demonstration) -> tuple[str, tuple[str, ...], tuple[str, ...], str]:
    """What makes a line of the log the same as a demonstration; see `training.next_tool`."""
    session = "" if one.group.startswith(OBSERVED) else one.group
    return one.text, one.tools, one.before, session


def _check(argument: str, text: str) -> None:
    try:
        checked_text(text)
    except ValueError as error:
        raise InputError(f"{argument}: {error}") from None
