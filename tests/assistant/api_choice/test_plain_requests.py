"""Claims about requests that say what they want outright, with the packaged classifier."""

from pathlib import Path

import pytest

from ctrag import Assistant
from tests.training.conftest import copy_people


@pytest.fixture(scope="module")
def engineer(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    """A father whose daughter's nursery is in his calendar, mail and calls."""
    return Assistant.open(copy_people("dev", 1, tmp_path_factory.mktemp("engineer")), "p007")


@pytest.mark.parametrize(
    ("text", "api"),
    [
        ("reschedule the career day to ten", "reschedule_event"),
        ("cancel the progress meeting", "cancel_event"),
        ("what's on tomorrow", "list_events"),
        ("delete the career day mail", "delete_mail"),
        ("turn off the lights", "none"),
        ("order me a taxi", "none"),
        ("set a timer for ten minutes", "none"),
    ],
)
def test_plain_requests_are_read_as_they_stand(
    engineer: Assistant, with_planner: Path, text: str, api: str
) -> None:
    assert engineer.ask(text).plan.api == api
