"""MODL's kernels against their slow twins, by hand and at the edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import modl as naive
from tests.reach import reach

from bayou.kernels import exact_partition, khiops, kmeans, modl, modl_groups, partition
from bayou.readings import logs as tables
from bayou.readings.logs import log_factorials

TABLE = log_factorials(1, float(partition.EXACT))
patient = settings(deadline=None)  # the first call compiles
cell_lists = st.integers(1, 3).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=1, max_size=7)
)


def prefix_of(cells):
    counts = np.array(cells, dtype=float)
    prefix = np.empty((len(counts) + 1, counts.shape[1] + 1))
    modl.running_totals(prefix, counts)
    return prefix


def prior_of(prefix):
    prior = np.empty(len(prefix) + 1)
    modl.boulle_prior(prior, TABLE, prefix[-1, -1])
    return prior


def cost_of(prefix, prior, bounds, size, k):
    return prior[size] + modl.partition_cost(TABLE, prefix, bounds, k, size)


@pytest.mark.parametrize(
    "x", [0.0, 3.0, 15.5, 16.0, 999.0, 1000.0, 2.5e5, partition.EXACT - 1.0, partition.EXACT, 2e6]
)
def test_a_log_factorial_does_not_depend_on_the_size_of_the_table(x):
    full = np.empty(partition.EXACT + 1000)
    partition.fill_log_factorials(full, 0)
    assert {partition.log_factorial(full[:size], x) for size in (1, 1000, len(full))} == {
        partition.log_factorial(full, x)
    }


def test_tables_grow_by_what_is_new(monkeypatch):
    monkeypatch.setattr(tables, "_log_factorials", np.zeros(0))
    monkeypatch.setattr(tables, "_logs", np.zeros(0))
    for most in (100, 5000, 6000):
        factorials, logs = log_factorials(3, float(most)), tables.integer_logs(most)
        assert len(factorials) > most + 3
        at_once = np.empty(len(factorials))
        partition.fill_log_factorials(at_once, 0)
        assert np.array_equal(factorials, at_once)
        assert logs[1:].tolist() == [math.log(v) for v in range(1, len(logs))]
        assert len(logs) >= most
    assert log_factorials(3, 100.0) is factorials
    assert tables.integer_logs(100) is logs


@pytest.mark.parametrize("x", [0.0, 0.5, 1.0, 7.25, 15.99, 16.01, 1e5, 1e6 + 0.5, 2e6, 1e12])
def test_log_factorial_agrees_with_lgamma(x):
    assert partition.log_factorial(TABLE, x) == pytest.approx(math.lgamma(x + 1), rel=1e-14, abs=1e-13)


def test_interval_cost_by_hand():
    # 3 of class a, 1 of class b, 2 classes: ln C(5, 1) + ln 4!/(3! 1!)
    assert partition.interval_cost(TABLE, prefix_of([[2, 0], [1, 1]]), 2, 0, 2) == pytest.approx(math.log(20))


@patient
@given(cell_lists, st.floats(0.1, 3.0))
def test_interval_cost_equals_the_formula_for_any_weights(cells, scale):
    cells = [[scale * c for c in cell] for cell in cells]
    k = len(cells[0]) + 1
    prefix = prefix_of(cells)
    assert partition.interval_cost(TABLE, prefix, k, 0, len(cells)) == pytest.approx(
        naive.part_cost(naive.total_of(cells), k), abs=1e-9
    )


@pytest.mark.parametrize("seed", range(60))
def test_greedy_merging_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    cells = rng.gamma(0.5, 6.0, size=(int(rng.integers(1, 16)), k))  # real weights, so that nothing ties
    prefix = prefix_of(cells)
    prior = prior_of(prefix)
    bounds = np.empty(len(cells) + 1, dtype=np.int64)
    size = partition.merge_greedily(bounds, TABLE, prefix, prior, k)
    assert cost_of(prefix, prior, bounds, size, k) == pytest.approx(naive.greedy_cost(cells, k), abs=2e-6)


@patient
@given(cell_lists)
def test_exact_search_equals_all_partitions(cells):
    k = len(cells[0])
    prefix = prefix_of(cells)
    prior = prior_of(prefix)
    bounds = np.empty(len(cells) + 1, dtype=np.int64)
    size = partition.merge_greedily(bounds, TABLE, prefix, prior, k)
    improved = bounds.copy()
    improved_size = partition.post_optimise(improved, TABLE, prefix, prior, k, size)
    optimum = naive.best_cost(cells, k)
    assert cost_of(prefix, prior, improved, improved_size, k) >= optimum - 1e-9
    size = exact_partition.best_partition(bounds, TABLE, prefix, prior, k, size)
    assert cost_of(prefix, prior, bounds, size, k) == pytest.approx(optimum, abs=2e-6)
    assert bounds[0] == 0
    assert bounds[size] == len(cells)
    assert (np.diff(bounds[: size + 1]) > 0).all()


@pytest.mark.parametrize("seed", range(40))
def test_exact_search_finds_what_a_comparison_of_all_partitions_finds(seed):
    """Weak classes, so that many partitions cost nearly the same, and cells that come again, so that some tie."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(2, 45)), int(rng.integers(2, 6))
    share = rng.dirichlet(np.full(k, [0.5, 50.0][seed % 2]), m)
    cells = np.array(
        [rng.multinomial(rng.integers(1, [6, 400][seed // 2 % 2]), p) for p in share], dtype=float
    )
    if seed % 5 == 0:
        cells = np.concatenate([cells, cells[::-1]])
    cells = np.repeat(cells, rng.integers(1, 3, len(cells)), axis=0)
    prefix = prefix_of(cells)
    prior = prior_of(prefix)
    if seed % 3 == 0:
        prior[len(cells) // 2 + 1 :] = np.inf  # as where there are fewer values than cells
    for start in (partition.merge_greedily, whole_range):
        bounds = np.empty(len(cells) + 1, dtype=np.int64)
        size = start(bounds, TABLE, prefix, prior, k)
        ends = naive.best_ends(cells.tolist(), k, prior.tolist(), bounds[1 : size + 1].tolist(), TABLE)
        size = exact_partition.best_partition(bounds, TABLE, prefix, prior, k, size)
        assert bounds[: size + 1].tolist() == [0, *ends]


def test_starts_that_are_left_out_of_the_search_are_no_part_of_the_optimum():
    """Three steps of many rows: from the third, an interval that begins in the first cannot be worth it."""
    rng = np.random.default_rng(0)
    shares = np.repeat([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], 20, axis=0)
    cells = np.array([rng.multinomial(500, share) for share in shares], dtype=float)
    prefix = prefix_of(cells)
    prior = prior_of(prefix)
    bounds, starts = np.empty(61, dtype=np.int64), np.zeros(61, dtype=np.int64)
    size = partition.merge_greedily(bounds, TABLE, prefix, prior, 3)
    assert bounds[: size + 1].tolist() == [0, 20, 40, 60]
    reach(exact_partition._first_starts)(starts, TABLE, prefix, prior, bounds, 3, size, 1e-6)
    assert starts[:41].tolist() == [0] * 41
    assert starts[60] == 20
    for a in range(20):  # each of those left out costs more than what it is divided into
        whole = partition.interval_cost(TABLE, prefix, 3, a, 60)
        parts = sum(partition.interval_cost(TABLE, prefix, 3, s, e) for s, e in ((a, 20), (20, 40), (40, 60)))
        assert parts + 2 * (prior[2] - prior[1]) < whole


def whole_range(bounds, table, prefix, prior, k):
    """A start that is worse than the greedy one: a single interval."""
    bounds[:2] = 0, len(prefix) - 1
    return 1


def test_exact_search_of_huge_weights_ends_at_the_last_cell():
    """The logarithms of their factorials are rounded by more than partitions differ."""
    rng = np.random.default_rng(0)
    for scale in (1e12, 1e30, 1e100):
        cells = np.floor(rng.random((50, 2)) * scale)
        prefix = prefix_of(cells)
        bounds = np.array([0, 50, *range(49)])
        size = exact_partition.best_partition(bounds, TABLE, prefix, prior_of(prefix), 2, 1)
        assert bounds[0] == 0
        assert bounds[size] == 50
        assert (np.diff(bounds[: size + 1]) > 0).all()


def test_exact_search_does_not_depend_on_keeping_the_costs():
    rng = np.random.default_rng(3)
    share = 1 / (1 + np.exp(-np.linspace(-3, 3, exact_partition.KEPT_CELLS + 40)))
    ones = rng.binomial(9, share)
    cells = np.column_stack([9 - ones, ones]).astype(float)
    large, small = prefix_of(cells), prefix_of(cells[: exact_partition.KEPT_CELLS])
    for prefix in (large, small):
        prior = prior_of(prefix)
        bounds = np.empty(len(prefix), dtype=np.int64)
        start = partition.merge_greedily(bounds, TABLE, prefix, prior, 2)
        before = cost_of(prefix, prior, bounds, start, 2)
        size = exact_partition.best_partition(bounds, TABLE, prefix, prior, 2, start)
        assert cost_of(prefix, prior, bounds, size, 2) <= before
        # no single bound can be moved, dropped or added at a profit
        again = partition.post_optimise(bounds.copy(), TABLE, prefix, prior, 2, size)
        assert again == size


@patient
@given(cell_lists)
def test_joining_pure_neighbours_keeps_the_optimum(cells):
    k = len(cells[0])
    prefix = prefix_of(cells)
    edges = np.arange(len(cells) + 1)
    n = modl.join_pure_runs(edges, prefix, len(cells))
    assert edges[0] == 0
    assert edges[n] == len(cells)
    joined = naive.parts_of(cells, edges[1:n].tolist())
    assert naive.best_cost(joined, k) == pytest.approx(naive.best_cost(cells, k), abs=1e-9)


@patient
@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(0, 6))
def test_quantile_edges_equal_the_twin(weights, granularity):
    prefix = prefix_of([[w] for w in weights])
    edges = np.empty(len(weights) + 1, dtype=np.int64)
    n = khiops.quantile_edges(edges, prefix, 2.0**granularity)
    assert edges[1 : n + 1].tolist() == naive.quantile_ends(weights, 2**granularity)


def test_universal_prior_and_its_continuation():
    stars = np.empty(khiops.STAR_TERMS + 1)
    khiops.fill_star_sums(stars)
    for n, most in [(1, 2), (3, 7), (5, 13), (100, 5000)]:
        assert khiops.universal(stars, float(n), float(most)) == pytest.approx(
            naive.universal(n, most), abs=1e-12
        )
    longer = np.empty(1_000_001)
    khiops.fill_star_sums(longer)
    for most in (70_000.0, 1_000_000.0):
        exact = khiops.universal(longer, 12.0, most)
        assert khiops.universal(stars, 12.0, most) == pytest.approx(exact, abs=1e-11)


@patient
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5)), min_size=1, max_size=9),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e6]),
)
def test_kmeans_finds_the_least_spread(points, bins, shift):
    weight_at: dict[float, float] = {}
    for x, w in points:
        weight_at[x + shift] = weight_at.get(x + shift, 0.0) + w
    values = sorted(weight_at)
    weights = [weight_at[x] for x in values]
    bins = min(bins, len(values))
    ends = np.empty(bins, dtype=np.int64)
    kmeans.kmeans_ends(ends, np.array(values, float), np.array(weights, float))
    edges = [0, *ends.tolist()]
    got = sum(naive.spread(values[a:b], weights[a:b]) for a, b in itertools.pairwise(edges))
    assert got == pytest.approx(naive.best_spread(values, weights, bins), abs=1e-6)


@pytest.mark.parametrize("values", [1, 2, 10, 60, 300])
def test_log_groupings_are_sums_of_stirling_numbers(values):
    out = np.empty(values + 1)
    modl_groups.log_groupings(out)
    row = [0] * (values + 1)  # S(n, 0..), by the recurrence, in whole numbers
    row[0] = 1
    for _ in range(values):
        row = [0] + [row[i - 1] + i * row[i] for i in range(1, values + 1)]
    for groups in {1, min(2, values), values // 2 or 1, values}:
        assert out[groups] == pytest.approx(math.log(sum(row[: groups + 1])), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "cells",
    [
        [[0, 0]],
        [[5, 0]],
        [[0, 0], [3, 4]],
        [[0, 0], [0, 0], [1, 0], [0, 0], [0, 1]],
        [[1e12, 0], [0, 1e12]],
        [[1e-9, 0], [0, 1e-9]],
    ],
)
def test_columns_at_the_edges(cells):
    counts = np.array(cells, dtype=float)
    offsets = np.array([0, 0, len(cells)])
    for run in ("boulle", "khiops"):
        bounds = np.empty(len(cells), dtype=np.int64)
        sizes = np.empty(2, dtype=np.int64)
        levels = np.empty(2)
        if run == "boulle":
            modl.modl_columns(bounds, sizes, levels, offsets, counts, TABLE, 2, 100)
        else:
            stars = np.empty(65)
            khiops.fill_star_sums(stars)
            khiops.khiops_columns(bounds, sizes, levels, offsets, counts, TABLE, stars, 2, 1.0, 100)
        assert sizes[0] == 0
        assert bounds[sizes[1] - 1] == len(cells)
        assert ((levels >= 0) & (levels < 1)).all()


def test_five_hundred_columns_of_a_hundred_cells_are_all_informative():
    rng = np.random.default_rng(0)
    share = 1 / (1 + np.exp(-np.linspace(-3, 3, 100)))
    ones = rng.binomial(200, np.tile(share, 500))
    counts = np.column_stack([200 - ones, ones]).astype(float)
    offsets = np.arange(501) * 100
    bounds = np.empty(len(counts), dtype=np.int64)
    sizes, levels = np.empty(500, dtype=np.int64), np.empty(500)
    modl.modl_columns(bounds, sizes, levels, offsets, counts, TABLE, 2, 2000)
    assert (levels > 0.1).all()
