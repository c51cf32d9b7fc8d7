"""Sorting pairs: equal to a stable sort, on every order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reach import reach
from tests.summaries.columns import ORDERS, order

from bayou.kernels.sorting import RUN, sort_pairs, sort_runs


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-20, 20), max_size=700), st.sampled_from([1, 5, 1000]))
def test_pairs_stay_together_and_ties_in_order(values, scale):
    x = np.array(values, float) / scale
    rows = np.arange(len(x))
    by_value = np.argsort(x, kind="stable")
    found = x.copy()
    sort_pairs(found, rows)
    assert np.array_equal(found, x[by_value])
    assert np.array_equal(rows, by_value)


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name):
    x = order(name, 512, np.random.default_rng(0)).copy()
    rows = np.arange(512)
    found = x.copy()
    sort_pairs(found, rows)
    assert np.array_equal(found, np.sort(x))
    assert np.array_equal(x[rows], found)


def test_runs_are_sorted_apart():
    rng = np.random.default_rng(3)
    ends = np.cumsum(np.append(rng.integers(0, 2 * RUN, 60), [RUN, RUN + 1, 300, 0]))
    values = rng.integers(0, 9, ends[-1] + 1).astype(float)  # the last belongs to no run
    x, rows = values.copy(), np.arange(len(values))
    reach(sort_runs)(x, rows, ends)
    start = 0
    for end in ends:
        order = start + np.argsort(values[start:end], kind="stable")
        assert rows[start:end].tolist() == order.tolist()
        start = end
    assert x.tolist() == values[rows].tolist()
    assert rows[-1] == len(values) - 1
