"""Normal densities of cells against fitting them row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import normal_cells as naive

from bayou.kernels.normal_cells import normal_columns
from bayou.readings.logs import log_factorials


def run(upper, counts, k=None):
    """Shares and level of one column."""
    upper, counts = np.array(upper, float), np.array(counts, float)
    shared, levels = np.zeros_like(counts), np.zeros(1)
    k = counts.shape[1] if k is None else k
    normal_columns(shared, levels, np.array([0, len(upper)]), upper, counts, log_factorials(k, 0.0), k)
    return shared, levels[0]


def null_length(counts, k):
    """Boullé's cost of a single interval."""
    n = np.asarray(counts, float).sum(axis=0)
    total = n.sum()
    cost = math.log(total) + math.lgamma(total + k) - math.lgamma(k)
    return cost - sum(math.lgamma(v + 1) for v in n)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 3).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=2, max_size=8)
    ),
    st.integers(0, 10**6),
)
def test_the_kernel_is_fitting_row_by_row(cells, seed):
    counts = np.array([row for row in cells if any(row)], float).reshape(-1, len(cells[0]))
    upper = np.sort(np.random.default_rng(seed).normal(size=len(counts)))
    shared, level = run(upper, counts)
    if len(counts) < 2 or np.count_nonzero(counts.sum(axis=0)) < 2:
        assert level == 0
        return
    expected, length = naive.shares_and_length(upper, counts)
    assert shared == pytest.approx(expected, rel=1e-6, abs=1e-9)
    null = null_length(counts, counts.shape[1])
    assert level == pytest.approx(max(0.0, 1 - length / null), rel=1e-6, abs=1e-9)


def test_a_row_that_its_own_class_alone_explains_is_judged_beside_the_others():
    """Without the row its class is as far away as the other: a difference of sums would find no other at all."""
    upper, counts = np.array([-1.0, 1.0]), np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 2.0]])
    _, length = naive.shares_and_length(upper, counts)
    assert length > null_length(counts, 3)
    assert run(upper, counts)[1] == 0.0


def test_the_weight_of_a_cell_is_divided_not_changed():
    rng = np.random.default_rng(3)
    counts = rng.random((30, 4))
    shared, _ = run(np.arange(30.0), counts)
    assert shared.sum(axis=1) == pytest.approx(counts.sum(axis=1))


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e139])
def test_the_units_of_a_column_change_nothing(scale):
    rng = np.random.default_rng(4)
    upper, counts = np.sort(rng.normal(size=40)), rng.integers(0, 3, (40, 2)).astype(float)
    shared, level = run(upper * scale, counts)
    here, own = run(upper, counts)
    assert shared == pytest.approx(here)
    assert level == pytest.approx(own)


@pytest.mark.parametrize("counts", [[[3.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_one_class_says_nothing(counts):
    assert run([1.0, 2.0], counts)[1] == 0


def test_a_constant_column_says_nothing():
    assert run([2.0], [[3.0, 4.0]])[1] == 0


def test_classes_the_model_declares_lengthen_the_code_of_a_single_interval():
    upper, counts = np.arange(20.0), np.eye(2).repeat(10, axis=0)
    assert run(upper, counts, 5)[1] > run(upper, counts)[1] > 0
