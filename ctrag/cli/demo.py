"""`ctrag demo`: nine requests of one packaged person, plain and oblique, answered and run."""

import tempfile
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.output import line

PERSON = "p204"
OBLIQUE = ("p204-q1", "p204-q8", "p204-q7", "p204-q4", "p204-q2", "p204-q3")
"""One of each main kind of the requests that the packaged person made."""
PLAIN = {
    "play the Marking playlist": datetime(2024, 8, 13, 10, 39),
    "remind me to buy crib sheets tomorrow at six": datetime(2024, 8, 13, 13, 20),
    "tell Gord I can't make it tonight": datetime(2024, 8, 13, 16, 5),
}
"""Requests that say what they want, and when they are made."""


def demo(
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show items, scores, the plan, and each step and why."),
    ] = False,
) -> None:
    """Answer nine requests of one packaged person, plain and oblique ones, and run the plans.

    Example: ctrag demo
    """
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.cli.ask import show, tell
    from ctrag.extras import need
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.dataset import load_dataset
    from stores.people.items import Request
    from stores.people.stores import Stores
    from synth.reference import split_folder

    need("the demo", "torch", "transformers", "lightgbm", "llguidance", extra="assistant")
    encoder = load_encoder(settings().encoder)
    dataset = load_dataset(split_folder("dev"))
    own = {one.query_id: one.request for one in dataset.requests}
    requests = [own[query_id] for query_id in OBLIQUE]
    requests += [Request(text, at, "work") for text, at in PLAIN.items()]
    requests.sort(key=lambda request: request.asked_at)
    with tempfile.TemporaryDirectory(prefix="ctrag-demo-") as folder:
        stores = Stores(Path(folder) / "stores")
        report = stores.import_personas(
            [dataset.persona(PERSON)],
            lambda owned: encode_items(encoder, list(owned)),
            encoder.name,
        )
        if explain:
            line(f"{report.added} items in seven stores")
        assistant = Assistant.open(stores.root, PERSON)
        profile = assistant.person.profile
        line(f"{profile.name}, {profile.age}, {profile.profession}, {profile.city}")
        for request in requests:
            line()
            line(f"“{request.text}”", bold=True)
            line(f"{request.asked_at:%A %-d %B %Y, %H:%M}, {request.place}", dim=True)
            answer = assistant.ask(
                request.text,
                request.asked_at,
                request.place,
                playing=request.playing,
                run=True,
                confirm=_agree,
                explain=explain,
            )
            if explain:
                show(answer, explain=True)
            else:
                tell(assistant, answer)
    line()
    line("What to try next:", bold=True)
    line('  ctrag ask "what did the school lady want earlier" --persona p007 --explain')
    line(f"  ctrag chat --persona {PERSON}")
    line('  ctrag import calendar.ics --persona me --name "Your Name"')


def _agree(question: str) -> bool:
    line(f"{question} (the demo agrees)", dim=True)
    return True
