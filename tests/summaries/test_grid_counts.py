"""PiD and cPiD as summaries: frames, bounds that hold, merging, and one state whatever the blocks."""

from __future__ import annotations

import copy
import os

import numpy as np
import pytest
from tests.summaries.columns import ORDERS, block_of, filled, order, plan

from bayou.densities.binned import CPiD, PiD
from bayou.errors import DataError, MergeError
from bayou.hashing import digest
from bayou.testing import SUMMARY_CHECKS

RECIPES = [PiD(), PiD(intervals=10, alpha=0.05, max_cells=60), CPiD(), CPiD(cells=20)]
LONG = bool(os.environ.get("BAYOU_LONG"))


def check_ranks(summary, x, y, w, k, column=0):
    """Ranks and class ranks at the breaks are within slack, everywhere else within error()."""
    m = int(summary.sizes[column])
    breaks, slack = summary.breaks[column, : m - 1], summary.slack[column, : m - 1]
    counts = summary.counts[column, :m]
    kept = ~np.isnan(x)
    x, y, w = x[kept], y[kept], w[kept]
    weights = np.zeros((len(x), k))
    weights[np.arange(len(x)), y] = w
    by_value = np.argsort(x, kind="stable")
    ranks = np.vstack([np.zeros(k), np.cumsum(weights[by_value], axis=0)])
    x = x[by_value]
    tolerance = 1e-9 * w.sum()
    np.testing.assert_allclose(counts.sum(axis=0), ranks[-1], rtol=1e-9)
    low = np.vstack([np.zeros(k), np.cumsum(counts, axis=0)])
    true = ranks[np.searchsorted(x, breaks, side="right")]
    assert np.all(np.abs(true.sum(axis=1) - low[1:-1].sum(axis=1)) <= slack + tolerance)
    assert np.all(np.abs(true - low[1:-1]) <= slack[:, None] + tolerance)
    said = low[np.searchsorted(breaks, x, side="left")]
    off = ranks[np.searchsorted(x, x, side="right")] - said
    most = max(np.abs(off).max(), np.abs(off.sum(axis=1)).max())
    assert most <= summary.errors()[column] * w.sum() + tolerance


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
def test_ranks_are_within_the_error(name, recipe):
    rng = np.random.default_rng(0)
    n = 50_000 if LONG else 5000
    x, y, w = order(name, n, rng).copy(), rng.integers(0, 3, n), rng.integers(1, 3, n).astype(float)
    x[rng.random(n) < 0.1] = np.nan
    s = filled(recipe.summary(), x, y, w)
    check_ranks(s, x, y, w, 3)
    if isinstance(recipe, CPiD):
        assert s.sizes[0] == recipe.cells


def test_random_order_ends_in_fine_cells():
    rng = np.random.default_rng(0)
    n = 100_000
    s = filled(CPiD().summary(), rng.normal(size=n), rng.integers(0, 2, n))
    assert s.error() < 0.03
    assert s.cells(0)[1].sum(axis=1).max() <= 0.025 * n


@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
def test_merging_shards_that_share_a_frame(recipe):
    rng = np.random.default_rng(1)
    x, y, w = rng.normal(size=20_000), rng.integers(0, 2, 20_000), np.ones(20_000)
    first = filled(recipe.summary(), x[:1500], y[:1500])
    shards = [first.fresh() for _ in range(4)]
    for i, shard in enumerate(shards):
        here = slice(1500 + i * 4625, 1500 + (i + 1) * 4625)
        shard.update(block_of(x[here], y[here]))
        first.merge(shard)
    check_ranks(first, x, y, w, 2)
    assert first.sizes[0] <= first.max_cells


@pytest.mark.parametrize(("a", "b"), [(400, 3000), (3000, 400), (700, 700), (400, 300)])
def test_merging_before_a_frame_is_frozen(a, b):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=a + b), rng.integers(0, 2, a + b)
    s = filled(CPiD().summary(), x[:a], y[:a], k=2)
    s.merge(filled(CPiD().summary(), x[a:], y[a:], k=2))
    assert s.cells(0)[1].sum() == a + b
    assert bool(s.frames.frozen[0]) == (a + b >= 1000)
    if a + b < 1000:
        assert s.error() == 0.0
    else:
        check_ranks(s, x, y, np.ones(a + b), 2)
    if max(a, b) < 1000:  # nothing was frozen: the same as one pass
        assert digest(s.arrays()) == digest(filled(CPiD().summary(), x, y).arrays())


def test_different_frames_refuse_and_change_nothing():
    rng = np.random.default_rng(3)
    a, b = (filled(CPiD().summary(), rng.normal(size=2000), np.zeros(2000, int)) for _ in range(2))
    before = digest(a.arrays())
    with pytest.raises(MergeError, match=r"model\.fresh\(\)"):
        a.merge(b)
    assert digest(a.arrays()) == before


@pytest.mark.parametrize("recipe", [CPiD(cells=20), PiD()], ids=repr)
@pytest.mark.parametrize("step", [1, 7, 999])
def test_blocks_do_not_show(recipe, step):
    rng = np.random.default_rng(4)
    n = 2500
    x, y, w = rng.normal(size=(n, 9)), rng.integers(-1, 3, n), rng.choice([0.0, 1.0, 0.3], n)
    x[rng.random(x.shape) < 0.1] = np.nan
    at_once = filled(recipe.summary(), x, y, w)
    s = recipe.summary()
    s.realign(plan(9, 3))
    for lo in range(0, n, step):
        s.update(block_of(x[lo : lo + step], y[lo : lo + step], w[lo : lo + step]))
    assert digest(s.arrays()) == digest(at_once.arrays())


def test_a_frame_freezes_at_the_thousandth_value_of_its_column():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(1200, 2))
    x[:100, 1] = np.nan
    s = filled(CPiD().summary(), x[:999], np.zeros(999, int))
    assert s.frames.frozen.tolist() == [False, False]
    s.update(block_of(x[999:1000], [0]))
    assert s.frames.frozen.tolist() == [True, False]
    assert (s.frames.low[0], s.frames.high[0]) == (x[:1000, 0].min(), x[:1000, 0].max())
    s.update(block_of(x[1000:], np.zeros(200)))
    assert s.frames.frozen.tolist() == [True, True]
    assert s.frames.low[1] == x[100:1100, 1].min()
    s.realign(plan(3, 1, 2, 1))
    s.update(block_of(rng.normal(size=(5, 3)), np.zeros(5)))
    assert len(s.cells(2)[0]) == 5


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_cells_beyond_the_frame_are_as_wide_as_those_inside(side):
    """Where the values go beyond the range of the first thousand, the open cell gives off cells of the first width."""
    x = np.concatenate([np.linspace(0.0, 1.0, 1000), 1.0 + np.linspace(0.001, 0.5, 4000)])
    s = filled(PiD(intervals=10, alpha=0.05).summary(), side * x, np.zeros(5000, int))
    breaks = s.breaks[0, : int(s.sizes[0]) - 1] * side
    for end in (1.1, 1.2, 1.3, 1.4, 1.5):  # some of them divided again
        assert np.isclose(breaks, end, rtol=1e-12).any()
    assert breaks.max() < 1.6


def test_a_constant_column_gets_a_frame():
    s = filled(CPiD().summary(), np.full((1500, 2), [3.0, 1e139]), np.zeros(1500, int))
    assert s.cells(0)[1].sum() == 1500
    assert np.all(np.diff(s.breaks[:, :99]) > 0)


def test_memory_does_not_depend_on_rows():
    rng = np.random.default_rng(0)
    s = CPiD(cells=50).summary()
    s.realign(plan(3, 2))
    sizes = set()
    for _ in range(20):
        s.update(block_of(rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)))
        sizes.add(s.breaks.nbytes + s.slack.nbytes + s.counts.nbytes + s.frames.warm_values.nbytes)
    assert sizes == {8 * 3 * 64 * (2 + 2)}


def test_scale_and_regroup():
    rng = np.random.default_rng(6)
    for n in (500, 5000):
        x, y = rng.normal(size=n), rng.integers(0, 3, n)
        s = filled(CPiD().summary(), x, y)
        two = s.regroup(np.array([[1.0, 0, 1], [0, 0, 0]]))
        kept = y != 1
        assert two.cells(0)[1].sum(axis=0).tolist() == pytest.approx([kept.sum(), 0])
        if n == 5000:
            check_ranks(two, x[kept], np.zeros(kept.sum(), int), np.ones(kept.sum()), 2)
        error = s.error()
        s.scale(0.5)
        assert s.cells(0)[1].sum() == n / 2
        assert s.error() == error


@pytest.mark.parametrize(
    "wrong",
    [lambda: CPiD(alpha=0.01), lambda: CPiD(cells=4), lambda: PiD(intervals=0), lambda: PiD(alpha=1.0)],
)
def test_recipes_refuse(wrong):
    with pytest.raises(DataError):
        wrong()


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("recipe", [PiD(), CPiD(cells=10)], ids=repr)
def test_laws(recipe, check):
    for seed in range(3):
        check(recipe.summary, seed, False)


def test_copies_are_independent():
    s = filled(CPiD().summary(), np.arange(1500.0), np.zeros(1500, int))
    twin = copy.deepcopy(s)
    twin.update(block_of(np.zeros(100), np.zeros(100)))
    assert s.cells(0)[1].sum() == pytest.approx(1500)
    assert twin.cells(0)[1].sum() == pytest.approx(1600)
