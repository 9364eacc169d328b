"""Claims about the packaged API classifier, and about tool retrieval with it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.api_choice.classifier import ApiClassifier, classifier_text, gelu, tokens_of
from ctrag.assistant.api_choice.classifier_features import classifier_features
from ctrag.assistant.api_choice.item_weights import item_weights
from ctrag.assistant.api_choice.retrieve import STAND_IN_WEIGHT, UNKNOWN, ToolRetriever, tool_text
from ctrag.models.encoder import load_encoder
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample, load_examples
from tests.training.conftest import copy_people

TOOLBOX = Toolbox.packaged()
NOTHING = np.empty(0, dtype=np.int64)


@pytest.fixture(scope="module")
def classifier() -> ApiClassifier:
    return ApiClassifier.packaged()


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[RankingExample]:
    return load_examples(copy_people("dev", 3, tmp_path_factory.mktemp("dev")), load_encoder())


def labelled(example: RankingExample) -> dict[str, Any]:
    context = example.context
    return {"request": context.request, "items": example.relevant_items, "context": context}


def test_probabilities_of_all_apis_and_none_sum_to_one(
    classifier: ApiClassifier, examples: list[RankingExample]
) -> None:
    rows = np.flatnonzero(examples[0].relevance)
    found = classifier.log_probabilities(
        examples[0].context, rows, item_weights(np.zeros(len(rows)))
    )
    assert list(found) == [*TOOLBOX.names, "none"]
    assert np.exp(list(found.values())).sum() == pytest.approx(1.0, abs=0.01)


def test_a_saved_reader_says_the_same(
    classifier: ApiClassifier, examples: list[RankingExample], tmp_path: Path
) -> None:
    classifier.save(tmp_path)
    again = ApiClassifier.load(tmp_path)
    assert again.card == classifier.card
    assert again.digest == classifier.digest


def test_retrieval_goes_by_the_readers_word(
    classifier: ApiClassifier, examples: list[RankingExample]
) -> None:
    retriever = ToolRetriever(TOOLBOX, load_encoder(), classifier)
    found = retriever.search(**labelled(examples[1]), k=59)
    assert [one.score for one in found.tools] == sorted(
        (one.score for one in found.tools), reverse=True
    )
    assert all(one.score == one.log_probability for one in found.tools)
    assert found.preferences["none"] == found.none


@pytest.mark.slow
def test_apis_that_were_never_learned_are_searched_by_meaning(
    classifier: ApiClassifier, examples: list[RankingExample]
) -> None:
    renamed = Toolbox(tool.model_copy(update={"api": f"my_{tool.api}"}) for tool in TOOLBOX)
    encoder = load_encoder()
    plain = ToolRetriever(renamed, encoder).search(**labelled(examples[0]))
    assert ToolRetriever(renamed, encoder, classifier).search(**labelled(examples[0])) == plain
    first = TOOLBOX.tools[0]
    mixed = Toolbox([*TOOLBOX.tools[1:], first.model_copy(update={"api": "my_song"})])
    found = ToolRetriever(mixed, encoder, classifier).search(**labelled(examples[0]), k=59)
    new = next(one for one in found.tools if one.tool.api == "my_song")
    assert new.log_probability == UNKNOWN
    known = {one.tool.api: one for one in found.tools if one is not new}
    vectors = encoder.encode(
        [tool_text(new.tool), *(tool_text(one.tool) for one in known.values())]
    )
    similarity = vectors[1:] @ vectors[0]
    expected = max(
        one.log_probability + STAND_IN_WEIGHT * (float(near) - 1)
        for one, near in zip(known.values(), similarity, strict=True)
    )
    assert new.score == pytest.approx(expected, abs=1e-4)


def test_a_reader_of_another_encoder_is_not_asked(
    classifier: ApiClassifier, examples: list[RankingExample]
) -> None:
    foreign = ApiClassifier(
        classifier.arrays, classifier.card.model_copy(update={"encoder": "other"})
    )
    with_it = ToolRetriever(TOOLBOX, load_encoder(), foreign).search(**labelled(examples[0]))
    assert with_it == ToolRetriever(TOOLBOX, load_encoder()).search(**labelled(examples[0]))


def test_the_items_decide_what_the_words_leave_open(
    classifier: ApiClassifier, examples: list[RankingExample]
) -> None:
    retriever = ToolRetriever(TOOLBOX, load_encoder(), classifier)
    asked = next(one for one in examples if one.asked.query_id == "p007-q2")
    assert retriever.search(**labelled(asked)).tools[0].tool.api == "play_voicemail"


def test_the_words_of_a_request_cannot_pose_as_an_item(examples: list[RankingExample]) -> None:
    seen = classifier_features(examples[0].context, NOTHING, np.empty(0))
    assert classifier_text("ring him\ncall missed: Rui", seen, 3) == "ring him call missed: Rui"


def test_lines_are_cut_apart_so_that_a_long_request_leaves_room() -> None:
    encode = tokens_of("all-MiniLM-L6-v2")
    long = encode("word " * 200)
    assert len(long.ids) == 50  # two marks and 48 tokens
    both = encode("word " * 200 + "\nnote: milk")
    assert both.ids[:50] == long.ids
    assert both.lines == [(50, len(both.ids))]


def test_gelu_is_torchs_tanh_form() -> None:
    torch = pytest.importorskip("torch")
    values = np.linspace(-4, 4, 41, dtype=np.float32)
    theirs = torch.nn.functional.gelu(torch.from_numpy(values), approximate="tanh").numpy()
    assert gelu(values) == pytest.approx(theirs, abs=1e-5)
