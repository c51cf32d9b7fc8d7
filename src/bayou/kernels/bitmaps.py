"""Counting pairs and triples of few values by bitmaps: 64 rows at a time, one AND and one population count.

Rows are taken class by class. Every column has one bitmap per value; the first value of a column without
missing values has none, since its counts follow from the others by subtraction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, kernel

WORDS = 64  # words per bitmap and chunk: the bitmaps of a chunk stay in the nearest cache


@inner_kernel
def popcount(x: np.uint64) -> np.uint64:
    """Number of bits set in a 64-bit word (the compiler knows this form and emits its own instruction)."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def rows_by_class(order: Index, ends: Index, y: Codes, w: Floats) -> None:
    """Write the numbers of the labelled rows with weight, class after class, in order within a class.

    One pass per class writes every row and advances past those of the class only: there is no branch to mispredict.
    order : int64[n + 1], out; ends : int64[K + 1], out, class c has order[ends[c] : ends[c + 1]]
    y : int32[n], in; w : float64[n], in
    """
    at = 0
    ends[0] = 0
    for c in range(len(ends) - 1):
        for i in range(len(y)):
            order[np.uint64(at)] = i
            at += (y[i] == c) & (w[i] > 0.0)
        ends[c + 1] = at


@kernel
def columns_met(codes: Codes) -> int:
    """Count the columns that have a value in any row; stops once all columns have one.

    codes : int32[n, m], in
    """
    n, m = codes.shape
    met, found = np.zeros(m, np.bool_), 0
    for i in range(n):
        if found == m:
            break
        for j in range(m):
            new = codes[i, j] >= 0 and not met[j]
            met[j] |= new
            found += new
    return found


@kernel
def all_whole(counts: Floats, most: float) -> bool:
    """Whether all counts are integers and none is above `most`.

    counts : float64[n], in
    """
    whole = 0
    for i in range(len(counts)):
        whole += (counts[i] == np.floor(counts[i])) & (counts[i] <= most)
    return whole == len(counts)


@inner_kernel
def any_missing(codes: Codes) -> bool:
    """Whether any value is missing, which is a negative code: the bitwise OR of all codes keeps the sign.

    codes : int32[v], in
    """
    union = np.int32(0)
    for i in range(len(codes)):
        union |= codes[i]
    return bool(union < 0)


@kernel
def find_missing(missing: Codes, codes: Codes) -> None:
    """Set missing[j] < 0 where column j is missing in any row; columns are searched only if any value is missing.

    missing : int32[m], out; codes : int32[n, m], in
    """
    missing[:] = 0
    if not any_missing(codes.reshape(-1)):
        return
    for i in range(codes.shape[0]):
        row = codes[i]
        for j in range(len(missing)):
            missing[j] |= row[j]


@inner_kernel
def pack_eight(bits: Codes, codes: Codes, rows: Index, v: int) -> None:
    """Bit r of bits[j] = whether row rows[r] has value v in column j, for eight rows.

    bits : int32[m], out; codes : int32[n, m], in; rows : int64[8], in
    """
    a, b, c, d = codes[rows[0]], codes[rows[1]], codes[rows[2]], codes[rows[3]]
    e, f, g, h = codes[rows[4]], codes[rows[5]], codes[rows[6]], codes[rows[7]]
    x = np.int32(v)
    for j in range(len(bits)):
        low = (a[j] == x) + 2 * (b[j] == x) + 4 * (c[j] == x) + 8 * (d[j] == x)
        high = (e[j] == x) + 2 * (f[j] == x) + 4 * (g[j] == x) + 8 * (h[j] == x)
        bits[j] = low + 16 * high


@inner_kernel
def pack_few(bits: Codes, codes: Codes, rows: Index, v: int) -> None:
    """Bit r of bits[j] = whether row rows[r] has value v in column j, for fewer than eight rows.

    bits : int32[m], out; codes : int32[n, m], in; rows : int64[r], in
    """
    bits[:] = 0
    for r in range(len(rows)):
        row = codes[rows[r]]
        for j in range(len(bits)):
            bits[j] += (row[j] == v) << r


@inner_kernel
def pack_rows(
    maps: NDArray[np.uint8], bits: Codes, codes: Codes, rows: Index, cells: Index, least: int
) -> None:
    """Set bit r % 8 of maps[cells[j] + v, r // 8] where row r has value v in column j, for values from `least` on.

    maps : uint8[cells, 8 W], out; bits : int32[m], scratch; codes : int32[n, m], in
    rows : int64[at most 64 W], in; cells : int64[m + 1], in
    """
    m = codes.shape[1]
    most = 0
    for j in range(m):
        most = max(most, cells[j + 1] - cells[j])
    for v in range(least, most):
        for t in range((len(rows) + 7) // 8):
            part = rows[8 * t : 8 * t + 8]
            if len(part) == 8:
                pack_eight(bits, codes, part, v)
            else:
                pack_few(bits, codes, part, v)
            octet = np.uint64(t)
            for j in range(m):
                if v < cells[j + 1] - cells[j]:
                    maps[np.uint64(cells[j] + v), octet] = bits[j]


@inner_kernel
def count_maps(
    singles: Index,
    pairs: Index,
    triples: Index,
    both: NDArray[np.uint64],
    maps: NDArray[np.uint64],
    layout: Index,
    first: Index,
) -> None:
    """Add the numbers of rows of all cells, pairs and triples of cells, from value first[j] of column j on.

    singles : int64[cells], in/out; pairs : int64[P], in/out; triples : int64[T], in/out; both : uint64[W], scratch
    maps : uint64[cells, W], in; layout : int64[3, m + 1], in; first : int64[m], in
    """
    o = layout[0]
    for j in range(len(first)):
        for a in range(o[j] + first[j], o[j + 1]):
            mine = maps[a]
            total = np.uint64(0)
            for t in range(len(mine)):
                total += popcount(mine[t])
            singles[a] += np.int64(total)
            base = layout[1, j] + (a - o[j]) * o[j]
            for i in range(j):
                for b in range(o[i] + first[i], o[i + 1]):
                    theirs = maps[b]
                    total = np.uint64(0)
                    for t in range(len(both)):
                        both[t] = mine[t] & theirs[t]
                        total += popcount(both[t])
                    pairs[base + b] += np.int64(total)
                    if len(triples) > 0:
                        add_third(triples, both, maps, layout, first, j, a, i, b)


@inner_kernel
def add_third(
    triples: Index,
    both: NDArray[np.uint64],
    maps: NDArray[np.uint64],
    layout: Index,
    first: Index,
    j: int,
    a: int,
    i: int,
    b: int,
) -> None:
    """Add the counts of the triples of the pair (a, b), whose common rows are `both`, with every column before i.

    triples : int64[T], in/out; both : uint64[W], in; maps : uint64[cells, W], in
    layout : int64[3, m + 1], in; first : int64[m], in
    """
    o = layout[0]
    base = layout[2, j] + (a - o[j]) * layout[1, j] + layout[1, i] + (b - o[i]) * o[i]
    for h in range(i):
        for e in range(o[h] + first[h], o[h + 1]):
            third = maps[e]
            total = np.uint64(0)
            for t in range(len(both)):
                total += popcount(both[t] & third[t])
            triples[base + e] += np.int64(total)


@inner_kernel
def complete_pairs(singles: Index, pairs: Index, layout: Index, first: Index, rows: int) -> None:
    """Compute counts and pairs of first values by subtraction from the number of rows, and from the rows of each value.

    singles : int64[cells], in/out; pairs : int64[P], in/out; layout : int64[3, m + 1], in; first : int64[m], in
    """
    o = layout[0]
    for j in range(len(first)):
        if first[j] == 1:
            singles[o[j]] = rows
            for a in range(o[j] + 1, o[j + 1]):
                singles[o[j]] -= singles[a]
    for j in range(len(first)):
        width = o[j]
        table = pairs[layout[1, j] : layout[1, j + 1]]
        for i in range(j):
            if first[i] == 1:
                for a in range(first[j], o[j + 1] - o[j]):
                    rest = singles[o[j] + a]
                    for b in range(o[i] + 1, o[i + 1]):
                        rest -= table[a * width + b]
                    table[a * width + o[i]] = rest
        if first[j] == 1:
            for b in range(width):
                rest = singles[b]
                for a in range(1, o[j + 1] - o[j]):
                    rest -= table[a * width + b]
                table[b] = rest


@inner_kernel
def complete_triples(pairs: Index, triples: Index, layout: Index, first: Index) -> None:
    """Compute the counts of triples with first values by subtraction from the completed pairs.

    pairs : int64[P], in; triples : int64[T], in/out; layout : int64[3, m + 1], in; first : int64[m], in
    """
    o = layout[0]
    for k in range(len(first)):
        width = layout[1, k]
        table = triples[layout[2, k] : layout[2, k + 1]]
        for a in range(first[k], o[k + 1] - o[k]):
            row = table[a * width : (a + 1) * width]
            mine = pairs[layout[1, k] + a * o[k] : layout[1, k] + (a + 1) * o[k]]
            for j in range(k):
                near = row[layout[1, j] : layout[1, j + 1]]
                for i in range(j):
                    if first[i] == 1:
                        for b in range(first[j], o[j + 1] - o[j]):
                            rest = mine[o[j] + b]
                            for e in range(o[i] + 1, o[i + 1]):
                                rest -= near[b * o[j] + e]
                            near[b * o[j] + o[i]] = rest
                if first[j] == 1:
                    for e in range(o[j]):
                        rest = mine[e]
                        for b in range(1, o[j + 1] - o[j]):
                            rest -= near[b * o[j] + e]
                        near[e] = rest
        if first[k] == 1:
            for p in range(width):
                rest = pairs[p]
                for a in range(1, o[k + 1] - o[k]):
                    rest -= table[a * width + p]
                table[p] = rest


@kernel
def count_class(
    singles: Index,
    pairs: Index,
    triples: Index,
    maps: NDArray[np.uint64],
    codes: Codes,
    rows: Index,
    layout: Index,
    first: Index,
) -> None:
    """Count the cells, pairs and triples of the given rows, which are all of one class.

    singles : int64[cells], out; pairs : int64[P], out; triples : int64[T], out, empty for none
    maps : uint64[cells, W], scratch; codes : int32[n, m], in; rows : int64[r], in
    layout : int64[3, m + 1], in; first : int64[m], in, 1 where the first value is left to subtraction
    """
    singles[:] = 0
    pairs[:] = 0
    triples[:] = 0
    bits = np.empty(len(first), dtype=np.int32)
    octets = maps.view(np.uint8)
    both = np.empty(maps.shape[1], dtype=np.uint64)
    least = ZERO + 1
    for j in range(len(first)):
        least = min(least, first[j])
    chunk = 64 * maps.shape[1]
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        if len(part) < chunk:
            maps[:] = np.uint64(0)
        pack_rows(octets, bits, codes, part, layout[0], least)
        count_maps(singles, pairs, triples, both, maps, layout, first)
    complete_pairs(singles, pairs, layout, first, len(rows))
    if len(triples) > 0:
        complete_triples(pairs, triples, layout, first)
