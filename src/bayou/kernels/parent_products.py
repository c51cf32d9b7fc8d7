"""Products of P(x_j | c, x_s) over the columns j, straight from the counts, for all parents s of a row side by side."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.collection import margin, share
from bayou.kernels.jit import inner_kernel, tight_kernel
from bayou.kernels.products import RUN, in_range
from bayou.kernels.value_counts import log_or_floor


@tight_kernel
def gather_pairs(
    room: Floats,
    places: NDArray[np.uint64],
    k: np.uint64,
    flat: Floats,
    at: NDArray[np.uint64],
    row: Codes,
    stride: int,
    size: int,
    lo: int,
    hi: int,
) -> None:
    """room[stride (8 + j - lo) + K d + c] = n(x_j, x_s, c) for lo <= j < hi and s = places[0, d], where x_j is there.

    room : float64[stride (8 + r)], in/out; places : uint64[3, >= size], in; flat : float64[P K], in
    at : uint64[3, m], in; row : int32[m], in
    """
    one, begin, end, base = np.uint64(1), np.uint64(0), np.uint64(size), np.uint64(7 * stride)
    for h in range(lo, hi):
        j = np.uint64(h)
        base += np.uint64(stride)
        while begin < end and places[0, begin] < j:
            begin += one
        if row[j] < 0:
            continue
        after = begin + one if begin < end and places[0, begin] == j else begin
        mine, rows = at[0, j] * k, at[1, j] * k
        if k == 2:
            for d in range(begin):
                top, x = rows + places[1, d], base + d + d
                room[x], room[x + one] = flat[top], flat[top + one]
            for d in range(after, end):
                top, x = places[2, d] + mine, base + d + d
                room[x], room[x + one] = flat[top], flat[top + one]
        else:
            for d in range(begin):
                for c in range(k):
                    room[base + d * k + c] = flat[rows + places[1, d] + c]
            for d in range(after, end):
                for c in range(k):
                    room[base + d * k + c] = flat[places[2, d] + mine + c]


@inner_kernel
def gather_margins(
    room: Floats,
    pairs: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    places: NDArray[np.uint64],
    stride: int,
    size: int,
    j: int,
) -> None:
    """room[7 stride + K d + c] = sum over the values of column j of n(v, x_s, c), s = places[0, d].

    room : float64[stride (8 + r)], in/out; pairs : float64[P, K], in; layout : int64[3, m + 1], in
    at : uint64[3, m], in; row : int32[m], in; places : uint64[3, >= size], in
    """
    k, mine, v = np.uint64(pairs.shape[1]), np.uint64(j), np.uint64(row[j])
    values, x = layout[0, j + 1] - layout[0, j], np.uint64(7 * stride)
    for d in range(size):
        s = places[0, d]
        if s != mine:
            top = at[1, mine] + at[0, s] if mine > s else at[1, s] + at[0, mine]
            step = np.uint64(layout[0, j] if mine > s else 1)
            for c in range(k):
                room[x + c] = margin(pairs, top, step, v, values, np.uint64(c))
        x += k


@tight_kernel
def multiply_shares(
    room: Floats, lane: np.uint64, near: np.uint64, under: np.uint64, w: np.uint64, added: float, alpha: float,
    lo: np.uint64, hi: np.uint64,
) -> None:  # fmt: skip
    """near becomes (near + alpha) / (under + added), 1 from lo to hi, and lane its product with that.

    The compiler vectorizes this loop, since the three ranges of w cells lie apart.
    room : float64[r], in/out
    """
    for x in range(w):
        a = share(room[near + x] + alpha, room[under + x] + added)
        a = 1.0 if lo <= x < hi else a
        room[near + x] = a
        room[lane + x] *= a


@tight_kernel
def close_run(room: Floats, row: Codes, stride: int, w: int, lo: int, hi: int) -> None:
    """Multiply the products by the four lanes of a run, in logarithms where that leaves the range of safe products.

    room : float64[stride (8 + r)], in/out, see `multiply_given`; row : int32[m], in
    """
    step = np.uint64(stride)
    for x in range(np.uint64(w)):
        second, fourth = x + step + step, x + np.uint64(4) * step
        a = (room[second] * room[second + step]) * (room[fourth] * room[fourth + step])
        if in_range(a):
            room[x] *= a
        else:
            total = 0.0
            for j in range(lo, hi):
                total += log_or_floor(room[x + step * np.uint64(8 + j - lo)]) if row[j] >= 0 else 0.0
            room[x + step] += total
        if not in_range(room[x]):
            room[x + step] += math.log(room[x])
            room[x] = 1.0


@tight_kernel
def multiply_given(
    room: Floats,
    alone: Floats,
    pairs: Floats,
    flat: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    places: NDArray[np.uint64],
    stride: int,
    size: int,
    width: Index,
    no_missing: Flags,
    alpha: float,
    split: int,
) -> None:
    """room[K d + c] exp(room[stride + K d + c]) = prod_j P(x_j | c, x_s), s = places[0, d]: the bits of `multiply`.

    All parents go side by side, child after child. The room has rows of `stride` cells, a multiple of four: products
    and their logarithms, four lanes, n(x_s, c), the same of rows that have x_j, and the factors of a run. It is flat,
    and none of this a call, since Numba counts references to what is sliced or passed on, which takes longer.
    room : float64[stride (8 + r)], scratch and out; alone : float64[cells K], in; pairs : float64[P, K], in
    flat : float64[P K], in, the same; layout : int64[3, m + 1], in; at : uint64[3, m], in; row : int32[m], in
    places : uint64[3, >= size], in, column, cell and first pair of every parent, the latter two times K
    width : int64[m], in; no_missing : bool[m], in
    """
    m, k, one, step = len(row), pairs.shape[1], np.uint64(1), np.uint64(stride)
    w, x = size * k, np.uint64(0)
    for parent in range(np.uint64(size)):
        for c in range(np.uint64(k)):
            room[x], room[x + step], room[x + np.uint64(6) * step] = 1.0, 0.0, alone[places[1, parent] + c]
            x += one
    full = np.uint64((w + 3) // 4 * 4)
    for part in range(2):
        lo, hi = (0, split) if part == 0 else (split, m)
        for t in range(lo, hi, RUN):
            end = min(hi, t + RUN)
            gather_pairs(room, places, np.uint64(k), flat, at, row, stride, size, t, end)
            for product in range(np.uint64(2) * step, np.uint64(6) * step):
                room[product] = 1.0
            d = np.uint64(0)
            for h in range(t, end):
                j = np.uint64(h)
                while d < np.uint64(size) and places[0, d] < j:
                    d += one
                if row[j] < 0:
                    continue
                begin = d * np.uint64(k)
                past = begin + np.uint64(k) if d < np.uint64(size) and places[0, d] == j else begin
                under = np.uint64(6) * step
                if not no_missing[j]:
                    gather_margins(room, pairs, layout, at, row, places, stride, size, h)
                    under += step
                multiply_shares(
                    room, np.uint64(2 + ((h - t) & 3)) * step, np.uint64(8 + h - t) * step, under, full,
                    alpha * width[j], alpha, begin, past,
                )  # fmt: skip
            close_run(room, row, stride, w, t, end)
