"""A coarser grid: cells joined by a discretiser."""

from __future__ import annotations

import numpy as np

from bayou.block import Index
from bayou.readings.partition import Discretiser
from bayou.summaries.joint_counts import JointCounts


def joined_cells(summary: JointCounts, bins: Discretiser) -> list[Index]:
    """The interval of every cell of every column; nominal columns do not change.

    The largest value of a cell is taken to be the cut above it; that of the last cell, one step beyond the last cut.
    """
    q = summary.nominal
    parts = [np.arange(size) for size in summary.sizes[:q]]
    for j in range(len(summary.frozen)):
        start, size = summary.layout[0, q + j], summary.sizes[q + j]
        if size == 0:
            parts.append(np.arange(0))
            continue
        cuts = summary.cuts[j][np.isfinite(summary.cuts[j])]
        step = np.diff(cuts).max(initial=1.0)
        upper = np.append(cuts, (cuts[-1] if len(cuts) else 0.0) + step)
        partition = bins.partition(upper, summary.singles[start : start + len(upper)])
        cells = np.searchsorted(partition.cuts, upper)
        parts.append(np.append(cells, np.full(size - len(upper), cells[-1])))
    return parts
