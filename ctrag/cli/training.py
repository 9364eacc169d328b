"""What the commands of `ctrag train` share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctrag.cli.output import line, print_json, progress
from ctrag.cli.writable import folder_to_write
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.models.cards import Card
    from training.core.retrieved_examples import RetrievedExamples

Data = Annotated[Path, typer.Option(help="A labelled data set folder.")]
Out = Annotated[
    Path,
    typer.Option(
        callback=folder_to_write,
        help="Folder for the artefact.",
    ),
]
More = Annotated[
    list[Path],
    typer.Option(help="Further labelled data sets: of other people, or more of the same ones'."),
]
Tuned = Annotated[
    Path | None,
    typer.Option(
        "--encoder",
        help="Folder of `ctrag train encoder` on the same data. Tools, values and planner do "
        "without where the artefacts in use never saw these people.",
    ),
]
Served = Annotated[
    bool,
    typer.Option(
        "--served",
        help="Retrieve as the artefacts in use do, though they may have learned from other "
        "requests of these people. For plain requests.",
    ),
]
Strangers = Annotated[
    Path | None,
    typer.Option(help="Also learn from strangers' requests: JSON lines with intents and entities."),
]
Share = Annotated[
    list[str],
    typer.Option(help="NAME=SHARE: learn from that share of a data set's requests, by hash."),
]
Average = Annotated[
    bool, typer.Option("--average/--last", help="With --start: keep the mean of before and after.")
]
Resume = Annotated[
    bool, typer.Option("--resume/--no-resume", help="Go on from what OUT holds already.")
]
Seed = Annotated[int, typer.Option(help="Decides folds and samples.")]
Device = Annotated[
    str,
    typer.Option(help="auto (a GPU where torch sees one), cpu, cuda, cuda:1, mps, or all GPUs."),
]
Bits = Annotated[
    int | None,
    typer.Option(help="Keep the base in 4 or 8 bits (a GPU and bitsandbytes needed)."),
]
Threads = Annotated[int, typer.Option(min=1, help="Threads to compute with.")]


def retrieved(
    data: Path,
    more: list[Path],
    tuned: Path | None,
    seed: int,
    threads: int,
    served: bool = False,
) -> "RetrievedExamples":
    """Retrieval results for the requests of all data sets, computed once.

    Without `tuned` the artefacts in use retrieve for all of them; with `served` too when they
    learned from these people.

    Raises:
        ValueError: There is no `tuned` and no packaged adapter, or what retrieves
            learned from the people or does not say from whom; or a data set breaks a rule.
    """
    from ctrag.assistant.artefacts import load_context_artefacts
    from ctrag.settings import cache_folder, settings
    from training.core.retrieved import Retrieval
    from training.ranker.settings import RankerSettings
    from training.ranker.tuned_encoder import TunedEncoder

    ranker, adapter = load_context_artefacts(settings().artefacts)
    options = RankerSettings(seed=seed, threads=threads)
    if tuned is not None:
        trained = TunedEncoder.load(tuned)
    elif adapter is not None:
        trained = TunedEncoder(adapter, {}, {})
    else:
        raise InputError("--encoder: give the folder that `ctrag train encoder` wrote")
    retrieval = Retrieval(data, more, trained, ranker, options, served)
    return retrieval.once(cache_folder() / "retrieved", progress)


def held_out(data: Path, seed: int) -> frozenset[str]:
    """Fingerprints of the one person in five of `data` whom nothing is learned from."""
    from training.core.origin import held_out_of
    from training.ranker.settings import RankerSettings

    return held_out_of(data, RankerSettings().folds, seed)


def held_out_of_each(folders: list[Path], seed: int) -> frozenset[str]:
    """The same of several data sets."""
    return frozenset().union(*(held_out(one, seed) for one in folders))


def trained_further(before: "Card", people: list[str]) -> dict[str, Any]:
    """The fields of a card that tell what an artefact was trained further from.

    Args:
        before: Card of the artefact before.
        people: Fingerprints of those who are learned from now.
    """
    from training.core.origin import people_in

    every = people_in(before, "--start").union(people)
    return {"people": sorted(every), "before": before.command}


def check_held_out(option: str, card: "Card", held_out: frozenset[str]) -> None:
    """Whether an artefact that is built on left alone the people whom this run holds out.

    Args:
        option: Names the artefact.
        card: Its card.
        held_out: Their fingerprints.

    Raises:
        ValueError: It learned from one of them, or does not say from whom.
    """
    from training.core.origin import people_in

    seen = len(held_out & people_in(card, option))
    if seen:
        raise InputError(
            f"{option}: it learned from {seen} of {len(held_out)} people who are held out here "
            f"(its data: {card.data}, seed {card.seed}); hold out the same people by its --data "
            "and --seed, or give other people"
        )


def sources_of(strangers: Path | None) -> list[str]:
    """What a card says of strangers' requests: the line of `SOURCE.md` beside them that names the
    file."""
    if strangers is None:
        return []
    file = strangers.parent / "SOURCE.md"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    named = next((one for one in text.splitlines() if strangers.name in one), "")
    return [named.strip("- ") or f"{strangers.name}: without a SOURCE.md"]


def finish(out: Path, card: "Card", json: bool) -> None:
    """Print a finished artefact's card as JSON, or its figures."""
    if json:
        print_json(card.model_dump())
    else:
        show(out, card.data, card.figures)


def show(out: Path, data: str, figures: dict[str, dict[str, float]]) -> None:
    """Print the artefact and its figures."""
    line(f"{out}: trained on {data}, figures of people not learned from:")
    for method, values in figures.items():
        line(f"  {method:<16} " + "  ".join(f"{name} {value}" for name, value in values.items()))
