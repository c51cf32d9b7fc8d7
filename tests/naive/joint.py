"""Slow, obvious twins of the joint count kernels: dictionaries, one row at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

Row = Sequence[int]
Counts = Counter[tuple[tuple[tuple[int, int], ...], int]]  # ((column, value), ...), class -> weight


def count(rows: Sequence[Row], y: Sequence[int], w: Sequence[float], order: int) -> Counts:
    """Weight of every combination of at most `order` values, with the class; () is the class alone."""
    counts: Counts = Counter()
    for row, c, weight in zip(rows, y, w, strict=True):
        if c < 0 or weight == 0:
            continue
        held = [(j, v) for j, v in enumerate(row) if v >= 0]
        for size in range(order + 1):
            for cells in combinations(held, size):
                counts[cells, c] += weight
    return counts


def cell(counts: Counts, values: dict[int, int], c: int) -> float:
    return counts[tuple(sorted(values.items())), c]


def conditional_information(counts: Counts, i: int, j: int, sizes: Sequence[int], k: int) -> float:
    """sum n log(n n_c / (n_i n_j)) over the rows with both columns."""
    total = 0.0
    for c in range(k):
        table = [[cell(counts, {i: a, j: b}, c) for b in range(sizes[j])] for a in range(sizes[i])]
        n = sum(map(sum, table))
        for a in range(sizes[i]):
            for b in range(sizes[j]):
                if table[a][b] > 0:
                    column = sum(row[b] for row in table)
                    total += table[a][b] * math.log(table[a][b] * n / (sum(table[a]) * column))
    return total


def evidence(table: Sequence[Sequence[float]], width: int) -> float:
    """log evidence of child counts, one row per state of the parents, under uniform Dirichlet priors."""
    return sum(
        math.lgamma(width) - math.lgamma(sum(row) + width) + sum(math.lgamma(n + 1) for n in row)
        for row in table
    )


def dirichlet_gain(
    counts: Counts, i: int, p: int, sizes: Sequence[int], widths: Sequence[int], k: int
) -> float:
    with_parent, without = [], []
    for c in range(k):
        rows = [[cell(counts, {i: v, p: a}, c) for v in range(sizes[i])] for a in range(sizes[p])]
        with_parent += rows
        without.append([sum(row[v] for row in rows) for v in range(sizes[i])])
    return evidence(with_parent, widths[i]) - evidence(without, widths[i])
