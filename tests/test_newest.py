"""What .ci/wheel-test runs on the newest versions says of each package which tests call it."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
NEWEST = tomllib.loads((ROOT / ".ci" / "newest.toml").read_text(encoding="utf-8"))


def test_every_requirement_that_can_change_has_tests_or_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: asked for name, asked in project["optional-dependencies"].items() if name != "dev"
    }
    asked = [Requirement(one) for one in sum(extras.values(), project["dependencies"])]
    changing = {
        one.name for one in asked if one.name != "ctrag" and not str(one.specifier).startswith("==")
    }
    assert {*NEWEST["tests"], *NEWEST["elsewhere"]} == changing
    assert not NEWEST["tests"].keys() & NEWEST["elsewhere"].keys()


def test_the_tests_exist() -> None:
    named = {name for names in NEWEST["tests"].values() for name in names}
    assert [name for name in sorted(named) if not (ROOT / "tests" / name).is_file()] == []
