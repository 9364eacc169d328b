"""Ctrl-C ends a command within two seconds and says so, whatever the main thread does."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START = """
import sys, time
from ctrag.cli.errors import exit_code
from ctrag.cli.interrupts import ended_by_interrupts, patiently
{work}
def run():
    print("begun", flush=True)
    work()
with ended_by_interrupts():
    code = exit_code(run)
sys.exit(code)
"""
WORK = {
    "python": "def work():\n    while True: pass",
    "caught": (
        "def work():\n    while True:\n        try: time.sleep(60)\n"
        "        except KeyboardInterrupt: pass"
    ),
    "native": (
        "import duckdb\ndef work():\n    duckdb.sql('SELECT count(*) FROM range(100000000000) a, "
        "range(100000) b WHERE a.range * b.range % 7 = 3').fetchall()"
    ),
}


def interrupted(work: str) -> tuple[int, str, float]:
    """Exit code, stderr and seconds from the signal to the end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", START.format(work=work)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # A suite that runs in the background ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        late = threading.Timer(20, process.kill)  # a process that is not ended burns no core
        late.daemon = True
        late.start()
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        began = time.perf_counter()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        return process.wait(), said, time.perf_counter() - began


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_ends_a_command_and_says_so(work: str) -> None:
    code, said, seconds = interrupted(WORK[work])
    assert (code, said) == (130, "ctrag: stopped\n")
    assert seconds < 3  # two, and what a busy machine takes


@pytest.mark.slow
def test_a_server_ends_in_its_own_time() -> None:
    work = (
        "def work():\n    patiently()\n    try: time.sleep(60)\n"
        "    except KeyboardInterrupt:\n        time.sleep(2)\n        print('finished', flush=True)"
    )
    code, said, seconds = interrupted(work)
    assert (code, said) == (0, "")
    assert seconds > 1.9


STRIKES = """
import importlib.abc, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests
class Strikes(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "ctrag.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Strikes())
{before}
from ctrag.cli.entry import main
sys.argv = ["ctrag", "--version"]
main()
"""


def struck_while_importing(before: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", STRIKES.format(before=before)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def test_ctrl_c_while_the_commands_are_imported_shows_no_traceback() -> None:
    ran = struck_while_importing()
    assert (ran.returncode, ran.stdout, ran.stderr) == (-signal.SIGINT, "", "")


def test_a_command_that_ignores_ctrl_c_from_its_start_goes_on() -> None:
    ran = struck_while_importing("signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("ctrag ")
