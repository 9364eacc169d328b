"""Claims about local times as data sets spell them."""

from datetime import datetime

import pytest

from stores.people.local_time import format_local_time, parse_local_time


@pytest.mark.parametrize(
    "value",
    [
        "2025-04-17T12:59",
        "2025-04-17T12:59:59",
        "2025-04-17T12:59:59.999",
        datetime(2025, 4, 17, 12, 59, 59, 999_999),
    ],
)
def test_a_time_is_cut_to_the_minute_and_not_rounded(value: object) -> None:
    assert parse_local_time(value) == datetime(2025, 4, 17, 12, 59)


def test_a_time_is_spelled_as_it_is_read() -> None:
    assert format_local_time(parse_local_time("2025-04-07T09:05:30")) == "2025-04-07T09:05"
