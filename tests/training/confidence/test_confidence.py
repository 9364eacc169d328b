"""Claims about the confidence of whole calls."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.planning.confidence import FEATURES, Confidence, Evidence
from eval.core.calibration import expected_calibration_error
from training.confidence.train import fit_confidence

SOURCE = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "people": [],
    "seed": 1,
    "versions": {},
}


def drawn(count: int) -> tuple[list[Evidence], list[bool], list[str]]:
    """Plans whose true probability is that of the API times 0.8, whatever their arguments say."""
    draw = np.random.default_rng(0)
    shares = draw.uniform(0.3, 0.99, count)
    evidence = [Evidence(float(one), float(1 - one), 0.99, 0.99) for one in shares]
    right = [bool(one) for one in draw.random(count) < 0.8 * shares]
    return evidence, right, [f"person {number % 20}" for number in range(count)]


def test_a_fitted_confidence_is_as_high_as_calls_are_right() -> None:
    fitted = fit_confidence(*drawn(2000), SOURCE)
    evidence, right, _ = drawn(500)
    stated = [fitted.of(one) for one in evidence]
    raw = [one.product for one in evidence]
    assert expected_calibration_error(stated, right) < 6
    assert expected_calibration_error(raw, right) > 10
    figures = fitted.figures["cross-validated"]
    assert figures["calibration_error"] < figures["without"]


def test_more_evidence_is_more_confidence() -> None:
    fitted = fit_confidence(*drawn(2000), SOURCE)
    assert fitted.of(Evidence(0.9, 0.1)) > fitted.of(Evidence(0.5, 0.4))


def test_what_was_saved_is_what_is_loaded(tmp_path: Path) -> None:
    fitted = fit_confidence(*drawn(200), SOURCE)
    fitted.save(tmp_path)
    assert Confidence.load(tmp_path) == fitted
    assert len(fitted.weights) == len(FEATURES)


def test_one_of_other_features_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    fitted = fit_confidence(*drawn(200), SOURCE)
    fitted.model_copy(update={"settings": {"features": ["share"]}}).save(tmp_path)
    with pytest.raises(ValueError, match=r"made for other features; train it again: toy"):
        Confidence.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_certainty_is_no_infinity(share: float) -> None:
    fitted = Confidence(**SOURCE, settings={}, figures={}, weights=[9.0] * 5, bias=0.0)
    assert 0 <= fitted.of(Evidence(share, 1 - share, share, share)) <= 1


def test_the_evidence_without_calibration_is_the_product() -> None:
    assert Evidence(0.5, 0.2, 0.4, 0.4).product == pytest.approx(0.2)
