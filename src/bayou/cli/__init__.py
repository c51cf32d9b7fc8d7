"""The command line: `bayou --help`."""

from __future__ import annotations

import signal
import sys

from bayou.lazy import Absent


def main() -> None:
    """Entry point of the `bayou` command."""
    signal.signal(signal.SIGTERM, _stop)  # before the imports, which take longer than some wait
    sys.meta_path.insert(0, Absent("scipy", "pandas"))  # rows come from files
    try:
        from bayou.cli.app import command_line

        command_line(*sys.argv[1:2])(prog_name="bayou")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None


def _stop(number: int, frame: object) -> None:
    """SIGTERM ends a command as Ctrl-C does: what was begun is cleared away, and the exit code says so."""
    raise KeyboardInterrupt
