"""A crew of worker processes: each shard is done once, whoever dies on the way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection, Pipe, wait
from typing import Self

from bayou.backends.shards import Shard
from bayou.backends.worker import DONE, Job
from bayou.errors import BayouError

ATTEMPTS = 3


class WorkerError(BayouError, RuntimeError):
    """A shard on which every worker died."""


class Worker:
    """A process that learns one shard at a time."""

    def __init__(self, job: bytes) -> None:
        self.connection, theirs = Pipe()
        command = [sys.executable, "-m", "bayou.backends.worker", str(theirs.fileno())]
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2, env=known
        )
        theirs.close()
        self.rows = 0
        self.shard = -1
        self._job: bytes | None = job

    def give(self, number: int, shard: Shard) -> None:
        """Send a shard, and the job before the first one; whether it is still alive shows when it answers."""
        self.shard, self.rows = number, 0
        with contextlib.suppress(OSError):
            if self._job is not None:
                self.connection.send_bytes(self._job)
                self._job = None
            self.connection.send_bytes(json.dumps(asdict(shard)).encode())

    def fate(self) -> str:
        """How it ended."""
        code = self.process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def stop(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()


class Crew:
    """Workers over a list of shards.

    A worker that dies takes nothing with it but the shard it was at, which another does again from its start.
    """

    def __init__(self, job: Job, size: int) -> None:
        self._job, self._size = job.to_bytes(), size
        self._workers: dict[Connection, Worker] = {}
        self.deaths = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers.values():
            worker.stop()

    def work(self, shards: Sequence[Shard], heard: Callable[[], None]) -> Iterator[tuple[int, bytes]]:
        """Number and part of every shard, as they get ready; `heard` is called when there is progress."""
        todo = deque(range(len(shards)))
        while len(self._workers) < min(self._size, len(shards)):
            self._start()  # all at once, since each takes its time
        failures: dict[int, int] = {}
        busy = 0
        while todo or busy:
            while todo and busy < self._size:
                self._hand(todo.popleft(), shards)
                busy += 1
            for connection in wait([c for c, worker in self._workers.items() if worker.shard >= 0]):
                worker = self._workers[connection]  # type: ignore[index]
                number = worker.shard
                try:
                    message = worker.connection.recv_bytes()
                except (EOFError, OSError):
                    self._bury(worker, shards[number], failures, number)
                    todo.appendleft(number)
                    busy -= 1
                    continue
                if message[:1] == DONE:
                    worker.shard, worker.rows = -1, 0
                    busy -= 1
                    yield number, message[1:]
                else:
                    worker.rows = int.from_bytes(message[1:], "big")
                heard()

    @property
    def rows(self) -> int:
        """Rows of shards that are not finished."""
        return sum(worker.rows for worker in self._workers.values())

    def _hand(self, number: int, shards: Sequence[Shard]) -> None:
        idle = next((worker for worker in self._workers.values() if worker.shard < 0), None)
        (idle or self._start()).give(number, shards[number])

    def _start(self) -> Worker:
        worker = Worker(self._job)
        self._workers[worker.connection] = worker
        return worker

    def _bury(self, worker: Worker, shard: Shard, failures: dict[int, int], number: int) -> None:
        fate = worker.fate()
        self.deaths += 1
        del self._workers[worker.connection]
        worker.stop()
        failures[number] = failures.get(number, 0) + 1
        if failures[number] == ATTEMPTS:
            raise WorkerError(
                f"{shard.place}: {ATTEMPTS} workers died on it, the last one {fate}; is there enough memory?"
            )
