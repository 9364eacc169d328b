"""`ctrag synth`: people, app data, toolboxes and requests from scratch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctrag.cli import synth_read
from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.writable import folder_to_write
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.toolbox import Toolbox
    from stores.people.app_spec import AppSpec
    from synth.dataset import Made
    from synth.openai.asking import Asker
    from synth.openai.cost_budget import CostBudget
    from synth.provider import Provider

app = typer.Typer(
    help="Make synthetic data.\n\nExample: ctrag synth dataset --personas 791 --out data/synthetic",
    no_args_is_help=True,
)

Out = Annotated[
    Path,
    typer.Option(
        callback=folder_to_write,
        help="Folder to write; made when missing.",
    ),
]
Personas = Annotated[int, typer.Option("--personas", "--people", min=1, help="How many people.")]
Levels = Annotated[
    str,
    typer.Option(
        "--levels",
        help="Shares of ask, tell, new, cannot, oblique, several, dialogue: ask=30,oblique=0.",
    ),
]
Who = Annotated[
    str, typer.Option("--provider", help="offline (no model), or openai: the endpoint as set.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, help="Money that this run may spend; a rerun goes on."),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same data.")]
OwnApps = Annotated[
    Path | None,
    typer.Option("--apps", help="YAML of further applications; see docs/own-app.md."),
]
OwnTools = Annotated[
    Path | None,
    typer.Option("--toolbox", help="YAML of APIs that are added to the packaged ones."),
]
PromptFolder = Annotated[
    Path | None,
    typer.Option("--prompts", help="Folder with prompts of your own (see synth/prompts)."),
]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder of a model's answers. Default: in the cache folder."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes. Default: one for each core.")
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", help="Address of a Dask scheduler to share the work.")
]


@app.callback()
def _group() -> None:
    pass


@app.command("dataset")
def dataset(
    out: Out,
    personas: Personas = 791,
    provider: Who = "offline",
    max_cost: MaxCost = None,
    seed: Seed = 1,
    apps: OwnApps = None,
    toolbox: OwnTools = None,
    prompts: PromptFolder = None,
    cache: Cache = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    levels: Levels = "",
    json: Json = False,
) -> None:
    """People with their items and labelled requests, split by person into train and test.

    A killed run is taken up by the same command.

    Example: ctrag synth dataset --people 791 --out data/synthetic
    """
    from synth.dataset import make_dataset
    from synth.shape import parsed_levels

    shares = parsed_levels(levels)
    world = _world(apps, toolbox)
    made_by = _provider(provider, world, prompts, cache, max_cost, shares)
    how = _how(made_by, world, workers, scheduler)
    _show(made_by, make_dataset(made_by, out, personas, seed, levels=shares, **how), out, json)


@app.command("personas")
def personas_(
    out: Out,
    personas: Personas = 100,
    provider: Who = "offline",
    max_cost: MaxCost = None,
    seed: Seed = 1,
    apps: OwnApps = None,
    prompts: PromptFolder = None,
    cache: Cache = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    json: Json = False,
) -> None:
    """People with their items, without requests.

    Example: ctrag synth personas --personas 20 --out data/mine
    """
    from synth.dataset import make_personas

    world = _world(apps, None)
    made_by = _provider(provider, world, prompts, cache, max_cost)
    how = _how(made_by, world, workers, scheduler)
    _show(made_by, make_personas(made_by, out, personas, seed, **how), out, json)


@app.command("queries")
def queries(
    out: Annotated[
        Path,
        typer.Option(
            callback=folder_to_write, help="Folder with personas.jsonl; gets queries.jsonl."
        ),
    ],
    provider: Who = "offline",
    max_cost: MaxCost = None,
    seed: Seed = 1,
    apps: OwnApps = None,
    toolbox: OwnTools = None,
    prompts: PromptFolder = None,
    cache: Cache = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    json: Json = False,
) -> None:
    """Labelled requests of people who are there already.

    Example: ctrag synth queries --out data/mine
    """
    from synth.dataset import make_queries

    world = _world(apps, toolbox, out)
    made_by = _provider(provider, world, prompts, cache, max_cost)
    how = _how(made_by, world, workers, scheduler)
    _show(made_by, make_queries(made_by, out, seed, **how), out, json)


@app.command("toolbox")
def toolbox_(
    out: Out,
    names: Annotated[
        list[str], typer.Option("--app", help="Name of an application; may be given again.")
    ],
    provider: Who = "offline",
    max_cost: MaxCost = None,
    seed: Seed = 1,
    apps: OwnApps = None,
    prompts: PromptFolder = None,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """The APIs of any applications, validated and without doubles: toolbox.yaml.

    Offline, the APIs follow from the application's fields (those in --apps, else a title, a text,
    a person and a time).

    Example: ctrag synth toolbox --app messages --apps messages.yaml --out data/messages
    """
    from synth.toolbox import offline_toolbox, write_toolbox

    known = {spec.name: spec for spec in _world(apps, None).apps}
    if provider == "openai":
        from synth.openai.toolbox import openai_toolbox

        asker = _asker(prompts, cache, max_cost)
        tools = openai_toolbox(asker, names, known, seed)
    else:
        _offline_only(provider, prompts, cache, max_cost)
        tools = offline_toolbox(names, known)
    path = write_toolbox(out, tools)
    counts = {name: sum(tool.app == name for tool in tools) for name in tools.apps}
    if json:
        print_json({"file": str(path), "apis": counts})
        return
    line(f"{path}: " + ", ".join(f"{count} APIs of {name}" for name, count in counts.items()))
    if provider == "openai":
        line(asker.budget.summary())


@dataclass(frozen=True, slots=True)
class _World:
    """The applications and APIs that a data set is about."""

    apps: "list[AppSpec]"
    toolbox: "Toolbox"


def _world(apps: Path | None, toolbox: Path | None, folder: Path | None = None) -> _World:
    """The packaged applications and APIs, those of a data set folder, and a user's own."""
    from ctrag.assistant.open import toolbox_of
    from ctrag.toolbox import Toolbox
    from stores.people.app_spec import apps_of, load_apps, register_apps

    found = {spec.name: spec for spec in (apps_of() if folder is None else apps_of(folder))}
    further = () if apps is None else load_apps(apps)
    register_apps(further)
    found |= {spec.name: spec for spec in further}
    tools = {one.api: one for one in (toolbox_of(folder) if folder else Toolbox.packaged())}
    for tool in () if toolbox is None else Toolbox.from_file(toolbox):
        if tools.setdefault(tool.api, tool) != tool:
            raise InputError(f"--toolbox: {tool.api}: there is another API of this name")
    return _World(list(found.values()), Toolbox(tools.values()))


def _provider(
    name: str,
    world: _World,
    prompts: Path | None,
    cache: Path | None,
    max_cost: float | None,
    levels: Mapping[str, float] | None = None,
) -> "Provider":
    if name == "openai":
        from ctrag.settings import settings
        from synth.checks import request_faults
        from synth.openai.provider import OpenAIProvider

        return OpenAIProvider(
            _asker(prompts, cache, max_cost),
            tuple(world.apps),
            world.toolbox,
            max(2, settings().openai_concurrency),  # threads, of which so many may ask at once
            lambda persona, labelled: request_faults(persona, labelled, world.toolbox),
        )
    _offline_only(name, prompts, cache, max_cost)
    from synth.offline import OfflineProvider

    shares = {} if levels is None else {"levels": levels}
    return OfflineProvider(apps=world.apps, toolbox=world.toolbox, **shares)


def _how(
    made_by: "Provider", world: _World, workers: int | None, scheduler: str | None
) -> dict[str, Any]:
    """Keyword arguments shared by all generators of people and requests."""
    spent = _budget(made_by)
    for option, value in {"--workers": workers, "--scheduler": scheduler}.items():
        if spent is not None and value is not None:
            raise InputError(
                f"{option}: a model is asked by threads of one process; "
                "set CTRAG_OPENAI_CONCURRENCY instead"
            )

    def said(text: str) -> None:
        progress(text if spent is None else f"{text}; {spent.summary()}")

    return {
        "apps": world.apps,
        "toolbox": world.toolbox,
        "workers": workers,
        "scheduler": scheduler,
        "progress": said,
    }


def _asker(prompts: Path | None, cache: Path | None, max_cost: float | None) -> "Asker":
    from ctrag.settings import cache_folder, settings
    from synth.openai.provider import open_asker

    folder = cache_folder() / "synth" if cache is None else cache
    return open_asker(settings(), folder, prompts, max_cost)


def _offline_only(
    name: str, prompts: Path | None, cache: Path | None, max_cost: float | None
) -> None:
    """Refuse what the offline provider would pass over in silence."""
    if name != "offline":
        raise InputError(f"--provider: must be offline or openai, not {name!r}")
    given = {"--prompts": prompts, "--cache": cache, "--max-cost": max_cost}
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option}: is for --provider openai; the offline one asks no model")


def _show(made_by: "Provider", made: "Made", out: Path, json: bool) -> None:
    spent = _budget(made_by)
    if json:
        spending = {} if spent is None else {"spent": spent.as_json()}
        print_json({"out": str(out), **made.as_json(), **spending})
        return
    for text in made.lines():
        line(text)
    if spent is not None:
        line(spent.summary())


def _budget(made_by: "Provider") -> "CostBudget | None":
    from synth.openai.provider import OpenAIProvider

    return made_by.asker.budget if isinstance(made_by, OpenAIProvider) else None


app.command("inspect")(synth_read.inspect)
app.command("blind")(synth_read.blind)
app.command("reading")(synth_read.reading)
