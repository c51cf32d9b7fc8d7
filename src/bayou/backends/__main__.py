"""A process of the pool: `python -m bayou.backends FD` learns the shards that come from the other end of a socket.

The caller's main module is not imported again.
"""

from __future__ import annotations

import signal
import sys
import warnings

from bayou.lazy import Absent


def main(handle: int) -> None:
    """Be a worker; the job comes from standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides
    warnings.simplefilter("ignore")  # the caller, who reads the same files, has been warned
    sys.meta_path.insert(0, Absent("scipy", "pandas"))
    from multiprocessing.connection import Connection

    from bayou import files
    from bayou.backends.worker import ShardJob, alone, serve

    alone()
    job = ShardJob.of(sys.stdin.buffer.read())
    files.loads(job.blank)  # so that class and kernels are there when the first shard comes
    serve(Connection(handle), job)


if __name__ == "__main__":
    main(int(sys.argv[1]))
