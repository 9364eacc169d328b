"""`ctrag tools call`: plan one call of any catalogue's tools."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.errors import InputError


def call(
    text: Annotated[str, typer.Argument(help="The request.")],
    catalogue: Annotated[Path, typer.Option(help="A tools.json or toolbox.yaml.")],
    json: Json = False,
) -> None:
    """Plan one call of a catalogue's tools; it is printed, not run.

    Example: ctrag tools call "wake me at 7" --catalogue tools.json
    """
    from json import dumps

    from ctrag.agents.calls.plan_call import plan_call
    from ctrag.agents.catalogue.tool import load_catalogue

    planned = plan_call(text, load_catalogue(catalogue))
    if not planned.complete:
        raise InputError(f"text: the call of {planned.name} is longer than an answer may be")
    said = {"name": planned.name, "arguments": planned.arguments}
    if not json:
        line(dumps(said, ensure_ascii=False))
        if planned.missing:
            line(f"missing: {', '.join(planned.missing)}; the request does not say", dim=True)
        return
    print_json(
        {
            **said,
            "missing": list(planned.missing),
            "choices": [
                {"id": one.tool.id, "score": round(one.score, 4)} for one in planned.choices
            ],
            "engine": planned.engine,
            "seconds": round(planned.seconds, 3),
        }
    )
