"""Plans from elsewhere are held to what the request's grammar lets through."""

from datetime import datetime

import pytest

from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.checks import stands_somewhere, violations
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person("ada", AT, Profile("Ada Quist"), (Contact("Omar Salcedo"), Contact("Lupita Robles")))
NOTE = Item("n1", "notes", {"title": "Gate code", "body": "", "folder": "Home", "modified_at": AT})
APIS = ("read_note", "share_note", "create_event", "move_note", "search_notes")
TOOLS = [tool for tool in Toolbox.packaged() if tool.api in APIS]
GRAMMAR = plan_grammar(TOOLS, ValueSources(Request("tomorrow at seven pm", AT), ADA, [NOTE]))


@pytest.mark.parametrize(
    "text",
    [
        "none()",
        'read_note(title="Gate code")',
        'share_note(contact="Lupita Robles", title="Gate code")',
        'create_event(title="Anything at all", start="2025-04-18T19:00")',
        'create_event(title="x", start="2025-04-18T19:00", attendees=["Omar Salcedo"])',
        'move_note(title="Gate code", folder="A folder that stands nowhere")',
        'search_notes(query="words of the model\'s own")',
    ],
)
def test_a_grounded_plan_breaks_no_rule(text: str) -> None:
    assert violations(Plan.parse(text), TOOLS, GRAMMAR) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('delete_note(title="Gate code")', "delete_note is not among the APIs"),
        ('read_note(title="gate code")', "title: 'gate code' stands nowhere; possible: Gate code"),
        ('share_note(title="Gate code", contact="Eve")', "contact: 'Eve' stands nowhere"),
        (
            'create_event(title="x", start="2025-04-18T19:00", attendees=["Omar Salcedo", "Eve"])',
            "attendees: 'Eve' stands nowhere",
        ),
        ('create_event(title="x", start="2025-04-20T03:00")', "start: '2025-04-20T03:00' stands"),
        ("read_note()", "title: read_note needs this argument"),
        ('read_note(title="Gate code", now=1)', "now: read_note has no such argument"),
        ("read_note(title=7)", "title: must be a text"),
    ],
)
def test_each_breach_is_put_into_words(text: str, problem: str) -> None:
    found = violations(Plan.parse(text), TOOLS, GRAMMAR)
    assert any(one.startswith(problem) for one in found), found


def test_an_api_that_cannot_be_called_now_is_named_with_those_that_can() -> None:
    grammar = plan_grammar(TOOLS, ValueSources(Request("x", AT), ADA, []))
    [problem] = violations(Plan("read_note", {"title": "Gate code"}), TOOLS, grammar)
    assert problem.startswith("read_note is not among the APIs that can be called: ")
    assert "search_notes" in problem


@pytest.mark.parametrize(
    ("value", "texts", "stands"),
    [
        ("Gate code", ["the GATE  code, please"], True),
        ("Macías", ["macias"], True),
        ("gate code", ["code gate"], False),
        ("gate code", ["gate", "code"], False),
        ("art", ["start"], False),
        ("", ["anything"], False),
        ("!", ["!"], False),
    ],
)
def test_a_value_stands_where_its_words_stand_together(
    value: str, texts: list[str], stands: bool
) -> None:
    assert stands_somewhere(value, texts) is stands
