"""The next tool, from a request and the calls so far."""

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import artefact, observed
from ctrag.agents.next_tool.artefact import LOG, DependencyCard, Fitted, Stored
from ctrag.agents.next_tool.demonstrations import checked_text
from ctrag.agents.next_tool.evidence import EvidenceWeights, Ints
from ctrag.agents.next_tool.graph import Probabilities
from ctrag.agents.next_tool.growth import Growth
from ctrag.agents.next_tool.known_tools import KnownTools
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.methods import WITHOUT_VECTOR, Methods
from ctrag.agents.next_tool.texts import ToolTexts
from ctrag.agents.session.lessons import Lesson
from ctrag.errors import InputError
from ctrag.models.blas import one_blas_thread
from ctrag.models.encoder import Encoder, load_encoder


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
        self.encoder = encoder
        self.card = card
        self.log = log
        """Where `observe` writes; None keeps what is observed in memory alone."""
        self._known = KnownTools(memory, tools, texts)
        self._growth = Growth(memory, fitted)
        self._methods = Methods(memory, fitted, self._known, self._growth, encoder)
        self._lock = threading.RLock()
        self._adding = threading.Lock()
        """Held while added tools are encoded; ranking does not wait for it."""

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
        stored = artefact.read_artefact(folder)
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

    @property
    def tools(self) -> list[CatalogueTool]:
        """The catalogue, added tools last."""
        return self._known.tools

    @property
    def texts(self) -> ToolTexts:
        """The catalogue's texts."""
        return self._known.texts

    @property
    def weights(self) -> EvidenceWeights:
        """The linear models, as moved by what was observed."""
        return self._growth.weights

    def save(self, folder: Path) -> None:
        """Write all but what was observed or added into `folder`, which is created when missing."""
        with self._lock:
            count = len(self.memory) - len(self._growth)
            tools, vectors = self._known.fitted()
            stored = Stored(self.card, self.memory, self.fitted, tools, vectors)
            artefact.write_artefact(folder, stored, count)

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
        return [
            (self._known.id_of(among[n]), float(chances[n]))
            for n in np.argsort(-chances, kind="stable")
        ]

    def among(self, tools: Sequence[str] | None) -> Ints:
        """Numbers of `end` and of these tools, ascending; of all that are known when None.

        Raises:
            ValueError: One name instead of a list, or an unknown tool.
        """
        return self._known.among(tools)

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
        limit = nullcontext() if method in WITHOUT_VECTOR else one_blas_thread()
        with self._lock, limit:
            among = self.among(None) if among is None else among
            return self._methods.chances(text, self.memory.named(history), method, among)

    def prepare(self, text: str, history: tuple[str, ...], method: str) -> None:
        """Encode what a method needs: outside the lock, since it takes longer than ranking."""
        if method == "dtdr_l":
            with self._lock:
                history = self.memory.named(history)
        self._methods.prepare(text, history, method)

    def tree_nodes(self) -> int:
        """Splits and leaves of the combined ranker."""
        return self._methods.combined.nodes()

    def refresh(self) -> int:
        """Learn what others have written to the log since it was read; returns how many lines.

        Raises:
            ValueError: The log was written by something else.
        """
        if self.log is None:
            return 0
        with self._lock:
            new = self._growth.unread(self.log, self.card.observed)
            for one in new:
                self._growth.remember(one, self._methods.vector(one.request))
            if new:
                self._growth.refit()
                self._methods.changed()
            return len(new)

    def knows(self, one: Lesson) -> bool:
        """Whether it has learned this search of this recorded session."""
        with self._lock:
            return self._growth.knows(one)

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
        one = observed.Observation.checked(request, calls, before, session)
        vector = self._methods.vector(request)
        with self._lock:
            if self.log is not None:
                observed.append(self.log, one)
            self._growth.remember(one, vector)
            self._growth.refit_when_due()
            self._methods.changed()

    def add_tools(self, tools: Sequence[CatalogueTool]) -> None:
        """Add tools that came after fitting; they are ranked by their texts from now on.

        A tool that demonstrations call, but that had no text, gets this one. Tools with a known id
        stay as they are. What is added lives as long as this object.

        Raises:
            ValueError: A tool is called `end`.
        """
        with self._adding:
            new = self._known.missing(tools)
            if new:
                vectors = self.encoder.encode([tool.text for tool in new])
                with self._lock:
                    self._known.add(new, vectors)
                    self._methods.changed()


def _check(argument: str, text: str) -> None:
    try:
        checked_text(text)
    except ValueError as error:
        raise InputError(f"{argument}: {error}") from None
