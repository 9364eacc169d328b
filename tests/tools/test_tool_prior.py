"""Claims about the learned choice of API and about tool retrieval."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.apps.toolbox import Toolbox
from ctrag.context.prior import KINDS, kinds_of
from ctrag.context.scene import Scene
from ctrag.encoder import load_encoder
from ctrag.tools.prior import ToolPrior, item_weights, prior_inputs
from ctrag.tools.retrieve import APP_DECAY, COSINE_WEIGHT, ToolRetriever, tool_text
from eval.examples import Example, load_views
from stores.dataset import load_dataset, load_labels
from synth.reference import split_folder

TOOLBOX = Toolbox.packaged()
NOTHING = np.empty(0, dtype=np.int64)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """The requests of one packaged dev person."""
    dataset = load_dataset(split_folder("dev"))
    labels = load_labels(split_folder("dev"))
    dataset = replace(dataset, personas=(dataset.persona("p007"),))
    view = load_views(dataset, load_encoder())["p007"]
    found = []
    for asked in dataset.requests:
        if asked.person_id == "p007":
            vector = load_encoder().encode([asked.request.text])[0]
            scene = Scene(view, asked.request, vector, np.arange(len(view)))
            known = labels[asked.query_id]
            relevance = np.isin(view.ids, list(known.relevant or ())).astype(np.float32)
            found.append(Example(asked, scene, known, relevance))
    return found


def test_weights_of_items_are_the_softmax_of_their_scores() -> None:
    weights = item_weights(np.array([np.log(3.0), 0.0], dtype=np.float32))
    assert weights == pytest.approx([0.75, 0.25])
    assert len(item_weights(np.empty(0, dtype=np.float32))) == 0


def test_inputs_hold_the_kinds_of_the_items_by_weight(examples: list[Example]) -> None:
    scene = examples[0].scene
    searches = [row for row, item in enumerate(scene.view.items) if item.app == "google"]
    rows = np.array(searches[:2])
    inputs = prior_inputs(scene, rows, np.array([0.75, 0.25]))
    start = len(scene.vector)
    kinds = kinds_of(scene)[rows]
    assert kinds[0] == kinds[1]
    assert inputs[:start] == pytest.approx(3.0 * scene.vector, rel=1e-5)
    assert inputs[start + kinds[0]] == pytest.approx(1.5)
    first = start + len(KINDS)
    assert inputs[first : first + len(KINDS)].sum() == 1.0


def test_inputs_without_items_say_nothing_about_items(examples: list[Example]) -> None:
    scene = examples[0].scene
    inputs = prior_inputs(scene, NOTHING, np.empty(0))
    start = len(scene.vector)
    assert not inputs[start : start + 3 * len(KINDS) + 5].any()


def test_probabilities_are_the_plain_softmax(examples: list[Example]) -> None:
    prior = ToolPrior.packaged()
    unread = prior_inputs(examples[1].scene, NOTHING, np.empty(0))
    # Without a tuned reading its block at the end says nothing.
    inputs = np.pad(unread, (0, len(prior.weights) - 1 - len(unread)))
    scores = [
        float(np.dot(inputs, prior.weights[:-1, place])) + float(prior.weights[-1, place])
        for place in range(len(prior.card.apis))
    ]
    total = sum(np.exp(one) for one in scores)
    found = prior.log_probabilities(unread)
    for api, score in zip(prior.card.apis, scores, strict=True):
        assert found[api] == pytest.approx(max(score - np.log(total), -9.0), abs=1e-3)


def test_the_packaged_prior_knows_every_api_and_none() -> None:
    card = ToolPrior.packaged().card
    assert card.apis == [*TOOLBOX.names, "none"]
    assert card.figures["with_context"]["recall@5"] > card.figures["query_only"]["recall@5"]


def test_a_saved_prior_says_the_same(tmp_path: Path) -> None:
    prior = ToolPrior.packaged()
    prior.save(tmp_path)
    again = ToolPrior.load(tmp_path)
    assert again.card == prior.card
    assert np.array_equal(again.weights, prior.weights)


def test_scores_are_prior_plus_weighted_cosine(examples: list[Example]) -> None:
    encoder = load_encoder()
    retriever = ToolRetriever(TOOLBOX, encoder, ToolPrior.packaged())
    scene = examples[1].scene
    found = retriever.search(scene.request, k=59, scene=scene)
    best = found.tools[0]
    cosine = float(encoder.encode([tool_text(best.tool)])[0] @ scene.vector)
    assert best.score == pytest.approx(best.prior + COSINE_WEIGHT * cosine, abs=1e-4)
    assert [one.score for one in found.tools] == sorted(
        (one.score for one in found.tools), reverse=True
    )
    assert found.preferences["none"] == found.none


def test_without_a_prior_items_pull_towards_their_application(examples: list[Example]) -> None:
    retriever = ToolRetriever(TOOLBOX, load_encoder())
    scene = examples[1].scene
    calls = [item for item in scene.view.items if item.app == "phonecall"][:2]
    notes = [item for item in scene.view.items if item.app == "notes"][:1]
    found = retriever.search(scene.request, [*calls, *notes], 59, scene=scene)
    shares = {one.tool.app: one.context for one in found.tools}
    total = 1 + APP_DECAY + APP_DECAY**2
    assert shares["phonecall"] == pytest.approx((1 + APP_DECAY) / total, abs=1e-6)
    assert shares["notes"] == pytest.approx(APP_DECAY**2 / total, abs=1e-6)
    assert shares["mail"] == 0


def test_a_toolbox_that_the_prior_does_not_know_is_searched_by_meaning(
    examples: list[Example],
) -> None:
    renamed = Toolbox(tool.model_copy(update={"api": f"my_{tool.api}"}) for tool in TOOLBOX)
    scene = examples[0].scene
    plain = ToolRetriever(renamed, load_encoder()).search(scene.request, scene=scene)
    given = ToolRetriever(renamed, load_encoder(), ToolPrior.packaged()).search(
        scene.request, scene=scene
    )
    assert given == plain


def test_context_finds_the_voicemail_that_the_words_do_not_name(examples: list[Example]) -> None:
    retriever = ToolRetriever(TOOLBOX, load_encoder(), ToolPrior.packaged())
    asked = next(one for one in examples if one.asked.query_id == "p007-q2")
    found = retriever.search(asked.scene.request, asked.relevant_items, scene=asked.scene)
    assert found.tools[0].tool.api == "play_voicemail"
