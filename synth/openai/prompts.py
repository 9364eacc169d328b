"""The questions to the model: Jinja templates that a user can override one by one."""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctrag.errors import InputError, NotFound

if TYPE_CHECKING:
    from jinja2 import Environment

NAMES = (
    "system",
    "persona",
    "items",
    "requests",
    "tools",
    "plan",
    "thought",
    "toolbox",
    "repair",
)
_ENDING = ".jinja"


class Prompts:
    """The packaged templates; files of the same name in a user's folder take precedence."""

    def __init__(self, folder: Path | None = None) -> None:
        """Load templates from `folder`, then the packaged ones.

        Raises:
            FileNotFoundError: There is no such folder.
            ValueError: It holds a template with an unknown name, which would never be used.
        """
        if folder is not None:
            if not folder.is_dir():
                raise NotFound(f"{folder}: no folder of prompts")
            unknown = {one.stem for one in folder.glob(f"*{_ENDING}")} - set(NAMES)
            if unknown:
                raise InputError(
                    f"{folder}: {min(unknown)}{_ENDING} is no prompt; known: {', '.join(NAMES)}"
                )
        self._environment = _environment(folder)

    def text(self, name: str, /, **values: Any) -> str:
        """Render a template.

        Raises:
            ValueError: The template breaks Jinja's rules or uses an undefined value.
        """
        from jinja2 import TemplateError, TemplateSyntaxError

        try:
            return self._environment.get_template(name + _ENDING).render(values).strip()
        except TemplateSyntaxError as error:
            raise InputError(f"{name}{_ENDING}:{error.lineno}: {error.message}") from None
        except TemplateError as error:
            raise InputError(f"{name}{_ENDING}: {error.message}") from None


def packaged_prompts() -> Path:
    """The folder of the packaged templates."""
    return Path(str(files("synth").joinpath("prompts")))


def _environment(folder: Path | None) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folders = [one for one in (folder, packaged_prompts()) if one is not None]
    return Environment(
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
