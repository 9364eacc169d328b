"""What is installed by the lock is what `pyproject.toml` asks for."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def test_every_requirement_is_locked_at_a_version_that_it_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [
        Requirement(one)
        for one in (*project["dependencies"], *(one for extra in extras.values() for one in extra))
    ]
    locked: dict[str, set[str]] = {}
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            one = Requirement(line)
            [version] = [spec.version for spec in one.specifier]
            locked.setdefault(canonical(one.name), set()).add(version)
    wrong = [
        str(one)
        for one in asked
        if one.name != "ctrag"
        and not any(one.specifier.contains(it) for it in locked.get(canonical(one.name), ()))
    ]
    assert wrong == [], "run `make update`"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
