"""`ctrag review`: the gate of changed policies."""

from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json
from ctrag.cli.prompt import Index, Instructions, say_read


def review(
    instructions: Instructions,
    approve: Annotated[
        list[str], typer.Option(help="Id of a fragment, or `all`; repeatable.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    by: Annotated[str, typer.Option(help="Who approves.")] = "",
    index: Index = None,
    json: Json = False,
) -> None:
    """What changed in the policies and waits for approval; approve it.

    Example: ctrag review --instructions policies --approve retail#order --by "Ada"
    """
    from ctrag.agents.prompt.instruction_files import cut_folder
    from ctrag.agents.prompt.review import ReviewLedger
    from ctrag.agents.prompt.served import index_folder
    from ctrag.models.tokens import token_counter

    cut = cut_folder(instructions, token_counter())
    ledger = ReviewLedger(index or index_folder(instructions))
    ledger.note(cut.fragments)
    if approve:
        waiting = [one.id for one in ledger.pending(cut.fragments)]
        ledger.approve(cut.fragments, waiting if "all" in approve else approve, by)
    pending = ledger.pending(cut.fragments)
    if json:
        changes = [one.model_dump() for one in ledger.changes]
        print_json(
            {
                "pending": [one.id for one in pending],
                "removed": [one.id for one in pending if one.what == "removed"],
                "duplicates": cut.duplicates,
                "ignored": dict(cut.ignored),
                "problems": dict(cut.problems),
                "changes": changes,
            }
        )
        return
    for change in ledger.changes[-20:]:
        line(
            f"{change.at}  {change.what:<8}  {change.unit}"
            + (f"  by {change.by}" if change.by else "")
        )
    say_read(cut.ignored, cut.problems)
    for left_out, kept in cut.duplicates:
        line(f"duplicate: {left_out} says what {kept} says")
    gone = sum(one.what == "removed" for one in pending)
    line(
        f"{len(pending) - gone} of {len(cut.fragments)} fragments wait for approval"
        + (f", and the removal of {gone}" if gone else "")
    )
    for one in pending:
        since = ledger.updated(one.id)
        line(f"  {one.id}  ({one.what}{f' since {since}' if since else ''})")
