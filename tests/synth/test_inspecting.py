"""Claims about inspecting a data set: the same figures as text, JSON and HTML."""

from pathlib import Path

import pytest

from stores.people.dataset import load_dataset
from synth.inspect import inspect
from synth.reference import split_folder


def test_the_reference_dev_split_is_counted_correctly() -> None:
    folder = split_folder("dev")
    dataset = load_dataset(folder)
    seen = inspect(folder)
    assert seen.sizes == {"people": 40, "requests": 371}
    assert sum(seen.kinds.values()) == sum(seen.requests_per_api.values()) == 371
    mails = sum(item.app == "mail" for one in dataset.personas for item in one.items)
    assert seen.items_per_person["mail"] == pytest.approx(mails / 40, abs=0.005)
    assert seen.apis["music"] == 11


def test_every_format_shows_ten_requests_and_html_is_escaped() -> None:
    seen = inspect(split_folder("dev"), seed=2)
    lines, page = seen.lines(), seen.html()
    assert len(seen.shown) == 10
    for one in seen.shown:
        assert any(one.text[:60] in line for line in lines)
    assert "<script" not in page
    assert page.count("<blockquote>") == 10
    assert seen.as_json()["sizes"]["requests"] == 371
    assert seen == inspect(split_folder("dev"), seed=2)
    assert seen.shown != inspect(split_folder("dev"), seed=3).shown


def test_a_folder_without_people_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"personas\.jsonl"):
        inspect(tmp_path)
