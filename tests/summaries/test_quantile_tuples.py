"""What quantile tuples promise: true bounds on every order, exact classes, one state whatever the blocks."""

from __future__ import annotations

import copy
import os
import tracemalloc
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import gk
from tests.summaries.columns import ORDERS, block_of, filled, order, plan

from bayou.densities.binned import GKClass
from bayou.errors import DataError, MergeError
from bayou.hashing import digest
from bayou.summaries.quantile_tuples import CERTAINTY, QuantileTuples
from bayou.testing import SUMMARY_CHECKS
from bayou.threads import set_threads

LONG = bool(os.environ.get("BAYOU_LONG"))


def lists(summary, column=0):
    """The column's tuples as they would be read now."""
    rows, starts, sizes = summary._flushed(copied=True)
    return rows[starts[column] : starts[column] + sizes[column]]


def check_ranks(summary, x, y, w, k, column=0, slack=0.0):
    """Every rank and class rank at every value lies where the tuples say; returns how many were looked at."""
    tuples = lists(summary, column)
    kept = ~np.isnan(x)
    x, y, w = x[kept], y[kept], w[kept]
    by_value = np.argsort(x, kind="stable")
    x, y, w = x[by_value], y[by_value], w[by_value]
    weights = np.zeros((len(x), k))
    weights[np.arange(len(x)), y] = w
    ranks = np.vstack([np.zeros(k), np.cumsum(weights, axis=0)])
    v, g, delta, e = tuples[:, :4].T
    assert np.all(np.diff(v) > 0)
    assert np.all(g > 0)
    low = np.vstack([np.zeros(k), np.cumsum(tuples[:, 4:], axis=0)])
    u = np.append(g + delta - e, 0.0)
    tolerance = 1e-9 * w.sum() + slack
    np.testing.assert_allclose(low[-1], ranks[-1], rtol=1e-12)  # classes are conserved
    np.testing.assert_allclose(tuples[:, 4:].sum(axis=1), g, rtol=1e-9)
    assert np.all(e <= g + tolerance)
    assert v[0] == x[0]
    assert v[-1] == x[-1]
    points = np.unique(np.concatenate([x, (x[1:] + x[:-1]) / 2]))
    true = ranks[np.searchsorted(x, points, side="right")]
    at = np.searchsorted(v, points, side="right")
    room = u[at][:, None]
    total, all_low = true.sum(axis=1, keepdims=True), low[at].sum(axis=1, keepdims=True)
    for values, lower, upper in ((true, low[at], low[at] + room), (total, all_low, all_low + room)):
        assert np.all(lower <= values + tolerance)
        assert np.all(values <= upper + tolerance)
    here = ranks[np.searchsorted(x, v, side="right")].sum(axis=1)
    below = ranks[np.searchsorted(x, v, side="left")].sum(axis=1)
    up_to = np.cumsum(g)
    assert np.all(up_to <= here + tolerance)
    assert np.all(here <= up_to + delta + tolerance)
    assert np.all(below <= up_to + delta - e + tolerance)
    upper, counts = summary.cells(column)  # what readers see of it
    said = np.vstack([np.zeros(k), np.cumsum(counts, axis=0)])[np.searchsorted(upper, points, side="right")]
    off = max(np.abs(true - said).max(), np.abs(total[:, 0] - said.sum(axis=1)).max())
    assert off <= summary.errors()[column] * w.sum() + tolerance  # error() is never too small
    return len(points) * (k + 1) + 3 * len(v)


def test_tuples_by_hand():
    s = filled(QuantileTuples(4), [5, 1, 3, 3, 9, 7], [0, 0, 1, 0, 1, 1])
    # five distinct values in four tuples: dropping 3 costs 2, dropping 5 or 7 costs 1, the one on the right goes
    assert lists(s).tolist() == [
        [1, 1, 0, 1, 1, 0],
        [3, 2, 0, 2, 1, 1],
        [5, 1, 0, 1, 1, 0],
        [9, 2, 0, 1, 0, 2],
    ]
    assert s.error() == 1 / 6
    assert s.cells(0)[0].tolist() == [1, 3, 5, 9]


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    "recipe", [GKClass(20), GKClass(100), GKClass(eps=0.05), GKClass(eps=0.01)], ids=repr
)
def test_every_rank_is_where_the_tuples_say(name, recipe):
    rng = np.random.default_rng(7)
    checked = 0
    for n in (3, 700, 3000, 20_000) if LONG else (3, 700, 3000):
        x = order(name, n, rng).copy()
        x[rng.random(n) < 0.1 * (n > 3)] = np.nan
        y = rng.integers(0, 3, n)
        for w in (np.ones(n), rng.integers(1, 5, n).astype(float), rng.exponential(size=n)):
            checked += check_ranks(filled(recipe.summary(), x, y, w, k=3), x, y, w, 3)
    assert checked > 20_000 or name in ("few", "duplicates", "spike")


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("recipe", [GKClass(30), GKClass(eps=0.02)], ids=repr)
def test_merge_trees_keep_the_bounds(name, recipe):
    rng = np.random.default_rng(3)
    shards = 1000 if LONG else 30
    n = 700 * shards if LONG else 20_000
    x, y, w = order(name, n, rng).copy(), rng.integers(0, 2, n), rng.integers(1, 3, n).astype(float)
    parts = np.sort(rng.integers(0, n, shards - 1))
    pieces = [filled(recipe.summary(), *piece, k=2) if len(piece[0]) else filled(recipe.summary(), x[:0], y[:0], k=2)
              for piece in zip(*(np.split(a, parts) for a in (x, y, w)), strict=True)]  # fmt: skip
    worst = max(piece.error() for piece in pieces)

    def tree(level):
        while len(level) > 1:
            pairs = zip(level[::2], [*level[1::2], None], strict=False)
            level = [merged(a, b) for a, b in pairs]
        return level[0]

    def merged(a, b):
        if b is not None:
            a.merge(b)
        return a

    chain = reduce(merged, copy.deepcopy(pieces))
    for whole in (chain, tree(pieces)):
        assert check_ranks(whole, x, y, w, 2) > 200
        if recipe.eps:
            assert whole.error() <= max(recipe.eps, worst) + 1e-12


@settings(max_examples=200, deadline=None)
@given(data=st.data(), eps=st.sampled_from([0.01, 0.02, 0.05, 0.1, 0.3]), name=st.sampled_from(ORDERS))
def test_cumulated_cells_are_within_eps_of_the_exact_ranks(data, eps, name):
    """Ranks and class ranks at every value, read off `cells()` as readers do, in one pass and after merges."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, shards = data.draw(st.integers(1, 6000)), data.draw(st.sampled_from([1, 2, 5]))
    x, y, w = order(name, n, rng), rng.integers(0, 2, n), rng.choice([0.5, 1.0, 3.0], n)
    parts = np.array_split(np.arange(n), shards)
    pieces = [filled(GKClass(eps=eps, exact=0).summary(), x[part], y[part], w[part], k=2) for part in parts]
    summary = pieces[0]
    for piece in pieces[1:]:
        summary.merge(piece)
    upper, counts = summary.cells(0)
    said = np.vstack([np.zeros(2), np.cumsum(counts, axis=0)])[np.searchsorted(upper, x, side="right")]
    taught = w[:, None] * np.eye(2)[y]
    by_value = np.argsort(x, kind="stable")
    ranks = np.vstack([np.zeros(2), np.cumsum(taught[by_value], axis=0)])
    off = ranks[np.searchsorted(x[by_value], x, side="right")] - said
    error = summary.error()
    assert error <= eps + 1e-12
    assert max(np.abs(off).max(), np.abs(off.sum(axis=1)).max()) <= error * w.sum() + 1e-9 * w.sum()


def test_one_merge_adds_no_error():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=20_000), np.zeros(20_000, int)
    a, b = (
        filled(QuantileTuples(eps=0.05), x[:7680], y[:7680]),
        filled(QuantileTuples(eps=0.02), x[7680:], y[7680:]),
    )
    worst = a.error() * 7680 + b.error() * (20_000 - 7680)
    b.eps = a.eps
    b._tuples = a._tuples
    a.budget = 10_000  # never shortened: what the union alone gives
    a.merge(b)
    assert a.error() * 20_000 <= worst + 1e-6


@pytest.mark.parametrize("name", ORDERS)
def test_a_budget_of_100_survives_a_million_values(name):
    n = 1_000_000
    most = 0.12 if name in ("outside-in", "shuffled blocks") else 0.024
    x = order(name, n, np.random.default_rng(0))
    assert filled(QuantileTuples(100), x, np.zeros(n, int)).error() <= most


@pytest.mark.parametrize("name", ORDERS)
def test_eps_is_kept_at_every_size(name):
    rng = np.random.default_rng(5)
    x = order(name, 30_000, rng).copy()
    x[rng.random(len(x)) < 0.3] = np.nan
    s = QuantileTuples(eps=0.01)
    s.realign(plan(1, 1))
    for lo in range(0, len(x), 999):
        part = x[lo : lo + 999]
        s.update(block_of(part, np.zeros(len(part))))
        assert s.error() <= 0.01


@pytest.mark.parametrize("recipe", [GKClass(50), GKClass(eps=0.02)], ids=repr)
def test_exact_while_the_distinct_values_fit(recipe):
    rng = np.random.default_rng(2)
    n = 30_000
    x = rng.integers(0, 40, n).astype(float)
    late = rng.random(n) < 0.001
    x[late] = 40 + rng.integers(0, 10, late.sum())  # ten more values, rare and scattered
    y, w = rng.integers(0, 3, n), rng.integers(1, 4, n).astype(float)
    s = filled(replace(recipe, exact=0).summary(), x, y, w)
    assert s.error() == 0.0
    upper, counts = s.cells(0)
    assert upper.tolist() == np.unique(x).tolist()
    expected = np.zeros((len(upper), 3))
    np.add.at(expected, (np.searchsorted(upper, x), y), w)
    assert np.array_equal(counts, expected)
    s.update(block_of(np.full(600, 99.5), np.zeros(600)))
    s.update(block_of(rng.normal(size=1000), np.zeros(1000)))
    assert s.error() > 0.0


def test_values_that_come_again_are_kept_exactly_beyond_the_budget():
    rng = np.random.default_rng(3)
    n = 20_000
    x = np.column_stack([rng.integers(0, 900, n), rng.normal(size=n), rng.integers(0, 1500, n), np.ones(n)])
    y = rng.integers(0, 2, n)
    s = filled(GKClass().summary(), x, y)
    exact, *others = s.errors().tolist()
    assert exact == 0.0
    assert others[-1] == 0.0
    assert all(0.0 < error < 0.024 for error in others[:-1])
    assert s.sizes.tolist() == [900, 100, 100, 1]
    upper, counts = s.cells(0)
    assert upper.tolist() == list(range(900))
    assert counts.tolist() == [[np.sum((x[:, 0] == v) & (y == c)) for c in (0, 1)] for v in range(900)]
    assert s.rows.nbytes <= 8 * (4 + 2) * (1.25 * 900 + 3 * 100)
    half = [filled(GKClass().summary(), x[part], y[part]) for part in (slice(0, n // 2), slice(n // 2, n))]
    half[0].merge(half[1])
    assert half[0].cells(0)[1].tolist() == counts.tolist()
    s.update(block_of(np.tile(np.arange(901, 1200)[:, None], 4), np.zeros(299)))
    assert s.cells(0)[1].sum() == n + 299
    assert 0.0 < s.errors()[0] < 0.024  # too many values now
    assert s.cells(0)[0].size == 100


@pytest.mark.parametrize("step", [1, 7, 999])
def test_blocks_do_not_show(step):
    rng = np.random.default_rng(4)
    n = 3000
    x, y, w = rng.normal(size=(n, 9)), rng.integers(-1, 3, n), rng.choice([0.0, 1.0, 0.3], n)
    x[:, :4] = np.round(50 * x[:, :4])
    x[rng.random(x.shape) < 0.1] = np.nan
    at_once = filled(QuantileTuples(30, None, 300), x, y, w)
    s = QuantileTuples(30, None, 300)
    s.realign(plan(9, 3))
    for lo in range(0, n, step):
        s.update(block_of(x[lo : lo + step], y[lo : lo + step], w[lo : lo + step]))
        if lo % 50 == 0:
            s.all_cells(), s.error()  # reading changes nothing
    assert digest(s.arrays()) == digest(at_once.arrays())


def test_threads_do_not_show():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(1100, 70)), rng.integers(0, 2, 1100)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        s = filled(GKClass(20).summary(), x, y)
        s.merge(filled(GKClass(20).summary(), x[::-1], y))
        found.append(digest(s.arrays()))
    set_threads(2)
    assert found[0] == found[1]


def test_reading_sees_the_buffer_and_leaves_it():
    s = filled(QuantileTuples(), np.arange(40.0), np.arange(40) % 2)
    before = digest(s.arrays())
    assert s.cells(0)[1].sum() == 40
    assert s.error() == 0.0
    assert digest(s.arrays()) == before


def test_memory_does_not_depend_on_rows():
    """1 million beside 10 million rows with BAYOU_LONG, else 10,000 beside 100,000: the bytes the docstring gives."""
    rng = np.random.default_rng(0)
    s = GKClass(50).summary()
    s.realign(plan(4, 2))
    first = 1_000_000 if LONG else 10_000
    sizes, peaks = [], []
    for rows in (first, 9 * first):
        tracemalloc.start()
        for _ in range(rows // 5000):
            x = rng.normal(size=(5000, 4))
            x[:, 3] = rng.integers(0, 400, 5000)  # 400 values that come again
            s.update(block_of(x, rng.integers(0, 2, 5000)))
        sizes.append(s.rows.nbytes + s.values.nbytes + s.labels.nbytes + s.weights.nbytes)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert sizes[0] == sizes[1] <= 8 * (4 + 2) * (3 * 50 + 5 * 400 / 4) + 512 * (8 * 4 + 12)
    assert peaks[1] <= 1.1 * peaks[0]
    assert s.sizes.tolist() == [50, 50, 50, 400]


def test_scaling_scales_ranks():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=5000), rng.integers(0, 2, 5000)
    s = filled(QuantileTuples(30), x, y)
    error = s.error()
    s.scale(0.25)
    assert s.error() == error
    check_ranks(s, x, y, np.full(5000, 0.25), 2)


@pytest.mark.parametrize("n", [300, 6000])
def test_regrouping_with_a_class_left_out(n):
    rng = np.random.default_rng(6)
    x, y = np.round(rng.normal(size=n), 1 if n == 300 else 9), rng.integers(0, 4, n)
    s = filled(QuantileTuples(40), x, y)
    groups = np.array([[1.0, 0, 0, 1], [0, 1, 0, 0]])
    two = s.regroup(groups)
    kept = y != 2
    label = np.array([0, 1, -1, 0])[y]
    x_kept, ones = x[kept], np.ones(kept.sum())
    tuples = lists(two)
    upper, counts = two.cells(0)
    assert counts.sum(axis=0).tolist() == [(label == 0).sum(), (label == 1).sum()]
    true = np.searchsorted(np.sort(x_kept), upper, side="right")
    low = np.cumsum(tuples[:, 1])
    assert np.all(low <= true)
    assert np.all(true <= low + tuples[:, 2])
    below = np.searchsorted(np.sort(x_kept), upper, side="left")
    assert np.all(below <= low + tuples[:, 2] - tuples[:, 3])
    two.update(block_of([0.0], [1]))
    assert two.cells(0)[1].sum() == ones.sum() + 1


def test_growing_classes_and_columns_moves_everything():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(700, 2)), rng.integers(0, 2, 700)
    s = filled(QuantileTuples(20), x, y)
    before = [s.cells(j) for j in range(2)]
    wider = plan(3, 3, 2, 2)
    wider.numeric.to[:] = [2, 0]
    wider.classes.to[:] = [1, 2]
    s.realign(wider)
    assert len(s.cells(1)[0]) == 0
    for old, new in ((0, 2), (1, 0)):
        assert np.array_equal(s.cells(new)[0], before[old][0])
        assert np.array_equal(s.cells(new)[1][:, 1:], before[old][1])
    s.update(block_of(rng.normal(size=(700, 3)), rng.integers(0, 3, 700)))
    assert s.cells(1)[1].sum() == 700
    assert s.cells(0)[1].sum() == 1400


def test_odd_columns():
    s = filled(QuantileTuples(), np.full((600, 2), [np.nan, 3.0]), np.zeros(600, int))
    assert s.cells(0)[0].tolist() == []
    assert [a.tolist() for a in s.cells(1)] == [[3.0], [[600.0]]]
    assert s.error() == 0.0
    empty = QuantileTuples()
    empty.realign(plan(0, 2))
    empty.update(block_of(np.empty((5, 0)), np.zeros(5)))
    assert empty.error() == 0.0
    assert empty.all_cells()[0].tolist() == [0]
    huge = filled(QuantileTuples(4), np.array([-1e140, 1e140, 5e-324, 0, 1, 2, 3]), np.zeros(7, int))
    assert huge.cells(0)[1].sum() == 7


def test_other_configurations_do_not_merge():
    with pytest.raises(MergeError, match="tuples=100 here and 50 there"):
        QuantileTuples(100).merge(QuantileTuples(50))


@pytest.mark.parametrize("wrong", [{"tuples": 3}, {"eps": 0.0}, {"eps": 0.5}, {"exact": -1}])
def test_recipe_refuses(wrong):
    with pytest.raises(DataError):
        GKClass(**wrong)


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("recipe", [GKClass(), GKClass(5), GKClass(eps=0.1)], ids=repr)
def test_laws(recipe, check):
    for seed in range(5):
        check(recipe.summary, seed, False)


@pytest.mark.parametrize("name", ORDERS)
def test_separable_cells_are_those_of_the_slow_twin(name):
    rng = np.random.default_rng(3)
    x, y = order(name, 3000, rng), np.sort(rng.integers(3, size=3000))
    s = filled(QuantileTuples(40), x, y)
    offsets, upper, counts = s.separable_cells()
    naive = gk.separable(lists(s).tolist(), CERTAINTY)
    assert offsets.tolist() == [0, len(naive)]
    assert upper.tolist() == [cell[0] for cell in naive]
    np.testing.assert_allclose(counts, [cell[1] for cell in naive], rtol=1e-12)
    np.testing.assert_array_equal(counts.sum(axis=0), s.all_cells()[2].sum(axis=0))


def test_separable_cells_of_an_exact_column_are_all_cells():
    rng = np.random.default_rng(4)
    s = filled(
        QuantileTuples(100), rng.integers(60, size=5000).astype(float), np.sort(rng.integers(2, size=5000))
    )
    assert s.error() == 0.0
    for separable, cells in zip(s.separable_cells(), s.all_cells(), strict=True):
        np.testing.assert_array_equal(separable, cells)


def test_no_separable_cell_is_uncertain_by_more_than_it_weighs():
    """At both ends of a cell of sorted classes ranks are known up to its weight; of a pure cell up to an eighth."""
    rng = np.random.default_rng(5)
    y = np.sort(rng.integers(2, size=8000))
    x = rng.normal(size=8000) + 0.3 * y
    s = filled(QuantileTuples(100), x, y)
    _, upper, counts = s.separable_cells()
    ranks = np.searchsorted(np.sort(x), upper, side="right")
    off = np.append(0, ranks - np.cumsum(counts.sum(axis=1)))
    weight = counts.sum(axis=1) / np.where((counts > 0).sum(axis=1) < 2, CERTAINTY, 1.0)
    assert 5 < len(upper) < 100
    assert np.all(np.maximum(off[:-1], off[1:]) <= weight + 1e-9)
