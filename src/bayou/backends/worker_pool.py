"""A pool of workers, one of them the caller itself: each shard is done once, whoever dies on the way."""

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
    """Ends a thread that nobody waits for any more."""


class Worker:
    """A process that learns one shard at a time; one that dies is replaced, and the new one does the shard again."""

    def __init__(self, job: ShardJob) -> None:
        self._job = job.to_bytes()
        self._stopped = False
        self.deaths = 0
        self._start()

    def _start(self) -> None:
        self._line, theirs = Pipe()
        # -P: what lies in the current folder is data, and a numba.py among it must not be run.
        command = [sys.executable, "-P", "-m", "bayou.backends", str(theirs.fileno())]
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with theirs, tempfile.TemporaryFile() as job_file:
            job_file.write(self._job)
            job_file.seek(0)
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=job_file, stdout=2, env=known
            )
        if self._stopped:
            self.stop()

    def answer(self) -> bytes:
        """What it says next, or nothing if it died."""
        try:
            return self._line.recv_bytes()
        except (EOFError, OSError):
            if self._stopped:
                raise Stopped from None
            self._process.wait()
            self.deaths += 1
            return b""

    def learn(self, shard: Shard, heard: Callable[[int], None]) -> bytes:
        """The part of a shard."""
        for _ in range(ATTEMPTS):
            with contextlib.suppress(OSError):
                self._line.send_bytes(json.dumps(asdict(shard)).encode())
            while message := self.answer():
                if message[:1] == DONE:
                    return message[1:]
                if message[:1] == ROWS:
                    heard(int.from_bytes(message[1:], "big"))
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

    Who is ready takes the next shard, so that nothing waits for a process that is still starting.
    """

    def __init__(self, job: ShardJob, shards: Sequence[Shard], size: int) -> None:
        self._job, self._left = job, len(shards)
        self._done: SimpleQueue[tuple[int, bytes] | Exception] = SimpleQueue()
        self._rows: dict[int, int] = {}
        self._stopped = False
        self._helpers = [Worker(job) for _ in range(min(size, len(shards)) - 1)]
        self._threads = [Thread(target=self._work, args=(worker,)) for worker in (None, *self._helpers)]
        self._ends = [None] * len(self._threads)
        self._todo: deque[tuple[int, Shard] | None] = deque([*enumerate(shards), *self._ends])

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopped = True
        self._todo.extendleft(self._ends)
        for worker in self._helpers:
            worker.stop()
        for thread in self._threads:
            thread.join()

    @property
    def rows(self) -> int:
        """Rows learned that are in no part so far."""
        return sum(self._rows.copy().values())

    @property
    def deaths(self) -> int:
        """How many processes have died so far; each was replaced."""
        return sum(worker.deaths for worker in self._helpers)

    def parts(self, heard: Callable[[], None]) -> Iterator[tuple[int, bytes]]:
        """Number and part of every shard, as they get ready; `heard` is called now and then."""
        while self._left:
            with contextlib.suppress(Empty):
                found = self._done.get(timeout=PAUSE)
                if isinstance(found, Exception):
                    raise found
                self._left -= 1
                self._rows.pop(found[0])
                yield found
            heard()

    def _work(self, worker: Worker | None) -> None:
        learn = self._job.partial if worker is None else worker.learn
        try:
            if worker is not None and not worker.answer():  # it did not come up: the others do without it
                return
            while (taken := self._todo.popleft()) is not None:
                number, shard = taken
                self._rows[number] = 0
                self._done.put((number, learn(shard, partial(self._tell, number))))
        except Exception as error:
            self._done.put(error)

    def _tell(self, number: int, rows: int) -> None:
        if self._stopped:
            raise Stopped
        self._rows[number] = rows
