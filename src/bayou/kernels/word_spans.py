"""Where the words of a text stand: two or more letters, digits or underscores in a row.

Text of one byte per character is looked at 64 bytes at a time: a bit for each that belongs to a word, and the bits
where that changes are the ends of words. Other text is decoded character by character.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Index
from bayou.kernels.bitmaps import popcount
from bayou.kernels.characters import WORD, Points, decoded
from bayou.kernels.jit import inner_kernel

AT, BEGIN, LETTERS = (
    0,
    1,
    2,
)  # places of `scan`: where to go on, where the word at hand begins, letters of it so far
SPANS = 512  # words found at a time
_ONE = np.uint64(1)


@inner_kernel
def word_bits(low: Bytes, flags: Bytes) -> np.uint64:
    """Bit i says whether character i of the 64 in `low` belongs to a word.

    low : uint8[64], in, ASCII; flags : uint8[64], scratch
    """
    for i in range(64):
        c = low[i]
        letter = np.uint8((c | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
        digit = np.uint8(c - np.uint8(48)) < np.uint8(10)
        flags[i] = np.uint8(letter) | np.uint8(digit) | np.uint8(c == np.uint8(95))
    bits = np.uint64(0)
    for k in range(8):
        eight = np.uint64(0)
        for i in range(8):
            eight |= np.uint64(flags[8 * k + i]) << np.uint64(8 * i)
        bits |= ((eight * np.uint64(0x0102040810204080)) >> np.uint64(56)) << np.uint64(8 * k)
    return bits


@inner_kernel
def next_ascii_words(spans: Index, scan: Index, low: Bytes, end: int, flags: Bytes) -> int:
    """The next words of a text of one byte per character; returns how many, and scan[AT] > end when it is all done.

    spans : int64[SPANS + 33, 2], out; scan : int64[3], in/out; low : uint8[b], in, at least 64 bytes longer than `end`
    flags : uint8[64], scratch
    """
    found, at, begin = 0, scan[AT], scan[BEGIN]
    inside = np.uint64(scan[LETTERS] > 0)
    while at <= end and found < SPANS:
        bits = word_bits(low[at : at + 64], flags)
        if end - at < 64:
            bits &= (_ONE << np.uint64(end - at)) - _ONE
        changes = bits ^ ((bits << _ONE) | inside)
        while changes != 0:
            place = at + int(popcount((changes & (~changes + _ONE)) - _ONE))
            changes &= changes - _ONE
            spans[found, 0] = begin
            spans[found, 1] = place
            found += int(inside != 0 and place - begin > 1)
            begin = place
            inside ^= _ONE
        at += 64
    scan[AT], scan[BEGIN], scan[LETTERS] = at, begin, int(inside)
    return found


@inner_kernel
def next_words(spans: Index, scan: Index, low: Bytes, end: int, points: Points) -> int:
    """The next words of any text; returns how many, and scan[AT] > end when it is all done.

    spans : int64[SPANS + 33, 2], out; scan : int64[3], in/out; low : uint8[b], in; points : uint32[1114112], in
    """
    found, at, begin, letters = 0, scan[AT], scan[BEGIN], scan[LETTERS]
    while at <= end and found < SPANS:
        word, size = False, 1
        if at < end:
            read = decoded(low, at, end)
            word, size = points[read >> 3] & np.uint32(WORD) != 0, read & 7
        if word:
            letters += 1
        else:
            if letters > 1:
                spans[found, 0] = begin
                spans[found, 1] = at
                found += 1
            begin, letters = at + size, 0
        at += size
    scan[AT], scan[BEGIN], scan[LETTERS] = at, begin, letters
    return found
