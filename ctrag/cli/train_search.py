"""`ctrag train tool-encoder`, `tool-ranker`, `surfacing`: the search in any agent's tools."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.training import Out, finish
from ctrag.cli.writable import file_to_write

Folders = Annotated[
    list[Path],
    typer.Option("--data", help="Folder with tools.json and queries.jsonl; repeatable."),
]


def tool_encoder(
    data: Folders,
    out: Out,
    held_out: Annotated[
        list[Path], typer.Option(help="Such folders that give the figures; repeatable.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    epochs: Annotated[int, typer.Option(min=1, help="How often everything is seen.")] = 1,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Of what was learned, how much is kept.")
    ] = 1.0,
    json: Json = False,
) -> None:
    """Tune the encoder of tool search on requests that name the tools they need.

    Example: ctrag train tool-encoder --data data/tools/train --held-out data/tools/test
    --out runs/tool-encoder
    """
    from training.core.checkpoints import CHECKPOINTS
    from training.tool_search.encoder import ToolEncoderSettings, train_tool_encoder

    settings = ToolEncoderSettings(epochs=epochs, share=share)
    trained = train_tool_encoder(data, held_out, settings, out / CHECKPOINTS, progress)
    trained.save(out)
    finish(out, trained.card, json)


def tool_ranker(
    data: Folders,
    people: Annotated[
        list[Path],
        typer.Option(help="Data set whose people ask in words of their own; repeatable."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            callback=file_to_write,
            help="The file of weights.",
        ),
    ],
    json: Json = False,
) -> None:
    """Fit the weights of tool search; half of each folder's requests, by hash, is left for tests.

    Example: ctrag train tool-ranker --data data/tools/test --people synth/data/scenes
    --out runs/discovery.json
    """
    from training.tool_search.ranker import train

    card = train(data, people, out).card
    if json:
        print_json(card)
        return
    line(f"{out}: fitted to {card['requests']} requests")


def surfacing(
    data: Folders,
    out: Annotated[
        Path,
        typer.Option(
            callback=file_to_write,
            help="The file of weights.",
        ),
    ],
    json: Json = False,
) -> None:
    """Fit what an agent is given of a search; half of each folder's requests is left for tests.

    Example: ctrag train surfacing --data data/tools/train --data data/tools/test
    --out runs/surfacing.json
    """
    from training.tool_search.surfacing import train

    card = train(data, out, progress).card
    if json:
        print_json(card)
        return
    line(f"{out}: fitted to {card['requests']} searches")
