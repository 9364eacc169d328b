"""Linear models over vectors: softmax (DTDR-L, the learned retriever) and least squares."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.models.encoder import Matrix

JOINT_PENALTY = 3e-3
"""Of DTDR-L: chosen on 500 chains of UltraTool that were held out of those to learn from."""
_LARGER = 20


def history_text(text: str, history: tuple[str, ...]) -> str:
    """Request and calls as one string: what DTDR-L encodes."""
    if not history:
        return text
    return f"{text} | {', '.join(name.replace('_', ' ') for name in history)}"


def history_alone(history: tuple[str, ...]) -> str:
    """The calls as a text of their own: what DTDR-L encodes beside `history_text`."""
    return ", ".join(name.replace("_", " ") for name in history) or "nothing called"


def joint(request_and_history: Matrix, history: Matrix) -> Matrix:
    """(rows, 2 dimension): the input of DTDR-L.

    A short history hardly moves the vector of a long request, so its own stands beside it; and
    components of unit vectors are so small that L-BFGS needs them larger.
    """
    return np.asarray(_LARGER * np.hstack([request_and_history, history]), dtype=np.float32)


def fit_softmax(
    inputs: Matrix, targets: Matrix, penalty: float = 1e-5, iterations: int = 100
) -> Matrix:
    """Weights of a multinomial logistic model by L-BFGS, (dimension + 1, classes).

    Args:
        inputs: (rows, dimension), unit vectors.
        targets: (rows, classes): how often each class is the target; rows may have several.
        penalty: Of the squared weights, per row.
        iterations: Maximum.
    """
    from scipy.optimize import minimize

    rows = _with_bias(inputs)
    totals = targets.sum(axis=1, keepdims=True)
    shape = (rows.shape[1], targets.shape[1])
    strength = penalty * len(rows)

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(shape).astype(np.float32)
        logs = log_softmax(rows @ weights)
        value = -float((targets * logs).sum()) + 0.5 * strength * float((weights**2).sum())
        gradient = rows.T @ (totals * np.exp(logs) - targets) + strength * weights
        return value, gradient.ravel().astype(np.float64)

    found = minimize(
        loss,
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxcor": 6},
    )
    return np.asarray(found.x.reshape(shape), dtype=np.float32)


def softmax_probabilities(weights: Matrix, vector: Matrix) -> NDArray[np.float64]:
    """Probability of each class, (classes,)."""
    scores = _with_bias(vector[None]) @ weights
    return np.asarray(np.exp(log_softmax(scores))[0], dtype=np.float64)


def log_softmax(scores: Matrix) -> Matrix:
    """Log-softmax along the last axis."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    logs: Any = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.asarray(logs, dtype=np.float32)


def solve_ridge(gram: Matrix, moments: Matrix, penalty: float) -> Matrix:
    """Ridge regression: (gram + penalty I)^-1 moments."""
    from scipy.linalg import cho_factor, cho_solve

    left = gram + np.float32(penalty) * np.eye(len(gram), dtype=np.float32)
    factor = cho_factor(left, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, moments, check_finite=False), dtype=np.float32)


def moved(weights: Matrix, inputs: Matrix, targets: Matrix, precision: Matrix) -> Matrix:
    """Weights updated by more rows, with the old ones as a Gaussian prior: a cheap refit.

    Args:
        weights: (dimension, classes).
        inputs: New rows, (rows, dimension).
        targets: (rows, classes).
        precision: Of the old weights, (dimension,): the penalty plus the sum of squares of the
            inputs that they were fitted on.
    """
    scaled = inputs / precision
    errors = targets - inputs @ weights
    return np.asarray(
        weights + scaled.T @ np.linalg.solve(scaled @ inputs.T + np.eye(len(inputs)), errors),
        dtype=np.float32,
    )


def _with_bias(rows: Matrix) -> Matrix:
    return np.hstack([rows, np.ones((len(rows), 1), dtype=np.float32)])
