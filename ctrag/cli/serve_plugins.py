"""`ctrag serve plugins`, and the options by which a gateway installs plugins too."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.agents.server.marketplace import Marketplace

MarketplaceFile = Annotated[
    Path | None, typer.Option("--marketplace", help="Plugins that can be installed: JSON or YAML.")
]
InstalledFile = Annotated[
    Path | None,
    typer.Option("--installed", help="File with what is installed. Default: among your own data."),
]


def plugins(
    marketplace: Annotated[Path, typer.Option("--marketplace", help="Plugins: JSON or YAML.")],
    text: Annotated[
        str | None, typer.Argument(help="What a plugin should do; all if none.")
    ] = None,
    install: Annotated[str | None, typer.Option(help="Name of a plugin to install.")] = None,
    scope: Annotated[
        str,
        typer.Option("--for", help="organisation:NAME, role:NAME or user:NAME; everybody if none."),
    ] = "",
    uninstall: Annotated[str | None, typer.Option(help="Name of a plugin to take out.")] = None,
    installed: InstalledFile = None,
    json: Json = False,
) -> None:
    """Search, install and take out plugins; a server that runs sees it when started again.

    Example: ctrag serve plugins "read a PDF" --marketplace plugins.yaml
    """
    store = open_marketplace(marketplace, installed)
    if install is not None:
        store.install(install, scope)
    if uninstall is not None and not store.uninstall(uninstall):
        raise InputError(f"plugin: {uninstall!r} is not installed")
    for_whom = {one.plugin.name: list(one.scopes) for one in store.installed()}
    found = list(store.plugins.values()) if text is None else store.search(text)
    rows = [{**one.shown(), "installed": for_whom.get(one.name)} for one in found]
    if json:
        print_json(rows)
        return
    for row in rows:
        mark = "+" if row["installed"] is not None else " "
        line(f"{mark} {row['plugin']}  {row['description']}  ({', '.join(row['tools'])})")


def open_marketplace(path: Path, installed: Path | None) -> "Marketplace":
    """A file's plugins, with what is installed of them; among the user's own data if None."""
    from ctrag.agents.server.marketplace import Marketplace
    from ctrag.settings import settings

    state = installed or settings().home.expanduser() / "plugins.json"
    return Marketplace.from_file(path, state)
