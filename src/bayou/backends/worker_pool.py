"""A pool of worker processes and a thread of the caller: each shard is learned once, also where workers die."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from multiprocessing.connection import Pipe
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Self

from bayou.backends.shards import Shard
from bayou.backends.worker import DONE, PAUSE, ROWS, ShardJob
from bayou.errors import BayouError

ATTEMPTS = 3


class WorkerError(BayouError, RuntimeError):
    """A shard on which every worker died."""


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Ends a thread of a pool that has been stopped."""


class Worker:
    """A process that learns one shard at a time; if it dies, a new process repeats the shard."""

    def __init__(self, job: ShardJob) -> None:
        self._job = job.to_bytes()
        self._stopped = False
        self.deaths = 0
        self._start()

    def _start(self) -> None:
        self._line, theirs = Pipe()
        # -P: what lies in the current folder is data, and a numba.py among it must not be run.
        command = [sys.executable, "-P", "-m", "bayou.backends", str(theirs.fileno())]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with theirs, tempfile.TemporaryFile() as job_file:
            job_file.write(self._job)
            job_file.seek(0)
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=job_file, stdout=2, env=environment
            )
        if self._stopped:
            self.stop()

    def receive(self) -> bytes:
        """The next message of the process; empty if it died."""
        try:
            return self._line.recv_bytes()
        except (EOFError, OSError):
            if self._stopped:
                raise Stopped from None
            self._process.wait()
            self.deaths += 1
            return b""

    def learn(self, shard: Shard, on_rows: Callable[[int], None]) -> bytes:
        """Learn a shard; return the bytes of its `Part`."""
        for _ in range(ATTEMPTS):
            with contextlib.suppress(OSError):
                self._line.send_bytes(json.dumps(asdict(shard)).encode())
            while message := self.receive():
                if message[:1] == DONE:
                    return message[1:]
                if message[:1] == ROWS:
                    on_rows(int.from_bytes(message[1:], "big"))
            code = self._process.returncode
            self._start()
        fate = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        raise WorkerError(
            f"{shard.place}: {ATTEMPTS} workers died on it, the last one {fate}; is there enough memory?"
        )

    def stop(self) -> None:
        """Kill the process and wait for its end."""
        self._stopped = True
        self._process.kill()
        self._process.wait()


class WorkerPool:
    """`size` workers over a list of shards: a thread of the caller, where all is loaded, and processes.

    A worker that is ready takes the next shard, so that nothing waits for a process that is still starting.
    """

    def __init__(self, job: ShardJob, shards: Sequence[Shard], size: int) -> None:
        self._job, self._left = job, len(shards)
        self._done: SimpleQueue[tuple[int, bytes] | Exception] = SimpleQueue()
        self._rows: dict[int, int] = {}
        self._stopped = False
        self._workers = [Worker(job) for _ in range(min(size, len(shards)) - 1)]
        self._threads = [Thread(target=self._work, args=(worker,)) for worker in (None, *self._workers)]
        self._ends = [None] * len(self._threads)
        self._todo: deque[tuple[int, Shard] | None] = deque([*enumerate(shards), *self._ends])

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopped = True
        self._todo.extendleft(self._ends)
        for worker in self._workers:
            worker.stop()
        for thread in self._threads:
            thread.join()

    @property
    def rows(self) -> int:
        """Rows learned so far of unfinished shards."""
        return sum(self._rows.copy().values())

    @property
    def deaths(self) -> int:
        """The number of processes that have died so far; each was replaced."""
        return sum(worker.deaths for worker in self._workers)

    def parts(self, on_wait: Callable[[], None]) -> Iterator[tuple[int, bytes]]:
        """Number and part of every shard, as they are finished; `on_wait` is called regularly meanwhile."""
        while self._left:
            with contextlib.suppress(Empty):
                result = self._done.get(timeout=PAUSE)
                if isinstance(result, Exception):
                    raise result
                self._left -= 1
                self._rows.pop(result[0])
                yield result
            on_wait()

    def _work(self, worker: Worker | None) -> None:
        learn = self._job.partial if worker is None else worker.learn
        try:
            if worker is not None and not worker.receive():  # it did not start: the others do its work
                return
            while (task := self._todo.popleft()) is not None:
                number, shard = task
                self._rows[number] = 0
                self._done.put((number, learn(shard, partial(self._count, number))))
        except Exception as error:
            self._done.put(error)

    def _count(self, number: int, rows: int) -> None:
        if self._stopped:
            raise Stopped
        self._rows[number] = rows
