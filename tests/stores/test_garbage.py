import gc

import pytest

from stores.garbage import without_collection


def test_collection_rests_inside_and_goes_on_after_an_error_too() -> None:
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), without_collection():
        raise KeyError
    assert gc.isenabled()


def test_collection_that_somebody_else_switched_off_stays_off() -> None:
    with without_collection():
        with without_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
