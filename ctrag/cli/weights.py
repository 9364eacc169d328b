"""`ctrag models`: which weights are here, and fetching others."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.cli.writable import folder_to_write

app = typer.Typer(help="Model weights.\n\nExample: ctrag models list", no_args_is_help=True)


@app.command("list")
def list_(json: Json = False) -> None:
    """Show which model weights are on this machine, and where from.

    Example: ctrag models list
    """
    from ctrag.models.packages import PACKAGED, package_folder
    from ctrag.models.weights import SLICED, is_installed

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
    for name, pieces in SLICED.items():
        rows.append(
            {
                "model": name,
                "present": is_installed(name),
                "from": f"packages {pieces[0]} and {len(pieces) - 1} more",
                "install": f"pip install {' '.join(pieces)}",
            }
        )
    if json:
        print_json(rows)
        return
    for row in rows:
        state = "present" if row["present"] else f"missing: run `{row['install']}`"
        line(f"{row['model']:<28} {row['from']:<52} {state}")


@app.command("prepare")
def prepare() -> None:
    """Convert the packaged models with their adapters, which the first request does otherwise.

    Those that are there are read for damage, and made anew. Without the extra `assistant`: what
    tool search and prompts use.

    Example: ctrag models prepare
    """
    from ctrag.agents.prompt.encoders import MiniLMPassageEncoder
    from ctrag.assistant.artefacts import load_artefacts
    from ctrag.assistant.context.retrieve import ContextRetriever
    from ctrag.assistant.planning.planner import embedded_planner, slot_filler
    from ctrag.errors import MissingExtra
    from ctrag.extras import need
    from ctrag.models.byte_products import fast_bytes
    from ctrag.models.encoder import load_encoder
    from ctrag.models.made_folder import drop_damaged
    from ctrag.models.weights import weights_folder
    from ctrag.settings import cache_folder, settings

    if not weights_folder().exists():
        line("Converting the packaged models, once: a minute or more, and 4 GB on the disk.")
    for folder in (weights_folder(), cache_folder() / "models"):
        for damaged in drop_damaged(folder):
            line(f"{damaged} is damaged and made anew")
    passages = MiniLMPassageEncoder()
    tools = load_encoder(settings().tool_encoder)
    line(f"{weights_folder()}: {passages.name} and {tools.name} are ready")
    try:
        need("the assistant", "torch", "transformers", "lightgbm", "llguidance", extra="assistant")
    except MissingExtra as missing:
        line(str(missing))
        return
    artefacts = load_artefacts(settings().artefacts)
    encoder = load_encoder(settings().encoder)
    retriever = ContextRetriever(encoder, artefacts.ranker, artefacts.adapter)
    retriever.request_encoder.read(["ready"])
    if artefacts.classifier.card.encoder == encoder.name:
        artefacts.classifier.prepare()
    kind = "8-bit weights" if fast_bytes() else "float32: products of bytes are slow here"
    line(f"{weights_folder()}: {encoder.name} is ready ({kind})")
    planner = embedded_planner(settings())
    line(f"{planner.folder.name}: ready on {planner.engine.name}")
    filler = slot_filler(settings())
    if filler is not None:
        line(f"{filler.folder.name}: ready on {filler.engine.name}")


@app.command("prune")
def prune() -> None:
    """Remove converted weights that this version does not use, as earlier ones left them.

    What another installed version or another setting uses is converted again when it is needed.

    Example: ctrag models prune
    """
    from ctrag.models.made_folder import drop_unused
    from ctrag.models.weights import weights_folder
    from ctrag.settings import cache_folder

    prepare()
    dropped = [
        one
        for folder in (weights_folder(), cache_folder() / "models")
        for one in drop_unused(folder)
    ]
    for path, size in dropped:
        line(f"removed {path} ({size / 1e6:,.0f} MB)")
    line(f"{len(dropped)} folders, {sum(size for _, size in dropped) / 1e6:,.0f} MB removed")


@app.command("fetch")
def fetch(name: Annotated[str, typer.Argument(help="A hub name such as owner/model.")]) -> None:
    """Download a model from the hub into the local cache.

    Example: ctrag models fetch sentence-transformers/gtr-t5-xl
    """
    from ctrag.models.packages import fetch as download

    line(str(download(name)))


@app.command("merge")
def merge(
    adapter: Annotated[Path, typer.Argument(help="An adapter of `ctrag train planner`.")],
    out: Annotated[Path, typer.Option(callback=folder_to_write, help="Folder for the model.")],
    base: Annotated[
        str | None, typer.Option(help="Base model. Default: the one that the card names.")
    ] = None,
) -> None:
    """Write a base model with an adapter merged in, as files that other servers read too.

    Example: ctrag models merge runs/planner --out runs/merged
    """
    from ctrag.models.lm_weights import write_merged
    from ctrag.models.lora import load_card

    named = base or load_card(adapter).base or None
    line(f"{write_merged(named, adapter, out)}: CTRAG_PLANNER_MODEL={out} runs it")
