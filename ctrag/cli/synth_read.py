"""`ctrag synth inspect`, `blind` and `reading`: how made people read."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.cli.writable import file_to_write, folder_to_write


def inspect(
    folder: Annotated[Path, typer.Argument(help="A data set folder, or one with train and test.")],
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            callback=file_to_write,
            help="Also write it as a page.",
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option("--beside", help="Another data set: how many requests both have."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides which requests are shown.")] = 1,
    json: Json = False,
) -> None:
    """Faults, repeats, tables, distributions and ten random requests of a data set.

    Example: ctrag synth inspect data/synthetic --beside data/other --html page.html
    """
    from synth.inspect import inspect as look

    seen = look(folder, seed, beside)
    if html is not None:
        from stores.files import write_text

        write_text(html, seen.html())
    if json:
        print_json(seen.as_json())
        return
    for text in seen.lines():
        line(text)


def blind(
    made: Annotated[Path, typer.Argument(help="The made people: a data set folder.")],
    out: Annotated[
        Path,
        typer.Option("--out", callback=folder_to_write, help="Gets sheet, key and answer form."),
    ],
    reference: Annotated[
        Path | None,
        typer.Option("--reference", help="People to compare with; the packaged ones if absent."),
    ] = None,
    people: Annotated[int, typer.Option(min=1, help="How many of either kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Chooses people and order.")] = 1,
) -> None:
    """A sheet of made and reference people under neutral ids, for a blind reading.

    Example: ctrag synth blind data/synthetic --out runs/blind
    """
    from synth.blind import mixed
    from synth.reference import split_folder

    sheet = mixed(made, reference or split_folder("train"), out, people, seed)
    line(f"{sheet}: answer in answers.csv, then: ctrag synth reading {out}")


def reading(
    folder: Annotated[Path, typer.Argument(help="The folder that `ctrag synth blind` wrote.")],
    answers: Annotated[
        Path | None, typer.Option("--answers", help="A reader's answers; else answers.csv there.")
    ] = None,
    json: Json = False,
) -> None:
    """How many people a reader told apart, with a 95 % interval.

    Example: ctrag synth reading runs/blind --answers reader-2.csv
    """
    from synth.blind import ANSWERS, KEY, scored

    found = scored(folder / KEY, answers or folder / ANSWERS)
    if json:
        print_json(found.as_json())
        return
    for text in found.lines():
        line(text)
