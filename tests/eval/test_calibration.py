"""Claims about the calibration error: arithmetic a reader can redo."""

import pytest

from eval.calibration import expected_calibration_error


def test_a_confidence_that_keeps_its_word_has_no_error() -> None:
    assert expected_calibration_error([0.75] * 4, [True, True, True, False]) == 0.0


def test_bins_are_weighted_by_their_rows() -> None:
    # Bin 0.9: three rows, two right: |2.7 - 2| = 0.7; bin 0.2: one row, wrong: 0.2. (0.7 + 0.2) / 4
    found = expected_calibration_error([0.9, 0.9, 0.9, 0.2], [True, True, False, False])
    assert found == pytest.approx(22.5)


def test_certainty_belongs_to_the_last_bin() -> None:
    assert expected_calibration_error([1.0, 0.95], [True, False]) == pytest.approx(47.5)


def test_rows_and_verdicts_must_match() -> None:
    with pytest.raises(ValueError, match="as many values as verdicts"):
        expected_calibration_error([0.5], [])
    with pytest.raises(ValueError, match="at least one"):
        expected_calibration_error([], [])
