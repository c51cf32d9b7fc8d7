"""What the columns of a row say on its ways down a forest of counts, in log-odds of two classes."""

from __future__ import annotations

import numpy as np

from bayou.block import Block, Floats
from bayou.kernels.class_counts import prior_size
from bayou.kernels.forest_rows import SHARP, SMOOTH
from bayou.summaries.forest import Forest

LEAST = 1e-300  # instead of a probability of 0, whose logarithm nothing could be added to


def path_log_odds(forest: Forest, block: Block, one: int, other: int) -> tuple[float, Floats]:
    """Log-odds at the roots, and by column what its splits add on the ways of the block's only row.

    Down a path the log-odds log p_l(one) / p_l(other) change from node to node; each change belongs to the column that
    the node above is split by. Both are the mean over the trees and the two readings of p, and nothing is left over:
    their sum is the mean log-odds at the leaves.
    """
    cells, p = forest.cells_of(block)[0], len(forest.cuts)
    terms = np.zeros(len(cells))
    base = 0.0
    pair = [one, other]
    for root in forest.roots.tolist():
        at = root
        held = forest.counts[at]
        size = max(1, prior_size(held, int(forest.declared[0])))  # every row may have been unlearned
        share = np.repeat([(held[pair] + 1.0 / size) / (held.sum() + 1.0)], 2, axis=0)
        before = _log_odds(share)
        base += before
        while forest.attribute[at] >= 0:
            column, threshold = int(forest.attribute[at]), int(forest.threshold[at])
            cell = int(cells[column])
            goes_right = cell > threshold if column < p else not (threshold >> cell) & 1
            at = int(forest.left[at]) + goes_right
            held = forest.counts[at]
            total = held.sum()
            if total <= 0.0:
                break
            for reading, c in enumerate((SHARP, SMOOTH)):
                share[reading] = (held[pair] + c * share[reading]) / (total + c)
            after = _log_odds(share)
            terms[column] += after - before
            before = after
    return base / forest.trees, terms / forest.trees


def _log_odds(share: Floats) -> float:
    """Mean over the readings of log P(one) / P(other)."""
    logs = np.log(np.maximum(share, LEAST))
    return float((logs[:, 0] - logs[:, 1]).mean())
