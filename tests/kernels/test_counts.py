"""Kernels of counts against their twins, five rows by hand and random ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import counts as naive
from tests.reach import reach

from bayou.align import from_empty
from bayou.block import Block
from bayou.kernels import sums, value_counts
from bayou.kernels.class_counts import add_prior, add_vector, count_classes, prior_predict_then_update
from bayou.kernels.last_label import last_label_predict_then_update
from bayou.kernels.posterior import log_posterior, posterior
from bayou.kernels.scrub import all_counts, all_usable, count_unusable, scrub
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import fill_logs
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.logs import integer_logs
from bayou.schema import Declared, Schema
from bayou.summaries.value_counts import ValueCounts

row_sum, cached_log, log_or_floor = map(
    reach, (sums.row_sum, value_counts.cached_log, value_counts.log_or_floor)
)


def codes(*rows):
    return np.array(rows, dtype=np.int32)


@pytest.mark.parametrize("start", [0.0, 7.0, 0.3, 2.0**53])
@pytest.mark.parametrize("k", [2, 9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_classes_of_many_rows_are_counted_as_one_by_one(start, k, sign):
    """Also where weights are no integers, or too large to be exact, and rows have no label."""
    random = np.random.default_rng(k)
    y = random.integers(-1, k, 1_000).astype(np.int32)
    for w in (np.ones(len(y)), random.choice([0.0, 1.0, 0.1], len(y))):
        weight, wanted = np.full(k, start), [start] * k
        count_classes(weight, y, w, sign)
        for c, own in zip(y.tolist(), w.tolist(), strict=True):
            if c >= 0:
                wanted[c] += sign * own
        assert weight.tolist() == wanted


def test_row_sum_adds_lanes_in_a_fixed_order():
    terms = np.array([1e16, 1.0, -1e16, 1.0, 2.0])
    assert row_sum(0.0, terms) == ((1e16 + 2.0) + 1.0) + (-1e16 + 1.0)
    for m in range(TILE + 1):
        assert row_sum(0.0, np.arange(m, dtype=float)) == m * (m - 1) / 2


def test_a_zero_term_at_the_end_leaves_the_bits_alone():
    terms = np.random.default_rng(0).normal(size=TILE)
    for m in range(1, TILE):
        padded = np.append(terms[:m], 0.0)
        assert row_sum(0.0, padded).hex() == row_sum(0.0, terms[:m].copy()).hex()


@pytest.mark.parametrize(("alpha", "declared"), [(0.0, 0), (1.0, 0), (1.0, 4), (0.0, 4)])
def test_prior_against_fractions(alpha, declared):
    y, w = np.array([0, 1, 1, -1, 1], np.int32), np.array([1.0, 2.0, 1.0, 9.0, 0.0])
    weight = np.zeros(4)
    count_classes(weight, y, w, 1.0)
    assert weight.tolist() == [1.0, 3.0, 0.0, 0.0]
    out = np.zeros((2, 4))
    add_prior(out, weight, declared, alpha)
    expected = naive.prior(y, w, 4, int(alpha), declared)
    for c, p in enumerate(expected):
        assert out[0, c] == pytest.approx(math.log(p), rel=1e-15) if p else out[0, c] == -np.inf
    count_classes(weight, y, w, -1.0)
    assert not weight.any()


@pytest.mark.parametrize(("alpha", "declared"), [(0.0, 0), (1.0, 0), (1.0, 3)])
def test_prior_is_that_before_each_row(alpha, declared):
    y, w = np.array([2, 0, 0, -1, 2], np.int32), np.array([1.0, 2.0, 0.0, 1.0, 1.0])
    out, weight = np.zeros((5, 3)), np.zeros(3)
    prior_predict_then_update(weight, out, y, w, integer_logs(8), declared, alpha)
    for i in range(5):
        step, expected = np.zeros(3), np.zeros((1, 3))
        count_classes(step, y[:i], w[:i], 1.0)
        add_prior(expected, step, declared, alpha)
        assert np.array_equal(out[i], expected[0])


def fresh_logs(n: int):
    """Logarithms of the integers below n, and no more; those of `integer_logs` may have grown before."""
    logs = np.empty(n)
    fill_logs(logs, 0)
    return logs


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 0.0], [0.1, 0.7, 1.0]])
@pytest.mark.parametrize(("k", "declared"), [(2, 0), (2, 4), (3, 0)])
def test_prior_has_the_bits_of_a_fresh_count(k, declared, weights, alpha):
    """Two classes have a loop of their own, until a row does not weigh 1 or the table of logarithms ends."""
    random = np.random.default_rng(0)
    y, w = random.integers(-1, k, 300).astype(np.int32), random.choice(weights, 300)
    w[:120] = 1.0
    out, weight, step = np.zeros((300, k)), np.zeros(k), np.zeros(k)
    logs = fresh_logs(200)
    for rows in (slice(0, 50), slice(50, 51), slice(51, 51), slice(51, 290), slice(290, 300)):
        prior_predict_then_update(weight, out[rows], y[rows], w[rows], logs, declared, alpha)
    for i in range(300):
        expected = np.zeros((1, k))
        add_prior(expected, step, declared, alpha)
        assert np.array_equal(out[i], expected[0])
        count_classes(step, y[i : i + 1], w[i : i + 1], 1.0)
    assert np.array_equal(step, weight)


def test_last_label_is_that_before_each_row():
    last, out = np.array([-1]), np.zeros((4, 2))
    last_label_predict_then_update(
        last, out, np.array([1, 0, -1, 1], np.int32), np.array([1.0, 0.0, 1.0, 1.0])
    )
    assert last[0] == 1
    assert out.tolist() == [[-np.inf, -np.inf], [-np.inf, 0.0], [-np.inf, 0.0], [-np.inf, 0.0]]


def test_posterior_by_hand_and_before_anything_is_possible():
    joint = np.array([[math.log(1.0), math.log(3.0)], [-np.inf, -np.inf], [-np.inf, -900.0]])
    order, out, logs = np.array([1, 0]), joint.copy(), joint.copy()
    posterior(out, order, 0.5)
    assert out[0] == pytest.approx([0.75, 0.25])
    assert out[1:].tolist() == [[0.5, 0.5], [1.0, 0.0]]
    log_posterior(logs, order)
    assert np.exp(logs) == pytest.approx(out)


def test_add_vector_and_scrub():
    out = np.zeros((2, 2))
    add_vector(out, np.array([1.0, 2.0]))
    assert out.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    x = np.array([[1.0, np.inf, -1e200], [np.nan, 5e-324, 1e140]])
    assert count_unusable(x) == 2
    assert not any(all_usable(x[i : i + 1]) for i in range(2))
    assert all_usable(x[1:, 1:])
    assert all_counts(np.array([0.0, 5e-324, 1e140]))
    assert not any(all_counts(np.array([1.0, odd])) for odd in (-1.0, np.nan, np.inf, 2e140))
    scrub(x)
    assert np.array_equal(x, [[1.0, np.nan, np.nan], [np.nan, 5e-324, 1e140]], equal_nan=True)


def test_cached_logs_have_the_bits_of_the_logarithm():
    logs = np.empty(1000)
    fill_logs(logs, 0)
    for x in (0.0, 1.0, 2.0, 999.0, 1000.0, 2.5, 1e9):
        assert cached_log(x, logs) == log_or_floor(x)
    assert math.isfinite(log_or_floor(0.0))


ROWS = st.lists(
    st.tuples(st.integers(-1, 2), st.integers(-1, 3), st.integers(-1, 2), st.integers(0, 2)),
    min_size=1,
    max_size=10,
)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, smoothing=st.sampled_from([(1, 0), (0, 2), (0.5, 0)]), declared=st.sampled_from([0, 5]))
def test_tables_against_fractions(rows, smoothing, declared):
    alpha, m = smoothing
    x, y = codes(*[r[:2] for r in rows]), np.array([r[2] for r in rows], np.int32)
    w = np.array([float(r[3]) for r in rows])
    values = {"a": list("abc"), "b": list("abcde")[: max(4, declared)]}
    schema = Schema(Declared(columns=values, classes=["k", "l", "m"]))
    if not declared:
        for vocabulary in schema.vocabularies.values():
            vocabulary.declared = 0
    summary = ValueCounts()
    summary.realign(from_empty(schema))
    block = Block(np.empty((len(y), 0)), x, (), y, w)
    summary.update(block)
    reader = CategoricalEstimator(float(alpha), float(m))  # as kernels are compiled for
    out, direct = np.zeros((len(y), 3)), np.zeros((len(y), 3))
    reader.add_log_prob(summary, block, out)
    for i in range(len(y)):
        reader.add_log_prob(summary, block.rows(i, i + 1), direct[i : i + 1])
    assert np.array_equal(out, direct)
    terms = reader.terms(summary, block)
    for i in range(len(y)):
        for c in range(3):
            logs = []
            for j, size in enumerate((3, 5) if declared else (0, 0)):
                p = naive.value_probability(x[:, j], y, w, x[i, j], c, alpha, m, size)
                logs.append(0.0 if p is None else math.log(p) if p else -1e290)
            assert terms[i, :, c] == pytest.approx(logs, rel=1e-12)
            assert out[i, c] == pytest.approx(sum(logs), rel=1e-12, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, smoothing=st.sampled_from([(1.0, 0.0), (0.0, 2.0), (0.3, 0.0)]))
def test_tables_are_those_before_each_row(rows, smoothing):
    x, y = codes(*[r[:2] for r in rows]), np.array([r[2] for r in rows], np.int32)
    w = np.array([float(r[3]) for r in rows])
    schema = Schema(Declared(columns={"a": "nominal", "b": "nominal"}))
    schema.classes.extend("klm")
    schema.vocabularies["a"].extend("abc")
    schema.vocabularies["b"].extend("abcd")
    tested, stepping = ValueCounts(), ValueCounts()
    tested.realign(from_empty(schema)), stepping.realign(from_empty(schema))
    block = Block(np.empty((len(y), 0)), x, (), y, w)
    reader, out, expected = CategoricalEstimator(*smoothing), np.zeros((len(y), 3)), np.zeros((len(y), 3))
    reader.predict_then_update(tested, block, out)
    for i in range(len(y)):
        row = block.rows(i, i + 1)
        expected[i] = reader.terms(stepping, row).sum(axis=1)
        stepping.update(row)
    assert np.array_equal(out, expected)
    assert np.array_equal(tested.counts, stepping.counts)
    assert np.array_equal(tested.seen, stepping.seen)
