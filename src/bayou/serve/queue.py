"""The queue before the learner: bounded by rows, drained in micro-batches."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

from bayou.serve.bodies import Batch
from bayou.serve.errors import BusyError
from bayou.serve.log import Item, LogPlace

MOST_ROWS = 100_000  # in the queue
MOST_BYTES = 64 << 20  # of their bodies
DRAIN_ROWS, DRAIN_TASKS = 8_192, 256  # taken at once; a checkpointed drain is one entry of the log


@dataclass(frozen=True)
class Task:
    """A batch to learn or to unlearn, or a model to promote; `future` gets the result.

    Parameters
    ----------
    verb
        "learn", "unlearn" or "promote".
    batch
        The rows; the body of a promotion is the name of the model.
    key
        Of two tasks with the same key, one is carried out.
    durable
        Whether the result comes only once the batch is safe on disk.
    visible
        Whether the result comes only once predictions are made from it; else they follow soon.
    deadline
        Moment of `time.monotonic` after which the task is not begun any more.
    place
        The position behind the rows, if they come from a followed log.
    """

    verb: str
    batch: Batch
    key: str | None = None
    durable: bool = False
    visible: bool = False
    deadline: float | None = None
    place: LogPlace | None = None
    future: Future[dict[str, Any]] = field(default_factory=Future)

    @staticmethod
    def promotion(name: str, key: str | None = None, deadline: float | None = None) -> Task:
        """A task that lets another model answer."""
        batch = Batch([], [], 0, name.encode(), "text/plain")
        return Task("promote", batch, key, visible=True, deadline=deadline)

    def item(self) -> Item:
        """The item of the log that holds the task."""
        return Item(self.verb, self.key, self.batch.form, self.batch.target, self.batch.body, self.place)

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline


class TaskQueue:
    """Tasks in order of arrival.

    Examples
    --------
    >>> queue = TaskQueue(most_rows=1)
    >>> queue.put(Task("learn", Batch([{}], ["a"], 1, b"", "")))
    >>> queue.put(Task("learn", Batch([{}], ["a"], 1, b"", "")))
    Traceback (most recent call last):
        ...
    bayou.serve.errors.BusyError: 1 rows wait to be learned and no more than 1 may; try again
    >>> len(queue.take())
    1
    """

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self.most_rows = most_rows
        self.rows = self._bytes = 0
        self._tasks: deque[Task] = deque()
        self._changed = Condition()
        self._closed = False

    def put(self, task: Task) -> None:
        """Add a task; raises BusyError if there is no room, or the server is about to stop."""
        with self._changed:
            if self._closed:
                raise BusyError("the server is about to stop; try again")
            if self._tasks and self.rows + task.batch.size > self.most_rows:
                raise BusyError(
                    f"{self.rows:,} rows wait to be learned and no more than {self.most_rows:,} may; try again"
                )
            if self._tasks and self._bytes + len(task.batch.body) > MOST_BYTES:
                raise BusyError(f"{self._bytes:,} bytes wait to be learned, and no more may; try again")
            self._tasks.append(task)
            self.rows += task.batch.size
            self._bytes += len(task.batch.body)
            self._changed.notify()

    def take(self, timeout: float | None = None) -> list[Task] | None:
        """The next tasks, up to the limits of a drain; [] if none came in time; None once closed and empty."""
        with self._changed:
            if not self._tasks and not self._closed:
                self._changed.wait(timeout)
            if not self._tasks:
                return None if self._closed else []
            taken = [self._tasks.popleft()]
            rows = taken[0].batch.size
            while self._tasks and len(taken) < DRAIN_TASKS and rows + self._tasks[0].batch.size <= DRAIN_ROWS:
                rows += self._tasks[0].batch.size
                taken.append(self._tasks.popleft())
            self.rows -= rows
            self._bytes -= sum(len(task.batch.body) for task in taken)
            return taken

    def close(self) -> None:
        """Accept no more tasks; those in the queue can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
