"""A process of the pool: `python -m bayou.backends FD` learns the shards that it receives over a socket.

The caller's main module is not imported again.
"""

from __future__ import annotations

import signal
import sys
import warnings

from bayou.lazy import Absent


def main(handle: int) -> None:
    """Run a worker; the job is read from standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group; the parent decides
    warnings.simplefilter("ignore")  # the caller reads the same files and has warned already
    sys.meta_path.insert(0, Absent("scipy", "pandas"))
    from multiprocessing.connection import Connection

    from bayou import files
    from bayou.backends.worker import ShardJob, alone, serve

    alone()
    job = ShardJob.of(sys.stdin.buffer.read())
    files.loads(job.blank)  # so that class and kernels are loaded when the first shard comes
    serve(Connection(handle), job)


if __name__ == "__main__":
    main(int(sys.argv[1]))
