"""Products of P(x_j | c, x_s) over the columns j, for all parents s of a row at once.

P(x_j | c, x_s) = (n(x_j, x_s, c) + alpha) * 1 / (n(x_s, c) + alpha V_j): as long as V_j stays the same, children share
their reciprocals. Runs of 32 columns are multiplied in four lanes, as in `bayou.kernels.products`, for each parent and
class. Where a product leaves its range, a run is added up in logarithms.

The workspace `room` is a flat array with rows of `stride` cells, cell K d + c for class c and the d-th parent. Indices
are unsigned, and nothing is sliced: Numba counts references to arrays that are sliced or passed on, which takes longer
than the arithmetic.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, tight_kernel
from bayou.kernels.products import RUN, in_range
from bayou.kernels.value_counts import log_or_floor

# Rows of the workspace. The products are room[PRODUCT] exp(room[EXPONENT]).
PRODUCT, EXPONENT, LANES, ALONE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(6)
RECIPROCAL, MARGIN, FACTORS = np.uint64(7), np.uint64(8), np.uint64(9)
WHOLE = 8  # loops over a row are vectorised by this: rows are padded to a multiple
LEAST = 1e-300  # totals below it have no reciprocal


@inner_kernel
def rows_of(parents: int, k: int) -> int:
    """Return the stride of a workspace for so many parents and k classes."""
    return (parents * k + WHOLE - 1) // WHOLE * WHOLE


@inner_kernel
def room_for(columns: int, k: int) -> Floats:
    """Allocate a workspace for so many columns and k classes."""
    return np.zeros((9 + min(columns, RUN)) * rows_of(columns, k))


@inner_kernel
def reciprocal(total: float) -> float:
    """Return 1 / total, and 0 if total is (nearly) 0."""
    return 1.0 / total if total > LEAST else 0.0


@tight_kernel
def gather_pairs(
    room: Floats,
    places: NDArray[np.uint64],
    k: np.uint64,
    flat: Floats,
    at: NDArray[np.uint64],
    row: Codes,
    step: np.uint64,
    size: int,
    lo: int,
    hi: int,
) -> None:
    """Row FACTORS + j - lo of the workspace = n(x_j, x_s, c) for lo <= j < hi and s = places[0, d], if x_j is present.

    room : float64[r step], in/out; places : uint64[3, >= size], in; flat : float64[P K], in
    at : uint64[3, m], in; row : int32[m], in
    """
    one, begin, end, base = np.uint64(1), np.uint64(0), np.uint64(size), FACTORS * step
    for h in range(lo, hi):
        j, x = np.uint64(h), base
        base += step
        while begin < end and places[0, begin] < j:
            begin += one
        if row[j] < 0:
            continue
        after = begin + one if begin < end and places[0, begin] == j else begin
        mine, rows = at[0, j] * k, at[1, j] * k
        if k == 2:
            for d in range(begin):
                top = rows + places[1, d]
                room[x], room[x + one] = flat[top], flat[top + one]
                x += k
            x += (after - begin) * k
            for d in range(after, end):
                top = places[2, d] + mine
                room[x], room[x + one] = flat[top], flat[top + one]
                x += k
        else:
            for d in range(begin):
                for c in range(k):
                    room[x + c] = flat[rows + places[1, d] + c]
                x += k
            x += (after - begin) * k
            for d in range(after, end):
                for c in range(k):
                    room[x + c] = flat[places[2, d] + mine + c]
                x += k


@tight_kernel
def gather_margins(
    room: Floats,
    flat: Floats,
    k: np.uint64,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    places: NDArray[np.uint64],
    step: np.uint64,
    size: int,
    j: np.uint64,
) -> None:
    """Row MARGIN of the workspace = sum over the values of column j of n(v, x_s, c), s = places[0, d].

    room : float64[r step], in/out; flat : float64[P K], in; layout : int64[3, m + 1], in
    at : uint64[3, m], in; row : int32[m], in; places : uint64[3, >= size], in
    """
    v, values, x = np.uint64(row[j]), np.uint64(layout[0, j + np.uint64(1)] - layout[0, j]), MARGIN * step
    for d in range(np.uint64(size)):
        s = places[0, d]
        if s != j:
            top = at[1, j] + at[0, s] if j > s else at[1, s] + at[0, j]
            apart = np.uint64(layout[0, j]) if j > s else np.uint64(1)
            first = (top - v * apart) * k
            for c in range(k):
                total = 0.0
                for u in range(values):
                    total += flat[first + u * apart * k + c]
                room[x + c] = total
        x += k


@tight_kernel
def fill_row(room: Floats, start: np.uint64, w: np.uint64, value: float) -> None:
    """Set w cells of the workspace from `start` on to a value.

    room : float64[r], in/out
    """
    for x in range(start, start + w):
        room[x] = value


@tight_kernel
def take_reciprocals(room: Floats, step: np.uint64, under: np.uint64, w: np.uint64, added: float) -> None:
    """Row RECIPROCAL of the workspace = 1 / (row `under` + added).

    room : float64[r step], in/out
    """
    to = RECIPROCAL * step
    for x in range(w):
        room[to + x] = reciprocal(room[under + x] + added)


@tight_kernel
def multiply_child(
    room: Floats, lane: np.uint64, near: np.uint64, rests: np.uint64, w: np.uint64, alpha: float
) -> None:
    """Replace `near` by (near + alpha) * reciprocal, and multiply `lane` by it; the two ranges do not overlap.

    room : float64[r], in/out
    """
    for x in range(w):
        a = (room[near + x] + alpha) * room[rests + x]
        room[near + x] = a
        room[lane + x] *= a


@tight_kernel
def multiply_factors(room: Floats, lane: np.uint64, near: np.uint64, w: np.uint64) -> None:
    """Multiply `lane` by `near`; the two ranges do not overlap.

    room : float64[r], in/out
    """
    for x in range(w):
        room[lane + x] *= room[near + x]


@tight_kernel
def close_run(room: Floats, step: np.uint64, w: np.uint64, columns: int) -> None:
    """Multiply the products by the four lanes of a run, in logarithms where that leaves the range of safe products.

    room : float64[r step], in/out
    """
    second, third, fourth, fifth = (
        step + step,
        LANES * step + step,
        (LANES + LANES) * step,
        (LANES + LANES) * step + step,
    )
    beyond = 0
    for x in range(w):
        a = (room[second + x] * room[third + x]) * (room[fourth + x] * room[fifth + x])
        p = room[x] * a
        room[second + x] = a
        room[third + x] = p
        beyond += not (in_range(a) & in_range(p))
    for x in range(w):
        a, p = room[second + x], room[third + x]
        if beyond == 0:
            room[x] = p
            continue
        if in_range(a):
            room[x] = p
        else:
            total = 0.0
            for j in range(np.uint64(columns)):
                total += log_or_floor(room[x + step * (FACTORS + j)])
            room[x + step] += total
        if not in_range(room[x]):
            room[x + step] += math.log(room[x])
            room[x] = 1.0


@tight_kernel
def multiply_given(
    room: Floats,
    alone: Floats,
    flat: Floats,
    k: np.uint64,
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
    """Compute prod_j P(x_j | c, x_s), s = places[0, d], from the counts, into rows PRODUCT and EXPONENT.

    Row ALONE of the workspace has n(x_s, c) afterwards.
    room : float64[r stride], scratch and out; alone : float64[cells K], in; flat : float64[P K], in
    layout : int64[3, m + 1], in; at : uint64[3, m], in; row : int32[m], in
    places : uint64[3, >= size], in, column, cell and first pair of every parent, the latter two times K
    width : int64[m], in; no_missing : bool[m], in
    """
    m, one, step = len(row), np.uint64(1), np.uint64(stride)
    w, x = np.uint64(rows_of(size, int(k))), ALONE * step
    for parent in range(np.uint64(size)):
        for c in range(k):
            room[x] = alone[places[1, parent] + c]
            x += one
    fill_row(room, PRODUCT * step, w, 1.0)
    fill_row(room, EXPONENT * step, w, 0.0)
    for part in range(2):
        lo, hi = (0, split) if part == 0 else (split, m)
        for t in range(lo, hi, RUN):
            end = min(hi, t + RUN)
            gather_pairs(room, places, k, flat, at, row, step, size, t, end)
            fill_row(room, LANES * step, np.uint64(4) * step, 1.0)
            d, shared = np.uint64(0), -1.0
            for h in range(t, end):
                j, near = np.uint64(h), (FACTORS + np.uint64(h - t)) * step
                while d < np.uint64(size) and places[0, d] < j:
                    d += one
                if row[j] < 0:
                    fill_row(room, near, w, 1.0)
                    continue
                added = alpha * width[j]
                if not no_missing[j]:
                    gather_margins(room, flat, k, layout, at, row, places, step, size, j)
                    take_reciprocals(room, step, MARGIN * step, w, added)
                    shared = -1.0
                elif added != shared:
                    take_reciprocals(room, step, ALONE * step, w, added)
                    shared = added
                lane = (LANES + np.uint64((h - t) & 3)) * step
                if d < np.uint64(size) and places[0, d] == j:  # a parent is no child of itself
                    own = d * k
                    for c in range(k):
                        room[MARGIN * step + c] = room[lane + own + c]
                    multiply_child(room, lane, near, RECIPROCAL * step, w, alpha)
                    for c in range(k):
                        room[lane + own + c], room[near + own + c] = room[MARGIN * step + c], 1.0
                else:
                    multiply_child(room, lane, near, RECIPROCAL * step, w, alpha)
            close_run(room, step, w, end - t)


@tight_kernel
def multiply_known(
    room: Floats,
    table: Floats,
    k: np.uint64,
    mine: NDArray[np.uint64],
    bases: NDArray[np.uint64],
    stride: int,
    size: int,
    split: int,
) -> None:
    """Compute rows PRODUCT and EXPONENT as `multiply_given` does, from factors that a table holds already.

    The factor of column j, the d-th parent and class c is table[bases[d] + mine[j] + c].
    room : float64[r stride], scratch and out; table : float64[r], in; mine : uint64[m], in; bases : uint64[>= size], in
    """
    m, one, step = len(mine), np.uint64(1), np.uint64(stride)
    w = np.uint64(rows_of(size, int(k)))
    fill_row(room, PRODUCT * step, w, 1.0)
    fill_row(room, EXPONENT * step, w, 0.0)
    for part in range(2):
        lo, hi = (0, split) if part == 0 else (split, m)
        for t in range(lo, hi, RUN):
            end = min(hi, t + RUN)
            for h in range(t, end):
                cell, x = mine[np.uint64(h)], (FACTORS + np.uint64(h - t)) * step
                if k == 2:
                    for d in range(np.uint64(size)):
                        top = bases[d] + cell
                        room[x], room[x + one] = table[top], table[top + one]
                        x += k
                else:
                    for d in range(np.uint64(size)):
                        for c in range(k):
                            room[x + c] = table[bases[d] + cell + c]
                        x += k
            fill_row(room, LANES * step, np.uint64(4) * step, 1.0)
            for h in range(t, end):
                lane = (LANES + np.uint64((h - t) & 3)) * step
                multiply_factors(room, lane, (FACTORS + np.uint64(h - t)) * step, w)
            close_run(room, step, w, end - t)
