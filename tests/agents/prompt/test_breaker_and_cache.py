"""The circuit breaker, the selection cache and feedback of traces."""

from pathlib import Path

import pytest

from ctrag.agents.prompt.breaker import CircuitBreaker, Open
from ctrag.agents.prompt.gains import STRENGTH, Gains
from ctrag.agents.prompt.selection_cache import SelectionCache, signature


def test_the_circuit_opens_after_failures_in_a_row_and_closes_after_a_success() -> None:
    now = [0.0]
    breaker = CircuitBreaker(failures=2, seconds=5, clock=lambda: now[0])

    def fail() -> int:
        raise OSError("gone")

    assert breaker.call(lambda: 1) == 1
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            breaker.call(fail)
    assert breaker.is_open
    with pytest.raises(Open, match="after 2 failures in a row"):
        breaker.call(lambda: 1)
    now[0] = 5.0  # one call is let through; it fails, and the circuit stays open
    with pytest.raises(OSError, match="gone"):
        breaker.call(fail)
    assert breaker.is_open
    now[0] = 10.0
    assert breaker.call(lambda: 7) == 7
    assert not breaker.is_open


def test_a_success_between_failures_starts_the_count_again() -> None:
    breaker = CircuitBreaker(failures=2)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            breaker.call(lambda: 1 // 0)
        breaker.call(lambda: 1)
    assert not breaker.is_open


def test_a_breaker_that_never_closes_is_refused() -> None:
    with pytest.raises(ValueError, match="failures: must be at least 1, not 0"):
        CircuitBreaker(failures=0)


def test_a_change_of_content_expires_every_selection() -> None:
    cache: SelectionCache[str] = SelectionCache()
    cache.put("a", "monday", "old")
    assert cache.get("a", "monday") == "old"
    assert cache.get("a", "tuesday") is None
    assert cache.get("a", "monday") is None  # gone, and not waiting for the old content


def test_what_was_used_longest_ago_goes_first() -> None:
    cache: SelectionCache[int] = SelectionCache(size=2)
    cache.put("a", "", 1)
    cache.put("b", "", 2)
    assert cache.get("a", "") == 1
    cache.put("c", "", 3)
    assert [cache.get(key, "") for key in "abc"] == [1, None, 3]
    assert len(cache) == 2


def test_a_signature_is_of_words_domain_and_calls() -> None:
    base = signature("Cancel my order!", "shop", ["x"])
    assert base == signature("cancel  MY order", "shop", ["x"])
    others = [
        signature("return my order", "shop", ["x"]),
        signature("Cancel my order!", "air", ["x"]),
        signature("Cancel my order!", "shop", ["x", "y"]),
        signature("Cancel my order!", "shop", ["x"], 300),
    ]
    assert len({base, *others}) == 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("do not cancel it", "do cancel it"),
        ("from Oslo to Rome", "to Oslo from Rome"),
        ("exchange, not return", "return, not exchange"),
        ("取消订单", "预订航班"),
        ("!!!", "???"),
        ("moved by -5", "moved by 5"),
    ],
)
def test_requests_that_say_something_else_are_another_task(one: str, other: str) -> None:
    assert signature(one, "", []) != signature(other, "", [])


def test_feedback_moves_the_factor_from_one_and_survives_the_disk(tmp_path: Path) -> None:
    gains = Gains()
    assert gains.factor("tool") == 1.0
    for _ in range(8):
        gains.learn(["tool", "other"], ["tool"])
    assert gains.factor("tool") == pytest.approx((8 + STRENGTH / 2) / (8 + STRENGTH) / 0.5)
    assert gains.factor("other") == pytest.approx((STRENGTH / 2) / (8 + STRENGTH) / 0.5)
    gains.save(tmp_path / "gains.json")
    assert Gains.load(tmp_path / "gains.json").factor("tool") == gains.factor("tool")
    assert Gains.load(tmp_path / "none.json").factor("tool") == 1.0


def test_a_broken_feedback_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gains.json"
    path.write_text('{"tool": {"exposed": -1}}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"gains\.json: "):
        Gains.load(path)
