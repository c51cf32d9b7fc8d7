"""Ctrl-C and SIGTERM as a request to stop at the next safe point; a second one stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self

import pyarrow

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Context manager that records the first signal instead of stopping; afterwards the old handlers are back.

    Outside the main thread, where signals cannot be caught, nothing changes.

    Examples
    --------
    >>> with Interrupts() as interrupts:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     interrupts.caught
    'SIGTERM'
    """

    def __init__(self) -> None:
        self.caught: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            pyarrow.enable_signal_handlers(False)  # else Arrow aborts the read in which a signal arrives
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._before:
            pyarrow.enable_signal_handlers(True)
        self._before = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.caught = signal.Signals(number).name
        self.__exit__()
