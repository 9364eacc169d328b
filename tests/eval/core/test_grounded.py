"""Claims about values that a plan made up."""

from dataclasses import replace

import pytest

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Argument, Toolbox
from eval.core.grounded import known_texts, ungrounded
from stores.people.dataset import Persona
from stores.people.items import Request
from tests.assistant.context.conftest import ADA, ASKED, NOW, context_of, made, view_of

TOOLBOX = Toolbox.packaged()


def invented(text: str, request: Request = ASKED) -> list[str]:
    return ungrounded(Plan.parse(text), context_of(request), TOOLBOX)


def exists(text: str) -> bool:
    """Whether the toolbox has the plan's API with these arguments; else nothing is checked."""
    plan = Plan.parse(text)
    tool = TOOLBOX.get(plan.api)
    return plan.is_none or (tool is not None and set(plan.arguments) <= set(tool.arguments_by_name))


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param('cancel_event(title="Dentist")', id="item"),
        pytest.param('cancel_event(title="dentist")', id="item-in-other-case"),
        pytest.param('play_song(song_name="Blue Moon", artist="Ella")', id="two-fields-of-an-item"),
        pytest.param('call_contact(contact="Tere Macias")', id="contact-without-accent"),
        pytest.param('google_directions(destination="Elm Street 9", mode="walking")', id="profile-and-enum"),
        pytest.param('google_weather(location="Bergen", date="2025-04-18")', id="tomorrow"),
        pytest.param('google_weather(location="Hall")', id="place-of-an-event"),
        pytest.param('play_artist(artist="my sister")', id="words-of-the-request"),
        pytest.param('reschedule_event(title="Dentist", new_start="2025-04-18T18:00")', id="computed-from-the-request"),
        pytest.param('snooze_reminder(title="Water plants", until="2025-04-17T20:00")', id="time-of-an-item"),
        pytest.param('snooze_reminder(title="Water plants", until="2025-04-17T19:00")', id="end-of-an-event"),
        pytest.param('list_events(date="2025-04-24")', id="day-of-an-item"),
        pytest.param('skip_song(direction="next")', id="enum"),
        pytest.param('create_event(title="Anything at all", start="2025-04-17T18:00")', id="free-text"),
        pytest.param("pause_music()", id="no-arguments"),
        pytest.param("none()", id="no-plan"),
    ],
)  # fmt: skip
def test_what_stands_somewhere_is_grounded(plan: str) -> None:
    assert exists(plan)
    assert invented(plan) == []


@pytest.mark.parametrize(
    ("plan", "names"),
    [
        ('cancel_event(title="Root canal")', ["title"]),
        ('cancel_event(title="Dentist tomorrow")', ["title"]),
        ('cancel_event(title="tist")', ["title"]),
        ('cancel_event(title="Moon Blue")', ["title"]),
        ('cancel_event(title="")', ["title"]),
        ('play_song(song_name="Blue Moon", artist="Sinatra")', ["artist"]),
        ('call_contact(contact="Zoe Park")', ["contact"]),
        ('google_directions(destination="Oak Avenue 1", mode="walking")', ["destination"]),
        ('google_weather(location="Oslo", date="2031-01-01")', ["location", "date"]),
        ('reschedule_event(title="Dentist", new_start="2025-05-30T03:15")', ["new_start"]),
    ],
)  # fmt: skip
def test_what_stands_nowhere_is_invented(plan: str, names: list[str]) -> None:
    assert exists(plan)
    assert invented(plan) == names


def test_one_invented_name_in_a_list_makes_the_argument_invented() -> None:
    tools = [
        (tool, one)
        for tool in TOOLBOX
        for one in tool.arguments
        if one.type == "contacts" and one.match == "value"
    ]
    assert tools
    tool, argument = tools[0]
    for names, wanted in (
        (["Mia Quist", "Ben Okoro"], []),
        (["Mia Quist", "Zoe"], [argument.name]),
    ):
        assert ungrounded(Plan(tool.api, {argument.name: names}), context_of(), TOOLBOX) == wanted


def timer() -> Toolbox:
    """A toolbox with a whole number, which the packaged one does not have."""
    minutes = Argument(
        name="minutes", type="integer", match="value", required=True, description="how long"
    )
    tool = TOOLBOX.tools[0].model_copy(update={"api": "set_timer", "arguments": (minutes,)})
    return Toolbox([tool])


@pytest.mark.parametrize(("number", "grounded"), [(35, True), (350, False), (77, False)])
def test_a_whole_number_is_grounded_when_it_stands_in_the_request(
    number: int, grounded: bool
) -> None:
    context = context_of(replace(ASKED, text="in 35 minutes"))
    wanted = [] if grounded else ["minutes"]
    assert ungrounded(Plan("set_timer", {"minutes": number}), context, timer()) == wanted


def test_a_time_depends_on_what_the_request_says() -> None:
    plan = 'create_event(title="x", start="2025-04-20T15:00")'
    assert invented(plan, replace(ASKED, text="Sunday at three")) == []
    assert invented(plan, replace(ASKED, text="some day")) == ["start"]


@pytest.mark.parametrize(
    ("start", "names"), [("11:30", []), ("11:00", []), ("12:00", ["start"]), ("11:15", ["start"])]
)
def test_a_time_may_be_an_items_or_its_full_hour(start: str, names: list[str]) -> None:
    event = made(
        "calendar", "c", "Stand-up", "2025-04-17T11:30", "2025-04-17T13:00", None, (), None
    )
    view = view_of(Persona(ADA.person, (event,)))
    plan = Plan.parse(f'create_event(title="x", start="2025-04-17T{start}")')
    context = context_of(replace(ASKED, text="some day"), view)
    assert ungrounded(plan, context, TOOLBOX) == names


def test_an_api_that_does_not_exist_is_a_hallucination_and_not_ungrounded() -> None:
    assert invented('make_coffee(title="Root canal")') == []


def test_an_argument_that_the_api_does_not_have_is_left_to_the_checker() -> None:
    assert invented('cancel_event(title="Dentist", colour="mauve")') == []


def test_known_texts_are_request_profile_contacts_and_items() -> None:
    context: FeatureContext = context_of(Request("hello", NOW, "Elm Street"))
    texts = known_texts(context)
    for text in (
        "hello",
        "Elm Street",
        "Bergen",
        "chess",
        "41",
        "Mia Quist",
        "sister",
        "ben@example.no",
        "Night Bus",
    ):
        assert text in texts
