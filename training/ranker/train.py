"""Training the ranker: LambdaMART's two passes on all people, and the fusion weights."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ctrag.assistant.context.features import FEATURES
from ctrag.assistant.context.fusion import fuse, rankings
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.item_ranker import Ranker, RankerCard
from ctrag.assistant.context.second_stage import SECOND_STAGE_FEATURES, best_of, second_stage_table
from ctrag.models.encoder import Encoder
from eval.core.examples import RankingExample
from training.core.cross_fitted import CrossFitted, Progress, cross_fit, prepare
from training.core.figures import mean_recall, ranking_figures
from training.core.origin import origin
from training.ranker.lambdamart import fit_first, fit_second
from training.ranker.learned_features import fit_learned_features
from training.ranker.settings import RankerSettings
from training.ranker.tuned_encoder import TunedEncoder

FUSION_K = (1.0, 3.0, 10.0, 60.0)
FUSION_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


def train_ranker(
    data: Path,
    encoder: Encoder,
    settings: RankerSettings,
    tuned: TunedEncoder | None = None,
    progress: Progress = lambda _: None,
    more: Sequence[Path] = (),
) -> Ranker:
    """A ranker from labelled data sets, with cross-validated figures of `data` in its card.

    Raises:
        ValueError: The data set breaks a rule, has no labels or fewer people than folds, or the
            tuned encoder has not read one of the requests.
    """
    prepared = prepare(data, encoder, settings, tuned, progress, more)
    fitted = cross_fit(prepared, settings, progress)
    return final_ranker(fitted, [data, *more], encoder, settings, progress)


def final_ranker(
    fitted: CrossFitted,
    data: Sequence[Path],
    encoder: Encoder,
    settings: RankerSettings,
    progress: Progress = lambda _: None,
    ablation: dict[str, dict[str, float]] | None = None,
) -> Ranker:
    """The ranker trained on all people; second pass and fusion learn from out-of-fold scores."""
    progress("choosing the fusion")
    own = fitted.measured
    k, weights, figures = choose_fusion(fitted.examples[own], fitted.scores[own])
    first = ranking_figures(fitted.examples[own], fitted.first_scores[own])
    figures = {"first_pass": first, **figures}
    progress("training the ranker on everybody")
    relevance = [one.relevance for one in fitted.examples]
    stages = [
        best_of(one.context, scores)
        for one, scores in zip(fitted.examples, fitted.first_scores, strict=True)
    ]
    return Ranker(
        model=fit_first(fitted.tables, relevance, settings),
        second=fit_second(stages, [second_stage_table(one) for one in stages], relevance, settings),
        learned=fit_learned_features(fitted.examples),
        card=_card(encoder, settings, data, figures, k, weights, ablation or {}),
    )


def choose_fusion(
    examples: Sequence[RankingExample], scores: Sequence[Floats]
) -> tuple[float, dict[str, float], dict[str, dict[str, float]]]:
    """k and weights of the fusion by the mean of Recall@3, 5 and 10 over held-out people.

    Args:
        examples: Labelled requests.
        scores: Out-of-fold LambdaMART scores, one array per example.

    Returns:
        k, weights, and the figures of `lambdamart` alone and fused.
    """
    ranked = [rankings(one.context, score) for one, score in zip(examples, scores, strict=True)]
    alone = ranking_figures(examples, scores)
    best: tuple[float, float, dict[str, float]] | None = None
    for k, dense, bm25 in itertools.product(FUSION_K, FUSION_WEIGHTS, FUSION_WEIGHTS):
        if dense == bm25 == 0:
            continue  # LambdaMART alone
        weights = {"lambdamart": 1.0, "dense": dense, "bm25": bm25}
        fused = [fuse(one, weights, k)[0] for one in ranked]
        quality = mean_recall(examples, fused)
        if best is None or quality > best[0]:
            best = (quality, k, weights)
    assert best is not None
    _, k, weights = best
    fused = [fuse(one, weights, k)[0] for one in ranked]
    return k, weights, {"lambdamart": alone, "lambdamart_rrf": ranking_figures(examples, fused)}


def _card(
    encoder: Encoder,
    settings: RankerSettings,
    data: Sequence[Path],
    figures: dict[str, dict[str, float]],
    k: float,
    weights: dict[str, float],
    ablation: dict[str, dict[str, float]],
) -> RankerCard:
    return RankerCard(
        **origin(data, settings.seed),
        encoder=encoder.name,
        signals=[feature.name for feature in FEATURES],
        company=[feature.name for feature in SECOND_STAGE_FEATURES],
        fusion_k=k,
        fusion_weights=weights,
        settings=asdict(settings),
        figures=figures,
        ablation=ablation,
    )
