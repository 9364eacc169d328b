"""`ctrag eval learning`, `prior`, `fetch`: what recordings are worth, and data to measure on."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.experiment import Out, names, report_on
from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.writable import folder_to_write
from ctrag.errors import InputError


def learning(
    data: Annotated[
        Path,
        typer.Option("--data", help="Folder with tools.json and queries or episodes (.jsonl)."),
    ],
    sizes: Annotated[
        str, typer.Option("--sizes", help="After how many recorded sessions, separated by commas.")
    ] = "50,200,1000",
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="Tasks that are replayed.")] = 300,
    models: Annotated[
        str, typer.Option("--models", help="Of counted and fitted; fitting takes longer.")
    ] = "counted,fitted",
    most_next: Annotated[
        int, typer.Option("--next", min=0, help="Tools at most that are offered after a call.")
    ] = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Searches a task before and after recorded sessions have taught the next tool.

    Tasks are replayed in real sessions; those that teach are no twins of those that are asked.

    Example: ctrag eval learning --data ../shared/data/external/ultratool-chains
    """
    from ctrag.agents.next_tool.demonstrations import read_demonstrations
    from ctrag.agents.search.index import NextToolModel
    from eval.learning.run import run_learning, table
    from training.next_tool.train import fitting

    try:
        wanted = sorted(int(one) for one in names(sizes) or ())
    except ValueError:
        raise InputError(f"--sizes: must be whole numbers, not {sizes!r}") from None
    if not wanted or wanted[0] < 1:
        raise InputError(f"--sizes: must be numbers from 1, not {sizes!r}")

    def fit(path: Path) -> NextToolModel:
        read = read_demonstrations(path, data / "tools.json")
        # Only the combined ranker is asked: DTDR-L would encode every history.
        return fitting(path, read=read, progress=progress)(read.demonstrations, linear=False)

    report_on(
        lambda: run_learning(
            data,
            fit,
            sizes=wanted,
            tasks=tasks,
            models=names(models) or (),
            most_next=most_next,
            progress=progress,
        ),
        table,
        out,
        json,
    )


def fetch(
    name: Annotated[
        str | None,
        typer.Argument(help="Such as tau2-episodes; all are listed if none."),
    ] = None,
    checkout: Annotated[
        Path | None, typer.Option("--from", help="A checkout of its source.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", callback=folder_to_write, help="The folder. Default: its name, here."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make a folder that documents measure on out of a checkout of its source, or of a package.

    Nothing is downloaded: git clone the repository, and name it with --from. `bfcl-turns` is made
    of the installed bfcl-eval, whose simulated tools are called.

    Example: ctrag eval fetch tau2-episodes --from tau2-bench --out data/external/tau2-episodes
    """
    from eval.fetch.sources import SOURCES, make_folder, source_of

    if name is None:
        rows = {
            one.name: {
                "source": f"https://github.com/{one.repository}",
                "commit": one.commit,
                "licence": one.licence,
                "what": one.what,
            }
            for one in SOURCES.values()
        }
        if json:
            print_json(rows)
            return
        for known, row in rows.items():
            line(f"{known}: {row['what']}", bold=True)
            line(f"  {row['source']} at {SOURCES[known].version}, {row['licence']}")
        return
    source = source_of(name)
    if source.package:
        if checkout is not None:
            raise InputError(f"--from: {name} is made of {source.commit}, not of a checkout")
        checkout = source.package_folder()
    if checkout is None:
        raise InputError(
            f"--from: check https://github.com/{source.repository} out at {source.version} "
            f"({source.licence}), and name its folder"
        )
    folder = out or Path(name)
    found = make_folder(name, checkout, folder)
    if json:
        print_json(found)
        return
    files = ", ".join(f"{path} {rows}" for path, rows in found.items())
    line(f"{folder}: {files}; {source.licence}, of {source.repository}")


def prior(
    data: Annotated[
        Path, typer.Option("--data", help="An episodes folder with policies and tools.json.")
    ],
    out: Out = None,
    json: Json = False,
) -> None:
    """What request and traces count for in prompts: chosen on half of the episodes, told on half.

    Example: ctrag eval prior --data ../shared/data/external/tau2-episodes
    """
    from eval.learning.weights import run_weights, table

    report_on(lambda: run_weights(data, progress=progress), table, out, json)
