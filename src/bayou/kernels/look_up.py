"""Cells of nominal columns to codes: through a dictionary's table, by their bytes, by their integers.

A cell that is missing gets -1; one whose value has no code gets `miss`, and is counted. `valid` is Arrow's bitmap
of present cells, from bit `offset` on, and empty where all are present.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import inner_kernel, kernel

MISS = -2  # a cell whose value nobody knows yet


@inner_kernel
def _present(valid: NDArray[np.uint8], at: int) -> bool:
    """Whether a cell is present.

    valid : uint8[v], in, read-only
    """
    return len(valid) == 0 or (valid[at >> 3] >> (at & 7)) & 1 == 1


@kernel
def translate(
    codes: NDArray[np.int32],
    column: int,
    indices: NDArray[np.int32],
    valid: NDArray[np.uint8],
    offset: int,
    table: NDArray[np.int32],
) -> int:
    """codes[i, column] = table[indices[i]]; returns how many cells are misses in it, or lie beyond it.

    codes : int32[n, q], out; indices : int32[n], in, read-only, < 0 = missing; valid : uint8[v], in, read-only
    table : int32[m], in
    """
    out = codes[:, column]
    misses = 0
    for i in range(len(indices)):
        k = indices[i]
        code = np.int32(-1)
        if k >= 0 and _present(valid, offset + i):
            code = table[k] if k < len(table) else np.int32(MISS)
        out[i] = code
        misses += code == MISS
    return misses


@kernel
def first_misses(
    rows: NDArray[np.int64],
    indices: NDArray[np.int32],
    valid: NDArray[np.uint8],
    offset: int,
    table: NDArray[np.int32],
) -> int:
    """The row where each entry that the table marks as a miss appears first; returns how many entries.

    rows : int64[m], out; indices : int32[n], in, read-only, < 0 = missing; valid : uint8[v], in, read-only
    table : int32[m], in
    """
    met = np.zeros(len(table), dtype=np.bool_)
    found = 0
    for i in range(len(indices)):
        k = indices[i]
        if 0 <= k < len(table) and not met[k] and table[k] == MISS and _present(valid, offset + i):
            met[k] = True
            rows[found] = i
            found += 1
    return found


@kernel
def look_up_integers(
    codes: NDArray[np.int32],
    column: int,
    values: NDArray[np.int64],
    valid: NDArray[np.uint8],
    offset: int,
    table: NDArray[np.int32],
    low: int,
    miss: int,
) -> int:
    """codes[i, column] = table[values[i] - low]; a value outside the table, or at -1 in it, is a miss.

    codes : int32[n, q], out; values : int64[n], in, read-only; valid : uint8[v], in, read-only
    table : int32[m], in
    """
    out = codes[:, column]
    misses = 0
    high = low + len(table)
    for i in range(len(values)):
        code = np.int32(-1)
        if _present(valid, offset + i):
            if low <= values[i] < high:
                code = table[values[i] - low]
            if code < 0:
                code = np.int32(miss)
                misses += 1
        out[i] = code
    return misses


@inner_kernel
def _slot(data: NDArray[np.uint8], lo: int, hi: int, slots: int) -> int:
    """Where to look first for some bytes, among a power of two of slots (FNV-1a).

    data : uint8[b], in, read-only
    """
    h = np.uint64(14695981039346656037)
    for i in range(lo, hi):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(slots - 1))


@inner_kernel
def _find(
    data: NDArray[np.uint8],
    lo: int,
    hi: int,
    slots: NDArray[np.int32],
    starts: NDArray[np.int64],
    names: NDArray[np.uint8],
) -> int:
    """The code of the name whose bytes are data[lo:hi]; -1 if there is none.

    data : uint8[b], in, read-only; slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only
    """
    at = _slot(data, lo, hi, len(slots))
    while slots[at] >= 0:
        code = slots[at]
        begin = starts[code]
        if starts[code + 1] - begin == hi - lo:
            same = 0
            while same < hi - lo and names[begin + same] == data[lo + same]:
                same += 1
            if same == hi - lo:
                return np.int64(code)
        at = (at + 1) & (len(slots) - 1)
    return np.int64(-1)


@kernel
def place_names(
    slots: NDArray[np.int32],
    starts: NDArray[np.int64],
    names: NDArray[np.uint8],
    first: int,
    is_name: NDArray[np.bool_],
) -> None:
    """Enter the names from `first` on into a hash table with room for them, each under its code.

    slots : int32[s], in/out, s a power of two, -1 = free; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only; is_name : bool[m - first], in: others of the codes stand for no name
    """
    for i in range(len(is_name)):
        if is_name[i]:
            code = first + i
            at = _slot(names, starts[code], starts[code + 1], len(slots))
            while slots[at] >= 0:
                at = (at + 1) & (len(slots) - 1)
            slots[at] = code


@kernel
def look_up_strings(
    codes: NDArray[np.int32],
    column: int,
    ends: NDArray[np.int64],
    data: NDArray[np.uint8],
    valid: NDArray[np.uint8],
    offset: int,
    slots: NDArray[np.int32],
    starts: NDArray[np.int64],
    names: NDArray[np.uint8],
    miss: int,
) -> int:
    """Codes of strings that stand one after the other in `data`, string i from ends[i] to ends[i + 1].

    codes : int32[n, q], out; ends : int64[n + 1], in, read-only; data : uint8[b], in, read-only
    valid : uint8[v], in, read-only; slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only
    """
    out = codes[:, column]
    misses = 0
    for i in range(len(ends) - 1):
        code = np.int64(-1)
        if _present(valid, offset + i):
            code = _find(data, ends[i], ends[i + 1], slots, starts, names)
            if code < 0:
                code = miss
                misses += 1
        out[i] = code
    return misses


@kernel
def look_up_views(
    codes: NDArray[np.int32],
    column: int,
    views: NDArray[np.int32],
    inline: NDArray[np.uint8],
    data: NDArray[np.uint8],
    valid: NDArray[np.uint8],
    offset: int,
    slots: NDArray[np.int32],
    starts: NDArray[np.int64],
    names: NDArray[np.uint8],
    miss: int,
) -> int:
    """Codes of strings given as Arrow's views: length, then 12 bytes; or a prefix, a buffer, a place in `data`.

    codes : int32[n, q], out; views : int32[4 n], in, read-only; inline : uint8[16 n], in, read-only, the same memory
    data : uint8[b], in, read-only, the one buffer of longer strings; valid : uint8[v], in, read-only
    slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only; names : uint8[c], in, read-only
    """
    out = codes[:, column]
    misses = 0
    for i in range(len(views) // 4):
        code = np.int64(-1)
        if _present(valid, offset + i):
            length = np.int64(views[4 * i])
            if length <= 12:
                code = _find(inline, 16 * i + 4, 16 * i + 4 + length, slots, starts, names)
            else:
                at = np.int64(views[4 * i + 3])
                code = _find(data, at, at + length, slots, starts, names)
            if code < 0:
                code = miss
                misses += 1
        out[i] = code
    return misses
