"""`ctrag train tool-encoder`, `tool-ranker`, `surfacing`, `gains`: any agent's tools, found."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.recordings import say_counts, say_recordings
from ctrag.cli.training import Out, finish
from ctrag.cli.writable import file_to_write

if TYPE_CHECKING:
    from ctrag.models.tool_encoder import ToolEncoderWeights

Folders = Annotated[
    list[Path],
    typer.Option(
        "--data",
        help="Folder with tools.json and queries.jsonl, or a recording of `ctrag serve mcp`, or a "
        "folder of them; repeatable.",
    ),
]
WeightsFile = Annotated[
    Path, typer.Option("--out", callback=file_to_write, help="The file of weights.")
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
    start: Annotated[
        str | None,
        typer.Option(
            help="Folder of changes to learn further, or `packaged`. Default: packaged where all "
            "data are recordings, else none."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Tune the encoder of tool search on requests that name the tools they need.

    CTRAG_TOOL_ENCODER=OUT uses it. Without --held-out a fifth of each recording's sessions gives
    the figures and is not learned from.

    Example: ctrag train tool-encoder --data data/tools/train --held-out data/tools/test
    --out runs/tool-encoder
    """
    from training.core.checkpoints import CHECKPOINTS
    from training.tool_search.encoder import ToolEncoderSettings, train_tool_encoder

    say_recordings(data)
    start, before = tool_encoder_before(data, start)
    settings = ToolEncoderSettings(epochs=epochs, share=share, start=start)
    trained = train_tool_encoder(data, held_out, settings, out / CHECKPOINTS, progress, before)
    trained.save(out)
    finish(out, trained.card, json)


def tool_encoder_before(
    data: list[Path], start: str | None
) -> "tuple[str | None, ToolEncoderWeights | None]":
    """What `--start` names, and its changes: where all data are recordings, the packaged ones."""
    from ctrag.agents.session.recording import is_recording
    from ctrag.models.tool_encoder import ToolEncoderWeights

    if start is None and all(map(is_recording, data)):
        start = "packaged"
    if start is None:
        return None, None
    packaged = start == "packaged"
    return start, ToolEncoderWeights.packaged() if packaged else ToolEncoderWeights.load(
        Path(start)
    )


def tool_ranker(
    data: Folders,
    people: Annotated[
        list[Path],
        typer.Option(help="Data set whose people ask in words of their own; repeatable."),
    ],
    out: WeightsFile,
    json: Json = False,
) -> None:
    """Fit the weights of tool search; half of each folder's requests, by hash, is left for tests.

    Example: ctrag train tool-ranker --data data/tools/test --people synth/data/scenes
    --out runs/discovery.json
    """
    from training.tool_search.ranker import train

    out.parent.mkdir(parents=True, exist_ok=True)
    card = train(data, people, out).card
    if json:
        print_json(card)
        return
    line(f"{out}: fitted to {card['requests']} requests")


def surfacing(
    data: Folders,
    out: WeightsFile,
    json: Json = False,
) -> None:
    """Fit what an agent is given of a search; half of each folder's requests is left for tests.

    CTRAG_SURFACING=OUT uses it. Of a recording, half of the sessions is left.

    Example: ctrag train surfacing --data data/tools/train --data data/tools/test
    --out runs/surfacing.json
    """
    from training.tool_search.surfacing import train

    say_recordings(data)
    out.parent.mkdir(parents=True, exist_ok=True)
    card = train(data, out, progress).card
    if json:
        print_json(card)
        return
    line(f"{out}: fitted to {card['requests']} searches")


def gains(
    data: Annotated[
        list[Path],
        typer.Option(help="A recording of `ctrag serve mcp`, or a folder of them; repeatable."),
    ],
    out: Annotated[
        Path,
        typer.Option(callback=file_to_write, help="The file of counts."),
    ],
    json: Json = False,
) -> None:
    """Count how often tools were given by a search and then used, for the gains of prompts.

    `ctrag prompt --gains OUT` uses it, or CTRAG_GAINS=OUT.

    Example: ctrag train gains --data gateway.jsonl --out runs/gains.json
    """
    from ctrag.agents.prompt.gains import Gains
    from ctrag.agents.session.lessons import lessons_of
    from ctrag.agents.session.recording import read_recordings

    recording = read_recordings(data)
    found = lessons_of(recording)
    counts = Gains()
    for one in found.searches:
        counts.learn(one.found, one.used)
    say_counts(data[0], found.learned, found.left_out, recording.first)
    out.parent.mkdir(parents=True, exist_ok=True)
    counts.save(out)
    if json:
        print_json({"steps": counts.learned, **found.learned, "left_out": found.left_out})
        return
    line(f"{out}: counted {counts.learned} searches")
