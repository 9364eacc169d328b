"""Claims about numbers: a training computes in bfloat16 where that is faster, never elsewhere."""

import pytest
import torch

from training.core import precision
from training.core.precision import halves, number_type


@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        ({torch.bfloat16: 1.0, torch.float32: 2.0}, torch.bfloat16),
        ({torch.bfloat16: 2.0, torch.float32: 1.0}, torch.float32),
    ],
)
def test_a_processor_computes_in_what_was_measured_to_be_faster(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[torch.dtype, float], kind: torch.dtype
) -> None:
    monkeypatch.setattr(precision, "_seconds", seconds.__getitem__)
    precision._fast_here.cache_clear()
    assert number_type() is kind
    assert halves() is (kind is torch.bfloat16)
    precision._fast_here.cache_clear()


def test_a_gpu_computes_in_bfloat16_whatever_its_processor_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precision, "_fast_here", lambda: False)
    assert halves("cuda:1")
    assert number_type("mps") is torch.bfloat16


def test_what_is_chosen_here_is_the_faster_of_the_two() -> None:
    took = {kind: precision._seconds(kind) for kind in (torch.bfloat16, torch.float32)}
    fast, slow = sorted(took, key=took.__getitem__)
    # Where they are nearly equal a measurement may turn.
    assert number_type() is fast or took[slow] < 2 * took[fast]
