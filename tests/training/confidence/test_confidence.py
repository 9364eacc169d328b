"""Claims about the confidence of whole calls."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.planning.confidence import FEATURES, Confidence, Evidence
from eval.core.calibration import expected_calibration_error
from training.confidence.train import Considered, fit_calls, fit_confidence

SOURCE = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "people": [],
    "seed": 1,
    "versions": {},
}


def drawn(count: int) -> list[Considered]:
    """Plans whose true probability is that of the API times 0.8, whatever their arguments say."""
    draw = np.random.default_rng(0)
    shares = draw.uniform(0.3, 0.99, count)
    evidence = [Evidence(float(one), float(1 - one), 0.99, 0.99) for one in shares]
    right = [bool(one) for one in draw.random(count) < 0.8 * shares]
    return [
        Considered(f"person {number % 20}", (one,), (hit,))
        for number, (one, hit) in enumerate(zip(evidence, right, strict=True))
    ]


def test_a_fitted_confidence_is_as_high_as_calls_are_right() -> None:
    fitted = fit_confidence(drawn(2000), SOURCE)
    asked = drawn(500)
    evidence, right = [one.calls[0] for one in asked], [one.right[0] for one in asked]
    stated = [fitted.of(one) for one in evidence]
    raw = [one.product for one in evidence]
    assert expected_calibration_error(stated, right) < 6
    assert expected_calibration_error(raw, right) > 10
    figures = fitted.figures["cross-validated"]
    assert figures["calibration_error"] < figures["without"]


def test_more_evidence_is_more_confidence() -> None:
    fitted = fit_confidence(drawn(2000), SOURCE)
    assert fitted.of(Evidence(0.9, 0.1)) > fitted.of(Evidence(0.5, 0.4))


def test_what_was_saved_is_what_is_loaded(tmp_path: Path) -> None:
    fitted = fit_confidence(drawn(200), SOURCE)
    fitted.save(tmp_path)
    assert Confidence.load(tmp_path) == fitted
    assert len(fitted.weights) == len(FEATURES)


def test_one_of_other_features_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    fitted = fit_confidence(drawn(200), SOURCE)
    fitted.model_copy(update={"settings": {"features": ["share"]}}).save(tmp_path)
    with pytest.raises(ValueError, match=r"made for other features; train it again: toy"):
        Confidence.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_certainty_is_no_infinity(share: float) -> None:
    fitted = Confidence(**SOURCE, settings={}, figures={}, weights=[9.0] * len(FEATURES), bias=0.0)
    assert 0 <= fitted.of(Evidence(share, 1 - share, share, share)) <= 1


def test_the_evidence_without_calibration_is_the_product() -> None:
    assert Evidence(0.5, 0.2, 0.4, 0.4).product == pytest.approx(0.2)


def pairs(count: int) -> list[Considered]:
    """Two calls each; the API says little, but the right one has all that was said."""
    draw = np.random.default_rng(1)
    found = []
    for number in range(count):
        share, first = float(draw.uniform(0.5, 0.7)), bool(draw.random() < 0.5)
        calls = (
            Evidence(share, 1 - share, covered=1.0 if first else 0.4),
            Evidence(1 - share, share, covered=0.4 if first else 1.0),
        )
        found.append(Considered(f"person {number % 20}", calls, (first, not first)))
    return found


def test_the_choice_learns_what_the_api_does_not_say() -> None:
    fitted, weighed = fit_calls(pairs(200), SOURCE)
    figures = fitted.figures["cross-validated"]
    assert figures["first_right"] < 60
    assert figures["chosen_right"] == figures["any_right"] == 100
    assert all(one.right[0] for one in weighed), "by choices that never saw the person"
    low, high = Evidence(0.6, 0.4, covered=0.4), Evidence(0.4, 0.6, covered=1.0)
    assert fitted.weighed([low, high])[0][0] == 1


def test_without_a_right_and_a_wrong_call_there_is_nothing_to_choose() -> None:
    with pytest.raises(ValueError, match="one call is right and another wrong"):
        fit_calls(drawn(50), SOURCE)


def test_calls_that_are_all_right_calibrate_nothing() -> None:
    always = [Considered(f"p{at}", (Evidence(0.9, 0.1),), (True,)) for at in range(10)]
    with pytest.raises(ValueError, match="calls that are wrong are needed"):
        fit_confidence(always, SOURCE)
