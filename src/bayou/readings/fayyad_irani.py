"""Recursive entropy splitting with the minimum-description-length stop (Fayyad and Irani 1993)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayou.readings.partition import Discretiser, Floats, Partition, checked_cells, from_ends


@dataclass(frozen=True)
class FayyadIrani(Discretiser):
    r"""Recursive entropy splitting: cut where class entropy falls most, while the gain pays for describing the split.

    A split of S with c classes into S1, S2 is accepted if

    $$\text{Gain} > \frac{\log_2(N-1) + \log_2(3^c - 2) - (c H(S) - c_1 H(S_1) - c_2 H(S_2))}{N}$$

    with N the weight in S, on summaries too. The level is that of MODL's criterion.
    $O(K m)$ per split for m cells.

    Examples
    --------
    >>> upper = np.arange(1.0, 11.0)
    >>> counts = [[4, 1], [3, 1], [5, 0], [4, 1], [2, 3], [1, 4], [0, 5], [1, 4], [0, 6], [1, 3]]
    >>> FayyadIrani().partition(upper, counts, midpoints=True).cuts
    array([4.5])

    References
    ----------
    U. Fayyad, K. Irani, Multi-interval discretization of continuous-valued attributes, IJCAI (1993).
    """

    supervised: ClassVar[bool] = True

    def partition(
        self, upper: Floats, counts: Floats, *, midpoints: bool = False, n_classes: int | None = None
    ) -> Partition:
        """Intervals of one column of cells."""
        upper, counts, k = checked_cells(upper, counts, n_classes)
        prefix = np.zeros((len(upper) + 1, counts.shape[1]))
        np.cumsum(counts, axis=0, out=prefix[1:])
        ends = []
        stack = [(0, len(upper))]
        while stack:  # depth first, the right side below the left on the stack, so that ends come in order
            start, end = stack.pop()
            cut = _accepted_cut(prefix, start, end)
            if cut == 0:
                ends.append(end)
            else:
                stack += [(cut, end), (start, cut)]
        return from_ends(upper, counts, ends, midpoints, k)


def _accepted_cut(prefix: Floats, start: int, end: int) -> int:
    """The cut of least entropy, the leftmost on ties, or 0 if there is none or it does not pay."""
    counts = prefix[end] - prefix[start]
    total = counts.sum()
    if end - start < 2 or total <= 1.0:
        return 0
    left = prefix[start + 1 : end] - prefix[start]
    right = prefix[end] - prefix[start + 1 : end]
    weight = left.sum(axis=1)
    entropy_left, entropy_right = _entropy(left), _entropy(right)
    split_entropy = (weight * entropy_left + (total - weight) * entropy_right) / total
    split_entropy[(weight <= 0) | (weight >= total)] = np.inf
    best = int(np.argmin(split_entropy))
    entropy = float(_entropy(counts[None])[0])
    gain = entropy - split_entropy[best]
    c, c_left, c_right = (int((side > 0).sum()) for side in (counts, left[best], right[best]))
    saved = c * entropy - c_left * entropy_left[best] - c_right * entropy_right[best]
    threshold = (np.log2(total - 1.0) + np.log2(3.0**c - 2.0) - saved) / total
    return start + 1 + best if gain > threshold else 0


def _entropy(counts: Floats) -> Floats:
    """Entropy in bits of every row of class counts."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logs).sum(axis=1))
