"""The job of a language model's adapter, where it runs."""

from training.core.packed_rows import rows_in
from training.core.tuning import TuningSettings, tune
from training.pack.base_model import causal_model
from training.pack.given import Given, Trained


def train(given: Given) -> Trained:
    """Tune low-rank maps on the job's rows."""
    job = given.content
    rows = [row for arrays in given.files() for row in rows_in(arrays)][: given.limit]
    given.say(f"{len(rows)} steps of {job['steps']}, {sum(len(one.tokens) for one in rows)} tokens")
    settings = TuningSettings(**job["tuning"])
    key = settings.key(f"{job['base']}{job['bits'] or ''}", rows)
    model = causal_model(given).to(given.place)
    tuned = tune(model, rows, settings, key, given.checkpoint, given.say, given.resume)
    return Trained(tuned.weights, tuned.steps, tuned.loss)
