"""Search for words in a text: two or more letters, digits or underscores in a row.

A document becomes a bitmap, one bit for every byte, which is 1 where the byte belongs to a word; words begin and end
where the bits change. ASCII text is handled 64 bytes at a time, and only multibyte characters one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Bytes, Codes, Index
from bayou.kernels.bitmaps import popcount
from bayou.kernels.characters import LOWER, SPECIAL, WORD, Points, ascii_eight, decoded, eight_bytes, fold_row
from bayou.kernels.jit import inner_kernel, tight_kernel

Marks = NDArray[np.uint64]

BLOCK, HELD, EDGES_HELD, INSIDE = (
    0,
    1,
    2,
    3,
)  # of `scan`: next 64 bytes, an edge left over, whether there is one, whether inside a word
SCAN = 4
EDGES = 1024  # edges of words found at a time
_ONE = np.uint64(1)
_LAST = np.uint64(63)
_NO_CASE = np.uint8(0)
_LETTERS = np.uint8(26)


@tight_kernel
def fold_block(low: Bytes, to: int, data: Bytes, at: int, letters: np.uint8, flags: Bytes) -> np.uint64:
    """Copy 64 bytes in lower case, and flag those that belong to words; return the bitwise or of all, as eight bytes.

    One of the eight is >= 128 if the text is not ASCII. The or has a loop of its own: computed in the loop over bytes,
    it would widen them to 64 bits, and the loop would take eight times as long.

    low : uint8[b], out, from `to` on; data : uint8[b], in, read-only, from `at` on; flags : uint8[64], out
    """
    source, goal = np.uint64(at), np.uint64(to)  # unsigned, so that no index is tested for being negative
    for i in range(64):
        c = data[source + np.uint64(i)]
        capital = np.uint8(c - np.uint8(65)) < letters
        low[goal + np.uint64(i)] = c | (np.uint8(32) if capital else np.uint8(0))
        letter = np.uint8((c | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
        digit = np.uint8(c - np.uint8(48)) < np.uint8(10)
        flags[i] = np.uint8(letter) | np.uint8(digit) | np.uint8(c == np.uint8(95))
    met = np.uint64(0)
    for k in range(8):
        met |= eight_bytes(data, at + 8 * k)
    return met


@tight_kernel
def packed(flags: Bytes) -> np.uint64:
    """Return 64 flags as the bits of one number.

    flags : uint8[64], in, 0 or 1
    """
    bits = np.uint64(0)
    for k in range(8):
        eight = np.uint64(0)
        for i in range(8):
            eight |= np.uint64(flags[8 * k + i]) << np.uint64(8 * i)
        bits |= ((eight * np.uint64(0x0102040810204080)) >> np.uint64(56)) << np.uint64(8 * k)
    return bits


@inner_kernel
def _stays(low: Bytes, end: int, points: Points, accents: Codes) -> bool:
    """Return whether folding leaves all multibyte characters unchanged: lower case, and no accent to strip.

    low : uint8[b], in; points : uint32[1114112], in; accents : int32[0 or 1114112], in
    """
    at = 0
    while at < end:
        if ascii_eight(eight_bytes(low, at)):  # may read beyond the end, where the buffer has spare bytes
            at += 8
            continue
        if low[at] < 0x80:
            at += 1
            continue
        read = decoded(low, at, end)
        if points[read >> 3] & np.uint32(LOWER | SPECIAL) != np.uint32(read >> 3):
            return False
        if len(accents) > 0 and accents[read >> 3] != 0:
            return False
        at += read & 7
    return True


@inner_kernel
def _mark_longer(marks: Marks, low: Bytes, end: int, points: Points, alone: bool) -> None:
    """Set the bits of multibyte characters that belong to words; with `alone`, clear those that stand alone.

    marks : uint64[m], in/out; low : uint8[b], in; points : uint32[1114112], in
    """
    at = 0
    while at < end:
        if ascii_eight(eight_bytes(low, at)):  # may read beyond the end, where the buffer has spare bytes
            at += 8
            continue
        if low[at] < 0x80:
            at += 1
            continue
        read = decoded(low, at, end)
        size = read & 7
        if points[read >> 3] & np.uint32(WORD) != 0:
            before, behind = at - 1, at + size
            if not alone:
                for i in range(at, behind):
                    marks[i >> 6] |= _ONE << np.uint64(i & 63)
            elif (
                not (before >= 0 and (marks[before >> 6] >> np.uint64(before & 63)) & _ONE != 0)
                and not (marks[behind >> 6] >> np.uint64(behind & 63)) & _ONE != 0
            ):
                for i in range(at, behind):
                    marks[i >> 6] &= ~(_ONE << np.uint64(i & 63))
        at += size


@tight_kernel
def _mark_blocks(
    marks: Marks, low: Bytes, data: Bytes, begin: int, end: int, letters: np.uint8, flags: Bytes
) -> bool:
    """Fold and mark the text from `begin` to `end`; return whether it is ASCII.

    marks : uint64[m], out; low : uint8[b], out; data : uint8[b], in, read-only; flags : uint8[64], scratch
    """
    n = end - begin
    full, left, met = n >> 6, n & 63, np.uint64(0)
    for b in range(full):
        met |= fold_block(low, 64 * b, data, begin + 64 * b, letters, flags)
        marks[np.uint64(b)] = packed(flags)
    marks[np.uint64(full)] = 0
    marks[np.uint64(full + 1)] = 0
    if left > 0:
        if begin + 64 * full + 64 <= len(data):
            some = fold_block(low, 64 * full, data, begin + 64 * full, letters, flags)
        else:  # at the very end of the data
            for i in range(left):
                low[64 * full + i] = data[begin + 64 * full + i]
            some = fold_block(low, 64 * full, low, 64 * full, letters, flags)
        if not ascii_eight(some):  # here, or in the bytes that follow
            for i in range(64 * full, n):
                met |= np.uint64(low[i])
        marks[np.uint64(full)] = packed(flags) & ((_ONE << np.uint64(left)) - _ONE)
    return ascii_eight(met)


@inner_kernel
def _mark_longer_row(
    marks: Marks,
    low: Bytes,
    data: Bytes,
    begin: int,
    end: int,
    points: Points,
    accents: Codes,
    plain: Codes,
    flags: Bytes,
) -> int:
    """Do as `mark_row` for text with multibyte characters.

    marks : uint64[b / 64], out; low : uint8[b], out; data : uint8[b], in, read-only; points : uint32[1114112], in
    accents : int32[0 or 1114112], in; plain : int32[m], in; flags : uint8[64], scratch
    """
    size = fold_row(low, 0, data, begin, end, points, accents, plain)
    if size < 0 or size + 128 > len(low):
        return -1
    if not _mark_blocks(marks, low, low, 0, size, _NO_CASE, flags):
        _mark_longer(marks, low, size, points, False)
        _mark_longer(marks, low, size, points, True)
    return size


@tight_kernel
def mark_row(
    marks: Marks,
    low: Bytes,
    data: Bytes,
    begin: int,
    end: int,
    points: Points,
    accents: Codes,
    plain: Codes,
    flags: Bytes,
) -> int:
    """Write the text from `begin` to `end` in lower case, and a bit for each byte that belongs to a word.

    Returns where the text ends in `low`, or -1 if it is too long; bits of the 64 bytes behind it are 0.

    marks : uint64[b / 64], out; low : uint8[b], out; data : uint8[b], in, read-only; points : uint32[1114112], in
    accents : int32[0 or 1114112], in; plain : int32[m], in; flags : uint8[64], scratch
    """
    if end - begin + 128 > len(low):
        return -1
    letters = _LETTERS if points[65] & np.uint32(LOWER) == 97 else _NO_CASE
    if _mark_blocks(marks, low, data, begin, end, letters, flags):
        return end - begin
    if _stays(low, end - begin, points, accents):  # most multibyte characters do
        _mark_longer(marks, low, end - begin, points, False)
        _mark_longer(marks, low, end - begin, points, True)
        return end - begin
    return _mark_longer_row(marks, low, data, begin, end, points, accents, plain, flags)


@tight_kernel
def next_edges(edges: Marks, scan: Index, marks: Marks, end: int) -> int:
    """Write where the next words begin and end, in turn; return the number of words. scan[BLOCK] > end / 64 at the end.

    Edges are written eight at a time; those beyond the last one are overwritten later.

    edges : uint64[EDGES + 80], out; scan : int64[SCAN], in/out; marks : uint64[m], in
    """
    block, found = np.uint64(scan[BLOCK]), np.uint64(scan[EDGES_HELD])
    blocks = np.uint64(end >> 6)
    edges[0] = scan[HELD]
    before = _ONE & (marks[block - _ONE] >> _LAST) if block > 0 else np.uint64(0)
    inside = np.uint64(scan[INSIDE])
    while block <= blocks and found < EDGES:
        bits, behind = marks[block], marks[block + _ONE]
        words = bits & (((bits << _ONE) | before) | ((bits >> _ONE) | (behind << _LAST)))
        before = bits >> _LAST
        changes = words ^ ((words << _ONE) | inside)
        inside = words >> _LAST
        first, some = np.uint64(64) * block, popcount(changes)
        for k in range(np.uint64(0), (some + np.uint64(7)) >> np.uint64(3)):
            for i in range(8):
                edges[found + np.uint64(8) * k + np.uint64(i)] = first + popcount(~changes & (changes - _ONE))
                changes &= changes - _ONE
        found += some
        block += _ONE
    scan[BLOCK], scan[INSIDE], scan[EDGES_HELD] = block, inside, found & _ONE
    scan[HELD] = edges[found & ~_ONE]
    return int(found >> _ONE)
