"""Linear models over vectors: softmax (DTDR-L, the learned retriever) and least squares."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.models.encoder import Matrix


def history_text(text: str, history: tuple[str, ...]) -> str:
    """Request and calls as one string: what DTDR-L encodes."""
    if not history:
        return text
    return f"{text} | {', '.join(name.replace('_', ' ') for name in history)}"


def fit_softmax(
    inputs: Matrix, targets: Matrix, penalty: float = 1e-5, iterations: int = 100
) -> Matrix:
    """Weights of a multinomial logistic model by L-BFGS, (dimension + 1, classes).

    Args:
        inputs: (rows, dimension), unit vectors.
        targets: (rows, classes): how often each class was wanted; rows may hold several.
        penalty: Of the squared weights, per row.
        iterations: At most.
    """
    from scipy.optimize import minimize

    rows = _with_one(inputs)
    totals = targets.sum(axis=1, keepdims=True)
    shape = (rows.shape[1], targets.shape[1])
    strength = penalty * len(rows)

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(shape).astype(np.float32)
        logs = log_softmax(rows @ weights)
        value = -float((targets * logs).sum()) + 0.5 * strength * float((weights**2).sum())
        slope = rows.T @ (totals * np.exp(logs) - targets) + strength * weights
        return value, slope.ravel().astype(np.float64)

    found = minimize(
        loss,
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxcor": 6},
    )
    return np.asarray(found.x.reshape(shape), dtype=np.float32)


def softmax_probabilities(weights: Matrix, vector: Matrix) -> NDArray[np.float64]:
    """Chance of each class, (classes,)."""
    scores = _with_one(vector[None]) @ weights
    return np.asarray(np.exp(log_softmax(scores))[0], dtype=np.float64)


def log_softmax(scores: Matrix) -> Matrix:
    """Logarithms of the shares along the last axis."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    logs: Any = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.asarray(logs, dtype=np.float32)


def solve_ridge(gram: Matrix, moments: Matrix, penalty: float) -> Matrix:
    """Least squares with a penalty: (gram + penalty I)^-1 moments."""
    from scipy.linalg import cho_factor, cho_solve

    left = gram + np.float32(penalty) * np.eye(len(gram), dtype=np.float32)
    factor = cho_factor(left, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, moments, check_finite=False), dtype=np.float32)


def moved(weights: Matrix, inputs: Matrix, targets: Matrix, precision: Matrix) -> Matrix:
    """Weights after some more rows, with the old ones as a Gaussian prior: a refit that is cheap.

    Args:
        weights: (dimension, classes).
        inputs: New rows, (rows, dimension).
        targets: (rows, classes).
        precision: How sure each old weight is, (dimension,): the penalty and the squares that it
            was fitted on.
    """
    scaled = inputs / precision
    errors = targets - inputs @ weights
    return np.asarray(
        weights + scaled.T @ np.linalg.solve(scaled @ inputs.T + np.eye(len(inputs)), errors),
        dtype=np.float32,
    )


def _with_one(rows: Matrix) -> Matrix:
    return np.hstack([rows, np.ones((len(rows), 1), dtype=np.float32)])
