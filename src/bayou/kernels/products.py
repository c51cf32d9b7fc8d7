"""Products over columns in one fixed order, kept in range, so that a row needs one logarithm per class.

Columns are multiplied in runs of 32, four lanes each (the place modulo 4); a run that leaves the range of safe
products is taken apart into logarithms. Appending a column whose factor is 1 leaves the bits alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.value_counts import log_or_floor

RUN = 32
SMALL = 1e-140  # the product of two numbers beyond these is still in range
LARGE = 1e140


@kernel
def log_run(
    factors: NDArray[np.float64], at: NDArray[np.uint64], base: np.uint64, c: np.uint64, lo: int, hi: int
) -> float:
    """Sum of the logarithms of one run, for class c.

    factors : float64[r, K], in; at : uint64[m], in
    """
    total = 0.0
    for j in range(lo, hi):
        total += log_or_floor(factors[base + at[j], c])
    return total


@kernel
def in_range(x: float) -> bool:
    """Whether a product may be multiplied once more."""
    return SMALL < x < LARGE


@kernel
def multiply(
    product: NDArray[np.float64],
    factors: NDArray[np.float64],
    at: NDArray[np.uint64],
    base: np.uint64,
    split: int,
) -> None:
    """product[0, c] exp(product[1, c]) = prod_j factors[base + at[j], c]: columns before `split`, then the others.

    Classes go two by two, the last with its neighbour. The exponent is 0 unless the product left its range.
    product : float64[2, K], out; factors : float64[r, K], in; at : uint64[m], in
    """
    k, m = product.shape[1], len(at)
    for c in range(0, k, 2):
        x, y = np.uint64(max(0, min(c, k - 2))), np.uint64(min(c + 1, k - 1))
        p, q, log_p, log_q = 1.0, 1.0, 0.0, 0.0
        for part in range(2):
            lo, hi = (0, split) if part == 0 else (split, m)
            for t in range(lo, hi, RUN):
                end = min(hi, t + RUN)
                even = end - (end - t) % 4
                a, b, d, e = 1.0, 1.0, 1.0, 1.0
                f, g, h, i = 1.0, 1.0, 1.0, 1.0
                for j in range(t, even, 4):
                    one, two = base + at[np.uint64(j)], base + at[np.uint64(j + 1)]
                    a *= factors[one, x]
                    f *= factors[one, y]
                    b *= factors[two, x]
                    g *= factors[two, y]
                    one, two = base + at[np.uint64(j + 2)], base + at[np.uint64(j + 3)]
                    d *= factors[one, x]
                    h *= factors[one, y]
                    e *= factors[two, x]
                    i *= factors[two, y]
                if even < end:
                    a *= factors[base + at[np.uint64(even)], x]
                    f *= factors[base + at[np.uint64(even)], y]
                if even + 1 < end:
                    b *= factors[base + at[np.uint64(even + 1)], x]
                    g *= factors[base + at[np.uint64(even + 1)], y]
                if even + 2 < end:
                    d *= factors[base + at[np.uint64(even + 2)], x]
                    h *= factors[base + at[np.uint64(even + 2)], y]
                a, b = (a * b) * (d * e), (f * g) * (h * i)
                if in_range(a):
                    p *= a
                else:
                    log_p += log_run(factors, at, base, x, t, end)
                if not in_range(p):
                    log_p += math.log(p)
                    p = 1.0
                if in_range(b):
                    q *= b
                else:
                    log_q += log_run(factors, at, base, y, t, end)
                if not in_range(q):
                    log_q += math.log(q)
                    q = 1.0
        product[0, x], product[0, y] = p, q
        product[1, x], product[1, y] = log_p, log_q
