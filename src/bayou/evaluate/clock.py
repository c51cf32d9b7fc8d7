"""A clock for models that leaves the time of the compiler out."""

from __future__ import annotations

import time

from bayou.kernels.compiling import compile_seconds


class Clock:
    """Seconds since the last lap, without those spent on compiling."""

    def __init__(self) -> None:
        self._last = time.perf_counter() - compile_seconds()

    def lap(self) -> float:
        """Seconds since the last call, those spent compiling left out."""
        last, self._last = self._last, time.perf_counter() - compile_seconds()
        return max(0.0, self._last - last)
