"""The Phone app: calls out, the log of calls, voicemail, blocked callers."""

import re
from collections.abc import Sequence

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    addressed,
    asked,
    contains,
    digits,
    find_contact,
    is_number,
    known_contact,
    listing,
    matching,
    moment_of,
    quote,
    same_caller,
    sends,
    when,
)
from ctrag.text.phone_numbers import written_numbers
from stores.people.changes import Change, OutboxEntry
from stores.people.items import Contact, Item


def call_contact(call: Call) -> Effect:
    """Calls a contact."""
    name = call.text("contact")
    contact = find_contact(call, name)
    if contact is None and (found := _number_in_items(call, name)):
        return _dials(name, found[1], found[0])
    contact = contact or known_contact(call, name)
    return _dials(contact.name, _number(contact))


def call_number(call: Call) -> Effect:
    """Dials a number."""
    number = call.text("number").strip()
    if not is_number(number):
        raise Refusal(f"{quote(number)} is not a valid phone number.")
    return _dials(number, number)


def redial_last_call(call: Call) -> Effect:
    """Dials the number of the last outgoing call."""
    made = [one for one in call.of("phonecall") if one.text("direction") == "outgoing"]
    if not made:
        raise Refusal("No call was made yet.")
    return _calls_back(call, _newest(made)[0])


def return_missed_call(call: Call) -> Effect:
    """Calls back after the newest missed call of a caller."""
    name = call.text("contact")
    missed = [one for one in _calls_of(call, name) if one.text("direction") == "missed"]
    if not missed:
        raise Refusal(f"There is no missed call from {quote(name)}.")
    return _calls_back(call, missed[0])


def get_missed_calls(call: Call) -> Effect:
    """Lists missed calls, newest first."""
    since = call.time("since")
    missed = _newest([one for one in call.of("phonecall") if one.text("direction") == "missed"])
    missed = [one for one in missed if since is None or moment_of(one) >= since]
    start = f" since {when(since, call.at)}" if since else ""
    lines = [
        f"{_caller(one)}, {when(moment_of(one), call.at)}"
        + (", left a voicemail" if one.text("voicemail") else "")
        for one in missed
    ]
    return Effect(listing(f"Missed{start}:", lines, f"No call was missed{start}."), tuple(missed))


def get_call_history(call: Call) -> Effect:
    """Lists calls, newest first; all, or those with one caller."""
    name = call.text("contact")
    calls = _newest(call.of("phonecall"))
    if name.strip():
        calls = _calls_of(call, name)
        if not calls and find_contact(call, name) is None:
            raise Refusal(f"The contact {quote(name)} is unknown.")
    with_whom = f" with {name}" if name.strip() else ""
    lines = [
        f"{one.text('direction')}, {_caller(one)}, {when(moment_of(one), call.at)}" + _duration(one)
        for one in calls
    ]
    return Effect(listing(f"Calls{with_whom}:", lines, f"No calls{with_whom}."), tuple(calls))


def play_voicemail(call: Call) -> Effect:
    """Plays the newest voicemail of a caller, and quotes it."""
    name = call.text("contact")
    left = [one for one in _calls_of(call, name) if one.text("voicemail")]
    if not left:
        raise Refusal(f"There is no voicemail from {quote(name)}.")
    caller, words = _caller(left[0]), left[0].text("voicemail")
    return sends(
        f"Voicemail from {caller}, {when(moment_of(left[0]), call.at)}: “{words}”",
        f"Play the voicemail from {quote(caller)}, {when(moment_of(left[0]), call.at)}",
        [OutboxEntry("voicemail", None, {"from": caller, "text": words}, left[0].id)],
        [left[0]],
    )


def block_caller(call: Call) -> Effect:
    """Blocks a contact or anybody who is in the log of calls."""
    name = call.text("contact").strip()
    calls = _calls_of(call, name)
    contact = _contact(call, name)
    if contact is None and not calls:
        raise Refusal(f"The caller {quote(name)} is unknown.")
    caller = contact.name if contact else _caller(calls[0])
    blocked = call.states.get("blocked")
    blocked = [str(one) for one in blocked] if isinstance(blocked, list) else []
    if caller in blocked:
        return Effect(f"{caller} is already blocked.", tuple(calls))
    answer = f"Blocked {caller}."
    change = Change(answer, state={"blocked": [*blocked, caller]})
    return Effect(answer, tuple(calls), change, question=asked(answer))


APIS = (
    call_contact,
    call_number,
    redial_last_call,
    return_missed_call,
    get_missed_calls,
    get_call_history,
    play_voicemail,
    block_caller,
)

STATES = {"block_caller": ("blocked",)}


def _caller(logged: Item) -> str:
    return logged.text("contact")


def _newest(calls: Sequence[Item]) -> list[Item]:
    return sorted(calls, key=moment_of, reverse=True)


def _contact(call: Call, name: str) -> Contact | None:
    """The contact of that name or number."""
    if is_number(name):
        contacts = call.person.contacts
        return next((one for one in contacts if one.phone and same_caller(one.phone, name)), None)
    return find_contact(call, name)


def _calls_of(call: Call, name: str) -> list[Item]:
    """Calls with a caller given by name or number, newest first; a contact goes by both."""
    log = _newest(call.of("phonecall"))
    named = [one for one in log if same_caller(_caller(one), name)]
    contact = None if named and not is_number(name) else _contact(call, name)
    contact = contact or (call.person.contact(_caller(named[0])) if named else None)
    if contact is None:
        whose = re.search(r"['’]s\s", name)  # "mum's doctor" is not Mum
        return named or ([] if whose else matching(name, log, _caller))
    spellings = (name, contact.name, contact.phone or "")
    return [one for one in log if any(same_caller(_caller(one), it) for it in spellings)]


def _calls_back(call: Call, logged: Item) -> Effect:
    """A call to whom the log names; never a service code (`*21*…#`) that a caller's id spells."""
    caller = _caller(logged)
    if is_number(caller) and not set("*#") & set(caller):
        return _dials(caller, caller, logged)
    contact = call.person.contact(caller)
    if contact is None:
        raise Refusal(f"No number of {quote(caller)} is known, so nobody was called.")
    return _dials(contact.name, _number(contact), logged)


def _number(contact: Contact) -> str:
    if not contact.phone or not is_number(contact.phone):
        raise Refusal(f"{contact.name} has no phone number, so nobody was called.")
    return contact.phone


def _number_in_items(call: Call, name: str) -> tuple[Item, str] | None:
    """The one number that events and mails have of somebody whom the request names and who is no
    contact: "the physio" of an event with its practice's number."""
    said = re.sub(r"^\s*(?:the|my)\s+", "", name, flags=re.IGNORECASE)
    if not said.strip() or not contains(call.said, said):
        return None
    found: dict[str, tuple[Item, str]] = {}
    for one in call.of("calendar"):
        if contains(f"{one.text('title')}; {one.text('location')}", said):
            for number in written_numbers(f"{one.text('location')}\n{one.text('notes')}"):
                found.setdefault(digits(number), (one, number))
    for one in call.of("mail"):
        if contains(one.text("sender"), said):
            for number in written_numbers(one.text("body")):
                found.setdefault(digits(number), (one, number))
    return next(iter(found.values())) if len(found) == 1 else None


def _dials(name: str, number: str, source: Item | None = None) -> Effect:
    """A call to a number that `is_number`; `*` and `#` are dialled too."""
    plus = "+" if number.lstrip(" (").startswith("+") else ""
    keys = "".join(key for key in number if key in "*#" or digits(key))
    url = f"tel:{plus}{keys.replace('#', '%23')}"
    whom = addressed(name, number)
    entry = OutboxEntry("call", name, {"url": url, "number": number}, source.id if source else None)
    return sends(f"Calling {whom}.", f"Call {whom}", [entry], [source] if source else [], [whom])


def _duration(logged: Item) -> str:
    seconds = int(logged.text("duration_s") or 0)
    return f", {seconds // 60}:{seconds % 60:02} min" if seconds else ""
