"""Every command says what it does, with an example; asking is quick and loads no model."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer.main

from ctrag.cli.main import app


def walked(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walked(child, (*path, name))


TREE = dict(walked(typer.main.get_command(app)))
DESIGNED = (
    "ask chat import export forget undo eval+context eval+tools eval+planner eval+spoken "
    "tools+search train+ranker session+show models+list models+fetch"
).split()


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_help_says_what_it_does_and_gives_an_example(
    ctrag: Callable[..., Any], path: tuple[str, ...]
) -> None:
    ran = ctrag(*path, "--help")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.strip() for line in ran.out.splitlines()]
    [example] = [line for line in lines if line.startswith("Example: ")]
    assert example.startswith(" ".join(["Example: ctrag", *path]))
    said = lines[1 : lines.index(example)]
    assert any(said), "what it does stands before the example"


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_every_option_has_a_help_text(path: tuple[str, ...]) -> None:
    assert [one.name for one in TREE[path].params if not getattr(one, "help", None)] == []


@pytest.mark.parametrize("path", DESIGNED)
def test_the_designed_commands_are_there(path: str) -> None:
    assert tuple(path.split("+")) in TREE


def test_the_version_is_told(ctrag: Callable[..., Any]) -> None:
    import ctrag as package

    assert ctrag("--version").out == f"ctrag {package.__version__}\n"


def test_help_is_quick_and_loads_no_model_library(process: Callable[..., Any]) -> None:
    code = (
        "import sys; sys.argv = ['ctrag', '--help']\n"
        "from ctrag.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as left: assert not left.code\n"
        "heavy = {'torch', 'transformers', 'lightgbm', 'onnxruntime', 'duckdb', 'openai', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        ran = process(code)
        seconds.append(time.perf_counter() - began)
        assert (ran.returncode, ran.stderr) == (0, "[]\n")
    assert statistics.median(seconds) < 1.0


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing"],
        ["ask"],
        ["ask", "hello"],
        ["ask", "hello", "--persona"],
        ["ask", "hello", "--persona", "ada", "--colour", "red"],
        ["eval", "nothing"],
        ["eval", "context"],
        ["eval", "context", "--data", "x", "--limit", "many"],
        ["tools", "search", "x"],
        ["session", "show"],
        ["import"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_code_2_and_says_how(
    ctrag: Callable[..., Any], arguments: list[str]
) -> None:
    ran = ctrag(*arguments)
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert line.startswith("ctrag: ")
    assert "; see ctrag" in line
    assert "Traceback" not in ran.err
