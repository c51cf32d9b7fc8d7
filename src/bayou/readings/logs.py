"""A growing table of the logarithms of integers, shared by all readings of counts."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats
from bayou.kernels.value_counts import fill_logs

# 32 MB once counts reach it; beyond it logarithms are computed.
MAX_LOGS = 1 << 22
_logs = np.zeros(0)


def integer_logs(n: int) -> Floats:
    """log 0 (a finite floor), log 1, ..., at least up to log(n - 1), or to `MAX_LOGS` entries; grown by doubling."""
    global _logs
    size = min(MAX_LOGS, n)
    if len(_logs) < size:
        logs = np.empty(min(MAX_LOGS, max(1024, 1 << (size - 1).bit_length())))
        fill_logs(logs)
        _logs = logs
    return _logs
