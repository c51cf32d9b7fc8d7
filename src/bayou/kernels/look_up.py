"""Encoding cells of nominal columns as integer codes: by a table for a dictionary, by their bytes, or as integers.

Columns whose dictionaries are known are translated together, straight into rows. The codes of the others are written
column by column, each column contiguous, and then transposed into rows. A missing cell gets -1; one whose value has no
code (a miss) gets `miss`, and is counted. `valid` is Arrow's bitmap of present cells, from bit
`offset` on, and empty where all are present.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Index
from bayou.kernels.addresses import int32_at, uint8_at, uint16_at, uint32_at
from bayou.kernels.jit import kernel, tight_kernel

SPARE = 16  # bytes after the last name of a table, so that each can be read in words of eight
SOME = 256  # rows that are written at once, so that they stay in the cache until they are complete
MISS = -2  # a cell whose value has no code yet


@tight_kernel
def cell_present(valid: NDArray[np.uint8], at: int) -> bool:
    """Whether a cell is present.

    valid : uint8[v], in, read-only
    """
    return len(valid) == 0 or (valid[at >> 3] >> (at & 7)) & 1 == 1


@kernel
def translate(
    codes: Codes, column: int, indices: Codes, valid: NDArray[np.uint8], offset: int, table: Codes
) -> int:
    """codes[column, i] = table[indices[i]]; return the number of misses, which include indices beyond the table.

    codes : int32[q, n], out; indices : int32[n], in, read-only, < 0 = missing; valid : uint8[v], in, read-only
    table : int32[m], in
    """
    out = codes[column]
    misses = 0
    for i in range(len(indices)):
        k = np.uint32(indices[i])  # a missing cell's index lies beyond every table
        code = np.int32(-1)
        if cell_present(valid, offset + i):
            if k < np.uint32(len(table)):
                code = table[k]
            elif indices[i] >= 0:
                code = np.int32(MISS)
        out[i] = code
        misses += code == MISS
    return misses


@kernel
def translate_columns(rows: Codes, misses: Index, columns: Index) -> None:
    """rows[i, j] = table[indices[i]] for several columns at once, a few rows at a time; count the misses of each.

    rows : int32[n, q], out; misses : int64[k], out
    columns : int64[k, 8], in, of each column its place j; the address of its n indices, their size in bytes (1, 2 or
    4) and from which one on, read as unsigned, they are missing; the address of its bitmap of present cells, 0 if all
    are, and the bit that belongs to its first row; address and length of its table, behind which follow `MISS`, -1
    """
    for k in range(len(columns)):
        misses[k] = 0
    for lo in range(0, len(rows), SOME):
        some = rows[lo : lo + SOME]
        for k in range(len(columns)):
            cells = some[:, columns[k, 0]]
            address, size, missing = columns[k, 1], columns[k, 2], columns[k, 3]
            valid, offset, table, entries = columns[k, 4], columns[k, 5] + lo, columns[k, 6], columns[k, 7]
            if valid != 0 or codes_of_known(cells, address, size, lo, table, entries) < 0:
                misses[k] += codes_of_any(cells, address, size, lo, missing, valid, offset, table, entries)


@tight_kernel
def index_at(address: int, size: int, i: int) -> int:
    """Return the i-th unsigned integer of `size` bytes."""
    if size == 1:
        return int(uint8_at(address, i))
    if size == 2:
        return int(uint16_at(address, i))
    return int(uint32_at(address, i))


@tight_kernel
def codes_of_known(cells: Codes, address: int, size: int, first: int, table: int, entries: int) -> int:
    """Write the codes of the indices from the first one on; return a number < 0 if one is missing or a miss.

    cells : int32[n], out
    """
    signs = np.int32(0)
    for i in range(len(cells)):
        code = np.int32(int32_at(table, min(index_at(address, size, first + i), entries)))
        cells[i] = code
        signs |= code
    return int(signs)


@tight_kernel
def codes_of_any(
    cells: Codes,
    address: int,
    size: int,
    first: int,
    missing: int,
    valid: int,
    offset: int,
    table: int,
    entries: int,
) -> int:
    """Write the codes of the indices from the first one on, -1 where one is missing; return the number of misses.

    Missing cells have an entry of the table, too: a branch on what is missing is often mispredicted.
    cells : int32[n], out
    """
    missed = 0
    for i in range(len(cells)):
        index = index_at(address, size, first + i)
        entry = entries + 1 if index >= missing else min(index, entries)
        if valid != 0:
            present = (uint8_at(valid, (offset + i) >> 3) >> ((offset + i) & 7)) & 1
            entry = entry if present else entries + 1
        code = np.int32(int32_at(table, entry))
        cells[i] = code
        missed += code == MISS
    return missed


@kernel
def first_misses(rows: Index, indices: Codes, valid: NDArray[np.uint8], offset: int, table: Codes) -> int:
    """Write the first row of each entry that the table marks as a miss; return the number of such entries.

    rows : int64[m], out; indices : int32[n], in, read-only, < 0 = missing; valid : uint8[v], in, read-only
    table : int32[m], in
    """
    met = np.zeros(len(table), dtype=np.bool_)
    found = 0
    for i in range(len(indices)):
        k = indices[i]
        if 0 <= k < len(table) and not met[k] and table[k] == MISS and cell_present(valid, offset + i):
            met[k] = True
            rows[found] = i
            found += 1
    return found


@kernel
def look_up_integers(
    codes: Codes,
    column: int,
    values: Index,
    valid: NDArray[np.uint8],
    offset: int,
    table: Codes,
    low: int,
    miss: int,
) -> int:
    """codes[column, i] = table[values[i] - low]; a value outside the table, or at -1 in it, is a miss.

    Returns the number of misses, which get the code `miss`.
    codes : int32[q, n], out; values : int64[n], in, read-only; valid : uint8[v], in, read-only
    table : int32[m], in
    """
    out = codes[column]
    misses = 0
    high = low + len(table)
    for i in range(len(values)):
        code = np.int32(-1)
        if cell_present(valid, offset + i):
            if low <= values[i] < high:
                code = table[values[i] - low]
            if code < 0:
                code = np.int32(miss)
                misses += 1
        out[i] = code
    return misses


@tight_kernel
def _eight(data: NDArray[np.uint8], at: int, n: int) -> np.uint64:
    """At most 8 of the n bytes from `at` on as one number, where there are 8 to be read; without a branch.

    data : uint8[b], in, read-only
    """
    p, word = np.uint64(at), np.uint64(0)  # unsigned, so that the eight loads become one
    for i in range(8):
        word |= np.uint64(data[p + np.uint64(i)]) << np.uint64(8 * i)
    spare = np.uint64(8 * (8 - min(n, 8)) & 63)
    return word & (np.uint64(0xFFFFFFFFFFFFFFFF) >> spare) if n > 0 else np.uint64(0)


@tight_kernel
def _word(data: NDArray[np.uint8], at: int, n: int) -> np.uint64:
    """At most 8 of the n bytes from `at` on as one number, also at the very end of the data.

    data : uint8[b], in, read-only
    """
    if at + 8 <= len(data):
        return _eight(data, at, n)
    word = np.uint64(0)
    for i in range(min(n, 8)):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@tight_kernel
def span_hash(data: NDArray[np.uint8], at: int, n: int) -> np.uint64:
    """64-bit hash of the n bytes from `at` on, which must never change: saved models of hashed words depend on it.

    data : uint8[b], in, read-only
    """
    h = (_word(data, at, n) ^ np.uint64(n)) * np.uint64(0x9E3779B97F4A7C15)
    # most have up to 16 bytes, about half of them more than 8: both are computed, so that no branch is mispredicted
    longer = (h ^ (h >> np.uint64(32)) ^ _word(data, at + 8, n - 8)) * np.uint64(0x9E3779B97F4A7C15)
    h = longer if n > 8 else h
    for i in range(16, n, 8):
        h = (h ^ (h >> np.uint64(32)) ^ _word(data, at + i, n - i)) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)  # a product carries bits only upwards
    return h ^ (h >> np.uint64(32))


@tight_kernel
def name_slot(data: NDArray[np.uint8], at: int, n: int, slots: int) -> int:
    """The slot where the search for the n bytes from `at` on begins; the number of slots is a power of two.

    data : uint8[b], in, read-only
    """
    return int(np.int64(span_hash(data, at, n) & np.uint64(slots - 1)))


@tight_kernel
def find_name(
    data: NDArray[np.uint8], at: int, n: int, slots: Codes, starts: Index, names: NDArray[np.uint8]
) -> int:
    """The code of the name whose bytes are the n from `at` on; -1 if there is none.

    data : uint8[b], in, read-only; slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only, with SPARE bytes behind the last
    """
    mask = np.uint64(len(slots) - 1)
    slot = span_hash(data, at, n) & mask
    first, second = _word(data, at, n), _word(data, at + 8, n - 8)
    while slots[slot] >= 0:
        code = np.uint64(slots[slot])
        begin = starts[code]
        alike = (_eight(names, begin, n) == first) & (_eight(names, begin + 8, n - 8) == second)
        if alike & (starts[code + np.uint64(1)] - begin == n):  # one branch for both conditions
            same = 16
            while same < n and _eight(names, begin + same, n - same) == _word(data, at + same, n - same):
                same += 8
            if same >= n:
                return int(np.int64(code))  # Numba would unify uint64 and -1 to a float
        slot = (slot + np.uint64(1)) & mask
    return -1


@kernel
def place_names(slots: Codes, starts: Index, names: NDArray[np.uint8], first: int, is_name: Flags) -> None:
    """Enter the names from `first` on into a hash table with room for them, each under its code.

    slots : int32[s], in/out, s a power of two, -1 = free; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only; is_name : bool[m - first], in: others of the codes stand for no name
    """
    for i in range(len(is_name)):
        if is_name[i]:
            code = first + i
            slot = name_slot(names, starts[code], starts[code + 1] - starts[code], len(slots))
            while slots[slot] >= 0:
                slot = (slot + 1) & (len(slots) - 1)
            slots[slot] = code


@kernel
def look_up_strings(
    codes: Codes,
    column: int,
    ends: Index,
    data: NDArray[np.uint8],
    valid: NDArray[np.uint8],
    offset: int,
    slots: Codes,
    starts: Index,
    names: NDArray[np.uint8],
    miss: int,
) -> int:
    """Write the codes of strings that are concatenated in `data`, string i from ends[i] to ends[i + 1].

    Returns the number of misses, which get the code `miss`.
    codes : int32[q, n], out; ends : int64[n + 1], in, read-only; data : uint8[b], in, read-only
    valid : uint8[v], in, read-only; slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only
    """
    out = codes[column]
    misses = 0
    for i in range(len(ends) - 1):
        code = -1
        if cell_present(valid, offset + i):
            code = find_name(data, ends[i], ends[i + 1] - ends[i], slots, starts, names)
            if code < 0:
                code = miss
                misses += 1
        out[i] = code
    return misses


@kernel
def look_up_views(
    codes: Codes,
    column: int,
    views: Codes,
    inline: NDArray[np.uint8],
    data: NDArray[np.uint8],
    valid: NDArray[np.uint8],
    offset: int,
    slots: Codes,
    starts: Index,
    names: NDArray[np.uint8],
    miss: int,
) -> int:
    """Write the codes of strings given as Arrow's views: length, then 12 bytes or prefix, buffer and place in `data`.

    Returns the number of misses, which get the code `miss`.
    codes : int32[q, n], out; views : int32[4 n], in, read-only; inline : uint8[16 n], in, read-only, the same memory
    data : uint8[b], in, read-only, the one buffer of longer strings; valid : uint8[v], in, read-only
    slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only; names : uint8[c], in, read-only
    """
    out = codes[column]
    misses = 0
    for i in range(len(views) // 4):
        code = -1
        if cell_present(valid, offset + i):
            length = int(views[4 * i])
            if length <= 12:
                code = find_name(inline, 16 * i + 4, length, slots, starts, names)
            else:
                code = find_name(data, int(views[4 * i + 3]), length, slots, starts, names)
            if code < 0:
                code = miss
                misses += 1
        out[i] = code
    return misses


@kernel
def rows_of_columns(rows: Codes, columns: Codes, places: Index) -> None:
    """Transpose: rows[i, places[k]] = columns[k, i], a few rows at a time, which stay in the cache until complete.

    rows : int32[n, q], out; columns : int32[k, n], in; places : int64[k], in
    """
    for lo in range(0, len(rows), SOME):
        some = rows[lo : lo + SOME]
        for k in range(len(columns)):
            cells, column = some[:, places[k]], columns[k, lo : lo + SOME]
            for i in range(len(column)):
                cells[i] = column[i]
