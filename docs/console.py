"""Console blocks of the documents that must not drift: `python docs/console.py [--write]`.

A ```console block right below the line `<!-- run -->` begins with `$ ctrag …`; what follows is that
command's output on this version. Without `--write` a difference is shown and the exit code is 1.

Blocks below `<!-- run in order -->` are run one after the other in a new folder, in which the
blocks below `<!-- file NAME -->` lie, by `python docs/console.py --in-order DOCUMENT [--write]`.
"""

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- run -->\n```console\n\$ ctrag )(.*?)\n(.*?)(```)", re.DOTALL)
IN_ORDER = re.compile(r"(<!-- run in order -->\n```console\n\$ )(.*?)\n(.*?)(```)", re.DOTALL)
FILE = re.compile(r"<!-- file ([\w.]+) -->\n```\w+\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.03
SECONDS = re.compile(r"\b\d+ s\b")
MAIN = "from ctrag.cli.main import main; main()"


def output(command: str) -> str:
    """What `ctrag COMMAND` prints, run in the repository's root."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *shlex.split(command)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def run_in(folder: Path, command: str) -> str:
    """What `ctrag …` or `python …` prints, run in a folder with stores of its own."""
    program, *arguments = shlex.split(command)
    started = {"ctrag": [sys.executable, "-c", MAIN], "python": [sys.executable]}[program]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    own = {"CTRAG_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    done = subprocess.run(
        [*started, *arguments],
        cwd=folder,
        env={**os.environ, **own, "PATH": path, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"$ {command}: exit code {done.returncode}: {done.stderr.strip()}")
    return within(folder, done.stdout)


def within(folder: Path, printed: str) -> str:
    """An output that does not say where the folder lies."""
    return printed.replace(f"{folder}/", "")


def same(one: str, other: str) -> bool:
    """Whether two outputs agree; numbers may differ by as much as processors do (0.03), and
    seconds by any."""
    one, other = (SECONDS.sub("0 s", text) for text in (one, other))
    if NUMBER.sub("0", one) != NUMBER.sub("0", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= TOLERANCE for a, b in pairs)


def refreshed(text: str) -> str:
    """A document with the output of its marked blocks as it is now, where that is another one."""

    def block(match: re.Match[str]) -> str:
        new = output(match[2])
        shown = match[3] if same(match[3], new) else new
        return f"{match[1]}{match[2]}\n{shown}{match[4]}"

    return BLOCK.sub(block, text)


def run_in_order(text: str, folder: Path) -> str:
    """A document with the output of the blocks that are run in order in `folder`."""
    for name, content in FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")

    def block(match: re.Match[str]) -> str:
        new = run_in(folder, match[2])
        shown = match[3] if same(match[3], new) else new
        return f"{match[1]}{match[2]}\n{shown}{match[4]}"

    return IN_ORDER.sub(block, text)


def in_order(path: Path, write: bool) -> int:
    """Run a document's blocks in order and compare, or write; 1 where it differs."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        new = run_in_order(text, Path(folder))
    if new == text:
        return 0
    if write:
        path.write_text(new, encoding="utf-8")
        return 0
    lines = (text.splitlines(keepends=True), new.splitlines(keepends=True))
    sys.stdout.writelines(difflib.unified_diff(*lines, path.name, "as it is now"))
    return 1


def main(write: bool) -> int:
    """Compare, or write, all marked blocks; the number of documents that differ."""
    drifted = 0
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        new = refreshed(text)
        if new == text:
            continue
        drifted += 1
        if write:
            path.write_text(new, encoding="utf-8")
        else:
            lines = (text.splitlines(keepends=True), new.splitlines(keepends=True))
            sys.stdout.writelines(difflib.unified_diff(*lines, path.name, "as it is now"))
    return 0 if write else drifted


if __name__ == "__main__":
    if "--in-order" in sys.argv[1:]:
        named = Path(sys.argv[sys.argv.index("--in-order") + 1])
        sys.exit(in_order(named, "--write" in sys.argv[1:]))
    sys.exit(min(1, main("--write" in sys.argv[1:])))
