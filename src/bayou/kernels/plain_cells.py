"""Parser of delimited text without quotes (CSV) to columns of numbers and codes of names, in one pass over its bytes.

Cells have the bits that Arrow's reader gives, or parsing stops and Arrow reads them: a number is the double nearest to
its decimal form, which a few exact operations find for up to 18 digits and 22 decimal places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import kernel, tight_kernel
from bayou.kernels.look_up import span_hash

DONE, NOT_PLAIN, NO_ROOM = 0, 1, 2
UNKNOWN = -2  # a name of one byte that was not seen yet
HASH, COLUMN, START, LENGTH, CODE = 0, 1, 2, 3, 4  # fields of an entry in the hash table of names
PLACES = 22  # powers of ten up to this one are exact
POWERS = np.array([10.0**i for i in range(PLACES + 1)])
DIGITS = 18  # as many fit into 63 bits
EXACT = 1 << 53
SPLIT = 134217729.0  # 2^27 + 1
NEARLY = 2.0**-48

_LINE, _RETURN, _MINUS, _PLUS, _POINT, _ZERO = (np.uint8(ord(mark)) for mark in "\n\r-+.0")
_ZEROS = np.uint64(0x3030303030303030)
_TO_128 = np.uint64(0x7676767676767676)  # added to a byte of 10 or more, it reaches the highest bit
_HIGHEST = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)


@tight_kernel
def quotient(m: int, places: int) -> float:
    """Return the double nearest to m / 10^places, for m of up to 18 digits; NaN where that is uncertain.

    If m is not a double, the quotient of the nearest double is corrected by the remainder, which is known nearly to the
    last bit. The result is certain if a slightly smaller and a slightly larger correction round to the same double.
    """
    power = float(POWERS[places])
    if m <= EXACT:
        return float(m) / power
    near = float(m)
    rest = float(m - int(near))
    q = near / power
    # q * power = product + error, exactly (Dekker)
    a, b = q * SPLIT, power * SPLIT
    q_high, power_high = a - (a - q), b - (b - power)
    q_low, power_low = q - q_high, power - power_high
    product = q * power
    error = ((q_high * power_high - product) + q_high * power_low + q_low * power_high) + q_low * power_low
    step = (((near - product) - error) + rest) / power
    less, more = q + step * (1.0 - NEARLY), q + step * (1.0 + NEARLY)
    return less if less == more else np.nan


@tight_kernel
def eight_bytes(data: NDArray[np.uint8], at: np.uint64) -> np.uint64:
    """Return the eight bytes from `at` on as a little-endian number; unsigned indices let LLVM make it one load.

    data : uint8[b], in, read-only
    """
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(data[at + np.uint64(i)]) << np.uint64(8 * i)
    return word


@tight_kernel
def digits_of(word: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return how many leading bytes of eight are digits, and the number they form if there are any.

    There is no branch on the number of digits, which no branch predictor can guess.
    """
    values = word ^ _ZEROS
    # marks bytes that are no digits: correct up to the first one, after which a carry may have changed the others
    others = ((values + _TO_128) | values) & _HIGHEST
    below = (others & (~others + np.uint64(1))) - np.uint64(1)
    n = (((below >> np.uint64(7)) & _ONES) * _ONES) >> np.uint64(56)
    # Shifted up, so that zeros precede the digits; then neighbours are combined, three times.
    v = values << ((np.uint64(64) - (n << np.uint64(3))) & np.uint64(63))
    v = (v * np.uint64(10) + (v >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    v = (v * np.uint64(100) + (v >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return n, (v * np.uint64(10000) + (v >> np.uint64(32))) & np.uint64(0xFFFFFFFF)


@tight_kernel
def read_short_cells(
    cells: Floats,
    codes: Codes,
    row: np.uint64,
    data: NDArray[np.uint8],
    at: np.uint64,
    kinds: Codes,
    column: int,
    short: Codes,
    mark: np.uint8,
) -> tuple[np.uint64, int]:
    """Parse cells from `column` on while they are short; return where the next cell begins, and its column.

    Short cells are names of one byte that were seen before, and numbers of up to 7 digits, or up to 7 digits, a point
    and up to 7 more: an integer below 2^53 and a power of ten, both exact, as in `quotient`. All is in one loop, so
    that the processor speculates beyond the end of a cell, which takes half the time.
    cells : float64[p], out; codes : int32[q, m], out; data : uint8[b], in, read-only; kinds : int32[d], in
    short : int32[q, 256], in, codes of names of one byte
    """
    one = np.uint64(1)
    p, q = np.uint32(len(cells)), np.uint32(len(codes))
    for j in range(column, len(kinds)):
        kind = np.uint32(kinds[j])
        stop = mark if j < len(kinds) - 1 else _LINE
        if kind >= p:
            name = kind - p
            if name >= q or data[at + one] != stop:
                return at, j
            code = short[name, np.uint64(data[at])]
            if code < 0:
                return at, j
            codes[name, row] = code
            at += one + one
            continue
        digit = data[at] - _ZERO
        if digit < 10 and data[at + one] == stop:  # the most common case where cells are 0 or 1
            cells[kind] = digit
            at += one + one
            continue
        negative = data[at] == _MINUS
        begin = at + np.uint64(negative)
        n, whole = digits_of(eight_bytes(data, begin))
        if n == 0 or n == 8:
            return at, j
        end, value = begin + n, float(np.int64(whole))
        if data[end] != stop:
            if data[end] != _POINT:
                return at, j
            places, fraction = digits_of(eight_bytes(data, end + one))
            end += one + places
            if places == 0 or places == 8 or data[end] != stop:
                return at, j
            power = float(POWERS[places])
            value = (value * power + float(np.int64(fraction))) / power
        cells[kind] = -value if negative else value
        at = end + one
    return at, len(kinds)


@tight_kernel
def number_at(data: NDArray[np.uint8], begin: int) -> tuple[float, int]:
    """Parse the number that begins here; return it and where it ends, or NaN if it is none, or not plain enough.

    data : uint8[b], in, read-only
    """
    at = np.uint64(begin)
    one = np.uint64(1)
    negative = data[at] == _MINUS
    if negative:
        at += one
    m = np.int64(0)
    first = at
    digit = data[at] - _ZERO
    while digit < 10:
        m = m * 10 + digit
        at += one
        digit = data[at] - _ZERO
    digits = at - first
    places = np.int64(0)
    if data[at] == _POINT and digits > 0:
        at += one
        point = at
        digit = data[at] - _ZERO
        while digit < 10:
            m = m * 10 + digit
            at += one
            digit = data[at] - _ZERO
        places = np.int64(at - point)
        digits = digits + (at - point) if places > 0 else np.uint64(0)
    if digits == 0 or digits > DIGITS:
        return np.nan, 0
    if data[at] | 32 == 101:  # e or E
        at += one
        minus = data[at] == _MINUS
        if minus or data[at] == _PLUS:
            at += one
        power, first = np.int64(0), at
        digit = data[at] - _ZERO
        while digit < 10 and at - first < 4:
            power = power * 10 + digit
            at += one
            digit = data[at] - _ZERO
        if at == first:
            return np.nan, 0
        places += power if minus else -power
    if places > PLACES or places < -PLACES or (places < 0 and m > EXACT):
        return np.nan, 0
    value = quotient(int(m), int(places)) if places >= 0 else float(m) * POWERS[-places]
    return float(-value if negative else value), int(np.int64(at))


@tight_kernel
def is_word(data: NDArray[np.uint8], at: int, n: int, words: NDArray[np.uint8], ends: Index) -> bool:
    """Return whether the n bytes from `at` on are one of the words.

    data : uint8[b], in, read-only; words : uint8[c], in; ends : int64[m + 1], in
    """
    for i in range(len(ends) - 1):
        begin = ends[i]
        if ends[i + 1] - begin == n:
            same = 0
            while same < n and data[at + same] == words[begin + same]:
                same += 1
            if same == n:
                return True
    return False


@tight_kernel
def entry_of(
    slots: Codes,
    entries: Index,
    names: NDArray[np.uint8],
    data: NDArray[np.uint8],
    at: int,
    n: int,
    column: int,
    hashed: int,
) -> tuple[int, int]:
    """Return the entry of a column's name, or -1, and the slot of the hash table where it is or belongs.

    slots : int32[s], in, s a power of two, -1 = free; entries : int64[e, 5], in; names : uint8[c], in
    data : uint8[b], in, read-only
    """
    mask = np.uint64(len(slots) - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] >= 0:
        e = int(slots[slot])
        if entries[e, HASH] == hashed and entries[e, COLUMN] == column and entries[e, LENGTH] == n:
            begin = entries[e, START]
            same = 0
            while same < n and data[at + same] == names[begin + same]:
                same += 1
            if same == n:
                return e, int(np.int64(slot))
        slot = (slot + np.uint64(1)) & mask
    return -1, int(np.int64(slot))


@tight_kernel
def name_hash(data: NDArray[np.uint8], at: int, n: int, column: int) -> int:
    """Return the hash of a name and its column.

    data : uint8[b], in, read-only
    """
    return int(np.int64(span_hash(data, at, n) ^ (np.uint64(column + 1) * np.uint64(0x9E3779B97F4A7C15))))


@kernel
def place_entries(slots: Codes, entries: Index, count: int) -> None:
    """Insert the first `count` entries into an empty hash table that is large enough.

    slots : int32[s], in/out, s a power of two, -1 = free; entries : int64[e, 5], in
    """
    mask = np.uint64(len(slots) - 1)
    for e in range(count):
        slot = np.uint64(entries[e, HASH]) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = e


@kernel
def read_plain_cells(
    numbers: Floats,
    codes: Codes,
    missing: Index,
    progress: Index,
    slots: Codes,
    entries: Index,
    names: NDArray[np.uint8],
    short: Codes,
    sizes: Index,
    data: NDArray[np.uint8],
    size: int,
    kinds: Codes,
    delimiter: int,
    words: NDArray[np.uint8],
    ends: Index,
) -> int:
    """Parse records from `progress` on, to the end, or until one is not plain or there is no room for a name.

    numbers : float64[m, p], out, NaN = missing; codes : int32[q, m], out, -1 = missing
    missing : int64[p + q], in/out, at least 1 where a cell of the column is missing
    progress : int64[4], in/out, byte, row, entries, bytes of names; slots : int32[s], in/out
    entries : int64[e, 5], in/out; names : uint8[c], in/out; short : int32[q, 256], in/out, codes of names of one byte
    sizes : int64[q], in/out, names of each column; data : uint8[b], in, read-only, `size` bytes of which the last ends
    a line, and SPARE more; kinds : int32[d], in, the place of a numeric column, p + that of a nominal one, -1 = skipped
    words : uint8[c], in; ends : int64[m + 1], in, what stands for a missing cell
    """
    p, d, last = numbers.shape[1], len(kinds), np.uint64(size)
    mark = np.uint8(delimiter)
    at, row = np.uint64(progress[0]), progress[1]
    one = np.uint64(1)
    ends_cell = np.zeros(256, np.bool_)
    ends_cell[mark] = ends_cell[_LINE] = ends_cell[_RETURN] = True
    while at < last:
        progress[0], progress[1] = at, row
        if data[at] == _LINE:
            at += one
            continue
        if data[at] == _RETURN and data[at + one] == _LINE:
            at += one + one
            continue
        cells = numbers[np.uint64(row)]
        j = 0
        while j < d:
            at, j = read_short_cells(cells, codes, np.uint64(row), data, at, kinds, j, short, mark)
            if j == d:
                break
            kind, begin = kinds[j], at
            stop = mark if j < d - 1 else _LINE
            if 0 <= kind < p:
                value, end = number_at(data, int(np.int64(at)))
                if value == value and ends_cell[data[end]]:
                    cells[np.uint64(kind)] = value
                    at = np.uint64(end)
            if at == begin:
                while not ends_cell[data[at]]:
                    at += one
                here, n = int(np.int64(begin)), int(np.int64(at - begin))
                if kind >= p:
                    column = int(kind - p)
                    hashed = name_hash(data, here, n, column)
                    e, slot = entry_of(slots, entries, names, data, here, n, column, hashed)
                    if e < 0:
                        e, start = progress[2], progress[3]
                        if 2 * (e + 1) > len(slots) or e >= len(entries) or start + n > len(names):
                            return NO_ROOM
                        entries[e, HASH], entries[e, COLUMN] = hashed, column
                        entries[e, START], entries[e, LENGTH] = start, n
                        entries[e, CODE] = -1
                        if not is_word(data, here, n, words, ends):
                            entries[e, CODE] = sizes[column]
                            sizes[column] += 1
                        for i in range(n):
                            names[start + i] = data[here + i]
                        progress[2], progress[3] = e + 1, start + n
                        slots[slot] = e
                    found = np.int32(entries[e, CODE])
                    codes[column, row] = found
                    missing[kind] |= found < 0
                    if n == 1:
                        short[column, data[here]] = found
                elif kind >= 0:
                    if not is_word(data, here, n, words, ends):
                        return NOT_PLAIN
                    cells[np.uint64(kind)] = np.nan
                    missing[kind] = 1
            if data[at] == _RETURN and j == d - 1:
                at += one
            if data[at] != stop:
                return NOT_PLAIN
            at += one
            j += 1
        row += 1
    progress[0], progress[1] = at, row
    return DONE
