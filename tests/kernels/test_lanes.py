"""Lanes against NumPy, number by number: the same bits in every lane."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.kernels.jit import kernel
from bayou.kernels.lanes import (
    any_above,
    exponents,
    first_of_four,
    four_at,
    four_of,
    lesser,
    mantissas,
    product_of_four,
    put_lanes,
    size_of,
    sum_of_four,
    two_at,
    two_of,
    where_above,
)

ANY = st.floats(width=64)
FOURS = st.lists(ANY, min_size=4, max_size=4).map(np.array)
ONE, FOUR = np.uint64(1), np.uint64(4)


@kernel
def arithmetic(out, a, b):
    """Each operation on the four numbers behind the first."""
    x, y = four_at(a, ONE), four_at(b, ONE)
    put_lanes(out, np.uint64(0), x + y)
    put_lanes(out, FOUR, x - y)
    put_lanes(out, FOUR * np.uint64(2), x * y)
    put_lanes(out, FOUR * np.uint64(3), x / y)
    put_lanes(out, FOUR * np.uint64(4), lesser(x, y))
    put_lanes(out, FOUR * np.uint64(5), size_of(x))
    put_lanes(out, FOUR * np.uint64(6), four_of(a[1]))
    put_lanes(out, FOUR * np.uint64(7), where_above(x, y, x + x, y))


@kernel
def of_all(a, b):
    x, y = four_at(a, np.uint64(0)), four_at(b, np.uint64(0))
    return sum_of_four(x), product_of_four(x), any_above(x, y, x, y), any_above(x, x, y, x)


@kernel
def parts(out, a):
    put_lanes(out, np.uint64(0), mantissas(four_at(a, np.uint64(0))))
    put_lanes(out, FOUR, exponents(four_at(a, np.uint64(0))))


@kernel
def some_of(out, a, at, count):
    put_lanes(out, np.uint64(0), first_of_four(a, at, count))


@kernel
def pairs(out, a, at):
    put_lanes(out, at, two_at(a, at) * two_of(2.0))


def same(a, b):
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b))


@settings(max_examples=200, deadline=None)
@given(a=FOURS, b=FOURS)
def test_arithmetic(a, b):
    out = np.empty(32)
    with np.errstate(all="ignore"):
        arithmetic(out, np.append(9.0, a), np.append(9.0, b))
        expected = [a + b, a - b, a * b, a / b, np.where(a < b, a, b), np.abs(a), np.full(4, a[0])]
        expected.append(np.where(a > b, a + a, b))
    for found, wanted in zip(out.reshape(8, 4), expected, strict=True):
        there = wanted == wanted  # NaN has many bits
        assert same(found[there], wanted[there])
        assert np.isnan(found[~there]).all()


@settings(max_examples=200, deadline=None)
@given(a=FOURS, b=FOURS)
def test_sums_products_and_comparisons_of_all_lanes(a, b):
    with np.errstate(all="ignore"):
        total, product, above, below = of_all(a, b)
        assert same(np.array(total), np.array((a[0] + a[1]) + (a[2] + a[3])))
        assert same(np.array(product), np.array((a[0] * a[1]) * (a[2] * a[3])))
    assert above == (a > b).any()
    assert below == (b > a).any()


@settings(max_examples=200, deadline=None)
@given(a=st.lists(st.floats(0.0, allow_infinity=False, allow_subnormal=False), min_size=4, max_size=4))
def test_mantissas_and_exponents(a):
    out = np.empty(8)
    parts(out, np.array(a))
    for x, mantissa, exponent in zip(a, out[:4].tolist(), out[4:].tolist(), strict=True):
        assert (mantissa, exponent) == (1.0, 0.0) if x == 0.0 else 1.0 <= mantissa < 2.0
        assert x == 0.0 or math.ldexp(mantissa, int(exponent) - 1023) == x


def test_rows_of_a_table_are_counted_through():
    table, out = np.arange(12.0).reshape(3, 4), np.zeros((2, 3))
    pairs(out, table, np.uint64(3))
    assert out.tolist() == [[0.0, 0.0, 0.0], [6.0, 8.0, 0.0]]


def test_behind_the_last_number_nothing_is_read():
    table, out = np.arange(1.0, 7.0).reshape(2, 3), np.empty(4)
    for at in range(6):
        for count in range(7 - at):
            some_of(out, table, np.uint64(at), np.uint64(count))
            there = table.ravel()[at : at + min(count, 4)].tolist()
            assert out.tolist() == there + [0.0] * (4 - len(there))
