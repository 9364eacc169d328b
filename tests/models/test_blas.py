import threading
from collections.abc import Iterator

import pytest
import scipy.linalg  # noqa: F401
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from ctrag.models.blas import one_blas_thread


def blas_threads() -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture
def before() -> Iterator[set[int]]:
    limited = threadpool_limits(2, user_api="blas")
    # Else the limit of this fixture would keep other threads from setting theirs.
    OpenBLASController.clear_controlling_thread(force=True)
    found = blas_threads()
    assert found == {2}
    yield found
    limited.restore_original_limits()
    OpenBLASController.clear_controlling_thread(force=True)


def test_the_block_has_one_thread_and_what_comes_after_it_as_many_as_before(before):
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_the_limit_is_lifted_after_an_error(before):
    with pytest.raises(ValueError, match="of the block"), one_blas_thread():
        raise ValueError("of the block")
    assert blas_threads() == before


def test_a_block_of_another_thread_waits_and_the_limit_is_lifted_after_both(before):
    inside, leave, seen = threading.Event(), threading.Event(), []

    def stay() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    def count() -> None:
        with one_blas_thread():
            seen.append(blas_threads())

    first, second = threading.Thread(target=stay), threading.Thread(target=count)
    first.start()
    assert inside.wait(10)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    assert seen == []
    leave.set()
    first.join(10)
    second.join(10)
    assert seen == [{1}]
    assert blas_threads() == before


def test_blocks_may_be_nested(before):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == before
