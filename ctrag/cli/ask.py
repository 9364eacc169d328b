"""`ctrag ask`: one request."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import (
    At,
    Data,
    Json,
    Persona,
    Place,
    Reset,
    Yes,
    YesUnsure,
    folder_of,
    parse_at,
)
from ctrag.cli.output import answered, block, line, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctrag.assistant.answer import Answer
    from ctrag.assistant.apps.execute import Confirm
    from ctrag.assistant.assistant import Assistant


def ask(
    text: Annotated[str, typer.Argument(help="The request in English, as one would say it.")],
    persona: Persona,
    data: Data = None,
    at: At = None,
    place: Place = None,
    planner: Annotated[str, typer.Option(help="embedded or openai.")] = "embedded",
    execute: Annotated[
        bool, typer.Option("--execute", help="Run the plan on the person's stores.")
    ] = False,
    yes: Yes = False,
    yes_unsure: YesUnsure = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show items, scores, the plan, and each step and why."),
    ] = False,
    reset: Reset = False,
    json: Json = False,
) -> None:
    """Answer one request in English, or say what would be done.

    Other languages are not understood.

    Example: ctrag ask "how bad is it to the jetty" --persona p007 --at 2023-10-29T05:35
    """
    from ctrag.assistant.answer import answer_json
    from ctrag.assistant.assistant import Assistant

    moment = parse_at(at)
    assistant = Assistant.open(folder_of(persona, data), persona, planner=planner, reset=reset)
    answer = assistant.ask(
        text,
        moment,
        place,
        run=execute,
        confirm=agreeing(yes, yes_unsure),
        explain=explain,
    )
    if json:
        print_json(answer_json(answer.request.asked_at, text, answer))
        return
    for one in answer.parts:
        if explain:
            show(one, explain=True)
        else:
            tell(assistant, one)


def agreeing(
    yes: bool, yes_unsure: bool, instead: "Callable[[str], None] | None" = None
) -> "Confirm":
    """Answers what `--yes` and `--yes-unsure` cover, and asks what they do not.

    Args:
        yes: Whether to agree to what is sure and reaches contacts alone.
        yes_unsure: Whether to agree to everything.
        instead: As for `confirm`.
    """

    def agree(question: str) -> bool:
        expected = isinstance(question, Question) and question.expected
        return yes_unsure or (yes and expected) or confirm(question, instead)

    from ctrag.assistant.apps.execute import Question

    return agree


def confirm(question: str, instead: "Callable[[str], None] | None" = None) -> bool:
    """Ask on the terminal; without one the answer is no. Answers alone go to stdout.

    Args:
        question: A yes or no question.
        instead: Takes what was said in place of yes or no, and the answer is no; asked again where
            None.
    """
    from ctrag.assistant.conversation.small_talk import agrees, leaves_it

    if not sys.stdin.isatty():
        option = "--yes" if getattr(question, "expected", True) else "--yes-unsure"
        strangers = getattr(question, "strangers", ())
        who = f"; no contact: {', '.join(strangers)}" if strangers else ""
        say(f"{question} (no terminal: not done{who}; agree with {option})")
        return False
    while (said := answered(question)) and not leaves_it(said):
        if agrees(said):
            return True
        if instead is not None:
            instead(said)
            return False
        say("Say yes or no.")
    return False


def tell(assistant: "Assistant", answer: "Answer") -> None:
    """Print what was done or would be, and nothing of how it was found."""
    for app, reason in answer.unavailable.items():
        line(f"(the {app} store did not answer: {reason})")
    if answer.question is not None:
        line(answer.question.text)
        for choice in answer.question.choices:
            line(f"- {choice}")
        return
    if answer.said:
        block(answer.said)
    elif answer.result is None:
        would = assistant.preview(answer)
        block(f"{would.text} (not done: --execute does it)" if would.changes else would.text)
    else:
        block(answer.result.answer)
    ran = answer.result
    # The question before a change has said it.
    told = ran is not None and (ran.change is not None or ran.status == "declined")
    if answer.other is not None and not told:
        line(f"Not sure; it could also be: {assistant.in_words(answer.other)}.", dim=True)


def show(answer: "Answer", *, explain: bool = False) -> None:
    """Print an answer with the items, tools and plan that led to it."""
    from ctrag.assistant.api_choice.retrieve import purpose
    from ctrag.assistant.context.item_line import item_line

    line("context", bold=True)
    for one in answer.items:
        parts = ", ".join(
            f"{name} #{one.ranks[name]} {part:.3f}" for name, part in one.parts.items()
        )
        line(f"  {item_line(one.item, 96)}")
        line(f"      {one.item.id}  {one.score:.3f} = {parts}", dim=True)
        if one.because:
            line(f"      {told(one.because)}", dim=True)
    for app, reason in answer.unavailable.items():
        line(f"  the {app} store did not answer: {reason}")
    line("tools", bold=True)
    for found in answer.tools:
        line(f"  {found.tool.signature:<44} {purpose(found.tool)}")
        line(
            f"      log probability {found.log_probability:.2f}; cosine {found.cosine:.2f}; "
            f"items of its application {found.context:.2f}",
            dim=True,
        )
    line("plan", bold=True)
    line(f"  {answer.plan}   (confidence {answer.confidence:.2f})")
    if answer.other is not None:
        line(f"  or {answer.other}", dim=True)
    if answer.result is not None:
        line("result", bold=True)
        block(f"  {answer.result.status}: {answer.result.answer}", indent="  ")
    if explain:
        _show_trace(answer)


def told(because: tuple[str, ...]) -> str:
    """Reasons as one sentence without a full stop: "because …; …, but … and …"."""
    lifting = [reason for reason in because if not reason.startswith("but ")]
    lowering = [reason.removeprefix("but ") for reason in because[len(lifting) :]]
    parts = [f"because {'; '.join(lifting)}"] if lifting else []
    parts += [f"but {' and '.join(lowering)}"] if lowering else []
    return ", ".join(parts)


def _show_trace(answer: "Answer") -> None:
    line("trace", bold=True)
    for step in answer.trace.steps:
        line(f"  {step.name}  {step.milliseconds:.1f} ms")
        for kind, values in (("in", step.inputs), ("out", step.outputs)):
            for name, value in values.items():
                block(f"    {kind} {name}: {value}", indent=" " * 8, dim=True)
