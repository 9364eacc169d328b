"""Which APIs of a toolbox a request needs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.api_choice.classifier import ApiClassifier
from ctrag.assistant.api_choice.item_weights import CONTEXT, item_weights
from ctrag.assistant.api_choice.new_apps import families, from_none, shared_out
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import Floats, PersonView
from ctrag.models.encoder import Encoder, Matrix
from ctrag.toolbox import Tool, Toolbox
from stores.people.items import Item, Person, Profile, Request

UNKNOWN = -9.0
"""Log probability of an API that was never learned."""
STAND_IN_WEIGHT = 8.0
"""Penalty of an unknown API per unit of cosine distance; a guess, as no data has such APIs."""
APP_WEIGHT, APP_DECAY = 0.2, 0.4
"""Dense search alone: weight of the retrieved items' applications, and decay of the weight
per item. Chosen by cross-validation on train."""

_BOILERPLATE = re.compile(r"^\w+ app's \w+ API is used to ")


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A tool and why it ranks where it does."""

    tool: Tool
    score: float
    """Only differences between tools of one search mean something."""
    cosine: float
    """Cosine of the request and the tool's name and description."""
    log_probability: float
    """Log probability of this API by the classifier; -9 when it was not in its training data."""
    context: float
    """Share of the retrieved items that belong to the tool's application, 0 to 1."""


@dataclass(frozen=True, slots=True)
class RankedTools:
    """The answer of tool retrieval, best tool first."""

    tools: tuple[RankedTool, ...]
    none: float
    """Score of "no API can do it", to compare with the tools' scores."""

    @property
    def preferences(self) -> dict[str, float]:
        """API, and `none`, → score."""
        return {**{one.tool.api: one.score for one in self.tools}, "none": self.none}


class ToolRetriever:
    """Finds the APIs of a toolbox that a request needs.

    With a classifier, the score is its log probability; without one, for a toolbox whose APIs it
    does not know, or with another encoder than it was trained with, cosine plus the share of the
    retrieved items.

    Example::

        tools = ToolRetriever.open()
        for one in tools.search("how bad is it to the jetty", k=59).tools:
            print(one.tool.api, one.score)
    """

    def __init__(
        self,
        toolbox: Toolbox,
        encoder: Encoder,
        classifier: ApiClassifier | None = None,
    ) -> None:
        self.toolbox = toolbox
        self._encoder = encoder
        self._tools = list(toolbox)
        self._vectors: Matrix = encoder.encode([tool_text(tool) for tool in self._tools])
        self._families = families(self._tools)
        further = {app for family in self._families for app in family.apps[1:]}
        self._further = np.array([tool.app in further for tool in self._tools], dtype=bool)
        fits = classifier is not None and classifier.card.encoder == encoder.name
        known = set() if classifier is None else set(classifier.card.apis)
        self._classifier = classifier if fits and known.intersection(toolbox.names) else None

    @classmethod
    def open(cls, toolbox: Toolbox | None = None) -> "ToolRetriever":
        """With the encoder and artefacts named by the settings, by default the packaged ones.

        Args:
            toolbox: The APIs; the 59 packaged ones when None.

        Raises:
            ModelMissing: The encoder is not installed.
        """
        from ctrag.assistant.artefacts import load_artefacts
        from ctrag.models.encoder import load_encoder
        from ctrag.settings import settings

        options = settings()
        classifier = load_artefacts(options.artefacts).classifier
        box = Toolbox.packaged() if toolbox is None else toolbox
        return cls(box, load_encoder(options.encoder), classifier=classifier)

    def search(
        self,
        request: Request | str,
        items: Sequence[Item] = (),
        k: int = 5,
        *,
        person: Person | None = None,
        relevance: Floats | None = None,
        context: FeatureContext | None = None,
    ) -> RankedTools:
        """The `k` best tools, best first.

        Args:
            request: What was said, when and where; for a plain text, now.
            items: Retrieved items, best first; may be empty.
            k: How many tools to return at most.
            person: Whose request it is; somebody without contacts when None.
            relevance: LambdaMART score of each item (further ones are ignored); equal ones
                when None.
            context: The request and candidates with these items among them, as retrieval returns
                it, so that nothing is encoded again; it replaces `request` and `person`.

        Raises:
            ValueError: An item is not in the context.
        """
        context = self._feature_context(request, items, person) if context is None else context
        scores_of = np.zeros(len(items), np.float32) if relevance is None else relevance
        cosines = self._vectors @ context.vector
        by_app = _shares_by_app(items)
        shares = np.array([by_app.get(tool.app, 0.0) for tool in self._tools], dtype=np.float32)
        learned: Mapping[str, float] = {}
        if self._classifier is not None:
            rows = context.rows_of(items[:CONTEXT])
            weights = item_weights(scores_of[: len(rows)])
            learned = self._classifier.log_probabilities(context, rows, weights)
        priors = np.array([learned.get(tool.api, UNKNOWN) for tool in self._tools])
        if not learned:
            scores = cosines + APP_WEIGHT * shares
            none = float(np.median(scores))
        else:
            scores = self._with_stand_ins(priors, learned)
            for family in self._families:
                scores = shared_out(scores, family, self._tools, self._vectors, cosines, by_app)
            none = learned.get("none", UNKNOWN)
            if self._families:
                scores, none = from_none(scores, none, self._further, cosines)
        best = np.argsort(-scores, kind="stable")[:k]
        return RankedTools(
            tuple(
                RankedTool(
                    self._tools[row],
                    float(scores[row]),
                    float(cosines[row]),
                    float(priors[row]),
                    float(shares[row]),
                )
                for row in best
            ),
            none,
        )

    def _with_stand_ins(
        self, logs: NDArray[np.float64], learned: Mapping[str, float]
    ) -> NDArray[np.float64]:
        """Log probabilities in which an unknown API gets that of the most similar known one, minus
        a penalty for the distance."""
        unknown = np.array([tool.api not in learned for tool in self._tools])
        if not unknown.any():
            return logs
        similarity = self._vectors[unknown] @ self._vectors[~unknown].T
        filled = logs.copy()
        filled[unknown] = (logs[~unknown] + STAND_IN_WEIGHT * (similarity - 1)).max(axis=1)
        return filled

    def _feature_context(
        self, request: Request | str, items: Sequence[Item], person: Person | None
    ) -> FeatureContext:
        asked = Request(request, datetime.now()) if isinstance(request, str) else request
        whose = Person("", asked.asked_at, Profile(name="")) if person is None else person
        view = PersonView.of(whose, items, self._encoder)
        return FeatureContext(
            view, asked, self._encoder.encode([asked.text])[0], np.arange(len(view))
        )


def _shares_by_app(items: Sequence[Item]) -> dict[str, float]:
    """Application → share of the items that are its own, the first ones counting more."""
    weights: dict[str, float] = {}
    for position, item in enumerate(items):
        weights[item.app] = weights.get(item.app, 0.0) + APP_DECAY**position
    total = sum(weights.values()) or 1.0
    return {app: weight / total for app, weight in weights.items()}


def purpose(tool: Tool) -> str:
    """The description without its boilerplate: "play one particular song"."""
    return _BOILERPLATE.sub("", tool.description).rstrip(".")


def tool_text(tool: Tool) -> str:
    """The text of a tool that is embedded: its name as words and its purpose."""
    return f"{tool.api.replace('_', ' ')}: {purpose(tool)}"
