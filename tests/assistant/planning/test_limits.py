"""Claims about requests that one call cannot do whole."""

import pytest

from ctrag.assistant.planning.limits import does_half


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("don't call Femi", True),
        ("Please, don’t send that mail yet", True),
        ("never mind the alarm", True),
        ("remind me every Monday to water the plants", True),
        ("wake me at six each morning", True),
        ("don't forget to call Femi", False),
        ("don't let me forget the keys", False),
        ("tell Anna I don't eat fish", False),
        ("play Every Breath You Take", False),
        ("call Femi", False),
        ("", False),
    ],
)
def test_forbidding_and_repeating_is_more_than_a_call(text: str, half: bool) -> None:
    assert does_half(text) is half
