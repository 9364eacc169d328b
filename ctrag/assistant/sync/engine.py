"""One synchronization: what a source has new is stored, what vanished there is removed here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.cards import read_contacts
from ctrag.assistant.imports.files import owner_of
from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.assistant.imports.mails import of_flags, read_mail
from ctrag.assistant.imports.report import Report
from ctrag.assistant.imports.run import import_into
from ctrag.assistant.sync.source import Part, Source
from stores.people import sources
from stores.people.items import Contact, Person
from stores.people.stores import Encode, ImportReport, Stores


@dataclass(frozen=True, slots=True)
class Synced:
    """What a synchronization changed here."""

    report: Report
    gone: int = 0
    """Items and contacts that vanished there, and now here."""
    unchanged: bool = False


def synchronize(
    stores: Stores, person: Person, source: Source, encode: Encode, encoder: str
) -> Synced:
    """Bring a source's changes into a person's stores; the source is only read.

    Items are removed only when this source brought them and no other source has them. Everything
    that one synchronization changes is one import to `undo`.

    Args:
        stores: Where to.
        person: Who; known to the stores or new.
        source: From where.
        encode: Makes vectors of new items.
        encoder: Name of the encoder.

    Raises:
        SourceUnavailable: The source cannot be read; nothing was changed.
        OSError, StoreUnavailable: As for `Stores.import_personas`.
    """
    known = stores.sources(person.person_id) if stores.exists() else {}
    state = known.get(source.name, {"parts": {}, "meta": {}})
    parts: dict[str, dict[str, Any]] = state["parts"]
    empty = Report(ImportReport(0, 0, 0, 0))
    tags = {key: part["tag"] for key, part in parts.items()}
    fetched = source.fetch(tags, state["meta"])
    gone = set() if fetched.unchanged else parts.keys() - fetched.keys
    if fetched.unchanged or not (fetched.parts or gone):
        return Synced(empty, unchanged=True)
    before = _ids_of(stores, person.person_id)
    found = [(part, _read(part, owner_of(person))) for part in fetched.parts]
    brought = set().union(*(_listed(one["parts"], "items") for one in known.values()))
    fresh = {
        part.key: _noted(part, one, parts.get(part.key), before - brought) for part, one in found
    }
    after = {key: part for key, part in parts.items() if key not in gone} | fresh
    kept = _listed(after, "items").union(
        *(_listed(one["parts"], "items") for name, one in known.items() if name != source.name)
    )
    removed = (_listed(parts, "items") - _listed(parts, "had") - kept) & before
    replaced = [parts[key] for key in [*gone, *(key for key in fresh if key in parts)]]
    cards = {card for part in replaced for card in part["contacts"]}
    records: list[tuple[None, Any]] = [
        (None, record) for _, one in found for record in (*one.items, *one.contacts, *one.left_out)
    ]
    count = len(removed)
    done = ImportReport(0, 0, 0, 0)
    if stores.exists() and person.person_id in stores.people():
        stored = stores.person(person.person_id)
        still = _listed(after, "contacts")
        count += sum(card_key(one) in cards - still for one in stored.contacts)
        left = tuple(one for one in stored.contacts if card_key(one) not in cards)
        if removed or left != stored.contacts:
            # Before the rest: what is removed here is noted as unknown, hence read again after a
            # kill.
            interim = {key: part for key, part in parts.items() if key in after.keys() - fresh}
            done = sources.remove(
                stores.files,
                replace(stored, contacts=left),
                removed,
                source.name,
                {"parts": interim, "meta": {}},
            )
    report = Report(done)
    import_into(stores, person, records, encode, encoder, report=report)
    content = {"parts": after, "meta": fetched.meta}
    sources.note(stores.files, person.person_id, source.name, content, report.stored)
    return Synced(report, count)


def card_key(contact: Contact) -> str:
    """Which card a contact comes from, hashed: no word of it."""
    return sha256((contact.uid or contact.name.casefold()).encode()).hexdigest()[:16]


def _read(part: Part, owner: Owner) -> Found:
    readers: dict[str, Callable[[], Found]] = {
        "calendar": lambda: read_calendar(part.data, owner),
        "contacts": lambda: read_contacts(part.data, owner),
        "mail": lambda: read_mail(part.data, owner, state=of_flags(part.flags)),
    }
    try:
        return readers[part.kind]()
    except (ValueError, LookupError) as error:  # one part never costs another
        kind = {"calendar": "event", "contacts": "contact", "mail": "mail"}[part.kind]
        return Found(left_out=[LeftOut(kind, part.key, str(error)[:200])])


def _noted(part: Part, found: Found, old: dict[str, Any] | None, own: set[str]) -> dict[str, Any]:
    """What is known of a part from now on; `own` are items that no source brought."""
    items = list(dict.fromkeys(one.id for one in found.items))
    had = set(old["had"]) if old is not None else set()
    return {
        "tag": part.tag,
        "items": items,
        "had": [one for one in items if one in own or one in had],
        "contacts": [card_key(one) for one in found.contacts],
    }


def _listed(parts: dict[str, dict[str, Any]], kind: str) -> set[str]:
    return {one for part in parts.values() for one in part[kind]}


def _ids_of(stores: Stores, person_id: str) -> set[str]:
    if not stores.exists():
        return set()
    return {stored.item.id for stored in stores.items(person_id).items}
