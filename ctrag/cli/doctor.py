"""`ctrag doctor`: damage in the stores, what it costs, and the way back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json, own_stores
from ctrag.cli.output import line, print_json

if TYPE_CHECKING:
    from stores.people.doctor import Damage


def doctor(
    stores: Annotated[
        Path | None, typer.Option("--stores", help="Stores folder. Default: your own stores.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Return to the last good files, remove leftovers.")
    ] = False,
    drop: Annotated[
        str | None,
        typer.Option("--drop", help="Delete this damaged store for good and begin an empty one."),
    ] = None,
    json: Json = False,
) -> None:
    """Find damaged and missing files of the stores, and say what is lost; changes nothing without
    --repair or --drop.

    Exit code 0: all is well, or was mended. 3: something is wrong and was not mended.

    Example: ctrag doctor --repair
    """
    from stores.people import doctor as work
    from stores.people.stores import Stores

    files = Stores(stores or own_stores()).files
    before = work.examine(files)
    left = before
    if drop is not None:
        work.drop(files, drop)
        left = work.examine(files)
    if repair:
        left = work.repair(files)
    if json:
        print_json(
            {
                "stores": str(files.root),
                "found": [_row(one) for one in before],
                "left": [_row(one) for one in left],
            }
        )
    elif not before:
        line(f"{files.root}: all is well")
    else:
        for one in before:
            state = "" if one in left else "mended: "
            line(f"{state}{one.name}: {one.path}: {one.problem}")
            if one.lost:
                line(f"  lost: {one.lost}")
            if one in left:
                line(f"  {_way(one)}")
    if left:
        raise typer.Exit(3)


def _way(one: "Damage") -> str:
    if one.mends:
        return f"--repair can {one.mends}"
    return f"nothing good is left to return to; --drop {one.name} begins an empty store"


def _row(one: "Damage") -> dict[str, str]:
    return {
        "name": one.name,
        "path": str(one.path),
        "problem": one.problem,
        "lost": one.lost,
        "mends": one.mends,
    }
