from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from eval.core.experiment import Experiment, data_sha256, versions

FIELDS: dict[str, Any] = {
    "experiment": "context",
    "data": "data/dev",
    "data_sha256": "ab" * 32,
    "seed": 0,
    "versions": {"python": "3.11"},
    "settings": {"limit": None, "ks": [3, 5, 10]},
    "figures": {"bm25t": {"recall@3": 50.0}},
    "intervals": {"bm25t": {"recall@3": [40.0, 60.0]}},
    "extra": {},
    "skipped": {"cot": "no written thoughts in these data"},
    "seconds": 1.5,
}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def fill(folder: Path, **contents: str) -> Path:
    for name, content in contents.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    return folder


def test_the_file_has_exactly_the_fields_of_the_contract(tmp_path: Path) -> None:
    Experiment(**FIELDS).write(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text("utf-8")) == FIELDS


def test_a_field_outside_the_contract_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"author\n.*not permitted"):
        Experiment(**FIELDS | {"author": "me"})


def test_an_older_result_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("older", encoding="utf-8")
    Experiment(**FIELDS).write(path)
    assert json.loads(path.read_text("utf-8"))["seconds"] == 1.5
    assert list(tmp_path.iterdir()) == [path]


def test_writing_into_a_folder_that_does_not_exist_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        Experiment(**FIELDS).write(tmp_path / "nowhere" / "result.json")


def test_a_figure_that_json_cannot_say_leaves_the_older_result(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("older", encoding="utf-8")
    broken = Experiment(**FIELDS | {"figures": {"bm25t": {"recall@3": float("nan")}}})
    with pytest.raises(ValueError, match="a figure is infinite or not a number"):
        broken.write(path)
    assert path.read_text("utf-8") == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_a_data_set_is_hashed_as_sha256sum_would(tmp_path: Path) -> None:
    fill(tmp_path, personas_jsonl="people", queries_jsonl="requests", toolbox_yaml="tools")
    listing = (
        f"{sha256('people')}  personas.jsonl\n"
        f"{sha256('requests')}  queries.jsonl\n"
        f"{sha256('tools')}  toolbox.yaml\n"
    )
    assert data_sha256(tmp_path) == sha256(listing)


def test_only_the_files_of_a_data_set_count(tmp_path: Path) -> None:
    fill(tmp_path, personas_jsonl="people", queries_jsonl="requests")
    before = data_sha256(tmp_path)
    assert data_sha256(fill(tmp_path, result_json="{}", README_md="read me")) == before
    assert data_sha256(fill(tmp_path, toolbox_yaml="tools")) != before


def test_of_another_folder_all_json_and_yaml_files_count(tmp_path: Path) -> None:
    fill(tmp_path, tools_json="[]", queries_jsonl="requests", SOURCE_md="where from")
    (tmp_path / "policies").mkdir()
    listing = f"{sha256('requests')}  queries.jsonl\n{sha256('[]')}  tools.json\n"
    assert data_sha256(tmp_path) == sha256(listing)


def test_a_folder_without_data_has_no_hash(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no \*\.json"):
        data_sha256(fill(tmp_path, SOURCE_md="where from"))
    with pytest.raises(ValueError, match="is not a folder"):
        data_sha256(tmp_path / "nowhere")


def test_versions_leave_out_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.core.experiment.LIBRARIES", ("pydantic", "no-such-library-anywhere"))
    found = versions()
    assert found["python"] == platform.python_version()
    assert list(found) == ["python", "pydantic"]
