"""Claims about what retrieved items count, and about tool retrieval without a classifier."""

from dataclasses import replace

import numpy as np
import pytest

from ctrag.assistant.api_choice.item_weights import item_weights
from ctrag.assistant.api_choice.retrieve import (
    APP_DECAY,
    APP_WEIGHT,
    UNKNOWN,
    ToolRetriever,
    tool_text,
)
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.models.encoder import load_encoder
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample, load_views
from stores.people.dataset import load_dataset, load_labels
from synth.reference import split_folder

TOOLBOX = Toolbox.packaged()


@pytest.fixture(scope="module")
def examples() -> list[RankingExample]:
    """The requests of one packaged dev person."""
    dataset = load_dataset(split_folder("dev"))
    labels = load_labels(split_folder("dev"))
    dataset = replace(dataset, personas=(dataset.persona("p007"),))
    view = load_views(dataset, load_encoder())["p007"]
    found = []
    for asked in dataset.requests:
        if asked.person_id == "p007":
            vector = load_encoder().encode([asked.request.text])[0]
            context = FeatureContext(view, asked.request, vector, np.arange(len(view)))
            known = labels[asked.query_id]
            relevance = np.isin(view.ids, list(known.relevant or ())).astype(np.float32)
            found.append(RankingExample(asked, context, known, relevance))
    return found


def test_weights_of_items_are_the_softmax_of_their_scores() -> None:
    weights = item_weights(np.array([np.log(3.0), 0.0], dtype=np.float32))
    assert weights == pytest.approx([0.75, 0.25])
    assert len(item_weights(np.empty(0, dtype=np.float32))) == 0


def test_without_a_reader_scores_are_cosine_plus_weighted_application(
    examples: list[RankingExample],
) -> None:
    encoder = load_encoder()
    context = examples[1].context
    call = next(item for item in context.view.items if item.app == "phonecall")
    found = ToolRetriever(TOOLBOX, encoder).search(context.request, [call], 59, context=context)
    for one in found.tools:
        cosine = float(encoder.encode([tool_text(one.tool)])[0] @ context.vector)
        own = APP_WEIGHT * (one.tool.app == "phonecall")
        assert one.score == pytest.approx(cosine + own, abs=1e-4)
        assert one.log_probability == UNKNOWN
    scores = [one.score for one in found.tools]
    assert scores == sorted(scores, reverse=True)
    assert found.none == pytest.approx(scores[29])  # the median of 59
    assert found.preferences["none"] == found.none


def test_without_a_reader_items_pull_towards_their_application(
    examples: list[RankingExample],
) -> None:
    retriever = ToolRetriever(TOOLBOX, load_encoder())
    context = examples[1].context
    calls = [item for item in context.view.items if item.app == "phonecall"][:2]
    notes = [item for item in context.view.items if item.app == "notes"][:1]
    found = retriever.search(context.request, [*calls, *notes], 59, context=context)
    shares = {one.tool.app: one.context for one in found.tools}
    total = 1 + APP_DECAY + APP_DECAY**2
    assert shares["phonecall"] == pytest.approx((1 + APP_DECAY) / total, abs=1e-6)
    assert shares["notes"] == pytest.approx(APP_DECAY**2 / total, abs=1e-6)
    assert shares["mail"] == 0
