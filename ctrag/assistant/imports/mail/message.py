"""One mail as an item: who, when, what, to whom, and its state."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from ctrag.assistant.imports.found import LeftOut, Owner, item_id
from ctrag.assistant.imports.mail.body import Content, content_of
from ctrag.assistant.imports.mail.dates import sent_at
from ctrag.assistant.imports.mail.headers import Headers, Mailbox, people
from ctrag.assistant.imports.mail.invitations import line_of
from ctrag.assistant.imports.mail.mbox import LARGEST, RawMail
from ctrag.assistant.imports.mail.options import MailOptions
from ctrag.assistant.imports.mail.parts import Part, part_of, with_plain_line_ends
from ctrag.assistant.imports.mail.state import MailState, of_headers
from stores.people.items import Item

_MOST_RECIPIENTS = 200
_LONGEST_SUBJECT = 2_000
_SHOWN = 100
"""Characters of a subject that name what was left out."""
_KIND_SAID = {
    "spam": "it is spam",
    "deleted": "it is in the trash",
    "drafts": "it is a draft",
    "chats": "it is a chat message",
}


@dataclass(slots=True)
class ReadMail:
    """What one message gave."""

    item: Item | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    calendars: list[bytes] = field(default_factory=list)
    """Invitations in it."""


def read_one(
    raw: RawMail,
    owner: Owner,
    options: MailOptions,
    state: MailState,
    place: str = "a mail",
    kept: datetime | None = None,
    before: datetime | None = None,
) -> ReadMail:
    """Read one message; whatever is wrong with it costs it alone.

    Args:
        raw: The message.
        owner: Whose it is.
        options: What of it is wanted.
        state: What its folder and file say of it.
        place: Where it is, to name it by where it has no subject.
        kept: The time of its file on the person's clock.
        before: When the mail before it in the same file was sent, on the person's clock.
    """
    try:
        return _read(raw, owner, options, state, place, (kept, before))
    except Exception as error:  # any fault of a reader may lose one mail, never the mailbox
        what = f"cannot be read ({type(error).__name__})"
        return ReadMail(left_out=[LeftOut("mail", place, what)])


def _read(
    raw: RawMail,
    owner: Owner,
    options: MailOptions,
    state: MailState,
    place: str,
    times: tuple[datetime | None, datetime | None],
) -> ReadMail:
    message = part_of(with_plain_line_ends(raw.data))
    headers = message.headers
    if not headers.fields:
        return ReadMail(left_out=[LeftOut("mail", place, "it has no headers: it is no mail")])
    subject = headers.text("subject")
    what = subject[:_SHOWN] or place
    if _of_server(subject, headers):
        why = "a note of the mail server on the folder, and no mail"
        return ReadMail(left_out=[LeftOut("mail", what, why, on_purpose=True)])
    state = of_headers(headers).over(state)
    for kind in sorted(state.kinds - options.also):
        why = f"{_KIND_SAID[kind]}: left out unless `{kind}` is asked for"
        return ReadMail(left_out=[LeftOut("mail", what, why, on_purpose=True)])
    kept, before = times
    of = "the time of its file" if before is None else "the time of the mail before it"
    sent = sent_at(headers, owner.zone, owner.now, raw.stamp, before or kept, of)
    if sent is None:
        return ReadMail(left_out=[LeftOut("mail", what, "nothing in it says when it was sent")])
    content = content_of(message)
    sender = next(iter(people(headers, "from", "sender", "reply-to", "return-path")), None)
    recipients = _recipients(headers, owner)
    partly = list(content.unread)
    if len(subject) > _LONGEST_SUBJECT:
        partly.append(f"the last {len(subject) - _LONGEST_SUBJECT} characters of its subject")
    if sent.guessed:
        partly.append(f"it has no date that can be read; {sent.guessed} is stored")
    if raw.cut:
        partly.append(f"only its first {LARGEST // 1_000_000} MB were read")
    if len(recipients) > _MOST_RECIPIENTS:
        partly.append(f"the first {_MOST_RECIPIENTS} of {len(recipients)} recipients are stored")
    body, cut = _body(content, owner, options.longest_body)
    if cut:
        partly.append(f"the last {cut} characters of its text (CTRAG_MAIL_LONGEST_BODY)")
    own = state.sent or (sender is not None and _is_own(sender, owner))
    item = Item(
        id=item_id(owner.person_id, "mail", _identity(message, sender)),
        app="mail",
        fields={
            "sender": sender.shown if sender else "unknown",
            "subject": subject[:_LONGEST_SUBJECT] or "(no subject)",
            "body": body,
            "received_at": sent.at,
            "unread": bool(state.unread) and not own,
            "flagged": bool(state.flagged),
            "recipients": tuple(one.shown for one in recipients[:_MOST_RECIPIENTS]),
        },
    )
    left = [LeftOut("mail", what, why, lost=False) for why in partly]
    return ReadMail(item, left, content.calendars)


def _recipients(headers: Headers, owner: Owner) -> list[Mailbox]:
    """Everybody to whom it went, but for the person: that goes without saying."""
    everybody = people(headers, "to", "cc", "bcc")
    return [one for one in everybody if not _is_own(one, owner)]


def _of_server(subject: str, headers: Headers) -> bool:
    """Whether it is what UW-IMAP and Alpine keep at the beginning of each folder."""
    if "folder internal data" not in subject.casefold():
        return False
    sender = headers.text("from").casefold()
    return bool(
        "mail system internal data" in sender
        or "mailer-daemon" in sender
        or headers.raw("x-imap")
        or headers.raw("x-imapbase")
    )


def _is_own(one: Mailbox, owner: Owner) -> bool:
    return one.address.casefold() in {address.casefold() for address in owner.addresses}


def _body(content: Content, owner: Owner, longest: int) -> tuple[str, int]:
    """The text with what belongs to it, and how much of it was cut."""
    text = content.text
    cut = max(0, len(text) - longest)
    parts = [text[:longest].rstrip(), *_invitations(content, owner)]
    if content.attachments:
        parts.append(f"Attachments: {', '.join(content.attachments)}")
    return "\n\n".join(filter(None, parts)), cut


def _invitations(content: Content, owner: Owner) -> list[str]:
    lines = []
    for data in content.calendars:
        head, _, more = line_of(data, owner).partition("\n")
        if head not in lines:
            # What an invitation says besides stands in the mail's own text too, if it has any.
            lines.append(head if content.text else f"{head}\n{more}".strip())
    return lines


def _identity(message: Part, sender: Mailbox | None) -> str:
    """What makes it this mail and no other, wherever a copy of it is kept.

    `Message-ID` alone does not: some printers, shops and scripts send the same for ever. What a
    copy may differ in does not count: flags, its way through servers, white space.
    """
    headers = message.headers
    said = "\n".join(
        (
            headers.raw("message-id").strip(),
            headers.text("date"),
            headers.text("subject"),
            sender.address.casefold() if sender else "",
        )
    )
    body = b"".join(re.sub(rb"^>+(?=From )", b"", message.body, flags=re.MULTILINE).split())
    return f"{said}\n{sha256(body).hexdigest()}"
