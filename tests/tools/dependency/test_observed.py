"""Claims about the log: lines are whole or not there, whatever happens."""

import multiprocessing
from pathlib import Path

import pytest

from ctrag.tools.dependency.observed import Observation, append, read

ONE = Observation("wake me — 6 o'clock\nplease", ("set_alarm",))
TWO = Observation("mail Ada", ("find_contact", "send_mail"))


def test_what_is_added_is_read_back_in_order(tmp_path: Path) -> None:
    log = tmp_path / "observed.jsonl"
    assert read(log) == []
    append(log, ONE)
    append(log, TWO)
    assert read(log) == [ONE, TWO]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_a_crash_cut_is_neither_read_nor_in_the_way(tmp_path: Path, cut: int) -> None:
    log = tmp_path / "observed.jsonl"
    append(log, ONE)
    whole = log.read_bytes()
    append(log, TWO)
    log.write_bytes(log.read_bytes()[:-cut])
    assert read(log) == [ONE]
    append(log, TWO)
    assert log.read_bytes().startswith(whole)
    assert read(log) == [ONE, TWO]


def _many(log: Path, number: int) -> None:
    for place in range(20):
        append(log, Observation(f"{number}-{place}", ("a",)))


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    log = tmp_path / "observed.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_many, args=(log, number)) for number in range(3)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert sorted(one.request for one in read(log)) == sorted(
        f"{number}-{place}" for number in range(3) for place in range(20)
    )


def test_a_log_of_something_else_is_refused_with_its_line(tmp_path: Path) -> None:
    log = tmp_path / "observed.jsonl"
    log.write_text('{"level": "info"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"observed.jsonl:1: no observation"):
        read(log)
