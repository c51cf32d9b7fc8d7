"""Work that several threads share."""

from __future__ import annotations

import threading

import pytest

from bayou.threads import SharedWork, limited


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("beside", [True, False])
def test_every_task_is_done_once_and_after_the_first(threads, beside):
    done: list[str] = []
    with limited(threads):
        work = SharedWork(
            lambda: done.append("first"), [lambda i=i: done.append(str(i)) for i in range(50)], beside
        )
        work.finish()
    assert done[0] == "first"
    assert sorted(done[1:], key=int) == [str(i) for i in range(50)]


def test_whoever_waits_takes_part():
    """Two tasks that wait for each other end only if two threads do them."""
    meet = threading.Barrier(2)
    with limited(2):
        SharedWork(lambda: None, [lambda: meet.wait(30)] * 2).finish()
    assert not meet.broken


@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_follows_a_first_task_that_fails(threads):
    done: list[int] = []

    def fail() -> None:
        raise ValueError("no labels")

    def begin_and_finish() -> None:
        SharedWork(fail, [lambda: done.append(1)]).finish()

    with limited(threads), pytest.raises(ValueError, match="no labels"):
        begin_and_finish()
    assert done == []


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_task_raises_is_raised(threads):
    def fail() -> None:
        raise IndexError("no such class")

    def begin_and_finish() -> None:
        SharedWork(lambda: None, [fail]).finish()

    with limited(threads), pytest.raises(IndexError, match="no such class"):
        begin_and_finish()
