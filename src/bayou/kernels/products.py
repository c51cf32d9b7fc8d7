"""Products over columns in one fixed order, kept in range, so that a row needs one logarithm per class.

Columns are multiplied in runs of 32, four lanes each (the place modulo 4); a run that leaves the range of safe
products is replaced by a sum of logarithms. Appending a column whose factor is 1 does not change the bits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.value_counts import log_or_floor

RUN = 32
SMALL = 1e-140  # the product of two numbers beyond these is still in range
LARGE = 1e140


@inner_kernel
def log_run(
    factors: Floats, at: NDArray[np.uint64], base: np.uint64, c: np.uint64, lo: int, hi: int
) -> float:
    """Return the sum of the logarithms of the factors of one run, for class c.

    factors : float64[r, K], in; at : uint64[m], in
    """
    total = 0.0
    for j in range(lo, hi):
        total += log_or_floor(factors[base + at[j], c])
    return total


@inner_kernel
def in_range(x: float) -> bool:
    """Return whether a product may be multiplied by another one in range without overflow or underflow."""
    return SMALL < x < LARGE


@kernel
def multiply(
    product: Floats, factors: Floats, at: NDArray[np.uint64], bases: NDArray[np.uint64], split: int
) -> None:
    """product[0, c, s] exp(product[1, c, s]) = prod_j factors[bases[s] + at[j], c], columns before `split` first.

    Classes are handled in pairs, an odd last one with its neighbour. The exponent is 0 unless a product left its range.
    product : float64[2, K, S], out; factors : float64[r, K], in; at : uint64[m], in; bases : uint64[<= S], in
    """
    k, m = product.shape[1], len(at)
    flat, width = factors.reshape(-1), np.uint64(k)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for s in range(len(bases)):
        base = bases[s]
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
                    j, rest = np.uint64(t), np.uint64(even)
                    while j < rest:
                        u, v = (base + at[j]) * width, (base + at[j + one]) * width
                        a *= flat[u + x]
                        f *= flat[u + y]
                        b *= flat[v + x]
                        g *= flat[v + y]
                        u, v = (base + at[j + two]) * width, (base + at[j + three]) * width
                        d *= flat[u + x]
                        h *= flat[u + y]
                        e *= flat[v + x]
                        i *= flat[v + y]
                        j += four
                    if even < end:
                        u = (base + at[rest]) * width
                        a *= flat[u + x]
                        f *= flat[u + y]
                    if even + 1 < end:
                        u = (base + at[rest + one]) * width
                        b *= flat[u + x]
                        g *= flat[u + y]
                    if even + 2 < end:
                        u = (base + at[rest + two]) * width
                        d *= flat[u + x]
                        h *= flat[u + y]
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
            product[0, x, s], product[0, y, s] = p, q
            product[1, x, s], product[1, y, s] = log_p, log_q


@inner_kernel
def no_product(k: int) -> Floats:
    """Return an array for one product per class, which is 1 without factors."""
    out = np.zeros((2, k, 1))
    out[0] = 1.0
    return out
