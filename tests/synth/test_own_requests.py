"""Requests about declared applications state what their plan needs, or refer to it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stores.people.app_spec
from ctrag.assistant.apps.lookup import plain_words
from ctrag.toolbox import Toolbox
from stores.people.app_spec import load_apps, packaged_apps
from stores.people.dataset import load_dataset, load_labels
from stores.people.items import Item, Labels, Request
from synth.dataset import make_dataset
from synth.offline import OfflineProvider
from synth.toolbox import offline_toolbox

APPS = """
messages:
  like: mail
  fields:
    sender: {type: string, role: person}
    text: {type: text, role: text}
    sent_at: {type: datetime, role: time}
    unread: {type: boolean, role: state, required: false, default: false}
chores:
  fields:
    title: {type: string, role: title}
    due: {type: datetime, role: time}
    done: {type: boolean, role: state}
"""


class Asked:
    """A generated request with the items of its person."""

    def __init__(self, request: Request, labels: Labels, persona: Any) -> None:
        assert labels.plan is not None
        self.text, self.at, self.kind = request.text, request.asked_at, labels.kind
        self.api, self.arguments = labels.plan.api, labels.plan.arguments
        self.person, self.relevant = persona.person, set(labels.relevant or ())
        self.items: list[Item] = list(persona.items)

    def ids(self, app: str, **fields: Any) -> set[str]:
        """Ids of the items of an application with these values."""
        return {
            one.id
            for one in self.items
            if one.app == app and all(one.fields[name] == value for name, value in fields.items())
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Asked]]:
    """The requests of 110 people about two declared applications."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stores.people.app_spec, "_further", {})
        folder: Path = tmp_path_factory.mktemp("own")
        (folder / "own.yaml").write_text(APPS)
        apps = load_apps(folder / "own.yaml")
        own = offline_toolbox([one.name for one in apps], {one.name: one for one in apps})
        every = (*packaged_apps(), *apps)
        tools = Toolbox([*Toolbox.packaged(), *own])
        make_dataset(
            OfflineProvider(every, tools),
            folder / "data",
            110,
            apps=every,
            toolbox=tools,
            workers=1,
        )
        found = []
        for part in ("train", "test"):
            dataset, labels = (
                load_dataset(folder / "data" / part),
                load_labels(folder / "data" / part),
            )
            people = {one.person.person_id: one for one in dataset.personas}
            for one in dataset.requests:
                known = labels[one.query_id]
                if known.plan and known.plan.api in own.names:
                    found.append(Asked(one.request, known, people[one.person_id]))
        yield found


def called(made: list[Asked], api: str) -> list[Asked]:
    found = [one for one in made if one.api == api]
    assert found, f"nobody asks for {api}"
    return found


def test_four_kinds_are_made_and_only_explicit_names_the_application(
    made: list[Asked],
) -> None:
    assert {one.kind for one in made} == {"reference", "refind", "write", "explicit"}
    names = {"message", "messages", "chore", "chores"}
    assert [one.text for one in made if one.kind != "explicit" and names & set(plain_words(one.text))] == []  # fmt: skip
    assert any(names & set(plain_words(one.text)) for one in made)


def test_a_search_contains_its_query_and_all_matches_are_relevant(
    made: list[Asked],
) -> None:
    for one in called(made, "search_messages"):
        word = one.arguments["query"]
        assert isinstance(word, str)
        assert word in one.text
        having = {item.id for item in one.items if item.app == "messages"
                  and word.casefold() in plain_words(f"{item.text('sender')} {item.text('text')}")}  # fmt: skip
        assert (one.kind, one.relevant) == ("refind", having)


def test_a_list_names_application_and_day_and_all_items_of_the_day_are_relevant(
    made: list[Asked],
) -> None:
    for one in called(made, "list_messages"):
        assert (one.kind, "messages" in one.text) == ("explicit", True)
        day = one.arguments["date"]
        of_day = {item.id for item in one.items if item.app == "messages"
                  and str(item.time("sent_at")).startswith(str(day))}  # fmt: skip
        assert one.relevant == of_day != set()
        assert re.search(r"today|yesterday|day\b|\d+ [A-Z]", one.text)


def test_reading_names_a_relation_and_all_their_items_are_relevant(made: list[Asked]) -> None:
    for one in called(made, "read_message"):
        contact = one.person.contact(str(one.arguments["sender"]))
        match = re.search(r"my (.+?)(?: wrote)?$", one.text)
        assert match is not None
        assert match[1] in contact.relation
        assert one.relevant == one.ids("messages", sender=contact.name) != set()
        assert not any(item.app == "mail" and item.text("sender") == contact.name for item in one.items)  # fmt: skip


def test_written_values_occur_in_the_text(made: list[Asked]) -> None:
    for one in called(made, "send_message"):
        assert str(one.arguments["text"]) in one.text
    for one in called(made, "set_message_unread"):
        negated = " not " in one.text or "no longer" in one.text
        assert one.arguments["unread"] == ("no" if negated else "yes")
    for one in called(made, "move_chore"):
        assert str(one.arguments["new_due"])[-5:] in one.text
    for one in called(made, "create_chore"):
        assert str(one.arguments["title"]) in one.text


def test_an_item_with_only_a_title_is_named_by_its_full_title(made: list[Asked]) -> None:
    for one in called(made, "set_chore_done"):
        title = one.arguments["title"]
        assert (one.kind, f"“{title}”" in one.text) == ("explicit", True)
        assert one.relevant == one.ids("chores", title=title)
