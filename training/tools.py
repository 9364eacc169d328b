"""Fitting a `ToolPrior` on requests with context as retrieval gives it, and without."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.apps.toolbox import Toolbox
from ctrag.context.view import Floats
from ctrag.encoder import Encoder
from ctrag.tools.prior import (
    CONTEXT,
    ToolPrior,
    ToolPriorCard,
    classes_of,
    item_weights,
    prior_inputs,
)
from ctrag.tools.reader import log_softmax
from ctrag.tools.retrieve import COSINE_WEIGHT, UNKNOWN, tool_text
from eval.examples import Example
from training.cross_fitted import CrossFitted
from training.figures import recall
from training.origin import origin

_UNSEEN = -30.0
"""Intercept of an API that no example needs: its probability is nothing."""


@dataclass(frozen=True, slots=True)
class ToolPriorSettings:
    """How the prior is fitted."""

    inverse_penalty: float = 1.0
    iterations: int = 300


def targets(examples: Sequence[Example], apis: Sequence[str]) -> NDArray[np.int64]:
    """The class of each example's best API; -1 when the data set does not say."""
    position = {api: place for place, api in enumerate(apis)}
    found = []
    for example in examples:
        tools = example.labels.tools
        if tools is None:
            found.append(-1)
        else:
            found.append(position.get(tools[0], -1) if tools else position["none"])
    return np.array(found, dtype=np.int64)


def inputs_with_context(examples: Sequence[Example], scores: Sequence[Floats]) -> Floats:
    """One row per example, its items ranked by `scores` (out of fold when training)."""
    rows = []
    for example, score in zip(examples, scores, strict=True):
        best = np.argsort(-score, kind="stable")[:CONTEXT]
        rows.append(prior_inputs(example.scene, best, item_weights(score[best])))
    return np.stack(rows)


def inputs_alone(examples: Sequence[Example]) -> Floats:
    """One row per example, without any item."""
    nothing = np.empty(0, dtype=np.int64)
    return np.stack([prior_inputs(one.scene, nothing, np.empty(0)) for one in examples])


def fit_tool_prior(
    context: Floats,
    alone: Floats,
    wanted: NDArray[np.int64],
    count: int,
    settings: ToolPriorSettings,
) -> Floats:
    """Weights of a multinomial logistic model, (inputs + 1, `count`).

    Args:
        context: Inputs with context, one row per example.
        alone: Inputs of the same examples without context.
        wanted: Class of each example; examples with -1 are left out.
        count: How many classes there are.
        settings: See `ToolPriorSettings`.
    """
    from sklearn.linear_model import LogisticRegression

    known = wanted >= 0
    model = LogisticRegression(C=settings.inverse_penalty, max_iter=settings.iterations)
    model.fit(
        np.vstack([context[known], alone[known]]), np.concatenate([wanted[known], wanted[known]])
    )
    weights = np.zeros((context.shape[1] + 1, count), dtype=np.float32)
    weights[-1] = _UNSEEN
    coefficients, intercepts = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn then gives the second class against the first
        coefficients = np.vstack([0 * coefficients, coefficients])
        intercepts = np.concatenate([0 * intercepts, intercepts])
    weights[:-1, model.classes_] = coefficients.T
    weights[-1, model.classes_] = intercepts
    return weights


def train_tool_prior(
    fitted: CrossFitted,
    data: Sequence[Path],
    encoder: Encoder,
    settings: ToolPriorSettings,
    seed: int,
) -> ToolPrior:
    """A tool prior from cross-fitted requests, with cross-validated figures in its card."""
    toolbox = Toolbox.packaged()
    apis = classes_of(toolbox)
    wanted = targets(fitted.examples, apis)
    context = inputs_with_context(fitted.examples, fitted.scores)
    alone = inputs_alone(fitted.examples)
    figures = {}
    cosines = _cosines(fitted.examples, toolbox, encoder)
    known = wanted >= 0
    held_out = {name: np.zeros((len(wanted), len(apis))) for name in ("with_context", "query_only")}
    for place in np.unique(fitted.fold):
        kept, out = fitted.fold != place, fitted.fold == place
        weights = fit_tool_prior(context[kept], alone[kept], wanted[kept], len(apis), settings)
        for name, inputs in (("with_context", context), ("query_only", alone)):
            logs = log_softmax(inputs[out] @ weights[:-1] + weights[-1])
            held_out[name][out] = np.maximum(logs, UNKNOWN)
    own = np.flatnonzero(known[fitted.measured])
    for name, scores in held_out.items():
        figures[name] = recall((scores + COSINE_WEIGHT * cosines)[own], wanted[own])
    card = ToolPriorCard(
        **origin(data, seed),
        encoder=encoder.name,
        apis=apis,
        settings={**asdict(settings), "cosine_weight": COSINE_WEIGHT},
        figures=figures,
    )
    return ToolPrior(fit_tool_prior(context, alone, wanted, len(apis), settings), card)


def _cosines(examples: Sequence[Example], toolbox: Toolbox, encoder: Encoder) -> Floats:
    tools = encoder.encode([tool_text(tool) for tool in toolbox])
    found = np.stack([example.scene.vector for example in examples]) @ tools.T
    return np.hstack([found, found.mean(axis=1, keepdims=True)])
