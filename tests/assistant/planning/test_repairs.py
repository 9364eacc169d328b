"""Claims about readings of a request that cannot be."""

import pytest

from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.repairs import repaired
from ctrag.toolbox import Toolbox
from stores.people.items import Contact

CONTACTS = (Contact("Ruth Quist", "wife"), Contact("Ines Duarte", "head of Leo's nursery"))


def values(api: str, request: str, **slots: str | None) -> dict[str, str | None]:
    tool = Toolbox.packaged().get(api)
    assert tool is not None
    read = {name: FilledSlot(value, 0.8) for name, value in slots.items()}
    return {name: one.value for name, one in repaired(tool, read, request, CONTACTS).items()}


def test_a_message_is_for_the_one_addressed_and_not_for_one_who_is_spoken_of() -> None:
    found = values("send_mail", "message Ruth that Ines has Leo's boots", to="Ines", body="Boots")
    assert found == {"to": "Ruth", "body": "Boots"}
    assert values("send_mail", "mail it to Ines", to="Ines")["to"] == "Ines"


@pytest.mark.parametrize(
    ("request_", "origin", "destination", "wanted"),
    [
        ("flights to Oslo on Friday", "Oslo", None, (None, "Oslo")),
        ("flights from Oslo on Friday", "Oslo", None, ("Oslo", None)),
        ("flights to Oslo", "Oslo", "Oslo", (None, "Oslo")),
        ("fly to Oslo from Bergen", "Oslo", "Bergen", ("Bergen", "Oslo")),
        ("fly from Bergen to Oslo", "Bergen", "Oslo", ("Bergen", "Oslo")),
    ],
)
def test_words_before_a_place_say_whether_it_is_left_or_reached(
    request_: str, origin: str, destination: str | None, wanted: tuple[str | None, str | None]
) -> None:
    found = values("google_flights", request_, origin=origin, destination=destination)
    assert (found["origin"], found["destination"]) == wanted


def test_how_one_gets_there_is_no_part_of_a_place() -> None:
    way = Toolbox.packaged().get("google_directions")
    assert way is not None
    for said, place in (("the old pier walking", "the old pier"), ("Walking Street", None)):
        found = repaired(way, {"destination": FilledSlot(said, 0.9)}, f"way to {said}", ())
        assert found["destination"].value == (place or said)


def test_words_that_are_looked_for_are_nobodys_name() -> None:
    found = values("search_mail", "mails about berth 4", query="berth 4", sender="berth 4")
    assert found == {"query": "berth 4", "sender": None}
    found = values("search_mail", "anything from Ruth", query="Ruth", sender="Ruth")
    assert found["sender"] == "Ruth"


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("put on some Moloko", "Moloko"),
        ("some drum n bass please", "drum n bass"),
        ("cool jazz pls", "cool jazz"),
        ("next song please", None),
        ("play something nice", None),
        ("put on what Ruth likes", None),
        ("play that song again", None),
    ],
)
def test_a_name_that_is_all_that_is_said_is_what_is_played(
    request_: str, wanted: str | None
) -> None:
    assert values("play_artist", request_, artist=None)["artist"] == wanted
