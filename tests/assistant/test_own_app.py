"""An eighth application is data: the one of docs/own-app.md, from its YAML to an answer."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import stores.people.app_spec
from ctrag.assistant.apps.call import Call, Refusal
from ctrag.assistant.apps.execute import effect_of
from ctrag.assistant.assistant import Assistant
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.app_spec import apps_of, load_apps, packaged_apps, register_apps, write_apps
from stores.people.dataset import load_dataset, load_labels
from stores.people.items import Contact, Item, Person, Profile
from stores.people.stores import Stores
from synth.toolbox import offline_toolbox, write_toolbox
from tests.conftest import ROOT

AT = datetime(2025, 4, 17, 12, 0)
LUPITA = Contact("Lupita Robles", "sister", "+52 33 5550 1101")
ADA = Person(
    "ada", AT, Profile("Ada Quist", city="Bergen"), (LUPITA, Contact("Omar Salcedo", "boss"))
)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with the packaged applications only."""
    monkeypatch.setattr(stores.people.app_spec, "_further", {})


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """`messages.yaml` as the page gives it."""
    page = (ROOT / "docs" / "own-app.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    path = tmp_path / "messages.yaml"
    path.write_text(block, encoding="utf-8")
    return path


@pytest.fixture
def ctrag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """`ctrag("ask", …)`: what a command prints."""
    from ctrag.cli.main import main

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["ctrag", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert not left.value.code, err
        return out

    return run


def message(number: int, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"ada-x{number}",
        "sender": sender,
        "text": text,
        "sent_at": f"2025-04-1{number}T09:00",
        **more,
    }


ROW: dict[str, Any] = {
    "persona_id": "ada",
    "now": "2025-04-17T12:00",
    "profile": {"name": "Ada Quist", "city": "Bergen"},
    "contacts": [
        {"name": one.name, "relation": one.relation, "phone": one.phone} for one in ADA.contacts
    ],
    "apps": {
        "messages": [
            message(4, "Lupita Robles", "The ferry tickets are in the blue drawer", chat="Family"),
            message(5, "Omar Salcedo", "Shift starts at five on Monday", unread=True),
            message(6, "Omar Salcedo", "Wear the yellow vest please"),
        ],
        "notes": [
            {
                "id": "ada-n1",
                "title": "Gate code",
                "body": "4711",
                "folder": "Home",
                "modified_at": "2025-04-10T10:00",
            }
        ],
    },
}


@pytest.fixture
def folder(declared: Path, tmp_path: Path) -> Path:
    """A data set with Ada, her messages and their APIs."""
    made = tmp_path / "people"
    made.mkdir()
    (made / "personas.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    specs = load_apps(declared)
    write_apps(made, specs)
    own = offline_toolbox(["messages"], {one.name: one for one in specs})
    write_toolbox(made, Toolbox([*Toolbox.packaged(), *own]))
    return made


def test_a_declaration_reads_back_as_it_was_written(declared: Path, tmp_path: Path) -> None:
    specs = load_apps(declared)
    write_apps(tmp_path, [*packaged_apps(), *specs])
    assert load_apps(tmp_path / "apps.yaml") == specs
    assert apps_of(tmp_path) == (*packaged_apps(), *specs)


@pytest.mark.parametrize(
    ("fields", "similar"),
    [
        ("end: {type: datetime, role: end}", "calendar"),
        ("who: {type: string, role: person}", "mail"),
        ("open: {type: boolean, role: state}", "reminders"),
        ("body: {type: text, role: text}", "notes"),
        ("name: {type: string, role: title}", "google"),
    ],
)
def test_without_like_the_fields_tell_what_an_application_resembles(
    fields: str, similar: str, tmp_path: Path
) -> None:
    (tmp_path / "apps.yaml").write_text(f"own: {{fields: {{{fields}}}}}")
    [spec] = load_apps(tmp_path / "apps.yaml")
    assert spec.similar_app == similar
    assert [one.similar_app for one in packaged_apps()] == [one.name for one in packaged_apps()]


def test_two_applications_of_one_name_are_refused(declared: Path, tmp_path: Path) -> None:
    register_apps(load_apps(declared))
    (tmp_path / "apps.yaml").write_text("messages: {fields: {text: {type: text}}}")
    with pytest.raises(
        ValueError, match="messages: this name is taken by an application with other"
    ):
        apps_of(tmp_path)
    (tmp_path / "apps.yaml").write_text("own: {like: fax, fields: {text: {type: text}}}")
    with pytest.raises(ValueError, match="own: like: must be one of mail, calendar"):
        apps_of(tmp_path)


def test_synthesis_fills_it_and_asks_for_it(
    declared: Path, tmp_path: Path, ctrag: Callable[..., str]
) -> None:
    ctrag("synth", "toolbox", "--app", "messages", "--apps", declared, "--out", tmp_path / "own")
    tools = tmp_path / "own" / "toolbox.yaml"
    out = tmp_path / "data"
    ctrag(
        *("synth", "dataset", "--personas", 6, "--apps", declared, "--toolbox", tools),
        *("--out", out, "--json"),
    )
    parts = [part for part in (out / "train", out / "test") if (part / "apps.yaml").exists()]
    people = [one for part in parts for one in load_dataset(part).personas]
    assert len(people) == 6
    assert all(any(item.app == "messages" for item in one.items) for one in people)
    own = set(Toolbox.from_file(tools).names)
    plans = [one.plan.api for part in parts for one in load_labels(part).values() if one.plan]
    assert own.intersection(plans)
    assert set(plans) - own


def test_stores_keep_it_through_import_export_and_forgetting(
    folder: Path, tmp_path: Path, ctrag: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = tmp_path / "stores", tmp_path / "out"
    ctrag("import", folder, "--stores", root)
    monkeypatch.setattr(stores.people.app_spec, "_further", {})  # as in another process
    assert "send_message" in Toolbox.from_file(root / "toolbox.yaml").names
    assert "4 as before" in ctrag("import", folder, "--stores", root)
    ctrag("export", "--persona", "ada", "--stores", root, "--out", out)
    [was], [now] = load_dataset(folder).personas, load_dataset(out).personas
    assert (now.person, set(map(repr, now.items))) == (was.person, set(map(repr, was.items)))
    assert ctrag("forget", "--persona", "ada", "--stores", root, "--item", "ada-x4", "--yes") == (
        f"1 item erased\nerased from: {out}\n"
    )
    left = {stored.item.id for stored in Stores.open(root).items("ada").items}
    assert left == {"ada-x5", "ada-x6", "ada-n1"}


@pytest.mark.parametrize(
    ("text", "plan", "first", "answer"),
    [
        (
            "where did my sister say the tickets are",
            'read_message(sender="Lupita Robles")',
            "ada-x4",
            "The ferry tickets are in the blue drawer",
        ),
        (
            "text Lupita that I found them",
            'send_message(contact="Lupita Robles", text="I found them")',
            "ada-x4",
            "Sent “I found them” to Lupita Robles (+52 33 5550 1101).",
        ),
    ],
    ids=["read", "send"],
)
def test_a_request_finds_its_items_and_apis_is_planned_and_run(
    text: str,
    plan: str,
    first: str,
    answer: str,
    folder: Path,
    through_endpoint: Any,
    configure: Callable[..., None],
) -> None:
    configure(tools=5)
    through_endpoint.answers = [plan]
    assistant = Assistant.open(folder, "ada", planner="openai")
    asked: list[str] = []
    found = assistant.ask(text, run=True, confirm=lambda question: not asked.append(question))
    assert found.items[0].item.id == first
    assert Plan.parse(plan).api in [one.tool.api for one in found.tools]
    assert str(found.plan) == plan
    assert found.result is not None
    assert answer in found.result.answer
    assert bool(asked) == plan.startswith("send")
    if asked:
        [question] = asked
        question = question.removeprefix("Not sure. ")
        assert question == "Send message to Lupita Robles (+52 33 5550 1101): “I found them”?"
        [(app, row)] = assistant.stores.outbox("ada")
        assert (app, row.entry.recipient) == ("messages", "Lupita Robles")
        assistant.stores.undo("ada")
        assert assistant.stores.outbox("ada") == []


def test_an_own_application_sends_nothing_to_somebody_without_an_address(folder: Path) -> None:
    tools = Toolbox.from_file(folder / "toolbox.yaml")
    apps_of(folder)
    plan = Plan("send_message", {"contact": "Omar Salcedo", "text": "Hi"})
    with pytest.raises(Refusal, match="Omar Salcedo has neither a number nor a mail address"):
        effect_of(plan, Call(plan.api, plan.arguments, ADA, [], AT), tools)


@pytest.mark.slow
def test_the_embedded_planner_gives_the_plan_that_the_page_shows(
    declared: Path,
    tmp_path: Path,
    ctrag: Callable[..., str],
    with_planner: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = (ROOT / "docs" / "own-app.md").read_text(encoding="utf-8")
    monkeypatch.chdir(declared.parent)
    commands = re.findall(r"^ctrag (synth|ask) (.*)$", page, flags=re.MULTILINE)
    offline = [(name, rest) for name, rest in commands if "openai" not in rest]
    assert [name for name, _ in offline] == ["synth", "synth", "ask"]
    for name, rest in offline:
        said = ctrag(name, *shlex.split(rest))
    [shown] = re.findall(r"^plan\n  (\S.*?)   \(", page, flags=re.MULTILINE)
    assert shown == 'read_message(sender="Nathaniel Reeves")'
    assert f"\nplan\n  {shown}   (" in said


LOANS = """
loans:
  fields:
    title: {type: string, role: title}
    due: {type: datetime, role: time}
    renewed: {type: boolean, role: state, required: false, default: false}
    branch: {type: string, role: place, values: [north, south]}
"""
BOOKS = [
    Item(
        "l1",
        "loans",
        {"title": "Emma", "due": datetime(2025, 4, 20), "renewed": False, "branch": "north"},
    ),
    Item(
        "l2",
        "loans",
        {"title": "Ulysses", "due": datetime(2025, 4, 25), "renewed": True, "branch": "south"},
    ),
]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """`run(api, …)`: the effect of an API of the loans."""
    (tmp_path / "apps.yaml").write_text(LOANS)
    specs = {one.name: one for one in apps_of(tmp_path)}
    tools = offline_toolbox(["loans"], specs)

    def effect(api: str, **arguments: str) -> Any:
        plan = Plan(api, dict(arguments))
        return effect_of(plan, Call(api, plan.arguments, ADA, BOOKS, AT), tools)[1]

    return effect


def test_find_shows_what_fits_the_latest_first(run: Callable[..., Any]) -> None:
    assert [one.id for one in run("list_loans").items] == ["l2", "l1"]
    assert [one.id for one in run("list_loans", date="2025-04-20").items] == ["l1"]
    assert [one.id for one in run("search_loans", query="ulysses please").items] == ["l2"]
    assert run("read_loan", title="emma").answer == "Loans:\n- Sun 20 Apr 2025 00:00, Emma: north"
    assert run("list_loans").change is None


def test_create_takes_its_arguments_and_leaves_the_rest_empty(run: Callable[..., Any]) -> None:
    [made] = run("create_loan", title="Persuasion").items
    assert made.fields == {"title": "Persuasion", "due": AT, "renewed": False, "branch": "north"}


def test_change_gives_the_item_that_fits_its_new_value(run: Callable[..., Any]) -> None:
    [moved] = run("move_loan", title="Emma", new_due="2025-05-01T10:00").items
    assert (moved.id, moved.fields["due"]) == ("l1", datetime(2025, 5, 1, 10))
    [renewed] = run("set_loan_renewed", title="Emma", renewed="yes").items
    assert (renewed.id, renewed.fields["renewed"]) == ("l1", True)


def test_remove_takes_out_one_item(run: Callable[..., Any]) -> None:
    assert run("delete_loan", title="Ulysses").change.remove == ("l2",)


def test_what_fits_nothing_is_refused(run: Callable[..., Any]) -> None:
    with pytest.raises(Refusal, match="Nothing in loans fits “Middlemarch”"):
        run("read_loan", title="Middlemarch")
    with pytest.raises(Refusal, match="renewed: must be one of yes, no"):
        run("set_loan_renewed", title="Emma", renewed="maybe")


LISTS = """
lists:
  fields:
    title: {type: string, role: title}
    done: {type: boolean, role: state}
"""


def test_an_application_without_a_time_is_filled_found_planned_and_run(
    tmp_path: Path, ctrag: Callable[..., str], through_endpoint: Any
) -> None:
    apps, out = tmp_path / "lists.yaml", tmp_path / "data"
    apps.write_text(LISTS)
    ctrag("synth", "toolbox", "--app", "lists", "--apps", apps, "--out", tmp_path / "own")
    tools = tmp_path / "own" / "toolbox.yaml"
    ctrag(
        *("synth", "dataset", "--personas", 20, "--apps", apps, "--toolbox", tools),
        *("--out", out, "--json"),
    )
    plans = [one.plan.api for one in load_labels(out / "train").values() if one.plan]
    assert {"search_lists", "set_list_done"} <= set(plans)
    row = ROW | {"apps": {"lists": [{"id": f"ada-l{n}", "title": title, "done": False}
                                    for n, title in enumerate(("Ferry timetable", "Knots"))]}}  # fmt: skip
    (out / "train" / "personas.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (out / "train" / "queries.jsonl").unlink()
    through_endpoint.answers = ['search_lists(query="ferry")']
    found = Assistant.open(out / "train", "ada", planner="openai").ask(
        "where is the ferry", run=True
    )
    assert found.items[0].item.id == "ada-l0"
    assert found.result is not None
    assert found.result.answer == "Lists:\n- Ferry timetable"
