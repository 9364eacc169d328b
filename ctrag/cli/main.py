"""The `ctrag` command."""

import sys
from typing import Annotated

import typer

from ctrag.cli import (
    ask,
    call,
    chat,
    data,
    demo,
    doctor,
    evaluate,
    forget,
    next_tool,
    prompt,
    review,
    serve,
    serve_assistant,
    sessions,
    sync,
    synth,
    tools,
    train,
    weights,
)
from ctrag.cli.errors import exit_code
from ctrag.cli.interrupts import ended_by_interrupts
from ctrag.cli.output import clean_libraries, line

app = typer.Typer(
    name="ctrag",
    help="A context-tuning planner: an under-specified request becomes one checked API call.\n\n"
    'Example: ctrag ask "what did the school lady want" --persona p007',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from ctrag import __version__

        line(f"ctrag {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command("ask")(ask.ask)
app.command("chat")(chat.chat)
app.command("demo")(demo.demo)
app.command("prompt")(prompt.prompt)
app.command("review")(review.review)
app.command("import")(data.import_)
app.command("sync")(sync.sync)
app.command("export")(data.export)
app.command("forget")(forget.forget)
app.command("doctor")(doctor.doctor)
app.command("undo")(data.undo)
app.add_typer(synth.app, name="synth")
app.add_typer(train.app, name="train")
app.add_typer(evaluate.app, name="eval")
app.add_typer(tools.app, name="tools")
tools.app.command("call")(call.call)
tools.app.command("next")(next_tool.next_tool)
serve.app.command("assistant")(serve_assistant.assistant)
app.add_typer(serve.app, name="serve")
app.add_typer(sessions.app, name="session")
app.add_typer(weights.app, name="models")


def main() -> None:
    """Entry point: run the command line and exit with its code."""
    clean_libraries()
    with ended_by_interrupts():
        code = exit_code(lambda: app(prog_name="ctrag", standalone_mode=False))
    sys.exit(code)
