"""Searching the ranker's hyper-parameters with optuna, cross-validated by person."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from training.core.cross_fitted import PreparedRequests, cross_fit
from training.core.figures import mean_recall
from training.ranker.settings import PassSettings, RankerSettings

if TYPE_CHECKING:
    import optuna


def tune(
    prepared: PreparedRequests,
    settings: RankerSettings,
    trials: int,
    progress: Callable[[str], None] = lambda _: None,
) -> RankerSettings:
    """The settings with the best mean of Recall@3, 5 and 10 over held-out people.

    The given settings are the first trial, so the result is never worse.

    Args:
        prepared: Requests with their features.
        settings: Folds, seed and threads are taken from here.
        trials: Number of trials.
        progress: Called with each trial's figure.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=settings.seed)
    )
    given = [("first", settings.first), ("second", settings.second)]
    study.enqueue_trial(
        {
            f"{name}.{key}": getattr(one, key)
            for name, one in given
            for key in PassSettings.__slots__
            if key != "rows"
        }
    )

    def quality(trial: "optuna.Trial") -> float:
        tried = _suggest(trial, settings)
        own = prepared.measured
        found = mean_recall(prepared.examples[own], cross_fit(prepared, tried).scores[own])
        progress(f"trial {trial.number + 1} of {trials}: {100 * found:.2f}")
        return found

    study.optimize(quality, n_trials=trials)
    return _suggest(optuna.trial.FixedTrial(study.best_params), settings)


def _suggest(
    trial: "optuna.Trial | optuna.trial.FixedTrial", base: RankerSettings
) -> RankerSettings:
    def one(name: str, most_rounds: int, start: PassSettings) -> PassSettings:
        return replace(
            start,
            rounds=trial.suggest_int(f"{name}.rounds", 50, most_rounds, step=50),
            learning_rate=trial.suggest_float(f"{name}.learning_rate", 0.02, 0.15, log=True),
            leaves=trial.suggest_int(f"{name}.leaves", 3, 15),
            fewest_in_leaf=trial.suggest_int(f"{name}.fewest_in_leaf", 10, 120, log=True),
            penalty=trial.suggest_float(f"{name}.penalty", 0.5, 50.0, log=True),
            columns=trial.suggest_float(f"{name}.columns", 0.2, 0.8),
            truncation=trial.suggest_int(f"{name}.truncation", 5, 30),
        )

    return replace(
        base, first=one("first", 800, base.first), second=one("second", 300, base.second)
    )
