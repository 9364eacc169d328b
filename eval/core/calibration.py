"""Calibration of confidences."""

from collections.abc import Sequence

import numpy as np

from ctrag.errors import InputError


def expected_calibration_error(
    confidence: Sequence[float], right: Sequence[bool], bins: int = 10
) -> float:
    """Mean distance of confidence and accuracy over equally wide bins, weighted by their rows.

    Args:
        confidence: 0 to 1 for each row.
        right: Whether each row is right.
        bins: How many bins between 0 and 1.

    Returns:
        0 to 100, lower is better.

    Raises:
        ValueError: There are no rows, or the two differ in length.
    """
    if len(confidence) != len(right) or not confidence:
        raise InputError(
            f"confidence: as many values as verdicts and at least one are needed, not "
            f"{len(confidence)} and {len(right)}"
        )
    stated, correct = np.asarray(confidence, dtype=float), np.asarray(right, dtype=float)
    place = np.minimum((stated * bins).astype(int), bins - 1)
    total = sum(
        abs(float(stated[place == one].sum() - correct[place == one].sum())) for one in range(bins)
    )
    return 100.0 * total / len(stated)
