import gc

import pytest

from stores.gc_pause import gc_paused


def test_collection_rests_inside_and_goes_on_after_an_error_too() -> None:
    assert gc.isenabled()
    with gc_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        raise KeyError
    assert gc.isenabled()


def test_collection_that_somebody_else_switched_off_stays_off() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
