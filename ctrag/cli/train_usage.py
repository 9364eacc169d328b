"""`ctrag train ranker --from-usage`: the ranker fitted to one person's own record of use."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ctrag.cli.options import own_stores, stores_with
from ctrag.cli.output import line, print_json
from ctrag.errors import InputError

if TYPE_CHECKING:
    from stores.people.stores import Stores
    from stores.people.usage import UsageRecord


def train_from_usage(persona: str | None, data: Path | None, undo: bool, json: bool) -> None:
    """Fit, or with `undo` take away what was fitted.

    Args:
        persona: Whose; everybody in the user's own stores who has a record when None.
        data: Where the person's stores are, or None.
        undo: Whether to return to the ranker as packaged.
        json: Whether to print JSON.
    """
    from stores.people.learned import usage_file
    from stores.people.stores import Stores

    if persona is not None:
        stores = stores_with(persona, None, data)
        stores.person(persona)
        people = [persona]
    elif data is not None:
        raise InputError("--data: name a person of it with --persona")
    else:
        stores = Stores.open(own_stores())
        people = [one for one in stores.people() if usage_file(stores.root, one).exists()]
        if not people and not undo:
            raise InputError(_no_record("nobody in your own stores"))
        people = stores.people() if undo else people
    rows = {one: (_undo if undo else _fit)(stores, one) for one in people}
    if json:
        print_json(rows)
        return
    for one, row in rows.items():
        line(f"{one}: {row['said']}")
    if not undo and not any(row["learned"] for row in rows.values()):
        raise typer.Exit(1)


def _fit(stores: "Stores", person: str) -> dict[str, Any]:
    from ctrag.assistant.context.personal_ranker import FEWEST, NEWEST, PersonalRanker
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.learned import personal_file, usage_file
    from stores.people.usage import read_usage

    if not usage_file(stores.root, person).exists():
        return {"said": _no_record(person), "learned": 0}
    record = read_usage(stores.root, person)
    uses = record.uses[-NEWEST:]
    if len(uses) < FEWEST:
        few = f"{_counted(record)}; {FEWEST} are needed, so the ranker stays as it is"
        return {"said": few, "learned": 0}
    encoder = load_encoder(settings().encoder)
    fitted = PersonalRanker.fit(uses, encoder.encode([one.text for one in uses]), encoder.name)
    fitted.save(personal_file(stores.root, person))
    said = f"learned from {len(uses)} requests; {_counted(record)}"
    return {"said": said, "learned": len(uses)}


def _undo(stores: "Stores", person: str) -> dict[str, Any]:
    from stores.people.learned import personal_file

    path = personal_file(stores.root, person)
    there = path.exists()
    path.unlink(missing_ok=True)
    said = "the ranker is as packaged again" if there else "the ranker was as packaged already"
    return {"said": said, "undone": there}


def _counted(record: "UsageRecord") -> str:
    """What of the record counts, and what was left out of it and why."""
    left = {
        "about none of the person's items": record.about_no_item,
        "declined": record.declined,
        "taken back": record.undone,
        "unreadable lines": record.unreadable,
    }
    told = ", ".join(f"{count} {why}" for why, count in left.items() if count)
    corrected = f" ({record.corrected} corrected)" if record.corrected else ""
    out = f"; left out: {told}" if told else ""
    return f"{len(record.uses)} recorded about the person's items{corrected}{out}"


def _no_record(who: str) -> str:
    return f"{who} has no record of use; set CTRAG_RECORD_USE=true to keep one from now on"
