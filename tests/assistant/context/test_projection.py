"""Claims about the cheap first look at very many vectors."""

import numpy as np
import pytest

from ctrag.assistant.context import candidates as module
from ctrag.assistant.context import item_arrays as view_module
from ctrag.assistant.context.candidates import candidates
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.projection import AXES, LowDimensionalProjection
from stores.people.items import Item, Person, Profile, Request
from tests.assistant.context.conftest import NOW, made


def vectors_like(count: int, dimension: int, spread: float) -> np.ndarray:
    """Unit vectors that spread less and less along their axes, as those of texts do."""
    drawn = np.random.default_rng(0)
    rows = drawn.standard_normal((count, dimension)) * np.arange(1, dimension + 1) ** -spread
    turned = rows @ np.linalg.qr(drawn.standard_normal((dimension, dimension)))[0]
    return (turned / np.linalg.norm(turned, axis=1, keepdims=True)).astype(np.float32)


def test_few_dimensions_are_kept_exactly() -> None:
    vectors = vectors_like(300, AXES - 56, 0.5)
    projected = LowDimensionalProjection.of(vectors)
    assert projected.products(vectors[3]) == pytest.approx(vectors @ vectors[3], abs=1e-5)


def test_the_best_by_the_vectors_are_among_the_best_by_few_axes() -> None:
    aims, vectors = np.split(vectors_like(5_020, 600, 0.5), [20])
    projected = LowDimensionalProjection.of(vectors)
    assert projected.vectors.shape == (5_000, AXES)
    found = []
    for aim in aims:
        best = np.argsort(-(vectors @ aim))[:30]
        found.append(np.isin(best, np.argsort(-projected.products(aim))[:200]).mean())
    assert np.mean(found) > 0.97


def test_axes_stand_at_right_angles_and_are_the_same_each_time() -> None:
    vectors = vectors_like(1_000, 400, 0.5)
    first, second = LowDimensionalProjection.of(vectors), LowDimensionalProjection.of(vectors)
    assert first.axes.T @ first.axes == pytest.approx(np.eye(AXES), abs=1e-4)
    assert np.array_equal(first.vectors, second.vectors)


def person_with(vectors: np.ndarray) -> PersonView:
    """Notes that say nothing and have no habit: only meaning and time choose among them."""
    items: list[Item] = [
        made("notes", f"n{number}", "", "", "", NOW) for number in range(len(vectors))
    ]
    return PersonView(Person("max", NOW, Profile("Max")), tuple(items), vectors)


def test_a_person_with_very_many_items_gets_the_same_candidates_as_by_all_axes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RECENT", 1)
    aims, vectors = np.split(vectors_like(3_010, 300, 0.5), [10])
    shares = []
    for aim in aims:
        chosen = []
        for limit in (100, 20_000):
            monkeypatch.setattr(view_module, "PROJECTED_FROM", limit)
            view = person_with(vectors)
            assert (view.projected is None) == (limit > len(vectors))
            chosen.append(set(candidates(view, Request("?", NOW), aim)))
        assert len(chosen[0]) == len(chosen[1])
        shares.append(len(chosen[0] & chosen[1]) / len(chosen[1]))
    assert np.mean(shares) > 0.98
