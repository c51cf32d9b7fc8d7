"""Weight, mean and sum of squared deviations per class and column (Welford, Chan), NaN-aware."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.side_by_side import put_tile

ROWS = 64  # rows that are transposed at a time from columns: 54 columns of them fit into a core's first cache


@kernel
def add_rows(
    n: Floats, mean: Floats, m2: Floats, x: Floats, y: Codes, w: Floats, lo: int, hi: int, no_missing: bool
) -> None:
    """Update the moments of columns lo..hi with every labelled row with weight, by Welford's recurrence.

    While no value was missing, all columns of a class have the same weight, and one division serves a whole row.
    `no_missing` promises that no value is missing in these rows.
    n, mean, m2 : float64[K, p], in/out; x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    total = np.empty(len(n))
    even = np.empty(len(n), np.bool_)
    begin(total, even, n, lo, hi)
    add_some_rows(n, mean, m2, total, even, x, y, w, lo, hi, no_missing)
    end(n, total, even, lo, hi)


@kernel
def add_columns(
    n: Floats,
    mean: Floats,
    m2: Floats,
    integers: Index,
    doubles: Index,
    y: Codes,
    w: Floats,
    lo: int,
    hi: int,
) -> None:
    """Do as `add_rows` for rows stored column by column, with no value missing: a few rows at a time, in cache.

    n, mean, m2 : float64[K, p], in/out; y : int32[rows], in; w : float64[rows], in
    integers : int64[k, 2], in, of those of columns lo..hi that hold int64 their place and address
    doubles : int64[m, 2], in, the same of those that hold float64
    """
    total = np.empty(len(n))
    even = np.empty(len(n), np.bool_)
    tile = np.empty((ROWS, n.shape[1]))
    begin(total, even, n, lo, hi)
    for first in range(0, len(y), ROWS):
        labels, weights = y[first : first + ROWS], w[first : first + ROWS]
        x = tile[: len(labels)]
        put_tile(x, integers, doubles, first)
        add_some_rows(n, mean, m2, total, even, x, labels, weights, lo, hi, True)
    end(n, total, even, lo, hi)


@inner_kernel
def begin(total: Floats, even: Flags, n: Floats, lo: int, hi: int) -> None:
    """Write the weight of each class, and whether all its columns have that weight (`even`).

    total : float64[K], out; even : bool[K], out; n : float64[K, p], in
    """
    for c in range(len(n)):
        total[c] = n[c, lo]
        even[c] = all_equal(n[c, lo:hi])


@inner_kernel
def end(n: Floats, total: Floats, even: Flags, lo: int, hi: int) -> None:
    """Write the weights of classes that stayed even back to all their columns.

    n : float64[K, p], in/out; total : float64[K], in; even : bool[K], in
    """
    for c in range(len(n)):
        if even[c]:
            n[c, lo:hi] = total[c]


@inner_kernel
def add_some_rows(
    n: Floats, mean: Floats, m2: Floats, total: Floats, even: Flags, x: Floats, y: Codes, w: Floats, lo: int, hi: int,
    no_missing: bool,
) -> None:  # fmt: skip
    """Update the moments as `add_rows` does, with the weights of even classes in `total`.

    Even and uneven classes have loops of their own: in one loop for both, the arrays would be passed on in every
    row, which takes longer than the arithmetic.

    n, mean, m2 : float64[K, p], in/out; total : float64[K], in/out; even : bool[K], in/out
    x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    i = 0
    while i < len(y):
        i = add_full_rows(mean, m2, total, even, x, y, w, i, lo, hi, no_missing)
        if i < len(y):
            c = y[i]
            if even[c]:
                even[c] = False
                for j in range(lo, hi):
                    n[c, j] = total[c]
            i = add_uneven_rows(n, mean, m2, even, x, y, w, i, lo, hi)


@inner_kernel
def add_full_rows(
    mean: Floats, m2: Floats, total: Floats, even: Flags, x: Floats, y: Codes, w: Floats, start: int, lo: int, hi: int,
    no_missing: bool,
) -> int:  # fmt: skip
    """Add rows without missing values to even classes; stop at the first other row and return its number.

    Indices are unsigned and no row is sliced: signed indices and slices take longer than the arithmetic.

    mean, m2 : float64[K, p], in/out; total : float64[K], in/out; even : bool[K], in
    x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    first, last, i = np.uint64(lo), np.uint64(hi), np.uint64(start)
    while i < np.uint64(len(y)):
        if y[i] < 0 or w[i] == 0.0:
            i += np.uint64(1)
            continue
        c = np.uint64(y[i])
        missing = 0
        if not no_missing:
            for j in range(first, last):
                missing += x[i, j] != x[i, j]
        if not even[c] or missing > 0:
            break
        total[c] += w[i]
        share = w[i] / total[c]
        rest = w[i] * (1.0 - share)
        for j in range(first, last):
            d = x[i, j] - mean[c, j]
            mean[c, j] += d * share
            m2[c, j] += d * (d * rest)
        i += np.uint64(1)
    return int(np.int64(i))


@inner_kernel
def add_uneven_rows(
    n: Floats,
    mean: Floats,
    m2: Floats,
    even: Flags,
    x: Floats,
    y: Codes,
    w: Floats,
    start: int,
    lo: int,
    hi: int,
) -> int:
    """Add rows to classes whose columns differ in weight; stop at the first row of an even class and return its number.

    n, mean, m2 : float64[K, p], in/out; even : bool[K], in
    x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    for i in range(start, len(y)):
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        if even[c]:
            return i
        add_row(n[c, lo:hi], mean[c, lo:hi], m2[c, lo:hi], x[i, lo:hi], w[i])
    return len(y)


@inner_kernel
def all_equal(values: Floats) -> bool:
    """Return whether all values are equal.

    values : float64[p], in
    """
    different = 0
    for j in range(len(values)):
        different += values[j] != values[0]
    return different == 0


@inner_kernel
def add_row(n: Floats, mean: Floats, m2: Floats, x: Floats, w: float) -> None:
    """Add one row to one class: d = x - mean; n += w; mean += d w / n; m2 += d^2 w (1 - w / n).

    n, mean, m2 : float64[p], in/out; x : float64[p], in, NaN = missing
    """
    for j in range(len(x)):
        here = x[j] == x[j]
        d = x[j] - mean[j] if here else 0.0
        step = w if here else 0.0
        total = n[j] + step
        share = step / total if total > 0.0 else 0.0
        n[j] = total
        mean[j] += d * share
        m2[j] += d * (d * (step * (1.0 - share)))


@kernel
def subtract_rows(n: Floats, mean: Floats, m2: Floats, x: Floats, y: Codes, w: Floats) -> None:
    """Take rows out again by Welford's recurrence reversed; cells that end up (nearly) empty are set to zero.

    n, mean, m2 : float64[K, p], in/out; x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    for i in range(len(y)):
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        for j in range(x.shape[1]):
            if x[i, j] != x[i, j]:
                continue
            left = n[c, j] - w[i]
            if left <= 1e-12 * n[c, j]:
                n[c, j], mean[c, j], m2[c, j] = 0.0, 0.0, 0.0
                continue
            d = x[i, j] - mean[c, j]
            before = mean[c, j] - d * (w[i] / left)
            m2[c, j] = max(0.0, m2[c, j] - w[i] * d * (x[i, j] - before))
            mean[c, j] = before
            n[c, j] = left


@kernel
def merge_moments(
    n: Floats, mean: Floats, m2: Floats, other_n: Floats, other_mean: Floats, other_m2: Floats
) -> None:
    """Merge moments by Chan's formula: m2 = m2a + m2b + (mean_b - mean_a)^2 na nb / (na + nb), cell by cell.

    n, mean, m2 : float64[K, p], in/out; other_n, other_mean, other_m2 : float64[K, p], in
    """
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if other_n[c, j] == 0.0:
                continue
            if n[c, j] == 0.0:
                n[c, j], mean[c, j], m2[c, j] = other_n[c, j], other_mean[c, j], other_m2[c, j]
                continue
            total = n[c, j] + other_n[c, j]
            d = other_mean[c, j] - mean[c, j]
            share = other_n[c, j] / total
            m2[c, j] += other_m2[c, j] + d * d * n[c, j] * share
            mean[c, j] += d * share
            n[c, j] = total
