"""BCH codes (Bose and Ray-Chaudhuri, 1960), a few lines of arithmetic over GF(2).

Polynomials over GF(2) are integers, bit i the coefficient of x^i: adding is xor. For n = 2^m - 1 and the designed
distance 2^(m-1) - 1 the code has m + 1 message bits: (15, 5, 7), (31, 6, 15), (63, 7, 31), (127, 8, 63), ...
Two of its words differ in about half of the bits, or, being complements of each other, in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bayou.codes.code import Code, Signs
from bayou.codes.mixing import shuffled
from bayou.errors import SchemaError

PRIMITIVE = {  # of degree m: x generates the field of 2^m elements
    3: 0b1011,
    4: 0b10011,
    5: 0b100101,
    6: 0b1000011,
    7: 0b10001001,
    8: 0b100011101,
    9: 0b1000010001,
    10: 0b10000001001,
    11: 0b100000000101,
    12: 0b1000001010011,
    13: 0b10000000011011,
}


def times(a: int, b: int) -> int:
    """Product of two polynomials over GF(2).

    >>> bin(times(0b11, 0b11))
    '0b101'
    """
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = a << 1, b >> 1
    return product


@cache
def generator(m: int) -> int:
    """lcm of the minimal polynomials of alpha^1 ... alpha^(2^(m-1) - 2), alpha a root of PRIMITIVE[m].

    >>> [oct(generator(m))[2:] for m in (4, 5)]
    ['2467', '313365047']
    """
    n = (1 << m) - 1
    power = [1]  # alpha^i
    for _ in range(n - 1):
        following = power[-1] << 1
        power.append(following ^ PRIMITIVE[m] if following >> m else following)
    log = {element: i for i, element in enumerate(power)}
    result, done = 1, set[int]()
    for i in range(1, (1 << (m - 1)) - 1):
        if i in done:
            continue
        conjugates = {i * (1 << s) % n for s in range(m)}
        done |= conjugates
        # Coefficients in the field, lowest first; the product of (x - alpha^r) ends up in GF(2)
        minimal = [1]
        for r in sorted(conjugates):
            shifted = [0, *minimal]
            for degree, c in enumerate(minimal):
                shifted[degree] ^= power[(log[c] + r) % n] if c else 0
            minimal = shifted
        result = times(result, sum(c << degree for degree, c in enumerate(minimal)))
    return result


@cache
def words(m: int) -> NDArray[np.int8]:
    """int8[2^(m+1), 2^m - 1], message u's word u(x) g(x) in row u, the highest power first.

    >>> words(3)[:3].tolist()
    [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 0]]
    """
    n, g = (1 << m) - 1, generator(m)
    rows = [times(u, g) for u in range(1 << (m + 1))]
    return np.array([[word >> (n - 1 - i) & 1 for i in range(n)] for word in rows], dtype=np.int8)


@dataclass(frozen=True)
class BCH(Code):
    """BCH code: its words, drawn so that no two are complements of each other while others are left.

    All pairs of such rows are at distance 2^(m-1) - 1 or 2^(m-1): no pair of classes is better protected than
    another. Beyond 2^m classes complements come in; beyond 2^(m+1) the next longer code is used.

    Parameters
    ----------
    bits
        15, 31, 63, 127 (7, 255, ... 8191 work too).
    seed
        Determines which words are drawn, and their order.

    Examples
    --------
    >>> code = BCH(bits=15)
    >>> code.rows(3).shape, code.min_distance(16), code.rows(33).shape
    ((3, 15), 7.0, (33, 31))

    Reference: Bose and Ray-Chaudhuri, "On a class of error correcting binary group codes", 1960.
    """

    bits: int = 63
    seed: int = 0

    def __post_init__(self) -> None:
        if self.bits not in [(1 << m) - 1 for m in PRIMITIVE]:
            raise SchemaError(f"{self}: bits is 2^m - 1, such as 15, 31, 63 or 127")

    def rows(self, k: int) -> Signs:
        m = (self.bits + 1).bit_length() - 1
        while k > 1 << (m + 1):
            m += 1
        if m not in PRIMITIVE:
            raise SchemaError(f"{k} classes; BCH codes go up to {1 << (max(PRIMITIVE) + 1)}")
        return (2 * words(m)[_messages(m, self.seed)[:k]] - 1).astype(np.int8)


@cache
def _messages(m: int, seed: int) -> NDArray[np.int64]:
    """All messages in random order: first one of each complementary pair, then the others."""
    codewords = words(m)
    all_ones = int(np.flatnonzero(codewords.all(axis=1))[0])
    first, second, seen = list[int](), list[int](), set[int]()
    for u in shuffled(len(codewords), seed):
        (second if u ^ all_ones in seen else first).append(u)
        seen.add(u)
    return np.array(first + second, dtype=np.int64)
