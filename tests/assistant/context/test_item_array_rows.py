"""Claims about what a view makes of its items on demand."""

import gc
import weakref

from ctrag.assistant.context.item_arrays import Rows
from tests.assistant.context.conftest import view_of


def test_a_value_is_made_when_it_is_asked_for_and_once() -> None:
    made: list[int] = []

    def make(row: int) -> str:
        made.append(row)
        return str(row)

    rows = Rows(4, make)
    assert (rows[2], rows[2], len(rows), made) == ("2", "2", 4, [2])
    assert list(rows) == ["0", "1", "2", "3"]
    assert made == [2, 0, 1, 3]


def test_a_view_that_nobody_needs_is_freed_at_once() -> None:
    view = view_of()
    gc.collect()
    gc.disable()  # reference cycles would keep it, with all of its vectors
    try:
        for rows in (view.title_terms, view.term_sets, view.people, view.groups):
            assert len(list(rows)) == len(view)
        assert len(view.bm25.scores([])) == len(view)
        assert view.timelines
        assert len(view.grams(0).ids)
        gone = weakref.ref(view)
        del view, rows
        assert gone() is None
    finally:
        gc.enable()
