"""Sorting pairs: equal to a stable sort, on every order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.summaries.columns import ORDERS, order

from bayou.kernels.sorting import sort_pairs


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
