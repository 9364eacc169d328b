"""How far `combined` is ahead of a first try at the next tool, on the same chains.

The first try is what an engineer writes in an hour: TF-IDF of the request, the calls so far as
indicators, logistic regression. Its figure on other chains is known from elsewhere, so that
this one says how hard the held-out chains are.

    python -m benchmarks.next_tool --data DIR
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.agents.next_tool import END, load_demonstrations
from ctrag.agents.next_tool.held_out import split_held_out
from eval.dependency.steps import Steps

_PENALTY = 30.0
"""Inverse strength: the best of 10, 30 and 50 on the held-out chains, which flatters it."""


def main() -> None:
    """Print top-1 and top-5 of steps after the first, `end` left out."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of demonstrations")
    kept, held = split_held_out(load_demonstrations(parser.parse_args().data))
    learned, asked = Steps.of(kept), Steps.of(held)
    numbers = {name: n for n, name in enumerate(sorted({END, *learned.wanted, *asked.wanted}))}
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit([o.text for o in kept])

    def inputs(steps: Steps) -> Any:
        called = [_calls(history, numbers) for history in steps.histories]
        rows = np.repeat(np.arange(len(called)), [len(one) for one in called])
        columns = np.array([place for one in called for place in one])
        shape = (len(called), 3 * len(numbers) + 1)
        history = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
        return sparse.hstack([words.transform([o.text for o in steps.owners]), history]).tocsr()

    rows, wanted = inputs(learned), [numbers[name] for name in learned.wanted]
    later = ~asked.first & ~asked.ends
    right = np.array([numbers[name] for name in asked.wanted])[later]
    model = LogisticRegression(C=_PENALTY, max_iter=200).fit(rows, wanted)
    chances = model.predict_proba(inputs(asked))[later]
    chances[:, model.classes_ == numbers[END]] = -1
    order = model.classes_[np.argsort(-chances, axis=1)[:, :5]]
    first, five = order[:, 0] == right, (order == right[:, None]).any(axis=1)
    print(
        f"{len(right)} steps after the first: top-1 {100 * first.mean():.1f}, "
        f"top-5 {100 * five.mean():.1f}"
    )


def _calls(history: tuple[str, ...], numbers: dict[str, int]) -> list[int]:
    """Places of the last call, of the one before it, and of all of them."""
    count = len(numbers)
    known = [numbers[name] for name in history if name in numbers]
    last = known[-1] if known else 3 * count
    return [last, *(count + one for one in known[-2:-1]), *(2 * count + one for one in set(known))]


if __name__ == "__main__":
    main()
