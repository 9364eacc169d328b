"""A person's data as a whole: out as a zip, and gone."""

import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from ctrag.errors import InputError

if TYPE_CHECKING:
    from stores.people.stores import Stores


def exported(stores: "Stores", person_id: str) -> bytes:
    """A person's data set folder as a zip; `ctrag import` reads what is in it.

    Raises:
        ValueError: A store cannot be read: nothing is exported.
    """
    from stores.people.dataset import Persona, write_personas

    person = stores.person(person_id)
    found = stores.items(person_id)
    if found.unavailable:
        app, reason = next(iter(found.unavailable.items()))
        raise InputError(f"export: the {app} store is {reason}; nothing was written")
    with tempfile.TemporaryDirectory(prefix="ctrag-export-") as folder:
        out = Path(folder)
        items = tuple(stored.item for stored in found.items)
        write_personas(out, [Persona(person, items)], private=True)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in sorted(out.rglob("*")):
                if one.is_file():
                    archive.write(one, one.relative_to(out))
        return packed.getvalue()


def forgotten(stores: "Stores", person_id: str) -> list[str]:
    """Erase everything of a person, and say what was erased and what could not be."""
    from ctrag.assistant.written import Target, erase
    from stores.people.stores import UnknownPerson

    # Outside first: killed here, the person is still known, and a second run does it all again.
    told = list(erase(Target(person_id)))
    try:
        found = stores.forget(person_id)
    except UnknownPerson as error:
        return told or [str(error)]
    damaged = [
        f"The {name} store is {reason}: it may still hold something; "
        f"`ctrag doctor --drop {name}` deletes it."
        for name, reason in found.damaged.items()
    ]
    return [str(found), *told, *damaged]
