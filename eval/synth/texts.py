"""Texts of synthetic requests: variety, spread, and whether a classifier finds them synthetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.item_text import searched_text
from ctrag.models.encoder import Encoder, Matrix
from ctrag.text.words import terms, words
from stores.people.dataset import load_dataset, load_labels

_DRAWS = 20
_FOLDS = 5
_TERMS = 20_000


@dataclass(frozen=True, slots=True)
class Texts:
    """The requests of a data set with what their text is compared with."""

    texts: list[str]
    people: list[str]
    wanted: list[str]
    """Texts of the relevant items of each request; "" if there are none or none are needed."""


def load_texts(folders: Sequence[Path], limit: int | None = None) -> Texts:
    """Requests of data sets.

    Args:
        folders: The data sets.
        limit: Only so many people of all, spread evenly; None for all.
    """
    found = Texts([], [], [])
    for folder in folders:
        dataset, labels = load_dataset(folder), load_labels(folder)
        everybody = [one.person.person_id for one in dataset.personas]
        step = 1 if limit is None else max(1, len(folders) * len(everybody) // limit)
        kept = set(everybody[::step])
        items = {item.id: item for one in dataset.personas for item in one.items}
        for asked in dataset.requests:
            if asked.person_id not in kept:
                continue
            known = labels[asked.query_id]
            complete = known.kind in ("explicit", "no_tool")
            relevant = () if complete else known.relevant or ()
            found.texts.append(asked.request.text)
            found.people.append(asked.person_id)
            found.wanted.append(" ".join(searched_text(items[one]) for one in relevant))
    return found


def distinct_ngrams(texts: Sequence[str], size: int, sample: int, seed: int) -> float:
    """Distinct n-grams of all n-grams (distinct-n; Li et al., 2016), percent.

    The share falls with the number of texts, so it is the mean over draws of `sample` texts.
    """
    split = [words(text) for text in texts]
    draw = np.random.default_rng(seed)
    shares = []
    for _ in range(_DRAWS):
        chosen = draw.choice(len(split), min(sample, len(split)), replace=False)
        grams = [
            tuple(split[i][at : at + size])
            for i in chosen
            for at in range(len(split[i]) - size + 1)
        ]
        shares.append(len(set(grams)) / max(1, len(grams)))
    return 100 * float(np.mean(shares))


def spread(vectors: Matrix, sample: int, seed: int) -> tuple[float, float]:
    """Mean cosine distance of two requests, and of a request to its nearest other one, times 100.

    Args:
        vectors: (requests, dimension), unit rows.
        sample: Nearest neighbours come closer with more requests, so so many are drawn, often.
        seed: Decides the draws.
    """
    draw = np.random.default_rng(seed)
    means, nearest = [], []
    for _ in range(_DRAWS):
        chosen = draw.choice(len(vectors), min(sample, len(vectors)), replace=False)
        cosine = vectors[chosen] @ vectors[chosen].T
        count = len(chosen)
        means.append(1 - (cosine.sum() - np.trace(cosine)) / (count * (count - 1)))
        np.fill_diagonal(cosine, -1)
        nearest.append(float((1 - cosine.max(axis=1)).mean()))
    return 100 * float(np.mean(means)), 100 * float(np.mean(nearest))


def overlap(texts: Texts) -> tuple[float, float]:
    """Share of a request's words that its relevant items have, and requests that share none."""
    shares = []
    for text, wanted in zip(texts.texts, texts.wanted, strict=True):
        own = set(terms(text))
        if wanted and own:
            shares.append(len(own & set(terms(wanted))) / len(own))
    values = np.array(shares)
    return 100 * float(values.mean()), 100 * float((values == 0).mean())


def synthetic_auc(
    synthetic: Texts, reference: Texts, vectors: tuple[Matrix, Matrix], seed: int
) -> dict[str, float]:
    """AUC of logistic regressions telling synthetic from reference requests, times 100.

    Cross-validated by person: nobody is in a fold's two sides. 50 is chance.

    Args:
        synthetic: Requests of the first class.
        reference: Requests of the second.
        vectors: Unit vectors of both.
        seed: Decides the folds.

    Returns:
        By what is looked at: `words` (words and pairs of words), `letters` (runs of 2 to 4),
        `meaning` (the vector), and `all` of them, which is the figure to quote.
    """
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [*synthetic.texts, *reference.texts]
    people = [*(f"s {one}" for one in synthetic.people), *(f"r {one}" for one in reference.people)]
    label = np.array([1] * len(synthetic.texts) + [0] * len(reference.texts))
    shared = {"sublinear_tf": True, "min_df": 2, "max_features": _TERMS}
    by_words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"[\w']+|[^\w\s]", **shared)
    by_letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), lowercase=False, **shared)
    # Weights of words say nothing of the labels, so they may come from all texts.
    seen = {
        "words": by_words.fit_transform(texts),
        "letters": by_letters.fit_transform(texts),
        "meaning": csr_matrix(np.vstack(vectors)),
    }
    seen["all"] = hstack(list(seen.values())).tocsr()
    return {name: 100 * _auc(table, label, people, seed) for name, table in seen.items()}


def _auc(table: object, label: NDArray[np.int64], people: Sequence[str], seed: int) -> float:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

    folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=seed)
    model = LogisticRegression(C=3.0, class_weight="balanced", max_iter=400, solver="liblinear")
    scores = cross_val_predict(
        model, table, label, groups=list(people), cv=folds, method="decision_function"
    )
    return float(roc_auc_score(label, scores))


def text_figures(texts: Texts, vectors: Matrix, sample: int, seed: int) -> dict[str, float]:
    """Variety and overlap of requests, on draws of `sample` where numbers depend on the size."""
    mean, nearest = spread(vectors, sample, seed)
    shared, none = overlap(texts)
    length = float(np.mean([len(words(text)) for text in texts.texts]))
    return {
        **{f"distinct_{n}": round(distinct_ngrams(texts.texts, n, sample, seed), 2)
           for n in (1, 2, 3)},
        "spread": round(mean, 2),
        "nearest": round(nearest, 2),
        "overlap": round(shared, 2),
        "no_overlap": round(none, 2),
        "words": round(length, 2),
    }  # fmt: skip


def encoded(texts: Texts, encoder: Encoder) -> Matrix:
    """Unit vectors of the requests."""
    return encoder.encode(texts.texts)
