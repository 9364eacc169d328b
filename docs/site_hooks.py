"""What the site has beside this folder: two documents of the repository, and the API's reference.

Used by `mkdocs.yml`; `python docs/api.py build/api` writes the reference first.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
API = ROOT / "build" / "api"
BESIDE = {"contributing.md": "CONTRIBUTING.md", "examples.md": "examples/README.md"}
"""Page → the document of the repository that it shows."""
REFERENCE = """# Python API

From the docstrings, by package:

- [ctrag](api/ctrag.html): what is imported by name, and all below it
- [stores](api/stores.html): people's stores, and stores of tools
"""
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie elsewhere."""
    if not (API / "ctrag.html").exists():
        raise PluginError("the reference is missing; `make site` writes it first")
    for name, source in BESIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "reference.md", content=REFERENCE))
    for path in sorted(API.rglob("*")):
        if path.is_file():
            name = (Path("api") / path.relative_to(API)).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files of the repository lead to their page, or become their name."""
    pages = {source: name for name, source in BESIDE.items()}
    folder = Path(BESIDE.get(page.file.src_uri, f"docs/{page.file.src_uri}")).parent

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if files.get_file_from_path(target) is not None and folder == Path("docs"):
            return found[0]
        path = Path(*_normal((folder / target).parts))
        name = pages.get(path.as_posix())
        if name is None and path.parts[0] == "docs":
            name = Path(*path.parts[1:]).as_posix()
        if name is not None and files.get_file_from_path(name) is not None:
            return f"[{text}]({name}{anchor})"
        return f"{text} (`{path.as_posix()}`)" if text != path.name else f"`{path.as_posix()}`"

    return _LINK.sub(link, markdown)


def _normal(parts: tuple[str, ...]) -> list[str]:
    """A path's parts without `..`."""
    kept: list[str] = []
    for part in parts:
        if part == ".." and kept:
            kept.pop()
        elif part not in (".", ".."):
            kept.append(part)
    return kept
