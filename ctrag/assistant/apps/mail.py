"""The Mail app: received mails, and mails that leave."""

import re
from collections.abc import Sequence

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    addressed,
    alike,
    changed,
    contains,
    find_contact,
    in_full,
    known_contact,
    listing,
    mail_address,
    matching,
    moment_of,
    one_line,
    plain_words,
    quote,
    removes,
    search,
    sends,
    title_of,
    titled,
    when,
    writes,
)
from ctrag.text.dates.temporal_expressions import find_expressions
from ctrag.text.words import telling_words
from stores.people.changes import OutboxEntry
from stores.people.items import Contact, Item

_SHOWN = 10
_SENT = re.compile(
    r"\b(?:(?:did|have|do) i (?:\w+ )?(?:send|sent|write|written|wrote)|i (?:sent|wrote)"
    r"|sent (?:mail|e-?mail|by me|items)|my sent)\b",
    re.IGNORECASE,
)
"""Words of a request for what the person sent."""


def send_mail(call: Call) -> Effect:
    """Sends a new mail to a contact."""
    contact, address = _addressee(call)
    subject, body = call.text("subject"), call.text("body")
    recipient = addressed(contact.name, address)
    return _sent(
        f"Sent to {recipient}: mail {quote(subject)}.",
        f"Send to {recipient}, subject {in_full(subject)}: {in_full(body)}",
        _entry(contact.name, address, subject, body),
        recipient,
    )


def reply_to_mail(call: Call) -> Effect:
    """Answers the sender of a mail: a contact, or whoever wrote their address into it."""
    mail = _mail(call)
    sender = mail.text("sender")
    contact = call.person.contact(sender)
    address = mail_address(contact.email) if contact else mail_address(sender)
    if not address:
        raise Refusal(f"{one_line(sender)} has no mail address, so nothing was sent.")
    subject, body = _prefixed("Re: ", title_of(mail)), call.text("body")
    recipient = addressed(sender, address)
    return _sent(
        f"Sent to {recipient}: reply to {quote(title_of(mail))}.",
        f"Reply to {recipient}, subject {in_full(subject)}: {in_full(body)}",
        _entry(sender, address, subject, body, mail),
        recipient,
        mail,
    )


def forward_mail(call: Call) -> Effect:
    """Sends a received mail on to a contact."""
    mail = _mail(call)
    contact, address = _addressee(call)
    body = f"From: {mail.text('sender')}, {moment_of(mail):%Y-%m-%d %H:%M}\n\n{mail.text('body')}"
    recipient, title = addressed(contact.name, address), quote(title_of(mail))
    return _sent(
        f"Sent to {recipient}: forward {title}.",
        f"Forward the mail {title} from {quote(mail.text('sender'))} to {recipient}",
        _entry(contact.name, address, _prefixed("Fwd: ", title_of(mail)), body, mail),
        recipient,
        mail,
    )


def search_mail(call: Call) -> Effect:
    """Finds mails by words, best first, by who wrote or got them, newest first, or by both; without
    either by what the request says: those sent, those of a day, else the newest."""
    query, sender = call.text("query"), call.text("sender")
    if not query.strip() and not sender.strip():
        if not call.said:
            raise Refusal("Searching mail needs words or a sender.")
        return _as_said(call)
    found = search(call, "mail", query) if query.strip() else _newest(call.of("mail"))
    if sender.strip():
        found = _with(call, sender, found)
    asked = " from ".join(quote(one) for one in (query, sender) if one.strip())
    lines = [_line(call, mail) for mail in found]
    return Effect(listing(f"Mail for {asked}:", lines, f"No mail fits {asked}."), tuple(found))


def read_mail(call: Call) -> Effect:
    """Reads a mail out."""
    mail = _mail(call)
    return Effect(_in_full(call, mail), (mail,))


def read_unread_mail(call: Call) -> Effect:
    """Reads all unread mails out, newest first; they stay unread."""
    mails = _newest([mail for mail in call.of("mail") if mail.flag("unread")])
    answer = "\n\n".join(_in_full(call, mail) for mail in mails)
    return Effect(answer or "There is no unread mail.", tuple(mails))


def delete_mail(call: Call) -> Effect:
    """Deletes a mail."""
    mail = _mail(call)
    return removes(f"Deleted the mail {quote(title_of(mail))} from {mail.text('sender')}.", mail)


def flag_mail(call: Call) -> Effect:
    """Flags a mail."""
    mail = _mail(call)
    answer = f"Flagged the mail {quote(title_of(mail))} from {mail.text('sender')}."
    return writes(answer, changed(mail, flagged=True))


APIS = (
    send_mail,
    reply_to_mail,
    forward_mail,
    search_mail,
    read_mail,
    read_unread_mail,
    delete_mail,
    flag_mail,
)


def _as_said(call: Call) -> Effect:
    """The newest mails, of those whom and the time that the request names."""
    mails, which = _newest(call.of("mail")), ""
    if _SENT.search(call.said):
        own = call.person.profile.name
        mails, which = [one for one in mails if contains(one.text("sender"), own)], " that you sent"
    spans = [one for one in find_expressions(call.said, call.at) if one.start <= call.at]
    if spans:
        span = spans[0]
        mails = [one for one in mails if span.start <= moment_of(one) < span.end]
        which += f" ({span.phrase})"
    elif not which and (fitting := search(call, "mail", " ".join(telling_words(call.said)))):
        mails, which = fitting, f" for {quote(call.said)}"
    lines = [_line(call, mail) for mail in mails[:_SHOWN]]
    head = f"Mail{which}:" if which else "The newest mail:"
    return Effect(listing(head, lines, f"There is no mail{which}."), tuple(mails[:_SHOWN]))


def _mail(call: Call) -> Item:
    return titled(call, "mail", call.text("subject"), "mail with the subject")


def _addressee(call: Call) -> tuple[Contact, str]:
    contact = find_contact(call, call.text("to"))
    if contact is None and (written := _writer(call, call.text("to"))):
        return written
    contact = contact or known_contact(call, call.text("to"))
    address = mail_address(contact.email)
    if not address:
        raise Refusal(f"{contact.name} has no mail address, so nothing was sent.")
    return contact, address


def _writer(call: Call, name: str) -> tuple[Contact, str] | None:
    """Somebody who is no contact and wrote a mail, by a name that only one sender has."""
    said = re.sub(r"^\s*(?:the|my)\s+", "", name, flags=re.IGNORECASE)
    if not said.strip() or not contains(call.said, said):
        return None
    found = {
        mail_address(mail.text("sender")): mail.text("sender")
        for mail in call.of("mail")
        if _called(mail.text("sender"), said)
    }
    found.pop("", None)
    if len(found) != 1:
        return None
    [(address, sender)] = found.items()
    shown = one_line(sender.removesuffix(f"<{address}>")) or address
    return Contact(shown, email=address), address


def _called(sender: str, name: str) -> bool:
    """Whether a sender's name is that one, or begins or ends with it: "anna" is no "Anna's
    Pizza"."""
    whole, said = plain_words(sender.split("<")[0]), plain_words(name)
    size = len(said)
    return 0 < size <= len(whole) <= size + 1 and said in (whole[:size], whole[-size:])


def _entry(
    to: str, address: str, subject: str, body: str, source: Item | None = None
) -> OutboxEntry:
    content = {"to": to, "address": address, "subject": subject, "body": body}
    return OutboxEntry("mail", to, content, source.id if source else None)


def _sent(
    answer: str, what: str, entry: OutboxEntry, recipient: str, source: Item | None = None
) -> Effect:
    return sends(answer, what, [entry], [source] if source else [], [recipient])


def _prefixed(prefix: str, subject: str) -> str:
    begins = subject.casefold().startswith(prefix.strip().casefold())
    return subject if begins else f"{prefix}{subject}"


def _newest(mails: Sequence[Item]) -> list[Item]:
    return sorted(mails, key=moment_of, reverse=True)


def _with(call: Call, name: str, mails: Sequence[Item]) -> list[Item]:
    """Mails from somebody named in full or in part, or the contact that is meant; then those to
    them, which answer what one wrote to them."""
    written = _naming(call, name, [(mail, mail.text("sender")) for mail in mails])
    received = _naming(call, name, [(mail, one) for mail in mails for one in _recipients(mail)])
    known = {mail.id for mail in written}
    return [*written, *(mail for mail in received if mail.id not in known)]


def _naming(call: Call, name: str, named: Sequence[tuple[Item, str]]) -> list[Item]:
    """The mails of those (mail, person) pairs whose person is meant by the name."""
    found = matching(name, named, _second)
    if not found and (contact := find_contact(call, name)):
        found = matching(contact.name, named, _second)
        found = found or alike(contact.email or "", named, _second)
    return list({mail.id: mail for mail, _ in found}.values())


def _second(pair: tuple[Item, str]) -> str:
    return pair[1]


def _recipients(mail: Item) -> tuple[str, ...]:
    value = mail.fields.get("recipients")
    return value if isinstance(value, tuple) else ()


def _line(call: Call, mail: Item) -> str:
    to = mail.text("recipients")
    who = f"{mail.text('sender')} to {one_line(to)}" if to else mail.text("sender")
    return f"{who}, {when(moment_of(mail), call.at)}: {quote(title_of(mail))}"


def _in_full(call: Call, mail: Item) -> str:
    received = when(moment_of(mail), call.at)
    to = mail.text("recipients")
    head = f"From {mail.text('sender')}{f' to {one_line(to)}' if to else ''}, {received}"
    return f"{head}\n{title_of(mail)}\n{mail.text('body')}"
