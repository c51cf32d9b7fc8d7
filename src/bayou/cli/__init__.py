"""The command line: `bayou --help`."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

from bayou.lazy import Absent, Deferred


def main() -> None:
    """Entry point of the `bayou` command."""
    signal.signal(signal.SIGTERM, _stop)  # before the imports, which take longer than some wait
    gc.set_threshold(250_000, 20, 20)  # imports leave nothing to collect, and looking for it takes .2 s
    # NumPy's own threads wait busily for large matrices, of which there are none here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Rows come from files: what other libraries look these up for is not needed.
    sys.meta_path.insert(0, Absent("scipy", "pandas", "yaml", "colorama", "cloudpickle"))
    sys.meta_path.insert(0, Deferred("importlib.metadata", "timeit", "numba.experimental"))
    try:
        from bayou.cli.app import command_line

        command_line(*sys.argv[1:2])(prog_name="bayou")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None


def program() -> None:
    """Run `main` and end the process without unloading libraries, which would take .1 s."""
    status: int | None = None

    def leave() -> None:
        if status is not None:
            sys.stdout.flush()  # where this fails, Python says so and ends as it does without us
            sys.stderr.flush()
            os._exit(status)

    atexit.register(leave)  # before the libraries come, so that all they do at the end is done
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


def _stop(number: int, frame: object) -> None:
    """Handle SIGTERM like Ctrl-C: temporary files are removed, and the exit code is that of an interrupt."""
    raise KeyboardInterrupt
