"""The file of a store of tools, alone and mirrored: other processes, ends and damage."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.database import StoreUnavailable
from stores.tools.duckdb_file import DuckToolStore
from stores.tools.mirror import MirroredToolStore
from stores.tools.protocol import Filter, Query
from tests.stores.tools import TOOLS


def test_a_file_is_read_again_by_the_next_process(tmp_path: Path) -> None:
    first = DuckToolStore(tmp_path / "tools.duckdb")
    first.apply(TOOLS)
    first.set_grants([("user:ada", "*")])
    first.close()
    again = DuckToolStore(tmp_path / "tools.duckdb")
    assert [one.tool_id for one in again.rows()] == [tool.tool_id for tool in TOOLS]
    assert again.grants() == [("user:ada", "*")]
    again.close()


def test_a_second_process_is_told_who_has_the_file(tmp_path: Path) -> None:
    owner = DuckToolStore(tmp_path / "tools.duckdb")
    code = (
        "import sys; from stores.tools.duckdb_file import DuckToolStore; DuckToolStore(sys.argv[1])"
    )
    second = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "tools.duckdb")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert "owned by another process" in second.stderr
    owner.close()


def test_a_server_that_is_killed_loses_nothing_that_was_written(tmp_path: Path) -> None:
    code = (
        "import sys, time; from tests.stores.tools import TOOLS; "
        "from stores.tools.duckdb_file import DuckToolStore; store = DuckToolStore(sys.argv[1]); "
        "store.apply(TOOLS); print('written', flush=True); time.sleep(60)"
    )
    path = tmp_path / "tools.duckdb"
    root = str(Path(__file__).parents[2])
    server = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert server.stdout is not None
    with server.stdout:
        assert server.stdout.readline() == "written\n"
    server.kill()
    server.wait()
    again = DuckToolStore(path)
    assert [one.tool_id for one in again.rows()] == [tool.tool_id for tool in TOOLS]
    again.close()


def test_a_file_that_is_no_store_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tools.duckdb"
    path.write_text("not a database" * 1000)
    with pytest.raises(StoreUnavailable, match="damaged or not readable"):
        DuckToolStore(path)
    assert path.read_text() == "not a database" * 1000


def test_a_mirror_opened_again_answers_as_it_did_before(tmp_path: Path) -> None:
    """Changed, removed and added tools, grants and facts: the file keeps all of it, in order."""
    first = MirroredToolStore(DuckToolStore(tmp_path / "tools.duckdb"))
    first.apply(TOOLS)
    first.apply([replace(TOOLS[0], definition='{"new": 1}')], [TOOLS[1].tool_id])
    first.apply([TOOLS[1]])
    first.set_grants([("user:ada", "*")])
    first.set_fact("encoder", "letters")
    seen = Filter(frozenset({"user:ada"}))
    asked = [Query(["flight"], np.array([0.6, 0.8, 0], np.float32))]
    before = (
        first.candidates(asked, seen, 9),
        first.hashes(),
        first.definitions(list(first.hashes()), seen),
        first.grants(),
        first.fact("encoder"),
    )
    first.close()
    again = MirroredToolStore(DuckToolStore(tmp_path / "tools.duckdb"))
    found = again.candidates(asked, seen, 9)
    assert [one.tool_id for one in found.found] == [one.tool_id for one in before[0].found]
    assert [one.cosine for one in found.found] == [one.cosine for one in before[0].found]
    assert [one.lexical for one in found.found] == [one.lexical for one in before[0].found]
    assert before[1:] == (
        again.hashes(),
        again.definitions(list(again.hashes()), seen),
        again.grants(),
        again.fact("encoder"),
    )
    again.close()


def test_what_the_file_refuses_does_not_reach_the_copy(tmp_path: Path) -> None:
    kept = DuckToolStore(tmp_path / "tools.duckdb")
    store = MirroredToolStore(kept)
    store.apply(TOOLS[:1])
    kept.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.apply(TOOLS[1:2])
    assert list(store.hashes()) == [TOOLS[0].tool_id]
