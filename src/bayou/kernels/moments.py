"""Weight, mean and sum of squared deviations per class and column (Welford, Chan), NaN-aware."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel, kernel


@kernel
def add_rows(
    n: Floats, mean: Floats, m2: Floats, x: Floats, y: Codes, w: Floats, lo: int, hi: int, no_missing: bool
) -> None:
    """Welford's step for columns lo..hi of every labelled row with weight.

    While no value was missing, all columns of a class have one weight, and one division serves a whole row;
    with `no_missing`, none is missing here.
    n, mean, m2 : float64[K, p], in/out; x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    total = n[:, lo].copy()
    even = np.empty(len(n), np.bool_)
    for c in range(len(n)):
        even[c] = all_equal(n[c, lo:hi])
    for i in range(len(y)):
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        row = x[i, lo:hi]
        if even[c] and (no_missing or all_present(row)):
            total[c] += w[i]
            share = w[i] / total[c]
            add_full_row(mean[c, lo:hi], m2[c, lo:hi], row, share, w[i] * (1.0 - share))
            continue
        if even[c]:
            even[c] = False
            n[c, lo:hi] = total[c]
        add_row(n[c, lo:hi], mean[c, lo:hi], m2[c, lo:hi], row, w[i])
    for c in range(len(n)):
        if even[c]:
            n[c, lo:hi] = total[c]


@inner_kernel
def all_equal(values: Floats) -> bool:
    """Whether all values are the same.

    values : float64[p], in
    """
    different = 0
    for j in range(len(values)):
        different += values[j] != values[0]
    return different == 0


@inner_kernel
def all_present(x: Floats) -> bool:
    """Whether no value is missing.

    x : float64[p], in, NaN = missing
    """
    missing = 0
    for j in range(len(x)):
        missing += x[j] != x[j]
    return missing == 0


@inner_kernel
def add_full_row(mean: Floats, m2: Floats, x: Floats, share: float, rest: float) -> None:
    """`add_row` where nothing is missing and every column weighs the same.

    mean, m2 : float64[p], in/out; x : float64[p], in
    """
    for j in range(len(x)):
        d = x[j] - mean[j]
        mean[j] += d * share
        m2[j] += d * (d * rest)


@inner_kernel
def add_row(n: Floats, mean: Floats, m2: Floats, x: Floats, w: float) -> None:
    """One row into one class: d = x - mean; n += w; mean += d w / n; m2 += d^2 w (1 - w / n).

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
    """Welford's step backwards; what is left of an empty or nearly empty cell is set to zero.

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
    """Chan: m2 = m2a + m2b + (mean_b - mean_a)^2 na nb / (na + nb), cell by cell.

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
