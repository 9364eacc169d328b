"""The files to run a server by: they parse, and what they start is what the command has."""

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from ctrag.cli.main import app

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "examples" / "deploy"


def options() -> set[str]:
    """The options of `ctrag serve mcp`."""
    command: Any = typer.main.get_command(app)
    return {name for one in command.commands["serve"].commands["mcp"].params for name in one.opts}


def instructions() -> dict[str, str]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: rest for name, _, rest in (line.partition(" ") for line in lines)}


def test_the_image_starts_the_command_with_options_that_it_has() -> None:
    found = instructions()
    assert yaml.safe_load(found["ENTRYPOINT"]) == ["ctrag", "serve", "mcp"]
    given = [one for one in yaml.safe_load(found["CMD"]) if one.startswith("--")]
    assert given
    assert set(given) <= options()
    assert "/healthz" in found["HEALTHCHECK"]
    assert found["USER"] == "ctrag"


def test_the_compose_file_starts_the_image_with_options_that_it_has() -> None:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"][
        "ctrag"
    ]
    given = dict(one.split("=", 1) for one in service["command"])
    assert set(given) <= options()
    assert "--access" in given, "an address that others reach wants tokens"
    assert (DEPLOY / service["build"]).resolve() == ROOT
    volumes = [one.split(":")[1] for one in service["volumes"]]
    assert all(Path(given[one]).parent.as_posix() in volumes for one in given if one != "--http")
    port = given["--http"].rpartition(":")[2]
    assert service["ports"][0].endswith(f":{port}")
    compile(service["healthcheck"]["test"][-1], "healthcheck", "exec")
    assert f":{port}/healthz" in service["healthcheck"]["test"][-1]


def test_the_unit_starts_and_reloads_the_command_with_options_that_it_has() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "ctrag-mcp.service", encoding="utf-8")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert words[1:3] == ["serve", "mcp"]
    assert {one for one in words if one.startswith("--")} <= options()
    assert "--access" in words
    assert re.fullmatch(r"\S*kill -HUP \$MAINPID", unit["Service"]["ExecReload"])
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    text = (DEPLOY / "ctrag-mcp.service").read_text(encoding="utf-8")
    here = tmp_path / "ctrag-mcp.service"
    here.write_text(text.replace("/opt/ctrag/bin/ctrag", "/bin/true"), encoding="utf-8")
    ran = subprocess.run(
        ["systemd-analyze", "verify", str(here)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
