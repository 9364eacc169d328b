"""The job of tool search's encoder, where it runs."""

import numpy as np

from training.pack.base_model import encoder_model
from training.pack.given import Given, Trained
from training.pack.slices import within
from training.tool_search.tokenised import TokenisedBenchmark
from training.tool_search.tuning import (
    PairTuning,
    make_network,
    tune_pairs,
)


def train(given: Given) -> Trained:
    """Tune the encoder on the job's requests and tools, with figures of the held-out ones."""
    import torch

    job = given.content
    settings = PairTuning(**job["tuning"])
    model = encoder_model(given)
    torch.manual_seed(settings.seed)
    network = make_network(model, settings)
    if job["start"] is not None:
        with np.load(within(given.folder, job["start"])) as arrays:
            network.take({name: arrays[name] for name in arrays.files})
    every = [TokenisedBenchmark.of(arrays) for arrays in given.files()]
    cut = len(every) - len(job["tests"])
    learned = tune_pairs(
        network.to(given.place),
        every[:cut],
        dict(zip(job["tests"], every[cut:], strict=True)),
        settings,
        given.checkpoint,
        given.say,
        given.resume,
        given.limit,
    )
    weights = {name: torch.from_numpy(one) for name, one in network.arrays().items()}
    return Trained(weights, learned.steps, learned.loss, learned.figures)
