"""Contributions of the columns to the log-odds of two classes on a row's paths through a forest."""

from __future__ import annotations

import numpy as np

from bayou.block import Block, Floats
from bayou.kernels.class_counts import prior_size
from bayou.kernels.forest_rows import SHARP, SMOOTH
from bayou.summaries.forest import Forest

LEAST = 1e-300  # instead of a probability of 0, whose logarithm is not finite


def path_log_odds(forest: Forest, block: Block, one: int, other: int) -> tuple[float, Floats]:
    """The log-odds at the roots, and the contribution of each column's splits on the paths of the block's only row.

    Down a path the log-odds log p_l(one) / p_l(other) change from node to node; each change belongs to the column that
    the node above is split by. Both are means over the trees and the two readings of p; their sum is the mean log-odds
    at the leaves.
    """
    cells, p = forest.cells_of(block)[0], len(forest.cuts)
    terms = np.zeros(len(cells))
    base = 0.0
    pair = [one, other]
    for root in forest.roots.tolist():
        node = root
        counts = forest.counts[node]
        size = max(1, prior_size(counts, int(forest.declared[0])))  # every row may have been unlearned
        share = np.repeat([(counts[pair] + 1.0 / size) / (counts.sum() + 1.0)], 2, axis=0)
        log_odds = _log_odds(share)
        base += log_odds
        while forest.attribute[node] >= 0:
            column, threshold = int(forest.attribute[node]), int(forest.threshold[node])
            cell = int(cells[column])
            goes_right = cell > threshold if column < p else not (threshold >> cell) & 1
            node = int(forest.left[node]) + goes_right
            counts = forest.counts[node]
            total = counts.sum()
            if total <= 0.0:
                break
            for reading, c in enumerate((SHARP, SMOOTH)):
                share[reading] = (counts[pair] + c * share[reading]) / (total + c)
            new_log_odds = _log_odds(share)
            terms[column] += new_log_odds - log_odds
            log_odds = new_log_odds
    return base / forest.trees, terms / forest.trees


def _log_odds(share: Floats) -> float:
    """Mean over the readings of log P(one) / P(other)."""
    logs = np.log(np.maximum(share, LEAST))
    return float((logs[:, 0] - logs[:, 1]).mean())
