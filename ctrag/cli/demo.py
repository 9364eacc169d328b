"""`ctrag demo`: six requests of one packaged person, answered and run."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.output import line

PERSON = "p204"
REQUESTS = ("p204-q1", "p204-q8", "p204-q7", "p204-q4", "p204-q2", "p204-q3")
"""One of each main kind, in the order in which they were made."""


def demo(
    explain: Annotated[
        bool, typer.Option("--explain", help="Show why, and each step's input and output.")
    ] = False,
) -> None:
    """Answer six under-specified requests of one packaged person, and run the plans.

    Example: ctrag demo
    """
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.cli.ask import show
    from ctrag.extras import need
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.dataset import load_dataset
    from stores.people.stores import Stores
    from synth.reference import split_folder

    need("the demo", "torch", "transformers", "lightgbm", "llguidance", extra="assistant")
    encoder = load_encoder(settings().encoder)
    dataset = load_dataset(split_folder("dev"))
    asked = {one.query_id: one for one in dataset.requests}
    with tempfile.TemporaryDirectory(prefix="ctrag-demo-") as folder:
        stores = Stores(Path(folder) / "stores")
        report = stores.import_personas(
            dataset.personas, lambda owned: encode_items(encoder, list(owned)), encoder.name
        )
        line(f"{report.people} people, {report.added} items in seven stores")
        assistant = Assistant.open(stores.root, PERSON)
        profile = assistant.person.profile
        line(f"{profile.name}, {profile.age}, {profile.profession}, {profile.city}")
        for number, query_id in enumerate(REQUESTS, start=1):
            request = asked[query_id].request
            line()
            line(f"{number}. “{request.text}”", bold=True)
            line(f"   {request.asked_at:%A %Y-%m-%d %H:%M}, {request.place}")
            answer = assistant.ask(
                request.text,
                request.asked_at,
                request.place,
                playing=request.playing,
                run=True,
                confirm=_agree,
                explain=explain,
            )
            show(answer, explain=explain)
    line()
    line("What to try next:", bold=True)
    line('  ctrag ask "what did the school lady want earlier" --persona p007 --explain')
    line(f"  ctrag chat --persona {PERSON}")
    line('  ctrag import calendar.ics --persona me --name "Your Name"')


def _agree(question: str) -> bool:
    line(f"asks: {question} (the demo agrees)")
    return True
