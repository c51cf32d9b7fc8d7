"""Work that several threads share."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from bayou.threads import SharedWork, in_background, limited, over_pieces


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


def test_whoever_waits_begins_where_no_thread_is_free():
    free, done = threading.Event(), []
    with limited(2):
        busy = [in_background(lambda: free.wait(30)) for _ in range(2)]
        work = SharedWork(lambda: done.append("first"), [lambda: done.append("other")])
        assert done == []
        work.finish()
        assert done == ["first", "other"]
        assert not any(future is None or future.done() for future in busy)
        free.set()


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


def test_a_first_task_that_failed_is_not_done_again():
    free, done = threading.Event(), []

    def fail() -> None:
        done.append("first")
        raise ValueError("no labels")

    with limited(2):
        busy = [in_background(lambda: free.wait(30)) for _ in range(2)]
        work = SharedWork(fail, [lambda: done.append("other")])
        with pytest.raises(ValueError, match="no labels"):
            work.finish()
        work.finish()
        free.set()
    assert done == ["first"]
    assert all(future is not None and future.result() for future in busy)


def test_whoever_is_interrupted_still_waits_for_what_was_begun(monkeypatch):
    begun, go, done = threading.Event(), threading.Event(), []

    def slow() -> None:
        begun.set()
        go.wait(30)
        done.append("other")

    def interrupt(*_: object) -> None:
        threading.Timer(0.2, go.set).start()
        raise KeyboardInterrupt

    with limited(2):
        work = SharedWork(lambda: None, [slow])
        assert begun.wait(30)
        monkeypatch.setattr(Future, "result", interrupt)
        with pytest.raises(KeyboardInterrupt):
            work.finish()
    assert done == ["other"]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_task_raises_is_raised(threads):
    def fail() -> None:
        raise IndexError("no such class")

    def begin_and_finish() -> None:
        SharedWork(lambda: None, [fail]).finish()

    with limited(threads), pytest.raises(IndexError, match="no such class"):
        begin_and_finish()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_pieces_cover_everything_once(threads):
    with limited(threads):
        for n, grain in ((0, 4), (3, 4), (4, 4), (50, 7)):
            done: list[int] = []
            over_pieces(lambda lo, hi, done=done: done.extend(range(lo, hi)), n, grain)
            assert sorted(done) == list(range(n))


def test_pieces_of_a_thread_that_others_keep_waiting():
    """All other threads are busy with this one's like: each does its pieces alone."""
    with limited(2):
        totals = [0, 0]

        def add(which: int) -> None:
            def work(lo: int, hi: int) -> None:
                totals[which] += hi - lo

            over_pieces(work, 100, 1)

        over_pieces(lambda lo, hi: add(lo), 2, 1)
        assert totals == [100, 100]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_piece_that_fails_is_told(threads):
    def work(lo: int, hi: int) -> None:
        if lo <= 3 < hi:
            raise ValueError("no room")

    with limited(threads), pytest.raises(ValueError, match="no room"):
        over_pieces(work, 40, 2)
