"""A person's stores, and an encoder without a model."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.imports.files import new_person
from ctrag.assistant.sync.engine import Synced, synchronize
from ctrag.assistant.sync.source import Source
from stores.people.items import Item, Person
from stores.people.stores import Stores


def encode(owned: Sequence[tuple[Person, Item]]) -> np.ndarray:
    """Any vector: nothing is searched here."""
    return np.ones((len(owned), 3), np.float32)


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path / "stores")


@pytest.fixture
def sync(stores: Stores) -> Callable[[Source], Synced]:
    """`sync(source)`: one synchronization for the person `me`."""

    def run(source: Source) -> Synced:
        known = stores.exists() and "me" in stores.people()
        person = stores.person("me") if known else new_person("me", "Me", "Europe/Oslo")
        return synchronize(stores, person, source, encode, "any")

    return run


def titles(stores: Stores, app: str = "calendar") -> list[str]:
    """The first texts of a person's items of one application, sorted."""
    found = (one.item for one in stores.items("me").items if one.item.app == app)
    return sorted(item.text("title") or item.text("subject") for item in found)


def event(uid: str, title: str, hour: int = 9) -> str:
    """An event as a server has it, CRLF."""
    lines = f"""BEGIN:VEVENT
UID:{uid}
DTSTAMP:20261101T000000Z
SUMMARY:{title}
DTSTART:20261201T{hour:02}0000
DTEND:20261201T{hour + 1:02}0000
END:VEVENT"""
    return lines.replace("\n", "\r\n")


def calendar(*events: str) -> str:
    """A calendar file of these events."""
    head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//\r\n"
    return head + "".join(one + "\r\n" for one in events) + "END:VCALENDAR\r\n"
