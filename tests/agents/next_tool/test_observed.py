"""Claims about the log: lines are whole or not there, whatever happens."""

import multiprocessing
import os
from pathlib import Path

import pytest

from ctrag.agents.next_tool.observed import Observation, append, read

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


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{"level": "info"}', "request: Field required"),
        ('{"request": "go", "calls": "bcd"}', "calls: Input should be a valid list"),
        ('{"request": "go", "calls": ["set_alarm", 3]}', "calls.1: Input should be a valid string"),
        ('{"request": "go", "calls": [" "]}', "calls: must not be empty"),
        ('{"request": "go", "calls": ["end"]}', "calls: no tool may be called 'end'"),
        ('{"request": "", "calls": []}', "request: must not be empty"),
        ("3", "line: Input should be a valid dictionary"),
        ("go", "Expecting value"),
        ("1" * 9_999, "Exceeds the limit"),
        ("[" * 99_999, "maximum recursion"),
    ],
)
def test_a_log_of_something_else_is_refused_with_its_line(
    tmp_path: Path, line: str, rule: str
) -> None:
    log = tmp_path / "observed.jsonl"
    append(log, ONE)
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(ValueError, match=f"observed.jsonl:2: no observation: {rule}"):
        read(log)


def test_what_was_asked_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    log, shared = tmp_path / "observed.jsonl", tmp_path / "shared.jsonl"
    before = os.umask(0)
    try:
        append(log, ONE)
        shared.touch(0o664)
        append(shared, ONE)
    finally:
        os.umask(before)
    assert [one.stat().st_mode & 0o777 for one in (log, shared)] == [0o600, 0o664]
