"""Text in UTF-8 to lower case, with or without accents, as `str.lower` and `unicodedata` do it.

`points[p]` describes code point p: its lower case in the low 24 bits, flags of its kind in the high 8. Lone surrogates
are decoded as code points, since Python's strings may hold them. A byte that belongs to no character becomes the
control character SUBSTITUTE, which is neither a letter nor a space.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Bytes, Codes
from bayou.kernels.jit import ZERO, inner_kernel, tight_kernel

Points = NDArray[np.uint32]

WORD, SPACE, CASED, IGNORABLE, SPECIAL = 1 << 24, 2 << 24, 4 << 24, 8 << 24, 16 << 24
LOWER = (1 << 24) - 1
SUBSTITUTE = 0x1A
DOTTED, SIGMA = 0x130, 0x3A3  # lower case is two characters, or depends on the position
SMALL_SIGMA, FINAL_SIGMA, SMALL_I, DOT_ABOVE = 0x3C3, 0x3C2, 0x69, 0x307
ROOM = 80  # bytes that one character may become: eighteen characters of four bytes, and some spare


@inner_kernel
def decoded(data: Bytes, p: int, end: int) -> int:
    """The character at p < end: 8 times its code point plus its length in bytes; SUBSTITUTE for a stray byte.

    data : uint8[b], in, read-only
    """
    b = int(data[p])
    if b < 0x80:
        return 8 * b + 1
    more, point = ZERO, ZERO
    if 0xC2 <= b < 0xE0:
        more, point = 1, b & 0x1F
    elif 0xE0 <= b < 0xF0:
        more, point = 2, b & 0x0F
    elif 0xF0 <= b < 0xF5:
        more, point = 3, b & 0x07
    if more == 0 or p + more >= end:
        return 8 * SUBSTITUTE + 1
    for i in range(1, more + 1):
        b = int(data[p + i])
        if b & 0xC0 != 0x80:
            return 8 * SUBSTITUTE + 1
        point = (point << 6) | (b & 0x3F)
    if (more == 2 and point < 0x800) or (more == 3 and not 0x10000 <= point < 0x110000):
        return 8 * SUBSTITUTE + 1
    return 8 * point + more + 1


@inner_kernel
def put(low: Bytes, at: int, point: int) -> int:
    """Write a character and return where the next one goes.

    low : uint8[b], in/out, at least four bytes longer than `at`
    """
    if point < 0x80:
        low[at] = point
        return at + 1
    more = 1 if point < 0x800 else 2 if point < 0x10000 else 3
    low[at] = ((0xF80 >> more) & 0xFF) | (point >> (6 * more))
    for k in range(1, more + 1):
        low[at + k] = 0x80 | ((point >> (6 * (more - k))) & 0x3F)
    return at + more + 1


@inner_kernel
def put_plain(low: Bytes, at: int, point: int, accents: Codes, plain: Codes) -> int:
    """Write a character without its accents, or unchanged if there is no table of accents; return the next position.

    low : uint8[b], in/out; accents : int32[0 or 1114112], in, where the parts stand, 0 = the character itself
    plain : int32[m], in, for each the number of its parts and then these
    """
    if len(accents) == 0 or accents[point] == 0:
        return put(low, at, point)
    first = int(accents[point])
    for i in range(first + 1, first + 1 + int(plain[first])):
        at = put(low, at, int(plain[i]))
    return at


@inner_kernel
def is_final_sigma(data: Bytes, begin: int, p: int, end: int, points: Points) -> bool:
    """Whether the capital sigma at p is the last letter of a word: a letter with case before it, none behind it.

    data : uint8[b], in, read-only; points : uint32[1114112], in
    """
    cased = False
    at = p
    while at > begin:
        size = 1
        found = 8 * SUBSTITUTE + 1
        for k in range(1, 5):
            if at - k < begin:
                break
            if int(data[at - k]) & 0xC0 != 0x80:
                back = decoded(data, at - k, end)
                if back & 7 == k:
                    found, size = back, k
                break
        entry = points[found >> 3]
        if entry & np.uint32(IGNORABLE) == 0:
            cased = entry & np.uint32(CASED) != 0
            break
        at -= size
    if not cased:
        return False
    at = p + 2
    while at < end:
        found = decoded(data, at, end)
        entry = points[found >> 3]
        if entry & np.uint32(IGNORABLE) == 0:
            return bool(entry & np.uint32(CASED) == 0)
        at += found & 7
    return True


@inner_kernel
def put_special(
    low: Bytes,
    at: int,
    data: Bytes,
    begin: int,
    p: int,
    end: int,
    points: Points,
    accents: Codes,
    plain: Codes,
) -> int:
    """Write the lower case of DOTTED or SIGMA, the two characters with rules of their own.

    low : uint8[b], in/out; data : uint8[b], in, read-only; points : uint32[1114112], in
    accents : int32[0 or 1114112], in; plain : int32[m], in
    """
    if decoded(data, p, end) >> 3 == DOTTED:
        low[at] = SMALL_I
        return put_plain(low, at + 1, ZERO + DOT_ABOVE, accents, plain)
    point = ZERO + SMALL_SIGMA
    if is_final_sigma(data, begin, p, end, points):
        point = ZERO + FINAL_SIGMA
    return put_plain(low, at, point, accents, plain)


@tight_kernel
def eight_bytes(data: Bytes, at: int) -> np.uint64:
    """The eight bytes from `at` on as one number.

    data : uint8[b], in, read-only, at least eight bytes longer than `at`
    """
    p, word = np.uint64(at), np.uint64(0)  # unsigned, so that the eight loads become one
    for i in range(8):
        word |= np.uint64(data[p + np.uint64(i)]) << np.uint64(8 * i)
    return word


@tight_kernel
def put_eight(low: Bytes, at: int, word: np.uint64) -> None:
    """Write a number as eight bytes.

    low : uint8[b], out, at least eight bytes longer than `at`
    """
    p = np.uint64(at)
    for i in range(8):
        low[p + np.uint64(i)] = np.uint8(word >> np.uint64(8 * i))


@tight_kernel
def ascii_eight(word: np.uint64) -> bool:
    """Whether all of eight bytes are ASCII."""
    return bool(word & np.uint64(0x8080808080808080) == 0)


@tight_kernel
def lower_eight(word: np.uint64) -> np.uint64:
    """Eight ASCII characters in lower case: sums of seven bits show in the eighth which bytes lie from A to Z."""
    from_a = word + np.uint64(0x3F3F3F3F3F3F3F3F)
    behind_z = word + np.uint64(0x2525252525252525)
    return word | ((from_a & ~behind_z & np.uint64(0x8080808080808080)) >> np.uint64(2))


@inner_kernel
def is_ascii(text: Bytes) -> bool:
    """Whether all bytes are ASCII.

    text : uint8[b], in, read-only
    """
    met = 0
    for i in range(len(text)):
        met |= int(text[i])
    return met < 0x80


@inner_kernel
def lower_ascii(low: Bytes, text: Bytes, lowercase: bool) -> None:
    """Copy ASCII text, in lower case if `lowercase`; without a branch.

    low : uint8[b], out; text : uint8[b], in, read-only
    """
    most = np.uint8(26 if lowercase else 0)
    for i in range(len(text)):
        capital = np.uint8(text[i] - np.uint8(65)) < most
        low[i] = text[i] | (np.uint8(32) if capital else np.uint8(0))


@inner_kernel
def fold_row(
    low: Bytes, first: int, data: Bytes, begin: int, end: int, points: Points, accents: Codes, plain: Codes
) -> int:
    """Write the text from `begin` to `end` in lower case from low[first] on; return its end, or -1 if there is no room.

    low : uint8[b], in/out; data : uint8[b], in, read-only; points : uint32[1114112], in
    accents : int32[0 or 1114112], in; plain : int32[m], in
    """
    at, p = first, begin
    room = len(low) - ROOM
    lowercase = points[65] & np.uint32(LOWER) == 97
    if first > room:
        return -1
    if first + (end - begin) <= room and is_ascii(data[begin:end]):
        lower_ascii(low[first : first + (end - begin)], data[begin:end], lowercase)
        return first + (end - begin)
    while p < end:
        stop = min(end, p + room - at)
        while p + 8 <= stop:
            word = eight_bytes(data, p)
            if not ascii_eight(word):
                break
            put_eight(low, at, lower_eight(word) if lowercase else word)
            at += 8
            p += 8
        while p < stop and data[p] < 0x80:
            low[at] = np.uint8(points[data[p]] & np.uint32(0x7F))
            at += 1
            p += 1
        if p >= end:
            break
        if at >= room:
            return -1
        found = decoded(data, p, end)
        entry = points[found >> 3]
        if entry & np.uint32(SPECIAL) != 0:
            at = put_special(low, at, data, begin, p, end, points, accents, plain)
        else:
            at = put_plain(low, at, int(entry & np.uint32(LOWER)), accents, plain)
        p += found & 7
    return at
