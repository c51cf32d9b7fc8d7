"""Scores of edges between columns: conditional mutual information given the class, and the gain of K2's score."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import inner_kernel, kernel


@inner_kernel
def sum_margins(
    left: Floats, right: Floats, both: Floats, pairs: Floats, layout: Index, j: int, i: int
) -> None:
    """Compute n(v_j, c), n(v_i, c) and n(c) over the rows in which columns i < j are both present.

    left : float64[s_j, K], out; right : float64[s_i, K], out; both : float64[K], out
    pairs : float64[P, K], in; layout : int64[3, m + 1], in
    """
    o = layout[0]
    left[:] = 0.0
    right[:] = 0.0
    both[:] = 0.0
    for a in range(len(left)):
        base = layout[1, j] + a * o[j] + o[i]
        for b in range(len(right)):
            for c in range(len(both)):
                n = max(pairs[base + b, c], 0.0)  # after subtracting rows, rounding may leave negative counts
                left[a, c] += n
                right[b, c] += n
                both[c] += n


@inner_kernel
def log_ratio(n: float, both: float, left: float, right: float) -> float:
    """log(n both / (left right)) of counts above 0, finite if these are; exactly 0 where the products are equal."""
    ratio = n * both / (left * right)
    if 0.0 < ratio < np.inf:
        return math.log(ratio)
    # a product overflowed or underflowed
    return math.log(n) + math.log(both) - math.log(left) - math.log(right)


@kernel
def conditional_information(out: Floats, pairs: Floats, layout: Index) -> None:
    """out[j, i] = out[i, j] = sum n(v_j, v_i, c) log(n(v_j, v_i, c) n(c) / (n(v_j, c) n(v_i, c))), in nats.

    Over the rows that have both columns; divided by N it is the information I(X_j; X_i | C).
    out : float64[m, m], out; pairs : float64[P, K], in; layout : int64[3, m + 1], in
    """
    o, m, k = layout[0], out.shape[0], pairs.shape[1]
    both = np.empty(k)
    for j in range(m):
        out[j, j] = 0.0
        for i in range(j):
            left, right = np.empty((o[j + 1] - o[j], k)), np.empty((o[i + 1] - o[i], k))
            sum_margins(left, right, both, pairs, layout, j, i)
            total = 0.0
            for a in range(len(left)):
                base = layout[1, j] + a * o[j] + o[i]
                for b in range(len(right)):
                    for c in range(k):
                        n = pairs[base + b, c]
                        if n > 0.0:
                            total += n * log_ratio(n, both[c], left[a, c], right[b, c])
            out[j, i] = total
            out[i, j] = total


@inner_kernel
def log_dirichlet(total: float, values: int) -> float:
    """log of Gamma(V) / Gamma(n + V), the part of the uniform Dirichlet's evidence that belongs to a total."""
    return math.lgamma(values) - math.lgamma(total + values)


@kernel
def dirichlet_gain(out: Floats, pairs: Floats, layout: Index, width: Index) -> None:
    """out[i, p] = log evidence of column i given class and column p, less that given the class (K2's score).

    Over the rows that have both columns, uniform Dirichlet priors.
    out : float64[m, m], out; pairs : float64[P, K], in; layout : int64[3, m + 1], in; width : int64[m], in
    """
    o, m, k = layout[0], out.shape[0], pairs.shape[1]
    both = np.empty(k)
    for j in range(m):
        out[j, j] = 0.0
        for i in range(j):
            left, right = np.empty((o[j + 1] - o[j], k)), np.empty((o[i + 1] - o[i], k))
            sum_margins(left, right, both, pairs, layout, j, i)
            cells, ends_left, ends_right, own_left, own_right, start = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for c in range(k):
                for a in range(len(left)):
                    ends_left += log_dirichlet(left[a, c], width[i])
                    own_left += math.lgamma(left[a, c] + 1.0)
                    for b in range(len(right)):
                        cells += math.lgamma(max(pairs[layout[1, j] + a * o[j] + o[i] + b, c], 0.0) + 1.0)
                for b in range(len(right)):
                    ends_right += log_dirichlet(right[b, c], width[j])
                    own_right += math.lgamma(right[b, c] + 1.0)
                start += log_dirichlet(both[c], width[i])
            out[i, j] = cells + ends_left - start - own_right
            start = 0.0
            for c in range(k):
                start += log_dirichlet(both[c], width[j])
            out[j, i] = cells + ends_right - start - own_left
