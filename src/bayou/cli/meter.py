"""Progress on standard error: one line that is rewritten on a terminal, else a line every ten seconds."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Mapping

from bayou.cli.console import is_terminal, note
from bayou.plain_text import percent, short_number, shortened

_LIVE, _LOGGED = 0.1, 10.0  # seconds between two updates


class Meter:
    """Rows, rows per second, share done, time left, running accuracy, rejects.

    Speed and time left are those of the work itself: seconds spent on compiling are left out.

    Parameters
    ----------
    verb
        The name of the command.
    quiet
        Print nothing.
    """

    def __init__(self, verb: str, quiet: bool = False) -> None:
        self.verb, self.quiet = verb, quiet
        self.live = is_terminal(sys.stderr)
        self._start = time.monotonic()
        self._last = self._start
        self._drawn = False
        # Loaded already if compilation is announced; otherwise nothing compiles, and Numba need not be loaded.
        self._compiling = None if quiet else sys.modules.get("bayou.kernels.compiling")
        self.begin(0, 0.0)

    def begin(self, rows: int, share: float | None) -> None:
        """Compute speed and time left from here on: `rows` and `share` were done before, by another process."""
        self._before = rows, share or 0.0, self._working()

    def _working(self) -> float:
        """Seconds so far without those spent on compiling."""
        compiled = self._compiling.compile_seconds() if self._compiling is not None else 0.0
        return time.monotonic() - compiled

    def update(
        self,
        rows: int,
        share: float | None = None,
        accuracy: Callable[[], Mapping[str, float]] | None = None,
        rejected: int = 0,
        of: str = "rows",
    ) -> None:
        """Show the progress, if the last update is long enough ago; only then `accuracy` is called."""
        now = time.monotonic()
        if self.quiet or now - self._last < (_LIVE if self.live else _LOGGED):
            return
        self._last = now
        rows_before, share_before, since = self._before
        seconds = max(0.0, self._working() - since)
        speed = (rows - rows_before) / seconds if seconds > 0 else 0.0
        gained = (share or 0.0) - share_before
        left = seconds * (1 - share) / gained if share is not None and share < 1 and gained > 0 else None
        text = progress_line(self.verb, rows, speed, share, left, accuracy and accuracy(), rejected, of)
        if not self.live:
            note(text)
            return
        width = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" + text[: max(20, width - 1)])
        sys.stderr.flush()
        self._drawn = True

    def clear(self) -> None:
        """Erase the line."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start


def progress_line(
    verb: str,
    rows: int,
    speed: float,
    share: float | None,
    left: float | None,
    accuracy: Mapping[str, float] | None,
    rejected: int,
    of: str = "rows",
) -> str:
    """The line as text: rows so far, rows per second, share done, seconds left.

    >>> progress_line("evaluate", 45000, 22500.0, 0.5, 2.0, {"nb": 0.73}, 0)
    'evaluate  45,000 rows  22.5 k/s  50 %  2 s left  nb 73.00'
    """
    parts = [verb, f"{rows:,} {of}"]
    if speed > 0 and of == "rows":
        parts.append(f"{short_number(speed)}/s")
    if share is not None:
        parts.append(f"{math.floor(100 * share)} %")  # 100 % is the end, not what is nearly there
    if left is not None:
        parts.append(f"{time_text(left)} left")
    if rejected:
        parts.append(f"{rejected:,} rejected")
    parts += [f"{shortened(name, 16)} {percent(value)}" for name, value in (accuracy or {}).items()]
    return "  ".join(parts)


def time_text(seconds: float) -> str:
    """
    >>> time_text(7.2), time_text(95), time_text(7300)
    ('7 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
