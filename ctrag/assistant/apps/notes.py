"""The Notes app."""

import re

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    address_of,
    addressed,
    alike,
    changed,
    created,
    known_contact,
    listing,
    mail_address,
    matching,
    minute,
    moment_of,
    quote,
    removes,
    search,
    sends,
    title_of,
    titled,
    when,
    writes,
)
from stores.people.changes import OutboxEntry
from stores.people.items import Item

_ALL = re.compile(
    r"\W*(?:(?:please|can you|could you|ok(?:ay)?)\W+)*(?:list|show|read|what are|which are)\s+"
    r"(?:me\s+)?(?:all\s+)?(?:of\s+)?(?:my|the)\s+notes(?:\s+(?:i have|there are|please))?\W*"
    r"|\W*(?:what|which|how many) notes (?:do i have|are there|have i got)\W*",
    re.IGNORECASE,
)
"""A request for all notes, of whichever folder."""
_NEW_NOTES_FOLDER = "Notes"


def create_note(call: Call) -> Effect:
    """Writes a new note."""
    title = call.text("title").strip()
    note = created(
        call,
        "notes",
        title=title,
        body=call.text("body"),
        folder=_NEW_NOTES_FOLDER,
        modified_at=minute(call.at),
    )
    return writes(f"Wrote the note {quote(title)}.", note)


def read_note(call: Call) -> Effect:
    """Reads a note out."""
    note = _note(call)
    head = f"{title_of(note)} ({_folder(note)}, changed {when(moment_of(note), call.at)})"
    return Effect(f"{head}\n{note.text('body')}", (note,))


def search_notes(call: Call) -> Effect:
    """Finds notes by words, and quotes how they begin."""
    query = call.text("query")
    found = search(call, "notes", query)
    lines = [f"{title_of(note)} ({_folder(note)}): {quote(note.text('body'))}" for note in found]
    nothing = f"No note has the words {quote(query)}."
    return Effect(listing(f"Notes for {quote(query)}:", lines, nothing), tuple(found))


def append_to_note(call: Call) -> Effect:
    """Adds a line at the end."""
    note = _note(call)
    body = note.text("body")
    body = f"{body.rstrip()}\n{call.text('text')}" if body.strip() else call.text("text")
    return writes(
        f"Added {quote(call.text('text'))} to the note {quote(title_of(note))}.",
        changed(note, body=body, modified_at=minute(call.at)),
    )


def update_note(call: Call) -> Effect:
    """Replaces the text."""
    note = _note(call)
    return writes(
        f"Replaced the text of the note {quote(title_of(note))}.",
        changed(note, body=call.text("body"), modified_at=minute(call.at)),
    )


def delete_note(call: Call) -> Effect:
    """Deletes a note."""
    note = _note(call)
    return removes(f"Deleted the note {quote(title_of(note))}.", note)


def list_notes(call: Call) -> Effect:
    """Lists titles, newest first."""
    folder = "" if _ALL.fullmatch(call.said) else call.text("folder")
    notes = call.of("notes")
    where = ""
    if folder.strip():
        notes = matching(folder, notes, _folder)
        if not notes:
            raise Refusal(f"There is no folder {quote(folder)}.")
        where = f" in {_folder(notes[0])}"
    notes.sort(key=moment_of, reverse=True)
    lines = [title_of(note) if where else f"{title_of(note)} ({_folder(note)})" for note in notes]
    return Effect(listing(f"Notes{where}:", lines, "There are no notes."), tuple(notes))


def move_note(call: Call) -> Effect:
    """Moves a note to a folder of the person, or to a new one."""
    note = _note(call)
    wanted = call.text("folder").strip()
    same = alike(wanted, call.of("notes"), _folder)
    folder = _folder(same[0]) if same else wanted
    return writes(
        f"Moved the note {quote(title_of(note))} to {quote(folder)}.", changed(note, folder=folder)
    )


def share_note(call: Call) -> Effect:
    """Sends a note to a contact, by mail address or number."""
    note, contact = _note(call), known_contact(call, call.text("contact"))
    address = mail_address(contact.email) or address_of(contact)
    if not address:
        raise Refusal(
            f"{contact.name} has neither a mail address nor a number, so nothing was shared."
        )
    recipient = addressed(contact.name, address)
    title = title_of(note)
    content = {"to": contact.name, "address": address, "title": title, "body": note.text("body")}
    return sends(
        f"Shared the note {quote(title)} with {recipient}.",
        f"Share the note {quote(title)} with {recipient}",
        [OutboxEntry("share", contact.name, content, note.id)],
        [note],
        [recipient],
    )


APIS = (
    create_note,
    read_note,
    search_notes,
    append_to_note,
    update_note,
    delete_note,
    list_notes,
    move_note,
    share_note,
)


def _note(call: Call) -> Item:
    return titled(call, "notes", call.text("title"), "note")


def _folder(note: Item) -> str:
    return note.text("folder")
