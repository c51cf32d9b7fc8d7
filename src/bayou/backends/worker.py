"""A worker of the pool learns the shards it is sent. A job is JSON and model bytes, nothing pickled."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection

from bayou.backends.fold import Part, error_to_json, partial
from bayou.backends.shards import Opening, Shard
from bayou.errors import BayouError

READY, ROWS, DONE = b"a", b"r", b"d"
PAUSE = 0.1  # seconds between two messages about rows


@dataclass(frozen=True)
class ShardJob:
    """What all shards share: the empty model, and how files are opened."""

    blank: bytes
    opening: Opening

    def partial(self, shard: Shard, on_rows: Callable[[int], None] | None = None) -> bytes:
        """Learn one shard; return the bytes of its `Part`."""
        try:
            source = self.opening.open(shard)
        except BayouError as error:
            return Part(b"", error=error_to_json(error, shard.path)).to_bytes()
        with source:
            return partial(self.blank, source, shard.place, on_rows)

    def to_bytes(self) -> bytes:
        """The job as the bytes that a worker reads from standard input."""
        return Part(self.blank, error=asdict(self.opening)).to_bytes()

    @staticmethod
    def of(data: bytes) -> ShardJob:
        """The job from what `to_bytes` returned."""
        part = Part.of(data)
        return ShardJob(part.model, Opening(**(part.error or {})))


def serve(parent: Connection, job: ShardJob) -> None:
    """Report to be ready, and learn shards until the parent closes the connection."""
    next_report = 0.0

    def send(message: bytes) -> None:
        try:
            parent.send_bytes(message)
        except OSError:  # the parent has finished, or is gone
            raise SystemExit from None

    def report(rows: int) -> None:
        nonlocal next_report
        if time.monotonic() >= next_report:
            next_report = time.monotonic() + PAUSE
            send(ROWS + rows.to_bytes(8, "big"))

    with parent:
        send(READY)
        while True:
            try:
                shard = parent.recv_bytes()
            except (EOFError, OSError):
                return
            send(DONE + job.partial(Shard(**json.loads(shard)), report))


def alone() -> None:
    """Limit this process to one thread, since every core has a process."""
    import pyarrow as pa

    from bayou.threads import set_threads

    set_threads(1)
    pa.set_cpu_count(1)
