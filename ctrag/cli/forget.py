"""`ctrag forget`: a person, one item or one contact, erased for good."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json, Persona, own_stores
from ctrag.cli.output import line, print_json
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.assistant.written import Target
    from stores.people.stores import Stores


def forget(
    persona: Persona,
    item: Annotated[str | None, typer.Option("--item", help="One item only, by its id.")] = None,
    contact: Annotated[
        str | None,
        typer.Option("--contact", help="One contact only, by name, number or mail address."),
    ] = None,
    stores: Annotated[
        Path | None, typer.Option("--stores", help="Stores folder. Default: your own stores.")
    ] = None,
    keep_exports: Annotated[
        bool, typer.Option("--keep-exports", help="Leave folders that `ctrag export` wrote.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Erase a person, one item or one contact from every file that ctrag wrote: stores, cached
    copies, records, exports. This cannot be undone; exit code 3 when a damaged store or another
    file that could not be erased may still hold something.

    Example: ctrag forget --persona me --item me-notes-3
    """
    from ctrag.assistant.written import NOT_ERASED, erase, places
    from ctrag.cli.ask import confirm
    from stores.people.forget import Forgotten
    from stores.people.stores import Stores, UnknownPerson

    if item is not None and contact is not None:
        raise InputError("forget: give --item or --contact, not both")
    target = Stores(stores or own_stores())
    one = f"item {item}" if item else f"contact {contact}" if contact else None
    what = _target(target, persona, item, contact)
    wide = "" if keep_exports else "".join(f", in {path}" for path in places(persona))
    if not yes and not confirm(f"Erase {one or 'everything'} of {persona} for good{wide}?"):
        return
    unknown: UnknownPerson | None = None
    found = Forgotten()
    # Outside first: killed here, the person is still known, and a second run does it all again.
    elsewhere = list(erase(what, exports=not keep_exports))
    try:
        if contact is not None:
            found = target.forget_contact(persona, contact)
        else:
            found = target.forget(persona, item)
    except UnknownPerson as error:
        unknown = error
    if unknown is not None and not elsewhere:
        raise unknown
    if json:
        print_json(
            {
                "items": found.items,
                "profile": found.profile,
                "contacts": found.contacts,
                "elsewhere": elsewhere,
                "damaged": found.damaged,
            }
        )
    else:
        line(f"{found}" if unknown is None else f"{persona} is in no store")
        for told in elsewhere:
            line(told)
        for name, reason in found.damaged.items():
            line(
                f"the {name} store is {reason}: it may still hold something; "
                f"`ctrag doctor --drop {name}` deletes it"
            )
    if found.damaged or any(told.startswith(NOT_ERASED) for told in elsewhere):
        raise typer.Exit(3)


def _target(stores: "Stores", persona: str, item: str | None, contact: str | None) -> "Target":
    from ctrag.assistant.written import Target
    from stores.people.forget import chosen_contacts

    if contact is None:
        return Target(persona, item)
    chosen = chosen_contacts(stores.person(persona).contacts, contact, persona)
    return Target(persona, contacts=tuple(chosen))
