"""Claims about the calibration error: arithmetic a reader can redo."""

import pytest

from eval.core.calibration import expected_calibration_error


def test_a_confidence_that_keeps_its_word_has_no_error() -> None:
    assert expected_calibration_error([0.75] * 4, [True, True, True, False]) == 0.0


def test_bins_are_weighted_by_their_rows() -> None:
    # Bin 0.9: three rows, two right: |2.7 - 2| = 0.7; bin 0.2: one row, wrong: 0.2. (0.7 + 0.2) / 4
    found = expected_calibration_error([0.9, 0.9, 0.9, 0.2], [True, True, False, False])
    assert found == pytest.approx(22.5)


def test_certainty_belongs_to_the_last_bin() -> None:
    assert expected_calibration_error([1.0], [False]) == 100
    # One bin: |1.95 - 1| / 2; bins of their own would give (0 + 0.95) / 2 too, so this has two
    # wrong rows beside a right one: |2.87 - 1| / 3.
    found = expected_calibration_error([1.0, 0.95, 0.92], [False, True, False])
    assert found == pytest.approx(100 * 1.87 / 3)


def test_there_are_ten_bins() -> None:
    # 0.8 to 0.9: |0.85 - 1|; 0.9 to 1: 0.95.
    assert expected_calibration_error([0.85, 0.95], [True, False]) == pytest.approx(55)
    # 0 to 0.1: |0.145 - 1|; 0.1 to 0.2: |0.3 - 1|; nine or eleven bins would part them elsewhere.
    found = expected_calibration_error([0.05, 0.095, 0.105, 0.195], [True, False, True, False])
    assert found == pytest.approx(100 * (0.855 + 0.7) / 4)


def test_rows_and_verdicts_must_match() -> None:
    with pytest.raises(ValueError, match="as many values as verdicts"):
        expected_calibration_error([0.5], [])
    with pytest.raises(ValueError, match="at least one"):
        expected_calibration_error([], [])
