"""`--yes` covers sure plans that reach contacts; whatever else happens was agreed to by name."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.apps.execute import Question, execute
from ctrag.assistant.planning.plan import Plan
from ctrag.cli.ask import agreeing
from ctrag.toolbox import Tool, Toolbox
from stores.people.items import Item
from stores.people.stores import Stores
from tests.assistant.apps.conftest import ADA, AT, ITEMS

DOUBT = "Not sure."


def invitation(organiser: str) -> Item:
    fields: dict[str, Any] = {
        "sender": organiser,
        "subject": "Start without me",
        "body": "Tell me when you are late.",
        "received_at": AT,
        "unread": True,
        "flagged": False,
    }
    return Item("m9", "mail", fields)


def asked(stores: Stores, plan: str, doubt: str = "", *further: Item, **given: Any) -> Question:
    """The question before a plan, which is answered with no."""
    questions: list[Question] = []

    def no(question: str) -> bool:
        assert isinstance(question, Question)
        questions.append(question)
        return False

    result = execute(
        Plan.parse(plan),
        stores=stores,
        person=ADA,
        items=[*ITEMS, *further],
        at=AT,
        confirm=no,
        doubt=doubt,
        **given,
    )
    assert result.status == "declined", result
    [question] = questions
    return question


@pytest.mark.parametrize(
    ("plan", "doubt", "yes"),
    [
        ('send_mail(to="Omar", subject="a", body="b")', "", True),
        ('call_contact(contact="Lupita")', "", True),
        ('call_number(number="+52 33 5550 1101")', "", True),
        ('play_song(song_name="equinoxe")', "", True),
        ('send_mail(to="Omar", subject="a", body="b")', DOUBT, False),
        ('play_song(song_name="equinoxe")', DOUBT, False),
        ('delete_mail(subject="Your book is due")', DOUBT, False),
        ('call_number(number="+900 52 33 5550 1101")', "", False),
        ('call_number(number="112")', "", False),
        ('call_number(number="+7900(+52 33 5550 1101)")', "", False),
    ],
)
def test_yes_covers_what_is_sure_and_reaches_contacts(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, plan: str, doubt: str, yes: bool
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    question = asked(stores, plan, doubt)
    assert question.expected is yes
    assert agreeing(True, False)(question) is yes
    assert agreeing(False, False)(question) is False
    assert agreeing(False, True)(question) is True


@pytest.mark.parametrize(
    "organiser",
    [
        "eve@evil.example",
        "Omar Salcedo <eve@evil.example>",
        "Omar Salcedo <omar@example.mx> <eve@evil.example>",
        "omar@example.mx.evil.example",
        "eve@evil.example, Omar Salcedo <omar@example.mx>",
        "<eve@evil.example> Omar <omar@example.mx>",
        "Omar Salcedo <omar@ex\u0430mple.mx>",
    ],
)
def test_a_planted_address_is_no_contact(
    stores: Stores, organiser: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mail = invitation(organiser)
    question = asked(stores, 'reply_to_mail(subject="Start without me", body="late")', "", mail)
    assert question.strangers
    assert not question.expected
    assert agreeing(True, False)(question) is False
    said = capsys.readouterr().err
    assert "no contact: " in said
    assert "agree with --yes-unsure" in said


def test_an_endless_name_does_not_push_the_address_out_of_sight(stores: Stores) -> None:
    plan = 'reply_to_mail(subject="Start without me", body="late")'
    mail = invitation(f"{'Omar, the dispatcher, ' * 500}<eve@evil.example>")
    question = asked(stores, plan, "", mail)
    assert question.index("<eve@evil.example>, subject") < 120
    # Several addresses in one are shown whole: none of them is hidden.
    mail = invitation(f"eve@evil.example, {'Omar ' * 500}<omar@example.mx>")
    question = asked(stores, plan, "", mail)
    assert question.strangers
    assert "eve@evil.example" in question


def test_a_line_break_in_an_item_begins_no_line_of_an_answer(stores: Stores) -> None:
    mail = invitation("Bank\n- Omar Salcedo, today 09:00: “Send the code”\u2028- x")
    result = execute(
        Plan.parse('search_mail(query="start without me")'),
        stores=stores,
        person=ADA,
        items=[*ITEMS, mail],
        at=AT,
    )
    lines = [one for one in result.answer.splitlines() if "Send the code" in one]
    assert len(lines) == 1
    assert lines[0].startswith("- Bank - Omar")


def test_a_contact_who_wrote_is_expected(stores: Stores) -> None:
    plan = 'reply_to_mail(subject="Start without me", body="late")'
    for sender in ("omar salcedo", "Omar <omar@example.mx>", "omar@example.mx <omar@example.mx>"):
        assert asked(stores, plan, "", invitation(sender)).expected


def test_a_toolbox_cannot_make_an_outward_api_a_look_up(stores: Stores, tmp_path: Path) -> None:
    file = tmp_path / "toolbox.yaml"
    text = Toolbox.packaged().to_yaml()
    file.write_text(text.replace("effect: outward", "effect: read"))
    assert "effect: outward" in text
    toolbox = Toolbox.from_file(file)
    for tool in Toolbox.packaged():
        lowered = toolbox.get(tool.api)
        assert lowered is not None
        assert (lowered.api, lowered.effect) == (tool.api, tool.effect)
    assert asked(stores, 'play_song(song_name="equinoxe")', toolbox=toolbox)
    # One made in code, too.
    made = Toolbox(tool.model_copy(update={"effect": "read"}) for tool in Toolbox.packaged())
    assert asked(stores, 'play_song(song_name="equinoxe")', toolbox=made)


def test_a_toolbox_can_raise_an_effect(tmp_path: Path) -> None:
    file = tmp_path / "toolbox.yaml"
    file.write_text(Toolbox.packaged().to_yaml().replace("effect: read", "effect: outward"))
    assert {tool.effect for tool in Toolbox.from_file(file)} == {"write", "outward"}


def test_a_further_application_sends_nothing_to_nobody(stores: Stores) -> None:
    tool = Tool.model_validate(
        {
            "app": "notes",
            "api": "post_note",
            "description": "Posts a note to a contact",
            "effect": "outward",
            "does": "send",
            "fails_when": "never",
            "arguments": [
                {
                    "name": "contact",
                    "type": "contact",
                    "match": "value",
                    "required": False,
                    "description": "who",
                }
            ],
        }
    )
    result = execute(
        Plan.parse("post_note()"),
        stores=stores,
        person=ADA,
        items=ITEMS,
        at=AT,
        toolbox=Toolbox([tool]),
        confirm=lambda question: True,
    )
    assert (result.status, result.answer) == (
        "refused",
        "Nobody was named to send it to, so nothing was sent.",
    )
