"""`ctrag chat` as it is typed: questions, Ctrl-C, `/reset`, and the history of what was said."""

import io
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from ctrag.cli.main import main
from ctrag.cli.typed import KEPT, said_lines
from stores.people.learned import forget_learned, history_file

UP = "\x1b[A"
GATE = 'read_note(title="Gate code")'
FORWARD = 'forward_mail(subject="Pallets for Monterrey", to="Omar Salcedo")'


class Keyboard(io.StringIO):
    """A terminal on which yes or no is typed; "^C" is Ctrl-C."""

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> str:
        said = super().readline()
        if said == "^C\n":
            raise KeyboardInterrupt
        return said


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[PipeInput]:
    """What is typed at the prompt."""
    monkeypatch.setattr(sys, "stdin", Keyboard())
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def chat(
    people: Path,
    seen: None,
    typed: PipeInput,
    through_endpoint: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """`chat(plans, turns, answers)`: what is printed on stdout and stderr together."""

    def run(plans: list[str], turns: list[str], answers: list[str]) -> str:
        through_endpoint.answers = plans
        monkeypatch.setattr(sys, "stdin", Keyboard("".join(f"{one}\n" for one in answers)))
        base = ["ctrag", "chat", "--persona", "ada", "--data", str(people), "--planner", "openai"]
        monkeypatch.setattr(sys, "argv", base)
        typed.send_text("".join(f"{one}\r" for one in [*turns, "/quit"]))
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        return "".join(capsys.readouterr())

    return run


def test_ctrl_c_ends_the_question_and_not_the_conversation(chat: Callable[..., str]) -> None:
    said = chat([FORWARD, GATE], ["forward the pallets mail to omar", "gate code?"], ["^C"])
    assert said.index("Nothing was done.") < said.index("4711")


def test_what_is_said_in_place_of_yes_or_no_is_the_next_turn(chat: Callable[..., str]) -> None:
    said = chat([FORWARD, GATE], ["forward the pallets mail to omar"], ["what was the gate code"])
    assert said.index("Nothing was done.") < said.index("4711")


def test_yes_is_said_in_words(chat: Callable[..., str]) -> None:
    said = chat([FORWARD], ["forward the pallets mail to omar"], ["yes please, go ahead"])
    assert "Sent to Omar Salcedo" in said


def test_reset_forgets_what_was_talked_about_and_takes_changes_back(
    chat: Callable[..., str],
) -> None:
    made = 'create_reminder(title="Buy rope", due="2025-04-17T18:00")'
    said = chat(
        [made, "list_reminders()"],
        ["remind me to buy rope at six", "/reset", "delete the second one", "show my reminders"],
        [],
    )
    assert "What was talked about is forgotten; changes taken back: 1." in said
    assert "Which one do you mean?" in said, "there is no list any more"
    assert "Buy rope" not in said[said.index("Open reminders:") :]


def lines(typed: PipeInput, history: Path, keys: str, count: int) -> list[str]:
    typed.send_text(keys)
    said = said_lines(deque(), history)
    return [next(said) for _ in range(count)]


def test_what_was_said_comes_back_with_arrow_up_in_the_next_conversation(
    typed: PipeInput, tmp_path: Path
) -> None:
    history = history_file(tmp_path, "ada")
    assert lines(typed, history, "buy rope\rhello\r", 2) == ["buy rope", "hello"]
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert lines(typed, history, f"{UP}{UP}\r", 1) == ["buy rope"]


def test_a_history_is_bounded_and_keeps_the_newest(typed: PipeInput, tmp_path: Path) -> None:
    history = history_file(tmp_path, "ada")
    history.parent.mkdir()
    long = FileHistory(history)
    for number in range(2 * KEPT + 1):
        long.store_string(f"turn {number}")
    lines(typed, history, "hello\r", 1)
    kept = list(long.load_history_strings())
    assert kept[:2] == ["hello", f"turn {2 * KEPT}"]
    assert len(kept) == KEPT + 1
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_history_is_forgotten_with_what_was_taught(typed: PipeInput, tmp_path: Path) -> None:
    history = history_file(tmp_path, "ada")
    lines(typed, history, "buy rope\r", 1)
    forget_learned(tmp_path, "ada")
    assert not history.exists()
