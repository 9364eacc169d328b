"""`python docs/settings.py` says whether docs/settings.md lists the settings as they are; with
`--write` it writes the page anew."""

import ast
import inspect
import sys
from itertools import pairwise
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from ctrag.settings import Settings

PAGE = Path(__file__).with_name("settings.md")
_HEAD = """# Settings

Every setting is an environment variable; what is not set has its default. A bad value is an error
that names the variable. `python docs/settings.py --write` makes this page from `ctrag/settings.py`.
`CTRAG_DEBUG=1`, which is no setting, shows the traceback of an error.

| variable | default | means |
| --- | --- | --- |
"""


def page() -> str:
    """The page, in the order of the code."""
    meanings = _meanings()
    fields = Settings.model_fields.items()
    return _HEAD + "".join(_row(name, one, meanings.get(name, "")) for name, one in fields)


def _meanings() -> dict[str, str]:
    """What stands below each field; pydantic would read the source at every start for it."""
    [settings] = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(settings, ast.ClassDef)
    return {
        field.target.id: str(below.value.value)
        for field, below in pairwise(settings.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _row(name: str, field: FieldInfo, meaning: str) -> str:
    meaning = " ".join(meaning.split()).replace("|", "\\|")
    return f"| `CTRAG_{name.upper()}` | {_default(field)} | {meaning} |\n"


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "of the system"
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value in (None, ""):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif page() != PAGE.read_text(encoding="utf-8"):
        sys.exit(f"{PAGE}: not as ctrag/settings.py is; run `python docs/settings.py --write`")
