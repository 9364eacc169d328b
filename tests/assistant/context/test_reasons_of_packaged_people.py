"""Claims about reasons in words: what is said of packaged people is true of their items."""

import json
import re
from datetime import timedelta

import numpy as np
import pytest

from ctrag.assistant.context.explain import LIFTING, LOWERING, because, lifts_of
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.context.item_text import field_of, people
from ctrag.models.encoder import load_encoder
from ctrag.text.words import terms, words
from eval.core.examples import RankingExample, load_examples
from stores.compressed import read_kept
from synth.reference import split_folder


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[RankingExample]:
    """The requests of four packaged people."""
    folder = tmp_path_factory.mktemp("people")
    chosen = read_kept(split_folder("dev") / "personas.jsonl").decode().splitlines()[:4]
    known = {json.loads(line)["persona_id"] for line in chosen}
    asked = read_kept(split_folder("dev") / "queries.jsonl").decode().splitlines()
    asked = [line for line in asked if json.loads(line)["persona_id"] in known]
    for name, lines in (("personas", chosen), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_examples(folder, load_encoder())


@pytest.mark.slow
def test_the_best_items_of_packaged_people_have_reasons_in_plain_words(
    examples: list[RankingExample],
) -> None:
    ranker = Ranker.packaged()
    named = [feature.name for feature in FEATURES if "_" in feature.name]
    explained = []
    for example in examples:
        table = compute(example.context, ranker.learned)
        added = ranker.contributions(table)[:, :-1]
        lifts = lifts_of(added)
        for row in np.argsort(-added.sum(axis=1))[:5]:
            told = because(example.context, int(row), table[row], lifts[row])
            explained.append(any(not one.startswith("but ") for one in told))
            assert len(set(told)) == len(told) <= LIFTING + LOWERING
            for text in told:
                assert not re.search(r"(?i:\bnan\b)|None|\binf\b| {2}|[_{}\n]", text), text
                assert not any(name in text for name in named), text
                _check(text, example.context, int(row))
    assert np.mean(explained) > 0.95, "nearly all of the best have a reason"


def _check(text: str, context: FeatureContext, row: int) -> None:
    """Each claim of a clause, read from the item again."""
    item, request = context.view.items[context.rows[row]], context.request
    claim = f"{item.id}, {request.asked_at}, {request.text!r}: {text}"
    if found := re.search(r"opens in 30 days: (\d+)", text):
        assert item.usage.opens_30d == int(found[1]), claim
    if "usual hour" in text:
        assert item.usage.usual_hours, claim
    if "0 minutes from its usual hour" in text:
        near = {(request.asked_at - timedelta(minutes=minutes)).hour for minutes in (0, 1)}
        assert near & set(item.usage.usual_hours), claim
    if "at its usual place: yes" in text:
        assert item.usage.usual_place, claim
    if found := re.search(r"dated (\d+) minutes? ago", text):
        field = field_of(item, "time")
        begin = item.time(field) if field else None
        assert begin is not None, claim
        assert request.asked_at - begin == timedelta(minutes=int(found[1])), claim
    if "kind is “mail unread”" in text:
        assert item.flag("unread"), claim
    if found := re.search("has your (“.*)", text):
        for word in re.findall(r"“(.*?)”", found[1]):
            assert word in words(request.text), claim
            assert set(terms(word)) <= context.view.term_sets[context.rows[row]], claim
    if found := re.search("involves (.*) whom you may mean", text):
        assert found[1] == "nobody" or found[1].split(" and ")[0] in people(item), claim
