"""Writes the reference of the Python API, from docstrings: `python docs/api.py [FOLDER]`."""

import pkgutil
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pdoc

PACKAGES = ("ctrag", "stores")
LAZY = ("ctrag", "ctrag.assistant", "ctrag.agents.search", "ctrag.agents.prompt", "stores")
"""Packages whose public names are imported when asked for, which pdoc does not do."""


def main(folder: Path) -> None:
    """Write the pages; whatever pdoc warns of is an error."""
    warnings.simplefilter("error", UserWarning)
    # Below packages without `__all__` it finds by itself what is listed here.
    warnings.filterwarnings("ignore", message="The module specification .* adds a module named")
    # Fields that a state inherits from LangChain's own.
    warnings.filterwarnings("ignore", message="Cannot determine where ctrag.agents.integrations")
    for name in LAZY:
        package = import_module(name)
        for public in package.__all__:
            setattr(package, public, getattr(package, public))
    pdoc.pdoc(*_modules(), output_directory=folder)


def _modules() -> list[str]:
    """The packages and all that is below them, short of the command line."""
    found = list(PACKAGES)
    for name in PACKAGES:
        package = import_module(name)
        found += [one.name for one in pkgutil.walk_packages(package.__path__, f"{name}.")]
    return [one for one in found if not one.startswith("ctrag.cli")]


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "build/api"))
