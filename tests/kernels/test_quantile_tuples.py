"""Kernels of quantile tuples against their slow twins, known traces, and at the edges."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import gk
from tests.reach import reach
from tests.seeds import LONG
from tests.summaries.columns import ORDERS, block_of, filled, order

from bayou.kernels import quantile_tuples as kernels
from bayou.kernels import tuple_budget, tuple_lists, tuple_search
from bayou.summaries.quantile_tuples import BUFFER, QuantileTuples

VECTORS = Path(__file__).parents[1] / "vectors"
GK = json.loads((VECTORS / "gk.json").read_text())
POLICIES = json.loads((VECTORS / "gk_fixed_policies.json").read_text())


@pytest.mark.parametrize(("name", "tight"), [("trace_eps0.1_tight", True), ("trace_eps0.1_paper", False)])
def test_textbook_traces(name, tight):
    trace = GK[name]
    book = gk.Textbook(eps=trace["eps"], tight=tight)
    for value, state in zip(trace["sequence"], trace["states"], strict=True):
        book.add(value)
        assert [t[:3] for t in book.tuples] == state
    assert {phi: book.quantile(float(phi)) for phi in trace["final_quantiles"]} == trace["final_quantiles"]
    assert book.worst() == trace["max_g_plus_delta"]


@pytest.mark.parametrize("method", [1, 2])
def test_textbook_budget_with_classes(method):
    trace = GK["trace_fixed6_class"]
    book = gk.Textbook(capacity=trace["cap"], method=method, classes=2)
    for value, c, state in zip(trace["sequence"], trace["classes"], trace["states"], strict=True):
        book.add(value, c)
        assert book.tuples == state
    assert book.worst() / (2 * book.n) == trace["eps_hat"]


def test_columns_that_are_flushed_apart_are_those_flushed_together():
    """Threads take columns from any one on."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(BUFFER - 1, 3)), rng.integers(2, size=BUFFER - 1)
    together, apart = (filled(QuantileTuples(20), x, y) for _ in range(2))
    for summary, ranges in ((together, [(0, 3)]), (apart, [(2, 3), (0, 1), (1, 2)])):
        summary.rows, summary.starts = summary._spread(
            summary.rows[:0], summary.sizes, np.full(3, 2 * BUFFER)
        )
        for values in (x, x + 0.1):  # into empty columns, and among tuples
            wanted, taken, rows = np.ones(3, dtype=np.int64), np.zeros(3, dtype=np.int64), np.arange(len(y))
            ends = np.zeros((1, 2), dtype=np.int64)
            for lo, hi in ranges:
                kernels.flush_columns(
                    summary.rows, summary.sizes, wanted, taken, summary.starts, values, summary.labels,
                    summary.weights, rows, rows, ends, False, BUFFER, summary.budget, summary.exact, 0.0, lo, hi,
                )  # fmt: skip
            assert not wanted.any()
            assert (taken == 1).all()
    for j in range(3):
        at = slice(together.starts[j], together.starts[j] + together.sizes[j])
        assert together.sizes[j] == apart.sizes[j] > 1
        assert np.array_equal(together.rows[at], apart.rows[at])


@pytest.mark.parametrize("name", ["sorted", "reversed", "outside-in", "inside-out"])
def test_the_production_budget_keeps_up_with_the_textbook(name):
    n = POLICIES["n"]
    known = next(r for r in POLICIES["results"] if r["order"] == name and r["policy"].startswith("method2"))
    s = filled(
        QuantileTuples(POLICIES["capacity"]), order(name, n, np.random.default_rng(0)), np.zeros(n, int)
    )
    eps_hat = s.error() / 2  # the textbook reads ranks half-way through a gap, cells give its lower end
    assert eps_hat <= max(known["eps_hat"], 1 / POLICIES["capacity"])


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(("budget", "eps", "exact"), [(5, 0.0, 0), (20, 0.0, 60), (20, 0.05, 60)])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("heaviest", [1, 3])
def test_flush_is_its_twin(name, budget, eps, exact, k, heaviest):
    rng = np.random.default_rng(1)
    n = 5 * BUFFER
    x = order(name, n, rng).copy()
    x[rng.random(n) < 0.1] = np.nan
    y, w = rng.integers(0, k, n), rng.integers(1, heaviest + 1, n).astype(float)
    s = filled(QuantileTuples(budget, eps or None, exact), x, y, w, k=k)
    twin = gk.Tuples(k, s.budget, eps, exact)
    items = [row for row in zip(x.tolist(), y.tolist(), w.tolist(), strict=True) if row[0] == row[0]]
    for lo in range(0, len(items) - BUFFER + 1, BUFFER):  # what is left over waits in the buffer
        twin.flush(items[lo : lo + BUFFER])
    assert s.arrays()["tuples"].tolist() == [t.row() for t in twin.tuples]


@pytest.mark.parametrize("weights", ["ones", "whole", "real", "huge", "faded"])
@pytest.mark.parametrize("columns", [3, 8, 19])
def test_columns_of_few_values_are_their_twins(weights, columns):
    """Rows of weight 1 are counted in other ways than others, and few values are compared rather than looked up."""
    rng = np.random.default_rng(4)
    n, k = 6 * BUFFER + 100, 3
    x = np.column_stack([rng.integers(0, 1 + j % 6, n) for j in range(columns)]).astype(float)
    x[: 2 * BUFFER, 1] = 0.0  # a value that comes late
    x[rng.random(x.shape) < 0.05] = np.nan
    x[rng.random(x.shape) < 0.01] = -0.0
    y, w = rng.integers(0, k, n), np.ones(n)
    if weights == "whole":
        w[BUFFER : 2 * BUFFER] = 3.0
    elif weights == "real":
        w[BUFFER : 2 * BUFFER] = 0.1
    elif weights == "huge":
        w[0] = 2.0**53
    x[np.isnan(x).all(axis=1), 0] = 0.0
    s = filled(QuantileTuples(20, None, 60), x[:BUFFER], y[:BUFFER], w[:BUFFER], k=k)
    twins = [gk.Tuples(k, s.budget, 0.0, 60) for _ in range(columns)]
    items = [list(zip(column.tolist(), y.tolist(), w.tolist(), strict=True)) for column in x.T]
    for twin, rows in zip(twins, items, strict=True):
        twin.flush(rows[:BUFFER])
        if weights == "faded":
            for t in twin.tuples:
                t.g, t.delta, t.e, t.classes = t.g / 3, t.delta / 3, t.e / 3, [c / 3 for c in t.classes]
        for lo in range(BUFFER, n - BUFFER + 1, BUFFER):
            twin.flush(rows[lo : lo + BUFFER])
    if weights == "faded":
        s.scale(1 / 3)
    s.update(block_of(x[BUFFER:], y[BUFFER:], w[BUFFER:]))
    found = s.arrays()["tuples"]
    known = np.array([t.row() for twin in twins for t in twin.tuples])
    if weights in ("real", "faded", "huge"):
        np.testing.assert_allclose(found, known, rtol=1e-12)
    else:
        assert np.array_equal(found, known)
    by_rows = filled(QuantileTuples(20, None, 60), x[:BUFFER], y[:BUFFER], w[:BUFFER], k=k)
    if weights == "faded":
        by_rows.scale(1 / 3)
    for lo in range(BUFFER, n, 100):
        by_rows.update(block_of(x[lo : lo + 100], y[lo : lo + 100], w[lo : lo + 100]))
    for name, array in s.arrays().items():
        assert np.array_equal(array, by_rows.arrays()[name], equal_nan=True)


SPREADS = {
    "integers": lambda v: v - 20.0,
    "tenths": lambda v: v / 10.0,
    "crowded": lambda v: np.where(v > 50, 1e6 * v, v),  # no guide has a bucket for each
    "huge": lambda v: (v - 40.0) * 1e138,
    "tiny": lambda v: v * 5e-324,
}


@given(
    seed=st.integers(0, 2**32 - 1),
    distinct=st.integers(1, 80),
    late=st.integers(0, 3),
    spread=st.sampled_from(sorted(SPREADS)),
    exact=st.sampled_from([0, 60, 100]),
    weighted=st.booleans(),
    absent=st.sampled_from([0.0, 0.1, 1.0]),
)
@settings(max_examples=60 if LONG else 12, deadline=None)
def test_values_that_are_counted_apart_are_their_twins(seed, distinct, late, spread, exact, weighted, absent):
    """Known values are looked up and counted over many buffers; new ones, weights and block ends interrupt that."""
    rng = np.random.default_rng(seed)
    n, k = 9 * BUFFER, 3
    x = rng.integers(0, distinct, n).astype(float)
    for row in rng.integers(0, n, late):
        x[row] = rng.integers(0, 100)  # perhaps a new value, perhaps beyond the exact limit
    x = SPREADS[spread](x)
    x[(x == 0.0) & (rng.random(n) < 0.5)] = -0.0
    x[: 7 * BUFFER][rng.random(7 * BUFFER) < absent] = np.nan
    x = np.column_stack([x, np.ones(n)])  # no row is empty
    y, w = rng.integers(0, k, n), np.ones(n)
    y[: 5 * BUFFER] = np.minimum(y[: 5 * BUFFER], 1)  # a class that comes late
    if weighted:
        w[rng.integers(0, n)] = 3.0
    twin = gk.Tuples(k, 20, 0.0, exact)
    rows = list(zip(x[:, 0].tolist(), y.tolist(), w.tolist(), strict=True))
    for lo in range(0, n, BUFFER):
        twin.flush([row for row in rows[lo : lo + BUFFER] if row[0] == row[0]])
    known = np.array([t.row() for t in twin.tuples])
    states = []
    for cuts in ([], rng.integers(0, n, 3).tolist()):
        s = filled(QuantileTuples(20, None, exact), x[:0], y[:0], w[:0], k=k)
        for lo, hi in pairwise(sorted({0, n, *cuts})):
            s.update(block_of(x[lo:hi], y[lo:hi], w[lo:hi]))
        found = s.arrays()["tuples"][: s.sizes[0]]
        assert np.array_equal(found, known.reshape(len(found), -1))
        states.append(s.arrays()["tuples"].tobytes())  # bytes: 0 has the sign it came with
    assert states[0] == states[1]


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(("eps", "exact"), [(0.0, 0), (0.0, 200), (0.05, 0)])
def test_merge_is_its_twin(name, eps, exact):
    rng = np.random.default_rng(2)
    n = 4 * BUFFER
    x, y = order(name, n, rng), rng.integers(0, 2, n)
    halves = []
    twins = []
    for part in (slice(0, n // 4), slice(n // 4, n)):
        halves.append(filled(QuantileTuples(20, eps or None, exact), x[part], y[part], k=2))
        twin = gk.Tuples(2, halves[-1].budget, eps, exact)
        items = [(v, c, 1.0) for v, c in zip(x[part].tolist(), y[part].tolist(), strict=True)]
        for lo in range(0, len(items), BUFFER):
            twin.flush(items[lo : lo + BUFFER])
        twins.append(twin)
    halves[0].merge(halves[1])
    twins[0].merge(twins[1])
    assert halves[0].arrays()["tuples"].tolist() == [t.row() for t in twins[0].tuples]


def test_tiny_merge():
    known = GK["merge_tiny"]
    a, b = (np.array([[v, g, d, 1.0, 1.0] for v, g, d in known[side]], float) for side in "AB")
    work = np.empty((9, 5))
    assert tuple_lists.union_column(work, a, b, 5, 4) == 9
    assert work[:, :3].tolist() == known["merged"]


def test_common_gap():
    tuples = np.zeros((3, 5))
    tuples[:, 0] = [1.0, 2.0, 3.0]
    for x, gap in (
        ([0.5], 0),
        ([1.5, 1.2], 1),
        ([1.5, 2.0], -1),
        ([2.0], -1),
        ([4.0, 9.0], 3),
        ([1.5, np.nan], -1),
    ):
        assert tuple_search.common_gap(tuples, np.array(x), 3) == gap
    assert tuple_search.common_gap(tuples, np.array([7.0, -7.0]), 0) == 0
    assert tuple_search.common_gap(tuples, np.empty(0), 3) == -1


def test_locate_by_hand():
    keys = np.array([1.0, 3.0, np.inf, np.inf])
    spots = np.empty(6, np.uint64)
    tuple_search.locate(keys, np.array([0.0, 1.0, 2.0, 3.0, 9.0, np.nan]), 5, spots)
    assert spots.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "name", ["even", "normal", "skewed", "crowded", "equal but one", "huge", "tiny", "few"]
)
def test_a_search_with_a_guide_finds_the_same_spots(name):
    """The first search copies the values, the second makes the guide, the third uses it again."""
    rng = np.random.default_rng(7)
    values = {
        "even": np.arange(300.0),
        "normal": rng.normal(size=300),
        "skewed": np.exp(rng.normal(size=300)),
        "crowded": np.append(np.arange(100.0), 1e9),
        "equal but one": np.append(1.0 + np.arange(40) * 1e-12, -1.0),
        "huge": np.append(np.arange(50.0), [-1.7e308, 1.7e308]),
        "tiny": np.arange(50) * 5e-324,
        "few": np.arange(5.0),
    }[name]
    tuples = np.zeros((len(values), 5))
    tuples[:, 0] = np.sort(values)
    size = len(values)
    keys = np.append(tuples[:, 0], np.full(2 * size, np.inf))[: 1 << size.bit_length()]
    search = reach(tuple_search.search)
    copied, guide = np.empty(2 * size + 2), np.empty(4 * size + 5, np.int32)
    scale, half = np.empty(1), np.array([tuple_search.CHANGED])
    used = []
    for _ in range(3):
        x = np.concatenate([rng.choice(values, 200), rng.choice(values, 200) + rng.normal(size=200)])
        x = np.append(x, [np.nan, -1e300, -0.0, 1e300])
        expected, spots = np.empty(len(x), np.uint64), np.empty(len(x), np.uint64)
        tuple_search.locate(keys, x, 2 * size + 1, expected)
        search(spots, copied, guide, scale, half, tuples, x, size)
        assert spots.tolist() == expected.tolist()
        used.append(int(half[0]))
    assert used[0] == tuple_search.COPIED
    assert (used[1] > 0) == (name in ("even", "normal", "skewed"))
    assert used[1] == used[2]


def test_dropping_the_cheapest_is_its_twin_where_values_weigh_more_than_gaps():
    """Tuples with much of their weight at their own value are cheap neighbours: e belongs into every cost."""
    rng = np.random.default_rng(6)
    drop = reach(tuple_budget.drop_cheapest)
    for _ in range(200):
        n, budget = int(rng.integers(5, 40)), int(rng.integers(4, 12))
        g = rng.integers(1, 50, n).astype(float)
        e, delta = rng.integers(0, g + 1).astype(float), rng.integers(0, 4, n).astype(float)
        twin = gk.Tuples(1, budget)
        twin.tuples = [gk.Tuple(float(i), g[i], delta[i], e[i], [g[i]]) for i in range(n)]
        work = np.array([t.row() for t in twin.tuples])
        while len(twin.tuples) > budget:
            costs = twin.costs()
            twin.drop(costs.index(min(costs)) + 1)
        alive = np.arange(n)
        drop(work, alive, budget)
        assert work[alive[alive >= 0]].tolist() == [t.row() for t in twin.tuples]


def test_buffer_takes_labelled_rows_with_weight():
    s = filled(QuantileTuples(), np.arange(5.0), [0, 0, 0, 0, 0])
    block = block_of(np.arange(4.0), [-1, 0, 0, 0], [1.0, 0.0, 2.0, 1.0])
    s.update(block)
    assert s.fill[0] == 7
    assert s.values[5:7, 0].tolist() == [2.0, 3.0]
    assert s.weights[5:7].tolist() == [2.0, 1.0]
