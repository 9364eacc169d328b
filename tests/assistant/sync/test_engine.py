"""What a synchronization does with parts that cannot be read, and with versions of one event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ctrag.assistant.sync.engine import Synced
from ctrag.assistant.sync.source import Fetched, Part, Source
from stores.people.stores import Stores
from tests.assistant.sync.conftest import calendar, event, titles

HEAD = b"From: Pia <pia@x.example>\nSubject: The film\nDate: Mon, 23 Nov 2026 09:15:00 +0100\n\n"
Sync = Callable[[Source], Synced]


@dataclass
class Shelf:
    """A source with these parts."""

    parts: list[Part]
    name: str = "shelf"

    def fetch(self, tags: Mapping[str, str], meta: Mapping[str, Any]) -> Fetched:
        new = [one for one in self.parts if tags.get(one.key) != one.tag]
        return Fetched(new, {one.key for one in self.parts})


def test_a_mail_that_is_too_large_is_counted_by_its_subject_once(
    sync: Sync, stores: Stores
) -> None:
    large = Part("1", "a", "mail", HEAD, folder="INBOX", unread="larger than 25 MiB")
    source = Shelf([large, Part("2", "a", "mail", HEAD.replace(b"film", b"book") + b"Fine.")])
    done = sync(source)
    [left] = done.report.left_out
    assert (left.what, left.why, left.source) == ("The film", "larger than 25 MiB", "INBOX")
    assert (done.report.lost, titles(stores, "mail")) == (1, ["The book"])
    assert sync(source).unchanged


def test_what_a_part_brought_stays_when_it_cannot_be_read_any_more(
    sync: Sync, stores: Stores
) -> None:
    sync(Shelf([Part("1", "a", "calendar", calendar(event("1", "Dentist")).encode())]))
    broken = Shelf([Part("1", "b", "calendar", b"<html>an error</html>")])
    for _ in range(2):  # it is told each time
        done = sync(broken)
        assert (done.gone, done.report.lost) == (0, 1)
    assert titles(stores) == ["Dentist"]


def invitation(number: int, hour: int, method: str = "REQUEST") -> Part:
    """A message about the event `1`, changed so many times, at this hour."""
    text = calendar(event("1", "Roof", hour).replace("UID:1", f"UID:1\r\nSEQUENCE:{number}"))
    head = HEAD.replace(b"\n\n", f"\nContent-Type: text/calendar; method={method}\n\n".encode())
    data = head + text.replace("VERSION:2.0", f"METHOD:{method}").replace("\r", "").encode()
    return Part(str(number), "a", "mail", data)


def test_the_newest_of_the_messages_about_an_event_counts_whichever_comes_first(
    sync: Sync, stores: Stores
) -> None:
    parts = [invitation(1, 14), invitation(0, 8)]
    sync(Shelf(parts))
    [item] = [one.item for one in stores.items("me").items if one.item.app == "calendar"]
    assert f"{item.time('start'):%H:%M}" == "14:00"
    done = sync(Shelf([*parts, invitation(2, 14, "CANCEL")]))
    assert (titles(stores), done.report.stored.removed) == ([], 1)
    flagged = [Part(one.key, "b", "mail", one.data) for one in parts]
    sync(Shelf([*flagged, invitation(2, 14, "CANCEL")]))
    assert titles(stores) == []
