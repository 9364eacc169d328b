"""One synchronization: what a source has new is stored, what vanished there is removed here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.cards import read_contacts
from ctrag.assistant.imports.files import owner_of
from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.assistant.imports.mails import of_flags, read_mail
from ctrag.assistant.imports.report import Report
from ctrag.assistant.imports.rules import PAST
from ctrag.assistant.imports.run import import_into
from ctrag.assistant.imports.series import uid_of
from ctrag.assistant.sync.source import Part, Source
from stores.people import sources
from stores.people.items import Contact, Item, Person
from stores.people.stores import Encode, ImportReport, Stores


@dataclass(frozen=True, slots=True)
class Synced:
    """What a synchronization changed here."""

    report: Report
    gone: int = 0
    """Items and contacts that vanished there, and now here."""
    unchanged: bool = False


def synchronize(
    stores: Stores,
    person: Person,
    source: Source,
    encode: Encode,
    encoder: str,
    *,
    adopt: bool = False,
) -> Synced:
    """Bring a source's changes into a person's stores; the source is only read.

    Items are removed only when this source brought them and no other source has them, or when it
    has a newer version of an event that is cancelled. Everything that one synchronization changes
    is one import to `undo`.

    Args:
        stores: Where to.
        person: Who; known to the stores or new.
        source: From where.
        encode: Makes vectors of new items.
        encoder: Name of the encoder.
        adopt: Whether items that were there before the source was first read, and that it has too,
            are from it.

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
    stored_items = _items_of(stores, person.person_id)
    before = {one.id for one in stored_items}
    found: list[tuple[Part, Found]] = []
    unread: list[LeftOut] = []
    for part in fetched.parts:
        one = _read(part, owner_of(person))
        if isinstance(one, LeftOut):
            unread.append(one)  # what it brought before stays, and the next time it is read again
        else:
            found.append((part, one))
    if not (found or gone):
        return Synced(Report(ImportReport(0, 0, 0, 0), unread))
    brought = set().union(*(_listed(one["parts"], "items") for one in known.values()))
    own = set() if adopt else before - brought
    fresh = {
        part.key: _noted(part, one, parts.get(part.key), own, adopt=adopt) for part, one in found
    }
    after = {key: part for key, part in parts.items() if key not in gone} | fresh
    elsewhere = [one["parts"] for name, one in known.items() if name != source.name]
    kept = _listed(after, "items").union(*(_listed(one, "items") for one in elsewhere))
    removed = (_listed(parts, "items") - _listed(parts, "had") - kept) & before
    removed -= _long_past(stored_items, [one for _, read in found for one in read.items], person)
    cards = _changed_cards(parts, after, gone | fresh.keys(), elsewhere)
    records: list[tuple[None, Any]] = [
        (None, record) for _, one in found for record in one.records()
    ]
    records += [(None, one) for one in unread]
    count = len(removed)
    done = ImportReport(0, 0, 0, 0)
    if stores.exists() and person.person_id in stores.people():
        stored = stores.person(person.person_id)
        still = {_card(one) for one in _listed(after, "contacts")}
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


def _read(part: Part, owner: Owner) -> Found | LeftOut:
    """What a part holds; what is left out where nothing of it can be read."""
    readers: dict[str, Callable[[], Found]] = {
        "calendar": lambda: read_calendar(part.data, owner),
        "contacts": lambda: read_contacts(part.data, owner),
        "mail": lambda: read_mail(part.data, owner, state=of_flags(part.flags)),
    }
    if part.unread:
        told = readers["mail"]()  # of its headers
        what = told.items[0].text("subject") if told.items else part.key
        return Found(left_out=[LeftOut("mail", what, part.unread, part.folder)])
    try:
        return readers[part.kind]()
    except (ValueError, LookupError) as error:  # one part never costs another
        kind = {"calendar": "event", "contacts": "contact", "mail": "mail"}[part.kind]
        return LeftOut(kind, part.name or part.key, str(error)[:200], part.name)


def _changed_cards(
    before: dict[str, dict[str, Any]],
    after: dict[str, dict[str, Any]],
    replaced: set[str],
    elsewhere: Sequence[dict[str, dict[str, Any]]],
) -> set[str]:
    """Keys of the cards that the replaced parts have no more as they were, and no other source."""
    old = _listed({key: before[key] for key in replaced if key in before}, "contacts")
    kept = set().union(*(_listed(one, "contacts") for one in elsewhere))
    return {_card(one) for one in old - _listed(after, "contacts")} - {_card(one) for one in kept}


def _card(noted: str) -> str:
    """The key of a card in what is noted of it: `KEY:CONTENT`."""
    return noted.partition(":")[0]


def _content(contact: Contact) -> str:
    """Another hash whenever anything of the contact is another."""
    return sha256(repr(contact).encode()).hexdigest()[:16]


def _noted(
    part: Part, found: Found, old: dict[str, Any] | None, own: set[str], *, adopt: bool
) -> dict[str, Any]:
    """What is known of a part from now on; `own` are items that no source brought."""
    items = list(dict.fromkeys(one.id for one in found.items))
    had = set(old["had"]) if old is not None and not adopt else set()
    return {
        "tag": part.tag,
        "items": items,
        "had": [one for one in items if one in own or one in had],
        "contacts": [f"{card_key(one)}:{_content(one)}" for one in found.contacts],
    }


def _listed(parts: dict[str, dict[str, Any]], kind: str) -> set[str]:
    return {one for part in parts.values() for one in part[kind]}


def _items_of(stores: Stores, person_id: str) -> list[Item]:
    if not stores.exists():
        return []
    return [stored.item for stored in stores.items(person_id).items]


def _long_past(stored: Sequence[Item], found: Sequence[Item], person: Person) -> set[str]:
    """Ids of occurrences that only time has taken out of those that are worked out: their series
    is still there."""
    uids = {uid_of(one) for one in found} - {""}
    edge = owner_of(person).now - PAST
    return {one.id for one in stored if uid_of(one) in uids and (one.time("start") or edge) < edge}
