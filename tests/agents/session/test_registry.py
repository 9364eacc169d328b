"""Sessions by handle: bounded in number and age, each for its owner alone."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.events import Event
from ctrag.agents.session.registry import SessionRegistry, UnknownSession
from ctrag.agents.session.tool_session import ToolSession

Make = Callable[..., CatalogueTool]


def test_a_handle_opens_its_session_again_and_no_other_does() -> None:
    registry = SessionRegistry(ToolSession)
    handle, session = registry.open("ada")
    assert registry.get(handle, "ada") is session
    for wrong, who in ((handle, "bob"), (handle, ""), ("made up", "ada"), (session.id, "ada")):
        with pytest.raises(UnknownSession, match="session: unknown or ended; open a new one"):
            registry.get(wrong, who)


def test_handles_are_long_and_never_the_same() -> None:
    registry = SessionRegistry(ToolSession, maximum=5)
    handles = {registry.open()[0] for _ in range(100)}
    assert len(handles) == 100
    assert min(map(len, handles)) >= 32


def test_the_oldest_goes_when_there_are_too_many(clock: Any) -> None:
    registry = SessionRegistry(ToolSession, maximum=2, clock=clock)
    handles = []
    for _ in range(3):
        handles.append(registry.open()[0])
        clock.now += 1
    assert len(registry) == 2
    with pytest.raises(UnknownSession, match="unknown or ended"):
        registry.get(handles[0])
    assert registry.get(handles[1]) is not registry.get(handles[2])


def test_a_session_ends_at_its_age(clock: Any) -> None:
    registry = SessionRegistry(ToolSession, max_age=60, clock=clock)
    handle, _ = registry.open()
    clock.now += 60
    registry.get(handle)
    clock.now += 1
    with pytest.raises(UnknownSession, match="unknown or ended"):
        registry.get(handle)
    assert len(registry) == 0


def test_who_opens_many_loses_their_own_first(clock: Any) -> None:
    registry = SessionRegistry(ToolSession, maximum=10, per_principal=2, clock=clock)
    adas, _ = registry.open("ada")
    bobs = [registry.open("bob")[0] for _ in range(9)]
    assert len(registry) == 3
    registry.get(adas, "ada")
    registry.get(bobs[-1], "bob")


def test_closing_is_the_owners(clock: Any) -> None:
    events: list[Event] = []

    def make(session_id: str, principal: str) -> ToolSession:
        return ToolSession(session_id, principal, record=events.append)

    registry = SessionRegistry(make, clock=clock)
    handle, session = registry.open("ada")
    assert not registry.close(handle, "bob")
    assert registry.close(handle, "ada")
    assert not registry.close(handle, "ada")
    assert [one.event for one in events] == [
        "ctrag.session.open",
        "ctrag.session.close",
    ]
    assert handle not in "".join(one.model_dump_json() for one in events)
    assert session.id not in handle


def test_sessions_are_saved_without_their_handles_and_taken_up_again(
    tmp_path: Path, tool: Make, clock: Any
) -> None:
    path = tmp_path / "sessions.json"
    registry = SessionRegistry(ToolSession, max_age=100, clock=clock)
    old, _ = registry.open("ada")
    clock.now += 60
    handle, session = registry.open("ada")
    session.found("x", [tool("a"), tool("gone")])
    registry.save(path)
    assert handle not in path.read_text(encoding="utf-8")
    clock.now += 50
    later = SessionRegistry(ToolSession, max_age=100, clock=clock)
    fresh, _ = later.open("bob")
    assert later.load(path, lambda name: None if name == "gone" else tool(name)) == 2
    assert [one.id for one in later.get(handle, "ada").tools] == ["a"]
    with pytest.raises(UnknownSession, match="unknown or ended"):
        later.get(old, "ada")
    with pytest.raises(UnknownSession, match="unknown or ended"):
        later.get(handle, "bob")
    clock.now += 60
    later.get(fresh, "bob")
    assert len(later) == 1, "age counts from the first opening"


def test_of_too_many_saved_sessions_the_oldest_are_left_behind(
    tmp_path: Path, tool: Make, clock: Any
) -> None:
    registry = SessionRegistry(ToolSession, clock=clock)
    handles = []
    for name in ("ada", "bob", "bob", "bob"):
        handles.append((name, registry.open(name)[0]))
        clock.now += 1
    registry.save(tmp_path / "sessions.json")
    later = SessionRegistry(ToolSession, maximum=3, per_principal=2, clock=clock)
    fresh, _ = later.open("carl")
    later.load(tmp_path / "sessions.json", tool)
    later.get(fresh, "carl")
    for name, handle in handles[2:]:
        later.get(handle, name)
    assert len(later) == 3, "bob's first is one too many of his, ada's the oldest of all"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sessions": [{}]}', "[" * 100_000])
def test_a_damaged_file_takes_nothing_up(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    path.write_text(text, encoding="utf-8")
    registry = SessionRegistry(ToolSession)
    with pytest.raises(
        ValueError, match=r"sessions\.json: not a file of saved sessions: "
    ) as caught:
        registry.load(path, lambda name: None)
    assert len(str(caught.value).splitlines()) == 1
    assert len(registry) == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"maximum": 0}, "maximum: must be at least 1, not 0"),
        ({"per_principal": 0}, "per_principal: must be at least 1, not 0"),
        ({"max_age": 0.0}, r"max_age: must be above 0 seconds, not 0\.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SessionRegistry(ToolSession, **given)


def test_many_threads_open_and_find_their_own() -> None:
    registry = SessionRegistry(ToolSession, maximum=1000)
    wrong: list[str] = []

    def work(name: str) -> None:
        for _ in range(50):
            handle, session = registry.open(name)
            if registry.get(handle, name) is not session:
                wrong.append(handle)

    threads = [threading.Thread(target=work, args=(f"user{n}",)) for n in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (wrong, len(registry)) == ([], 800)
