"""Effects of sufficiency and discovery, and how far choosing settings flattered the figures."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from eval.core.calibration import expected_calibration_error
from eval.instructions.figures import cross_fitted_chances
from eval.instructions.methods import ItrRun
from eval.instructions.steps import DecisionStep

_LEAST = 1e-6


def sufficiency_figures(steps: Sequence[DecisionStep], run: ItrRun) -> dict[str, Any]:
    """Misses of the first prompts, where discovery ran, and what it added; percent.

    `auc`: how often a missed step has the lower sufficiency of two. Calibration errors are of the
    packaged calibration and of one cross-fitted by episode.
    """
    missed = np.array([not one.exposed for one in _first(steps, run)])
    taken = np.array([one.wide is not None for one in run.found])
    still = np.array([not one.exposed for one in run.shown(steps)])
    enough = np.array([one.first.sufficiency or 0.0 for one in run.found])
    inside = np.clip(enough, _LEAST, 1 - _LEAST)
    odds = np.log(inside / (1 - inside))
    fitted = cross_fitted_chances(odds, ~missed, [one.episode for one in steps])
    right = (~missed).tolist()
    return {
        "missed": _percent(missed),
        "discovery_share": _percent(taken),
        "missed_among_discovery_steps": _percent(missed[taken]),
        "of_misses_discovery_ran": _percent(taken[missed]),
        "of_misses_discovery_added": _percent(~still[missed]),
        "auc": _auc(enough, missed),
        "calibration_error": round(expected_calibration_error(enough.tolist(), right), 2),
        "calibration_error_cross_fitted": round(
            expected_calibration_error(fitted.tolist(), right), 2
        ),
    }


def by_half(steps: Sequence[DecisionStep], run: ItrRun) -> dict[str, Any]:
    """Exposure without discovery on the episodes that settings were chosen on, and the others."""
    exposed = np.array([one.exposed for one in _first(steps, run)])
    chosen = np.array([_half(one.episode) == 0 for one in steps])
    return {
        "chosen_on": {"steps": int(chosen.sum()), "gold_exposed": _percent(exposed[chosen])},
        "others": {"steps": int((~chosen).sum()), "gold_exposed": _percent(exposed[~chosen])},
    }


def _first(steps: Sequence[DecisionStep], run: ItrRun) -> list[Any]:
    pairs = zip(run.found, steps, strict=True)
    return [one.shown(step.gold, discovery=False) for one, step in pairs]


def _half(episode: str) -> int:
    return int(sha256(f"half:{episode}".encode()).hexdigest()[:8], 16) % 2


def _percent(flags: Any) -> float | None:
    return round(100 * float(np.mean(flags)), 2) if len(flags) else None


def _auc(enough: Any, missed: Any) -> float | None:
    """Area under the curve by the mean over pairs; ties count one half."""
    low, high = enough[missed], enough[~missed]
    if not len(low) or not len(high):
        return None
    below = (low[:, None] < high[None, :]).mean() + 0.5 * (low[:, None] == high[None, :]).mean()
    return round(100 * float(below), 2)
