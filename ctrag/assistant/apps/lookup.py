"""Finding what an argument names among a person's own things, and words for answers.

Names are compared in steps, and the first step that finds something decides: as written, then
without regard to case, spaces and punctuation, then without accents, and last by whole words
contained in each other, which counts only where it leaves one name. Text of items is compared
and quoted here, and means nothing beyond that.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.repeating import few
from ctrag.text.words import fold
from stores.people.app_spec import spec_of
from stores.people.changes import Change, OutboxEntry
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Value

_T = TypeVar("_T")

_NO_DECOMPOSITION = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
_LITTLE_WORDS = frozenset(
    "a an and at by for from in is it my of on or that the this to what with".split()
)
_WORDED = ("title", "text", "person", "place", "group")
"""Roles of the fields that are searched by words."""
_ADDRESS = re.compile(
    r"\s*(?:(?P<bare>{0})|.*<\s*(?P<bracketed>{0})\s*>)\s*".format(
        r"[\w.!#$%&'*+/=?^`{|}~-]+@\w[\w.-]*\w"
    ),
    re.DOTALL,
)
_FOUND_AT_MOST = 10
_QUOTE_LENGTH = 100
_BEFORE = {
    "Added": "Add",
    "Blocked": "Block",
    "Cancelled": "Cancel",
    "Changed": "Change",
    "Created": "Create",
    "Deleted": "Delete",
    "Flagged": "Flag",
    "Moved": "Move",
    "Removed": "Remove",
    "Replaced": "Replace",
    "Wrote": "Write",
}
"""First words of answers and of the questions before them."""
_WHOLE_NUMBER_DIGITS = 7
"""Digits from which on two spellings of a number may differ by country code or leading zero."""


def accented_words(text: str) -> list[str]:
    """The words of a text, without case and punctuation; `a_b` is one, unlike in `words.words`."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def plain_words(text: str) -> list[str]:
    """The words of a text, without case, punctuation and accents."""
    return accented_words(fold(text.casefold().translate(_NO_DECOMPOSITION)))


def alike(wanted: str, options: Iterable[_T], name: Callable[[_T], str]) -> list[_T]:
    """The options whose name is `wanted` but for case, spaces, punctuation and accents."""
    options = list(options)
    steps: tuple[Callable[[str], str], ...] = (
        lambda text: text.strip().casefold(),
        lambda text: "".join(accented_words(text)),
        lambda text: "".join(plain_words(text)),
    )
    for same in steps:
        key = same(wanted)
        found = [option for option in options if key and same(name(option)) == key]
        if found:
            return found
    return []


def matching(wanted: str, options: Iterable[_T], name: Callable[[_T], str]) -> list[_T]:
    """The options whose name `wanted` means, all alike; [] if none does or several differ."""
    options = list(options)
    found = alike(wanted, options, name) or [
        option
        for option in options
        if contains(name(option), wanted) or contains(wanted, name(option))
    ]
    keys = {"".join(plain_words(name(option))) for option in found}
    return found if len(keys) == 1 else []


def contains(text: str, part: str, shortest: int = 3) -> bool:
    """Whether the words of `part`, `shortest` letters or more, occur as a phrase in `text`."""
    inner = " ".join(plain_words(part))
    return len(inner) >= shortest and f" {inner} " in f" {' '.join(plain_words(text))} "


def pick(call: Call, candidates: Sequence[Item]) -> Item:
    """One of several: what retrieval found, or the next upcoming, or the latest."""
    for item_id in call.preferred:
        for item in candidates:
            if item.id == item_id:
                return item
    upcoming = [item for item in candidates if _over_at(item) >= call.at]
    return min(upcoming, key=moment_of) if upcoming else max(candidates, key=moment_of)


def titled(call: Call, app: str, title: str, noun: str) -> Item:
    """The item of that title.

    Raises:
        Refusal: There is none: "There is no <noun> “<title>”."
    """
    found = matching(title, call.of(app), title_of)
    if not found:
        raise Refusal(f"There is no {noun} {quote(title)}.")
    return pick(call, found)


def search(call: Call, app: str, query: str) -> list[Item]:
    """Items that share a word with the query: those that share most, then the nearest in time."""
    asked = set(plain_words(query))
    asked = asked - _LITTLE_WORDS or asked
    fields = [field.name for field in spec_of(app).fields if field.role in _WORDED]
    shared = {
        item.id: len(asked & {word for name in fields for word in plain_words(item.text(name))})
        for item in call.of(app)
    }
    found = [item for item in call.of(app) if shared[item.id]]
    found.sort(key=lambda item: (-shared[item.id], abs(moment_of(item) - call.at)))
    return few(call, found)[:_FOUND_AT_MOST]


def find_contact(call: Call, name: str) -> Contact | None:
    """The contact meant by a full name or `Person.label`, or by a nickname, a relation, a part of
    the name, a job or an organisation that only one has.

    Raises:
        Refusal: The part or relation fits several contacts.
    """
    contacts = call.person.contacts
    key = re.sub(r"^\s*my\s+", "", name, flags=re.IGNORECASE)
    folded = name.strip().casefold()
    labelled = call.person.contact(name)
    found = (
        [one for one in contacts if one.name.casefold() == folded]
        or ([labelled] if labelled else [])
        or [one for one in contacts if _same(one.name, name)]
        or [one for one in contacts if any(_same(nick, key) for nick in one.nicknames)]
        or [one for one in contacts if _same(one.relation, key)]
        or [one for one in contacts if contains(one.name, key, shortest=1)]
        or [one for one in contacts if _same(one.title, _bare(key)) or _same(one.organisation, key)]
        or [one for one in contacts if _begins(one.organisation, key)]
    )
    if len(found) > 1:
        names = ", ".join(map(call.person.label, found))
        raise Refusal(f"{quote(name)} fits several contacts: {names}.")
    return found[0] if found else None


def _begins(organisation: str, name: str) -> bool:
    """Whether an organisation is called so for short: "the Fjord" is "Fjord Clinic"; "the team" is
    no "Team Sports"."""
    short = plain_words(_bare(name))
    common = {"team", "club", "company", "office", "shop", "school", "bank", "group", "people"}
    return (
        bool(short) and short[0] not in common and plain_words(organisation)[: len(short)] == short
    )


def _bare(name: str) -> str:
    """A name without its article."""
    return re.sub(r"^\s*the\s+", "", name, flags=re.IGNORECASE)


def known_contact(call: Call, name: str) -> Contact:
    """The contact meant.

    Raises:
        Refusal: Nobody is, or several are.
    """
    contact = find_contact(call, name)
    if contact is None:
        raise Refusal(f"There is no contact {quote(name)}.")
    return contact


_LONGEST_NAME = 80
"""Characters of a recipient's name that are shown: what is reached, after it, stays in sight."""
_LONGEST_ADDRESS = 400
"""Characters of a mail address with the end of the name before it."""


def mail_address(text: str | None) -> str:
    """The mail address that a text is, or ends with in angle brackets; "" without one."""
    # An address stands at the end; a name before it may be endless.
    found = _ADDRESS.fullmatch((text or "").strip()[-_LONGEST_ADDRESS:])
    return (found["bare"] or found["bracketed"]) if found else ""


def address_of(contact: Contact | None, name: str = "") -> str:
    """Where a message reaches somebody: the contact's number, else their mail address, else the
    address that their name is or ends with; "" where nothing is known."""
    if contact is None:
        return mail_address(name)
    phone = (contact.phone or "").strip()
    return phone if is_number(phone) else mail_address(contact.email)


def addressed(name: str, address: str) -> str:
    """A recipient as the person is shown it: `Rosa <rosa@example.mx>`, `Rosa (+52 33 5550)`."""
    shown = one_line(name.strip().removesuffix(f"<{address}>"))
    if not shown or shown == address:
        return address
    if len(shown) > _LONGEST_NAME and "@" not in shown:  # another address is never hidden
        shown = f"{shown[: _LONGEST_NAME - 1]}…"
    return f"{shown} <{address}>" if mail_address(address) else f"{shown} ({address})"


def digits(number: str) -> str:
    """The digits of a phone number."""
    return "".join(re.findall(r"[0-9]", number))


def same_caller(one: str, other: str) -> bool:
    """Whether two names, or two spellings of a number, are the same caller."""
    short, long = sorted((digits(one).lstrip("0"), digits(other).lstrip("0")), key=len)
    if is_number(one) and is_number(other):
        return short == long or (len(short) >= _WHOLE_NUMBER_DIGITS and long.endswith(short))
    return _same(one, other)


def is_number(text: str) -> bool:
    """Whether a text can be dialled: three digits or more, and only characters of numbers."""
    return bool(re.fullmatch(r"[0-9+\-() #*./]+", text.strip())) and len(digits(text)) >= 3


def title_of(item: Item) -> str:
    """What the person calls the item."""
    return item.text(spec_of(item.app).named("title")[0])


def moment_of(item: Item) -> datetime:
    """When the item happens or happened; the earliest time there is if it or its app has none."""
    times = spec_of(item.app).named("time")
    return (item.time(times[0]) if times else None) or datetime.min


def quote(text: str) -> str:
    """A text as one line in quotation marks, truncated where it is long."""
    line = one_line(text)
    return f"“{line if len(line) <= _QUOTE_LENGTH else line[: _QUOTE_LENGTH - 1] + '…'}”"


def in_full(text: str) -> str:
    """A text as one line in quotation marks, however long: what leaves the phone is shown whole."""
    return f"“{one_line(text)}”"


def one_line(text: str) -> str:
    """A text without line breaks, control characters and bidirectional marks."""
    seen = "".join(one for one in text if one.isspace() or unicodedata.category(one)[0] != "C")
    return " ".join(seen.split())


def when(moment: datetime | None, at: datetime) -> str:
    """A time as seen from `at`: "today 18:00", "Thu 24 Apr 2025 09:00"."""
    if moment is None:
        return "no time"
    days = (moment.date() - at.date()).days
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    return f"{near.get(days) or moment.strftime('%a %-d %b %Y')} {moment:%H:%M}"


def listing(head: str, lines: Sequence[str], nothing: str) -> str:
    """A headed list, one line for each; `nothing` when there are none."""
    # A line break in a name or a title would pass as a line of ctrag's own.
    return "\n".join([head, *(f"- {one_line(line)}" for line in lines)]) if lines else nothing


def minute(moment: datetime) -> datetime:
    """The time truncated to the minute, as stores keep times."""
    return moment.replace(second=0, microsecond=0)


def changed(item: Item, **fields: Value) -> StoredItem:
    """The item with other values in some fields."""
    return StoredItem(replace(item, fields={**item.fields, **fields}))


def created(call: Call, app: str, **fields: Value) -> StoredItem:
    """A new item of the application."""
    defaults = {field.name: field.default for field in spec_of(app).fields if not field.sparse}
    return StoredItem(Item(call.new_id(app), app, {**defaults, **fields}))


def writes(answer: str, *put: StoredItem, question: str = "") -> Effect:
    """The effect of a write that adds or replaces items."""
    return Effect(
        answer,
        tuple(one.item for one in put),
        Change(one_line(answer), put=put),
        question=question or asked(answer),
    )


def removes(answer: str, item: Item) -> Effect:
    """The effect of a write that removes an item."""
    change = Change(one_line(answer), remove=(item.id,))
    return Effect(answer, (item,), change, question=asked(answer))


def asked(answer: str) -> str:
    """The question before a change whose answer is this: "Deleted …." becomes "Delete …?"."""
    verb, _, rest = one_line(answer).removesuffix(".").partition(" ")
    return f"{_BEFORE.get(verb, verb)} {rest}?"


def sends(
    answer: str,
    what: str,
    outbox: Sequence[OutboxEntry],
    items: Sequence[Item] = (),
    recipients: Sequence[str] = (),
) -> Effect:
    """An outward effect: its answer, and in the imperative what it does, to be asked before."""
    return Effect(
        answer,
        tuple(items),
        Change(one_line(what), outbox=outbox),
        tuple(one_line(recipient) for recipient in recipients),
        f"{one_line(what)}?",
    )


def _over_at(item: Item) -> datetime:
    """When an item ends; when it happens if it has no end."""
    ends = spec_of(item.app).named("end")
    return (item.time(ends[0]) if ends else None) or moment_of(item)


def _same(one: str, other: str) -> bool:
    return bool(plain_words(one)) and plain_words(one) == plain_words(other)
