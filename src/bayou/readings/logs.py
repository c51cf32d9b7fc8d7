"""Growing tables of the logarithms of integers and of factorials, shared by all readings of counts."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from bayou.block import Floats
from bayou.kernels.partition import EXACT, fill_log_factorials
from bayou.kernels.value_counts import fill_logs

# 36 MB once counts reach it; beyond it logarithms are computed.
MAX_LOGS = 1 << 22
LEAST = 1024  # entries
_logs = np.zeros(0)
_log_factorials = np.zeros(0)
_GROWING = Lock()  # threads that begin together would each fill a table


def integer_logs(n: int) -> Floats:
    """log 0 (a finite floor), log 1, ..., at least up to log(n - 1), or to `MAX_LOGS` entries."""
    global _logs
    size = min(MAX_LOGS, n)
    if len(_logs) < size:
        with _GROWING:
            _logs = _grown(_logs, size, fill_logs)
    return _logs


def log_factorials(n_classes: int, most: float) -> Floats:
    """ln 0!, ln 1!, ..., for this number of classes, and for counts up to `most` or `EXACT` (9 MB)."""
    global _log_factorials
    size = 1 + int(max(n_classes, min(most + n_classes, EXACT)))
    if len(_log_factorials) < size:
        with _GROWING:
            _log_factorials = _grown(_log_factorials, size, fill_log_factorials)
    return _log_factorials


def _grown(table: Floats, size: int, fill: Callable[[Floats, int], None]) -> Floats:
    """The table with at least `size` entries, and some more, so that it need not grow with every batch of rows."""
    if len(table) >= size:  # another thread was quicker
        return table
    grown = np.empty(max(LEAST, size + size // 8))
    grown[: len(table)] = table
    fill(grown, len(table))
    return grown
