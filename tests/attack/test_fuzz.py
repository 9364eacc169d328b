"""A tiny run of the fuzzing and of the attacks, and inputs that found faults before."""

import random
from pathlib import Path

import pytest

from attack.fuzz import Fuzzed, fuzz, tried
from attack.kills import kill_loop
from attack.leaks import leaks
from attack.mutation import mutated
from attack.targets import REFUSALS, TARGETS, Target
from eval.discovery.load import WordVectors

READ: list[tuple[str, bytes]] = [
    ("csv", b"Name;\rE-Mail-Adresse\nRuth;ruth@example.de\n"),
    ("ics", b"Name,\rGiven Name"),
    ("calls", b"<?xml version='1.0' encoding='UTUTF-8'?><calls></calls>"),
    (
        "histories",
        b'[{"endTime": "2025-04-17 09:30", "artistName": "D", "trackName": "a\\ud800", '
        b'"msPlayed": 90000}]',
    ),
    ("histories", b'{"isTrashed": false, "title": "a\\uD800", "textContent": "\xff"}'),
    (
        "servers.json",
        b'{"mcpServers": {"web": {"url": "https://tools.example/mcp", "headers": 7}, '
        b'"files": {"command": "a", "env_vars": 1.5, "tools": {"a": false}, "exclude": 3}, "good": {"command": "b"}}}',
    ),
    ("catalogue", b'[{"name": "a", "parameters": ' + b'{"a":' * 400 + b"1" + b"}" * 400 + b"}]"),
    ("time phrases", b"two weeks ago at 24:00"),
    ("call grammar", b'{"properties": {"a": {"enum": ["\\u007f\\u009b\\u2028", "\\ud800"]}}}'),
    ("call grammar", b'{"properties": {"' + b"9" * 400 + b'": {"type": "integer"}}}'),
]
READ += [
    (
        "servers.json",
        b'{"mcpServers": {"a": {"command": 1' + b"0" * 400 + b"}, "
        b'"b": {"command": "x", "envFile": "~nobody-here/x"}, "good": {"command": "x"}}}',
    ),
    (
        "recording",
        b'{"event": "ctrag.search", "at": 1.0, "attributes": '
        b'{"gen_ai.retrieval.documents": [{"title": "a", "score": 1' + b"0" * 400 + b"}]}}",
    ),
    (
        "lessons",
        b'{"event": "ctrag.session.open", "at": 1.0, "attributes": '
        b'{"ctrag.catalogue": {"a": Infinity, "b": NaN, "c": "x", "d": 1' + b"0" * 400 + b"}}}",
    ),
    (
        "recording",
        b'{"person": "a", "text": "b", "asked_at": "c", "items": [], "tools": [], "plan": "d", '
        b'"confidence": 0.5, "status": null, "answer": null, '
        b'"steps": [{"milliseconds": "\\ud800", "outputs": {"a": ["\\ud800"]}}, {}]}',
    ),
]
REFUSED: list[tuple[str, bytes, str]] = [
    (
        "histories",
        b'{"isTrashed": false, "title": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        "it is nested too deep",
    ),
    (
        "catalogue",
        b'[{"name": "a", "parameters": {"maximum": ' + b"9" * 5000 + b"}}]",
        "not JSON: Exceeds the limit",
    ),
    (
        "catalogue",
        b'[{"name": "a", "parameters": {"properties": {"b\\ud800": {}}}}]',
        "0.parameters: holds half of a surrogate pair",
    ),
    (
        "catalogue.yaml",
        b"- name: t\n  parameters: " + b"[" * 100_000,
        "not YAML: exceeded maximum nesting depth",
    ),
    (
        "apps.yaml",
        b"zoo:\n  phrase: ['{title:>99999999999}']\n  fields: {title: {type: string}}\n",
        "must name exactly one of the fields",
    ),
    (
        "apps.yaml",
        b"zoo:\n  phrase: ['{title:{start}}']\n  fields: {title: {type: string}}\n",
        "must name exactly one of the fields",
    ),
    ("apps.yaml", b"zoo: 2025-02-30\n", "not YAML: day is out of range for month"),
    ("toolbox", b"a: " + b"{b: " * 3000 + b"}" * 3000, "nested deeper than 100 levels"),
    ("servers.toml", b"day = 2025-02-30", "not TOML: "),
    ("servers.toml", b"a = " + b"[" * 5000, "not TOML: nested too deep"),
    ("servers.json", b"{a: &a [1, 1], b: &b [*a, *b]}", "not JSON: "),
    ("accounts", b"accounts: 2025-02-30", "not YAML"),
    ("tokens", b"tokens: 2025-02-30", "not YAML"),
    ("tokens", b"[" * 200 + b"]" * 200, "tokens.yaml: nested deeper than 100 levels"),
    ("dav", b"<!DOCTYPE a><a/>", "XML with a document type"),
    ("plan syntax", b"f(" * 3000, "too many nested parentheses"),
]
"""Parsers and inputs, each of which once stopped its parser."""


@pytest.mark.parametrize(("name", "content"), READ)
def test_what_once_stopped_a_parser_is_read(name: str, content: bytes) -> None:
    found = tried(TARGETS[name], [content])
    assert (found.inputs, found.refused, found.faults) == (1, 0, {})


@pytest.mark.parametrize(("name", "content", "why"), REFUSED)
def test_what_once_stopped_a_parser_is_refused_with_the_reason(
    name: str, content: bytes, why: str, tmp_path: Path
) -> None:
    with pytest.raises(REFUSALS, match=why):
        TARGETS[name].run(content, tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_takes_its_seeds(name: str) -> None:
    found = tried(TARGETS[name], TARGETS[name].seeds)
    assert (found.inputs, found.refused, found.faults) == (len(TARGETS[name].seeds), 0, {})


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_are_read_or_refused(name: str) -> None:
    found = fuzz(TARGETS[name], 5, seed=1, most=60)
    assert found.inputs > 1
    assert found.faults == {}


def test_a_fault_is_found_once_with_its_input() -> None:
    def parse(content: bytes, folder: Path) -> None:
        if len(content) % 2:
            raise KeyError(content[:1])

    found: Fuzzed = fuzz(Target((b"ab", b"abc"), parse), 5, most=200)
    [(said, content)] = found.faults.items()
    assert "KeyError" in said
    assert len(content) % 2


def test_an_input_that_takes_too_long_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(content: bytes, folder: Path) -> None:
        while True:
            pass

    monkeypatch.setattr("attack.fuzz.SLOW", 0.05)
    [said] = fuzz(Target((b"a",), parse), 5, most=2).faults
    assert "takes longer than 0.05 s" in said


def test_the_same_seed_makes_the_same_inputs() -> None:
    seeds = TARGETS["catalogue"].seeds
    first, second = (
        [mutated(seeds, chance) for _ in range(50)]
        for chance in (random.Random(1), random.Random(1))
    )
    assert first == second
    assert len(set(first)) > 40


@pytest.mark.parametrize("encoder", [None, WordVectors()], ids=["words", "vectors"])
def test_nobody_finds_what_no_grant_names(encoder: WordVectors | None) -> None:
    searches, wrong = leaks(4, encoder=encoder)
    assert searches == 20
    assert wrong == []


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    assert kill_loop(tmp_path / "stores", 3) == []
