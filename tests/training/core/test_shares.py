"""Claims about shares of data sets."""

import pytest

from training.core.shares import drawn, shares_of, times

TEXTS = [f"request {number}" for number in range(2000)]


def test_a_share_is_about_that_share_and_always_the_same() -> None:
    some = [text for text in TEXTS if drawn(text, 0.3)]
    assert len(some) == pytest.approx(600, abs=60)
    assert some == [text for text in TEXTS if drawn(text, 0.3)]


def test_a_smaller_share_lies_within_a_larger_one() -> None:
    assert all(drawn(text, 0.6) for text in TEXTS if drawn(text, 0.3))


def test_a_share_above_one_repeats_requests_on_average() -> None:
    often = [times(text, 2.5) for text in TEXTS]
    assert set(often) == {2, 3}
    assert sum(often) == pytest.approx(5000, abs=60)
    assert {times(text, 3) for text in TEXTS} == {3}


@pytest.mark.parametrize("given", ["seal", "seal=x", "sea=0.5", "seal=0", "seal=11"])
def test_invalid_shares_are_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"--share: .* must be NAME=SHARE, NAME among seal"):
        shares_of([given], ["seal"], most=10)
