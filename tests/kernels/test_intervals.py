"""Interval kernels against their slow twin, and their sum in the library's one order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.naive import intervals as naive
from tests.reach import reach

from bayou.kernels import interval_counts, sums
from bayou.kernels import intervals as kernels
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import count_values, fill_logs, table_predict_then_update

row_sum = reach(sums.row_sum)


def ragged(rng, p, k, most):
    sizes = rng.integers(1, most + 1, p)
    sizes[::5] = 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.full(offsets[-1], np.inf)
    for a, b in itertools.pairwise(offsets):
        cuts[a : b - 1] = np.sort(rng.choice(200, b - a - 1, replace=False) / 50 - 2)
    counts = rng.integers(0, 30, (offsets[-1], k)).astype(float)
    return offsets, cuts, counts


@pytest.mark.parametrize(
    ("smoothing", "added"),
    [(("m", 1.0), (0.0, 1.0, 0.0)), (("alpha", 0.5), (0.5, 0.0, 0.0)), (("khiops", None), (0.0, 0.0, 1.0))],
)
def test_table_is_its_twin(smoothing, added):
    rng = np.random.default_rng(0)
    offsets, _, counts = ragged(rng, 20, 3, 6)
    counts[:, 2] = 0.0
    table = np.zeros((len(counts) + 1, 3))
    kernels.fill_log_table(table, counts, offsets, *added)
    for a, b in itertools.pairwise(offsets):
        part = counts[a:b].tolist()
        expected = [[naive.log_prob(part, i, c, smoothing) for c in range(3)] for i in range(b - a)]
        np.testing.assert_allclose(table[a:b], expected, rtol=1e-13)
        np.testing.assert_allclose(np.exp(table[a:b]).sum(axis=0), 1.0, rtol=1e-12)
    assert not table[-1].any()


def test_without_smoothing_an_empty_interval_is_finite():
    table = np.zeros((3, 1))
    kernels.fill_log_table(table, np.array([[0.0], [4.0]]), np.array([0, 2]), 0.0, 0.0, 0.0)
    assert table[:, 0].tolist() == [-1e290, 0.0, 0.0]


@pytest.mark.parametrize("cuts", [0, 1, 4, 7, 32, 33, 90])
def test_cells_by_counting_and_by_search(cuts):
    rng = np.random.default_rng(cuts)
    edges = np.sort(rng.choice(1000, cuts, replace=False)) / 10
    x = np.concatenate([edges, rng.random(300) * 110 - 5, [np.nan]])
    cells = np.empty(len(x), np.uint64)
    kernels.find_cells(edges, x, cells)
    assert cells.tolist() == [naive.cell(edges, v) for v in x]


@pytest.mark.parametrize(("n", "p", "k"), [(1, 1, 1), (3, 70, 2), (300, 131, 3), (513, 8, 7), (0, 4, 2)])
def test_sum_is_the_terms_in_tile_order(n, p, k):
    rng = np.random.default_rng(n)
    offsets, cuts, counts = ragged(rng, p, k, 40)
    table = np.zeros((len(counts) + 1, k))
    kernels.fill_log_table(table, counts, offsets, 0.0, 1.0, 0.0)
    x = np.round(rng.normal(size=(n, p)), 1)
    x[rng.random((n, p)) < 0.1] = np.nan
    out, terms = rng.normal(size=(n, k)), np.empty((n, p, k))
    expected = out.copy()
    kernels.add_intervals(out, table, cuts, offsets, np.arange(p), x)
    kernels.interval_terms(terms, table, cuts, offsets, x)
    codes = np.empty((n, p), np.int32)
    kernels.interval_codes(codes, cuts, offsets, np.arange(p), x)
    for i in range(n):
        for j in range(p):
            cell = naive.cell(cuts[offsets[j] : offsets[j + 1] - 1], x[i, j])
            assert codes[i, j] == (cell if x[i, j] == x[i, j] else -1)
            v = offsets[j] + cell
            assert terms[i, j].tolist() == (table[v].tolist() if x[i, j] == x[i, j] else [0.0] * k)
        for c in range(k):
            for t in range(0, p, TILE):
                tile = np.ascontiguousarray(terms[i, t : t + TILE, c])
                expected[i, c] = row_sum(expected[i, c], tile)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("weights", [(0.0, 0.1, 1.0, 3.0), (0.0, 1.0), (1.0,)])
@pytest.mark.parametrize("start", [0.0, 2.0, 0.5, 2.0**53])
@pytest.mark.parametrize("n", [1, 699, 700])
def test_counting_intervals_is_counting_their_codes(weights, start, n):
    """Rows of weight 1 are counted as integers where that is exact; one row has fewer values than there are cells."""
    rng = np.random.default_rng(8)
    p, k = 11, 3
    sizes = rng.integers(1, 50, p)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    cuts = np.concatenate([np.append(np.sort(rng.normal(size=size - 1)), np.inf) for size in sizes])
    index = np.where(rng.random(p) < 0.2, -1, np.arange(p))
    x = rng.normal(size=(n, p))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[:, 3] = np.nan
    y, w = rng.integers(-1, k, n).astype(np.int32), rng.choice(weights, n)
    y[0], w[0] = 1, 1.0
    codes = np.empty((n, p), np.int32)
    kernels.interval_codes(codes, cuts, offsets, index, x)
    before = np.where(np.random.default_rng(1).random((offsets[-1], k)) < 0.3, start, 0.0)

    def state():
        seen = np.add.reduceat(before.any(axis=1).astype(np.int64), offsets[:-1])
        return before.copy(), np.add.reduceat(before, offsets[:-1]), seen

    known = state()
    count_values(*known, offsets, codes, y, w, 1.0, 0, p)
    for pieces in ([(0, p)], [(9, p), (0, 2), (2, 9)]):
        found = state()
        for lo, hi in pieces:
            interval_counts.count_intervals(*found, offsets, cuts, offsets, index, x, y, w, lo, hi)
        for one, other in zip(known, found, strict=True):
            assert np.array_equal(one, other)
        assert (found[0] != before).any()


@pytest.mark.parametrize("k", [1, 2, 3, 70])
@pytest.mark.parametrize(("alpha", "m"), [(0.0, 1.0), (1.0, 0.0), (0.5, 2.0)])
@pytest.mark.parametrize("declares", [True, False])
def test_predicting_before_counting_is_that_of_codes(k, alpha, m, declares):
    """Many columns and rows, so that there are several tiles; few logarithms, so that some are computed."""
    rng = np.random.default_rng(k)
    n, p = 600, 75
    sizes = rng.integers(1, 50, p)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    cuts = np.concatenate([np.append(np.sort(rng.normal(size=size - 1)), np.inf) for size in sizes])
    index = np.where(rng.random(p) < 0.2, -1, np.arange(p))
    x = rng.normal(size=(n, p))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[:, 3] = np.nan
    y, w = rng.integers(-1, k, n).astype(np.int32), rng.choice([0.0, 0.1, 1.0, 1.0, 3.0], n)
    codes, logs = np.empty((n, p), np.int32), np.empty(100)
    kernels.interval_codes(codes, cuts, offsets, index, x)
    fill_logs(logs, 0)
    declared = sizes if declares else np.ones(p, dtype=np.int64)

    def state():
        before = np.random.default_rng(1).integers(0, 3, (offsets[-1], k)).astype(float)
        before[: offsets[p // 2]] = 0.0
        present = np.add.reduceat(before, offsets[:-1])
        seen = np.add.reduceat(before.any(axis=1).astype(np.int64), offsets[:-1])
        return before, present, seen, np.full((n, k), 0.1)

    known, found = state(), state()
    table_predict_then_update(*known, declared, offsets, codes, y, w, logs, alpha, m)
    interval_counts.predict_then_count(
        *found, declared, offsets, cuts, offsets, index, x, y, w, logs, alpha, m
    )
    for one, other in zip(known, found, strict=True):
        assert np.array_equal(one, other)
    assert (found[3] != 0.1).any()
