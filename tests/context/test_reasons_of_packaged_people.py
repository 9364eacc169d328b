"""Claims about reasons in words: what is said of packaged people is true of their items."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest

from ctrag.context.case import Case
from ctrag.context.matters import MATTERS
from ctrag.context.ranker import Ranker
from ctrag.context.reasons import LIFTING, LOWERING, all_matters, because, by_meaning
from ctrag.context.signals import SIGNALS, compute
from ctrag.context.words import terms, words
from ctrag.encoder import load_encoder
from eval.examples import Example, load_examples
from stores.compressed import read_kept
from synth.reference import split_folder

NAMES = [signal.name for signal in SIGNALS]


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    """The requests of four packaged people."""
    folder = tmp_path_factory.mktemp("people")
    people = read_kept(split_folder("dev") / "personas.jsonl").decode().splitlines()[:4]
    known = {json.loads(line)["persona_id"] for line in people}
    asked = read_kept(split_folder("dev") / "queries.jsonl").decode().splitlines()
    asked = [line for line in asked if json.loads(line)["persona_id"] in known]
    for name, lines in (("personas", people), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_examples(folder, load_encoder())


def cases(examples: list[Example]) -> Iterator[Case]:
    prior = Ranker.packaged().prior
    for example in examples:
        table = compute(example.scene, prior)
        for row in range(len(example.scene)):
            yield Case(example.scene, row, table)


def test_every_signal_of_packaged_people_is_told_in_words(examples: list[Example]) -> None:
    raw = [name for name in NAMES if "_" in name]
    for case in cases(examples):
        for matter in [*all_matters(), *(by_meaning(signal) for signal in SIGNALS)]:
            told = [text for _, text in matter.tell(case)]
            assert told, (case.item.id, matter.signals)
            for text in told:
                assert text.strip(), (case.item.id, matter.signals)
                assert not re.search(r"(?i:\bnan\b)|None|\binf\b| {2}|[_{}\n]", text), text
                assert not any(name in text for name in raw), text


def test_every_sentence_about_packaged_people_is_true(examples: list[Example]) -> None:
    for case in cases(examples):
        for matter in MATTERS:
            for _, text in matter.tell(case):
                _check(text, case)


def _check(text: str, case: Case) -> None:
    """Each claim of a sentence, read from the item again."""
    item, request, usage = case.item, case.scene.request, case.item.usage
    begin, end = case.time("time"), case.time("end")
    claim = f"{item.id}, {request.asked_at}, {request.text!r}: {text}"
    if found := re.search(r"(\d+) times in 30 days", text):
        assert usage.opens_30d == int(found[1]), claim
    if "you usually" in text:
        assert usage.opens_30d > 2, claim
    if "have not opened" in text:
        assert usage.opens_30d == 0, claim
    if found := re.search(r"around (\d\d):30", text):
        assert int(found[1]) in usage.usual_hours, claim
    if found := re.search(r"between (\d\d):00 and (\d\d):00", text):
        assert {int(found[1]), (int(found[2]) - 1) % 24} <= set(usage.usual_hours), claim
    for place in ("home", "work"):
        if re.search(rf"you (usually|opened).* at {place}(?! *,? not)", text.partition(", not")[0]):
            assert usage.usual_place == place, claim
        if f"not at {place}" in text:
            assert request.place == place != usage.usual_place, claim
    if found := re.search(r"in (\d+) minutes", text):
        assert begin is not None, claim
        assert begin - request.asked_at == timedelta(minutes=int(found[1])), claim
    if found := re.search(r"(\d+) minutes ago", text):
        ago = {request.asked_at - one for one in (begin, end, usage.last_opened) if one}
        assert timedelta(minutes=int(found[1])) in ago, claim
    if "going on" in text:
        assert begin is not None, claim
        assert end is not None, claim
        assert begin <= request.asked_at < end, claim
    if "was over" in text:
        assert end is not None, claim
        assert end < request.asked_at, claim
    if found := re.search("its time fits your “(.*)”", text):
        named = [one for one in case.scene.moments if one.phrase == found[1]]
        assert begin is not None, claim
        assert any(one.start <= begin <= one.end for one in named), claim
    if "unread mail" in text:
        assert item.flag("unread"), claim
    if "has your word" in text:
        for word in re.findall(r"“(.*?)”", text):
            assert word in words(request.text), claim
            assert set(terms(word)) <= case.scene.view.term_sets[case.row], claim
    if re.search(r"request (may )?points? at", text) and "says nothing" not in text:
        whom = re.split(r"points? at ", text)[1].partition(" (")[0]
        if "word" not in text and "nobody" not in text:
            assert whom.partition(" and ")[0].split(",")[0] in case.scene.view.people[case.row], (
                claim
            )
    if "it is the closest of" in text and "in meaning" in text:
        among = case._in_app if "items" not in text else np.ones(len(case.scene), dtype=bool)
        assert case.scene.cosine[case.row] >= case.scene.cosine[among].max() - 1e-6, claim


def test_reasons_of_packaged_people_say_what_the_ranker_adds(examples: list[Example]) -> None:
    ranker = Ranker.packaged()
    told = []
    for example in examples:
        table = compute(example.scene, ranker.prior)
        added = ranker.contributions(table)[:, :-1]
        lifted = added - np.median(added, axis=0)
        for row in np.argsort(-added.sum(axis=1))[:5]:
            told.append(because(example.scene, int(row), table, lifted[row]))
    lifting = [[one for one in reasons if not one.startswith("but ")] for reasons in told]
    assert np.mean([bool(one) for one in lifting]) > 0.95, "nearly all of the best have a reason"
    for reasons, plain in zip(told, lifting, strict=True):
        assert reasons[: len(plain)] == tuple(plain)
        assert len(plain) <= LIFTING
        assert len(reasons) - len(plain) <= LOWERING
        assert len(set(reasons)) == len(reasons)
