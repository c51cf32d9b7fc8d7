"""One process of the pool: `python -m bayou.backends.worker FD` learns the shards it is sent.

Nothing is pickled, and the caller's main module is not imported again: a job is JSON and model bytes.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection

from bayou.backends.fold import Part, partial, told
from bayou.backends.shards import Opening, Shard
from bayou.errors import BayouError

ROWS, DONE = b"r", b"d"


@dataclass(frozen=True)
class Job:
    """What all shards have in common: the empty model, and how files are opened."""

    blank: bytes
    opening: Opening

    def partial(self, shard: Shard, heard: Callable[[int], None] | None = None) -> bytes:
        """Learn one shard."""
        try:
            source = self.opening.open(shard)
        except BayouError as error:
            return Part(b"", error=told(error, shard.path)).to_bytes()
        with source:
            return partial(self.blank, source, shard.place, heard)

    def to_bytes(self) -> bytes:
        return Part(self.blank, error=asdict(self.opening)).to_bytes()

    @staticmethod
    def of(data: bytes) -> Job:
        part = Part.of(data)
        return Job(part.model, Opening(**(part.error or {})))


def alone() -> None:
    """One thread per process: the other cores have processes of their own."""
    import pyarrow as pa

    from bayou.threads import set_threads

    set_threads(1)
    pa.set_cpu_count(1)


def main(handle: int) -> None:
    """Learn shards until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides
    alone()
    with Connection(handle) as parent:

        def heard(rows: int) -> None:
            parent.send_bytes(ROWS + rows.to_bytes(8, "big"))

        try:
            job = Job.of(parent.recv_bytes())
            while True:
                shard = Shard(**json.loads(parent.recv_bytes()))
                parent.send_bytes(DONE + job.partial(shard, heard))
        except (EOFError, OSError):  # the parent has finished, or is gone
            return


if __name__ == "__main__":
    main(int(sys.argv[1]))
