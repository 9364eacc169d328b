"""Claims about the tree of errors, and how the command line tells them."""

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from ctrag import errors
from ctrag.cli.errors import exit_code, one_line
from ctrag.errors import CtragError, InputError, MissingExtra, NotFound, reading


def tree(kind: type[BaseException], depth: int = 0) -> Iterator[str]:
    """Lines of the tree, as the docstring of `ctrag.errors` has them."""
    ours, builtin = [], []
    for base in kind.__bases__:
        (ours if issubclass(base, CtragError) else builtin).append(base.__name__)
    said = f" ({', '.join(builtin)})" if builtin else ""
    yield f"{'  ' * depth}- {kind.__name__}{said}"
    for name in errors.__all__:
        one = getattr(errors, name)
        if kind in one.__bases__:
            yield from tree(one, depth + 1)


def test_the_docstring_shows_the_whole_tree_of_what_is_exported() -> None:
    shown = re.findall(r"^ *- .*$", errors.__doc__ or "", re.M)
    assert sorted(shown) == sorted(tree(CtragError))
    assert {re.findall(r"\w+", line)[0] for line in shown} == set(errors.__all__)
    assert all(inspect.getdoc(getattr(errors, name)) for name in errors.__all__)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("stores.database", "StoreUnavailable"),
        ("stores.people.people_store", "UnknownPerson"),
        ("ctrag.models.packages", "ModelMissing"),
        ("ctrag.models.endpoint", "EndpointError"),
        ("ctrag.assistant.planning.plan", "PlanSyntaxError"),
        ("ctrag.agents.session.outcomes", "ToolRefused"),
        ("ctrag.agents.session.registry", "UnknownSession"),
        ("synth.provider", "BudgetSpent"),
        ("synth.provider", "ProviderError"),
    ],
)
def test_an_error_is_the_same_class_where_it_is_raised(module: str, name: str) -> None:
    assert getattr(pytest.importorskip(module), name) is getattr(errors, name)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("k: must be at least 1,\n not 0"), "k: must be at least 1, not 0"),
        (NotFound(2, "no such folder", "/x y"), "/x y: no such folder"),
        (MissingExtra("run `pip install 'ctrag[mcp]'`"), "run `pip install 'ctrag[mcp]'`"),
        (PermissionError(13, "Permission denied", "/x"), "/x: Permission denied"),
        (
            ValueError("operands could not be broadcast"),
            "internal error: ValueError: operands could not be broadcast; "
            "set CTRAG_DEBUG=1 for the traceback",
        ),
        (KeyError("x"), "internal error: KeyError: 'x'; set CTRAG_DEBUG=1 for the traceback"),
    ],
)
def test_only_what_a_person_can_mend_is_told_as_theirs(
    error: Exception, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise error

    assert one_line(error) == line
    assert exit_code(broken) == 1
    assert capsys.readouterr().err == f"ctrag: {line}\n"


@pytest.mark.parametrize("error", [InputError("k: too small"), ValueError("shapes differ")])
def test_debugging_shows_the_traceback_of_every_error(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setenv("CTRAG_DEBUG", "1")
    assert exit_code(broken) == 1
    told = capsys.readouterr().err
    assert told.startswith("Traceback (most recent call last):")
    assert ", in broken" in told
    assert told.endswith(f"ctrag: {one_line(error)}\n")


class Card(BaseModel):
    folds: int


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff", "/made/card.json: 'utf-8' codec can't decode byte 0xff in position 0"),
        (b"{", "/made/card.json: 1 validation error for Card Invalid JSON"),
        (b'{"folds": "many"}', "/made/card.json: 1 validation error for Card folds Input should"),
    ],
)
def test_what_a_parser_says_of_a_file_names_the_file(content: bytes, told: str) -> None:
    with (
        pytest.raises(InputError, match=re.escape(told)) as caught,
        reading(Path("/made/card.json")),
    ):
        Card.model_validate_json(content.decode())
    assert "\n" not in str(caught.value)
    assert "https:" not in str(caught.value)


def test_a_mistake_inside_a_file_is_told_as_it_is() -> None:
    with pytest.raises(InputError, match=r"^card\.json:3: twice$"), reading(Path("card.json")):
        raise InputError("card.json:3: twice")


def test_a_missing_file_is_still_a_builtin_error() -> None:
    assert issubclass(NotFound, FileNotFoundError)
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingExtra, ImportError)
    with pytest.raises(InputError), reading(Path("x.json")):
        json.loads("{")
