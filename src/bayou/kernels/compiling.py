"""A listener that reports when Numba compiles, and for how long: without a message, the first row looks like a hang."""

from __future__ import annotations

import time
from collections.abc import Callable

from numba.core import event


class CompileWatch(event.Listener):
    """Seconds spent compiling since the watch began; nested kernels count once.

    Parameters
    ----------
    started
        Called when the first kernel is compiled, rather than loaded from the cache.
    """

    def __init__(self, started: Callable[[], None] | None = None) -> None:
        self.seconds = 0.0
        self.kernels = 0
        self._started = started
        self._depth = 0
        self._since = 0.0

    def on_start(self, event: event.Event) -> None:
        """Called when Numba begins to compile."""
        if self.kernels == 0 and self._started is not None:
            self._started()
        if self._depth == 0:
            self._since = time.perf_counter()
        self.kernels += 1
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """Called when Numba has compiled; adds the time, of nested compilations once."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._since


_clock: CompileWatch | None = None


def watch(started: Callable[[], None] | None = None) -> CompileWatch:
    """Register a watch, which stays for the life of the process, and return it."""
    listener = CompileWatch(started)
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call] # of Numba
    return listener


def compile_seconds() -> float:
    """Seconds this process has spent compiling since the first call of this function."""
    global _clock
    if _clock is None:
        _clock = watch()
    return _clock.seconds
