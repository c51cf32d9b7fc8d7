"""Hashes of numbers as their formula has them, and the order of rows of which none or some hold the same."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.encoding.hashed_order import hashed_order, row_hashes
from bayou.encoding.table import table_of
from bayou.hashing import hash_keys

WORD = (1 << 64) - 1
numbers = st.one_of(st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0]), st.floats(width=64))


def mixed(z):
    """The finaliser of splitmix64 on Python's integers."""
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def hashed(name, value):
    """The hash of a cell: 0 where it is missing; -0 is 0."""
    if value != value:
        return 0
    bits = struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
    return mixed((mixed(bits) | 1) ^ (int(hash_keys([name])[0]) & WORD))


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_a_row_of_numbers_has_the_sum_of_its_cells(rows):
    a, b = (np.array(column) for column in zip(*rows, strict=True))
    found = row_hashes(table_of({"a": a, "b": b}), ["same"] * len(rows))
    label = int(row_hashes(table_of({"a": np.full(1, np.nan)}), ["same"])[0])
    assert [int(h) for h in found] == [(label + hashed("a", x) + hashed("b", y)) & WORD for x, y in rows]


@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.integers(0, 9), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_rows_without_weights_stand_as_rows_of_weight_one(values, seed):
    """Whether or not two rows hold the same: without weights those that differ are sorted once."""
    table = table_of({"a": np.array(values, dtype=float)})
    order = hashed_order(table, values)
    assert order.tolist() == hashed_order(table, values, np.ones(len(values))).tolist()
    shuffled = np.random.default_rng(seed).permutation(len(values))
    again = hashed_order(
        table_of({"a": np.array(values, dtype=float)[shuffled]}), [values[i] for i in shuffled]
    )
    assert [values[i] for i in order] == [values[shuffled[i]] for i in again]
