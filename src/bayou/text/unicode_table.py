"""Properties of Unicode characters as arrays for the kernels of the tokenizer."""

from __future__ import annotations

import base64
import zlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes
from bayou.kernels.characters import LOWER, SPECIAL
from bayou.text import unicode_data

POINTS = 0x110000
HANGUL, SYLLABLES, VOWELS, FINALS = 0xAC00, 11172, 21, 28  # Korean syllables are decomposed by a rule
LEADS, MIDDLES, TAILS = 0x1100, 0x1161, 0x11A7


@cache
def points(lowercase: bool) -> NDArray[np.uint32]:
    """For every code point its lower case (or itself) and its flags; see `bayou.kernels.characters`."""
    starts, steps, flags = map(_unpacked, (unicode_data.STARTS, unicode_data.STEPS, unicode_data.FLAGS))
    lengths = np.diff(starts, append=POINTS)
    entries: NDArray[np.uint32] = (np.repeat(flags, lengths) << 24).astype(np.uint32)
    lower = np.arange(POINTS) + (np.repeat(steps, lengths) if lowercase else 0)
    entries |= lower.astype(np.uint32) & np.uint32(LOWER)
    return entries if lowercase else entries & ~np.uint32(SPECIAL)


@cache
def accents(strip: bool) -> tuple[Codes, Codes]:
    """The decomposition without accents: for every code point an index into a pool, 0 for itself, where the
    pool holds the number of its parts and the parts."""
    if not strip:
        return np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int32)
    accented, sizes, parts = map(_unpacked, (unicode_data.ACCENTED, unicode_data.PARTS, unicode_data.PLAIN))
    syllables = np.arange(SYLLABLES)
    tails = syllables % FINALS
    korean = np.stack(
        [
            2 + (tails > 0),
            LEADS + syllables // (VOWELS * FINALS),
            MIDDLES + syllables // FINALS % VOWELS,
            TAILS + tails,
        ],
        axis=1,
    )
    begin = 1 + np.cumsum(sizes + 1) - (sizes + 1)
    pool = np.zeros(1 + len(parts) + len(sizes) + korean.size, dtype=np.int32)
    pool[begin] = sizes
    where = np.arange(len(parts)) + np.repeat(begin + 1 - (np.cumsum(sizes) - sizes), sizes)
    pool[where] = parts
    first = 1 + len(parts) + len(sizes)
    pool[first:] = korean.reshape(-1)
    index = np.zeros(POINTS, dtype=np.int32)
    index[accented] = begin
    index[HANGUL : HANGUL + SYLLABLES] = first + korean.shape[1] * syllables
    return index, pool


def _unpacked(packed: bytes) -> NDArray[np.int64]:
    """Unpack an array that tools/unicode_table.py has packed: differences, compressed, in base 85."""
    return np.cumsum(np.frombuffer(zlib.decompress(base64.b85decode(packed)), dtype="<i4"), dtype=np.int64)
