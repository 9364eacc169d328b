"""`ctrag serve web`: what it refuses, and that it prints the one address that is answered."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]


def test_it_is_not_served_to_others_by_mistake(ctrag: Callable[..., Any]) -> None:
    ran = ctrag("serve", "web", "--host", "0.0.0.0")
    assert ran.code == 1
    assert "can be reached from outside" in ran.err
    assert "--allow-host" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--persona", "nobody"], "there is nobody with the id 'nobody'"),
        (["--planner", "magic"], "must be embedded or openai"),
    ],
)
def test_wrong_arguments_are_said(
    ctrag: Callable[..., Any], arguments: list[str], said: str
) -> None:
    ran = ctrag("serve", "web", *arguments)
    assert ran.code == 1
    assert said in ran.err


@pytest.mark.slow
def test_the_printed_address_opens_the_page(tmp_path: Path) -> None:
    code = "import sys; sys.argv = ['ctrag', 'serve', 'web', '--port', '0']\n"
    code += "from ctrag.cli import serve_web\nserve_web._warm = lambda load: None\n"
    code += "from ctrag.cli.main import main\nmain()"
    environment = {"PATH": "", "PYTHONPATH": str(ROOT), "CTRAG_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            with httpx.Client(follow_redirects=True) as http:
                assert http.get(address.partition("?")[0]).status_code == 401
                page = http.get(address)
            assert page.status_code == 200
            assert "Whose assistant?" in page.text
            assert "Bram Whynacht" in page.text
            assert "token" not in str(page.url)
        finally:
            server.terminate()
            server.wait(30)
    assert server.returncode in (0, 130, -15)
