"""Claims about what tool search and prompts do without: none of the heavy libraries."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "accelerate lightgbm llguidance matplotlib openai optuna peft sentence_transformers torch "
    "transformers"
).split()
WITHOUT = f"""
import sys

sys.modules.update(dict.fromkeys({HEAVY!r}))  # None: whoever imports one is told that it is missing
"""
AFTER = f"""
assert not [name for name in {HEAVY!r} if sys.modules.get(name)]
"""
SEARCH = """
from ctrag import ToolIndex

index = ToolIndex.from_file("ctrag/toolbox.yaml")
print(index.search("put it off until tomorrow", k=1)[0].tool.name)
"""
PROMPT = """
from ctrag.agents.prompt import PromptBuilder

builder = PromptBuilder.open(sys.argv[1], "ctrag/toolbox.yaml")
prompt = builder.build("put it off until tomorrow", budget=1500)
print(prompt.tokens <= 1500, [one.id for one in prompt.tools][:1])
"""
COMMAND = """
from ctrag.cli.main import main

sys.argv = ["ctrag", *sys.argv[1:]]
main()
"""
TOOLBOX = "ctrag/toolbox.yaml"
ROOT = Path(__file__).parents[1]


def run(code: str, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The code without the heavy libraries, with a weights folder of its own."""
    script = tmp_path / "script.py"
    script.write_text(WITHOUT + code + AFTER, encoding="utf-8")
    environment = {
        "PATH": "",
        "PYTHONPATH": str(ROOT),
        "CTRAG_HOME": str(tmp_path / "home"),
        "CTRAG_CACHE": str(tmp_path / "cache"),
        "CTRAG_WEIGHTS": str(tmp_path / "weights"),
    }
    return subprocess.run(
        [sys.executable, script, *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_tool_search_needs_no_heavy_library(tmp_path: Path) -> None:
    done = run(SEARCH, tmp_path)
    assert (done.stdout, done.returncode) == ("snooze_reminder\n", 0), done.stderr


def test_a_prompt_needs_no_heavy_library(tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "reminders.md").write_text("# Reminders\n\nSay the new time again.\n")
    done = run(PROMPT, tmp_path, str(policies))
    assert (done.stdout, done.returncode) == ("True ['reminders/snooze_reminder']\n", 0), (
        done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "part", "extra"),
    [
        (["ask", "call mum", "--persona", "p007"], "the assistant", "assistant"),
        (["demo"], "the demo", "assistant"),
        (
            ["import", "synth/data/reference/dev", "--persona", "p007"],
            "converting all-MiniLM-L6-v2",
            "assistant",
        ),
        (
            ["tools", "call", "wake me at 7", "--catalogue", TOOLBOX],
            "the language model",
            "assistant",
        ),
        (["eval", "discovery", "--data", "bfcl-live"], "an experiment", "eval"),
        (
            ["train", "planner", "--data", "synth/data/reference/train", "--out", "x"],
            "training",
            "train",
        ),
    ],
)
def test_a_command_without_its_extra_says_which_in_one_line(
    arguments: list[str], part: str, extra: str, tmp_path: Path
) -> None:
    done = run(COMMAND, tmp_path, *arguments)
    assert done.stderr.startswith(f"ctrag: {part} needs "), done.stderr
    assert done.stderr.endswith(f"; install it with: pip install 'ctrag[{extra}]'\n")
    assert (done.stdout, done.stderr.count("\n"), done.returncode) == ("", 1, 1)


def test_help_needs_no_heavy_library(tmp_path: Path) -> None:
    done = run(COMMAND, tmp_path, "--help")
    assert done.returncode == 0, done.stderr
    assert "ask" in done.stdout
