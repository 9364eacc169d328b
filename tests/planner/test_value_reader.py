"""Claims about what a reader of values reads of a request and of the values on offer."""

from datetime import datetime

from ctrag.apps.toolbox import Argument, Tool, Toolbox
from ctrag.planner.arguments import ABSENT
from ctrag.planner.value_reader import MOST_READ, value_text
from ctrag.planner.values import Grounds, Offer
from stores.items import Contact, Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person("ada", AT, Profile(name="Ada"), (Contact("Rui Prado", "brother"),))
SCAN = Item(
    "c1",
    "calendar",
    {
        "title": "Scan",
        "start": datetime(2025, 4, 18, 9, 30),
        "end": datetime(2025, 4, 18, 10, 0),
        "location": "Hospital, Gaia",
        "attendees": ("Rui Prado",),
        "notes": None,
    },
)


def argument_of(api: str, name: str) -> tuple[Tool, Argument]:
    tool = Toolbox.packaged().get(api)
    assert tool is not None
    return tool, tool.arguments_by_name[name]


def read(text: str, api: str, name: str, *offers: Offer) -> list[str]:
    grounds = Grounds(Request(text, AT), ADA, [SCAN], [], [SCAN])
    return value_text(grounds, *argument_of(api, name), offers).split("\n")


def test_a_title_is_read_with_its_item() -> None:
    lines = read("where do I\nlie down?", "get_event", "title", Offer("Scan", "c1", "field", 0))
    assert lines[0] == "get event title; thu 12:00; where do I lie down?"
    assert lines[1] == "Scan; tomorrow 09:30; Rui Prado (brother); Hospital, Gaia"


def test_a_part_of_an_item_is_read_before_the_item_that_it_stands_in() -> None:
    offers = (Offer("Gaia", "c1", "part", 0), Offer("Porto", "profile", "profile"))
    lines = read("rain there?", "google_weather", "location", *offers)
    assert lines[1].startswith("Gaia in calendar: Scan; tomorrow 09:30; ")
    assert lines[2] == "Porto"


def test_people_are_read_with_their_relation_and_leaving_out_as_nothing() -> None:
    lines = read("calls with him", "get_call_history", "contact", Offer("Rui Prado", "x"), ABSENT)
    about = "Scan; tomorrow 09:30; Rui Prado (brother); Hospital, Gaia"
    assert lines[0] == f"get call history contact; thu 12:00; calls with him; about: {about}"
    assert lines[1:] == ["Rui Prado (brother)", "nothing"]


def test_times_are_read_as_people_say_them_and_with_the_item_they_are_about() -> None:
    times = ("2025-04-18T10:30", "2025-04-25T10:30")
    offers = [Offer(time, "date", "phrase") for time in times]
    first, *lines = read("an hour later", "reschedule_event", "new_start", *offers)
    assert first.startswith("reschedule event new start; thu 12:00; an hour later; about: Scan; ")
    assert lines == ["tomorrow 10:30", "25 apr 10:30"]
    day = read("that day", "list_events", "date", Offer("2025-04-21", "date", "phrase"))
    assert day[1] == "mon"


def test_offers_behind_the_first_ones_are_not_read() -> None:
    offers = [Offer(f"town {number}", "request", "said") for number in range(MOST_READ + 3)]
    assert len(read("rain?", "google_weather", "location", *offers)) == 1 + MOST_READ
