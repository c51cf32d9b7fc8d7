"""Counting many rows of few values by bitmaps, where that pays and changes no bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.bitmaps import WORDS, all_whole, columns_met, count_class, find_missing, rows_by_class

if TYPE_CHECKING:
    from bayou.summaries.joint_counts import JointCounts


def bitmaps_pay(s: JointCounts, codes: Codes, w: Floats) -> bool:
    """Whether counting by bitmaps is faster (an estimate in nanoseconds per row) and gives the same bits.

    It is faster for many rows of few values. Bits are the same where weights are 0 or 1 and counts are whole: only then
    may rows be added up before they are added to the counts.
    """
    n, m = codes.shape
    if n < 256 or m < 2 or not all_whole(w, 1.0):
        return False
    cells = float(s.layout[1, m] + (s.layout[2, m] if s.interaction_order == 3 else 0))
    columns = columns_met(codes)  # rows touch no other columns
    increments = columns * (columns - 1) / 2
    increments += columns * (columns - 1) * (columns - 2) / 6 if s.interaction_order == 3 else 0
    passes = float(s.sizes.max()) * m * 0.3 + cells * (0.6 / 64 + 2.0 * len(s.classes) / n)
    counts = (s.classes, s.singles, s.present, s.pairs, s.triples)
    return passes < increments and all(whole_numbers(table) for table in counts)


def count_by_bitmaps(s: JointCounts, codes: Codes, y: Codes, w: Floats, sign: float) -> None:
    """Add (sign 1) or take out (sign -1) the labelled rows with weight."""
    n, m = codes.shape
    order, ends = np.empty(n + 1, dtype=np.int64), np.empty(len(s.classes) + 1, dtype=np.int64)
    rows_by_class(order, ends, y, w)
    missing = np.empty(m, dtype=np.int32)
    find_missing(missing, codes)
    first = (missing >= 0).astype(np.int64)
    singles = np.empty(len(s.singles), dtype=np.int64)
    pairs, triples = (np.empty(len(a), dtype=np.int64) for a in (s.pairs, s.triples))
    maps = np.empty((len(singles), min(WORDS, (n + 63) // 64)), dtype=np.uint64)
    for c in range(len(s.classes)):
        rows = order[ends[c] : ends[c + 1]]
        if len(rows) == 0:
            continue
        count_class(singles, pairs, triples, maps, codes, rows, s.layout, first)
        s.classes[c] += sign * len(rows)
        s.singles[:, c] += sign * singles
        s.present[:, c] += sign * np.add.reduceat(np.append(singles, 0), s.layout[0, :-1]) * (s.sizes > 0)
        s.pairs[:, c] += sign * pairs
        if s.interaction_order == 3:
            s.triples[:, c] += sign * triples


def whole_numbers(counts: Floats) -> bool:
    """Whether all counts are integers."""
    return all_whole(counts.reshape(-1), np.inf)
