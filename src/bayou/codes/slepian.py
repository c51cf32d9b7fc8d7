"""Slepian's standard array, for linear codes that are short enough to write it down.

The 2^n words fall into cosets of the code; the leader of a coset is its lightest word, and of several the one with
the larger binary value. A received word is decoded by taking its coset's leader off. That is decoding to the nearest
codeword: the words of the coset are the differences to all codewords.
"""

from __future__ import annotations

from collections.abc import Sequence

from bayou.errors import SchemaError

MAX_BITS = 20


def is_linear(code: Sequence[int]) -> bool:
    """Whether the words, as integers, are closed under xor.

    >>> is_linear([0b00000, 0b10110, 0b01011, 0b11101]), is_linear([0b10111, 0b01100, 0b10010, 0b01010])
    (True, False)
    """
    words = set(code)
    return 0 in words and all(a ^ b in words for a in words for b in words)


def coset_leaders(code: Sequence[int], bits: int) -> list[int]:
    """The leaders of all cosets, lightest first, larger values first among equally light ones.

    >>> [f"{leader:05b}" for leader in coset_leaders([0b00000, 0b10110, 0b01011, 0b11101], 5)]
    ['00000', '10000', '01000', '00100', '00010', '00001', '11000', '10001']
    """
    if not is_linear(code) or bits > MAX_BITS:
        raise SchemaError(f"a standard array needs a linear code of at most {MAX_BITS} bits")
    leaders, covered = [], bytearray(1 << bits)
    for word in sorted(range(1 << bits), key=lambda v: (v.bit_count(), -v)):
        if not covered[word]:
            leaders.append(word)
            for codeword in code:
                covered[word ^ codeword] = 1
    return leaders


def standard_array(code: Sequence[int], bits: int) -> list[list[int]]:
    """One row per coset: its leader added to every codeword."""
    return [[leader ^ word for word in code] for leader in coset_leaders(code, bits)]


def nearest(code: Sequence[int], received: int) -> int:
    """Position of the codeword that the standard array decodes a word to, found without the array.

    >>> nearest([0b00000, 0b10110, 0b01011, 0b11101], 0b10111)
    1
    """
    return min(range(len(code)), key=lambda i: ((code[i] ^ received).bit_count(), -(code[i] ^ received)))
