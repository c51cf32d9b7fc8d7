"""Intervals read off summaries: probabilities, what MODL loses on a summary, and the reading as state."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.naive import intervals as naive
from tests.summaries.columns import block_of, filled, plan

from bayou.densities.binned import CPiD, GKClass, PiD
from bayou.errors import SchemaError
from bayou.readings.categorical import MEstimate
from bayou.readings.discretize import discretize
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.intervals import Intervals
from bayou.readings.kmeans_bins import KMeansBins
from bayou.readings.modl import MODL
from bayou.readings.partition import Partition, with_level
from bayou.threads import set_threads
from bayou.views.view import Searched

KNOWN = json.loads((Path(__file__).parents[1] / "vectors" / "modl_on_summaries.json").read_text())
RECIPES = [GKClass(), GKClass(eps=0.01), PiD(), CPiD()]
BINS = [MODL(), MODL(prior="khiops"), EqualWidth(), EqualFrequency(), FayyadIrani(), KMeansBins()]


def shape(kind, n, rng):
    """The shapes of `modl_on_summaries.json`: P(y = 1 | x) over a Gaussian x."""
    x = rng.normal(size=n)
    chance = {
        "step": np.where(x > 0.5, 0.85, 0.35),
        "band": np.where(np.abs(x) < 0.3, 0.95, 0.1),
        "smooth": 1 / (1 + np.exp(-4 * x)),
    }[kind]
    return x, (rng.random(n) < chance).astype(int)


@pytest.mark.parametrize("kind", ["step", "band", "smooth"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_modl_on_100_tuples_keeps_96_percent_of_the_gain(kind, seed):
    assert next(k for k in KNOWN if k["kind"] == kind)["GKfixed100"]["true_level"] > 0
    x, y = shape(kind, 10_000, np.random.default_rng(seed))
    full = discretize(x, y)
    found = Intervals(MODL()).read(filled(GKClass(100).summary(), x, y)).partitions[0]
    counts = np.zeros((found.n_parts, 2))
    np.add.at(counts, (found.cell_of(x), y), 1.0)
    assert with_level(Partition(found.cuts, counts, 0.0), 2).level >= 0.96 * full.level


@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
@pytest.mark.parametrize("bins", BINS, ids=repr)
@pytest.mark.parametrize("n", [1, 50, 3000])
def test_every_pairing_reads_probabilities(recipe, bins, n):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 3)) + [2.0, 0.5, 0.0] * y[:, None]
    x[rng.random(x.shape) < 0.05] = np.nan
    x[:, 2] = np.nan
    reading = Intervals(bins).read(filled(recipe.summary(), x, y, k=3))
    assert len(reading.partitions) == 3
    terms = reading.terms(block_of(x, y))
    assert np.all(np.isfinite(terms))
    assert np.all(terms <= 0)
    assert not terms[:, 2].any()
    for j, partition in enumerate(reading):
        for i in range(min(n, 20)):
            cell = naive.cell(partition.cuts, x[i, j])
            for c in range(3):
                expected = (
                    0.0
                    if np.isnan(x[i, j])
                    else naive.log_prob(partition.counts.tolist(), cell, c, ("m", 1.0))
                )
                assert terms[i, j, c] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_probabilities_by_hand():
    s = filled(GKClass().summary(), np.repeat([1.0, 2.0], 20), np.repeat([0, 1], 20))
    reading = Intervals().read(s)
    assert reading.partitions[0].cuts.tolist() == [1.0]
    out = np.zeros((3, 2))
    reading.add_log_prob(block_of([1.0, 1.5, np.nan], [0, 0, 0]), out)
    own, other = math.log(20.5) - math.log(21.0), math.log(0.5) - math.log(21.0)
    np.testing.assert_allclose(out, [[own, other], [other, own], [0, 0]], rtol=1e-14)


def test_an_uninformative_column_says_exactly_nothing():
    rng = np.random.default_rng(0)
    s = filled(GKClass().summary(), rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000))
    out = np.zeros((5, 2))
    Intervals().read(s).add_log_prob(block_of(np.zeros((5, 2)), np.zeros(5)), out)
    assert not out.any()


def test_classes_to_come_change_nothing():
    """A class the schema knows already, but nobody has seen, must not show in the intervals."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    x = rng.normal(size=400) + y
    two, five = (Intervals().read(filled(GKClass().summary(), x, y, k=k)) for k in (2, 5))
    assert np.array_equal(two.partitions.cuts, five.partitions.cuts)
    assert two.partitions.levels.tolist() == five.partitions.levels.tolist()
    assert np.array_equal(two.table[:-1], five.table[:-1, :2])
    assert np.allclose(five.table[:-1, 2:], -math.log(two.partitions[0].n_parts))
    declared = filled(GKClass().summary(), x, y, k=2)
    declared.realign(plan(1, 5, 1, 2, declared=5))
    assert Intervals().read(declared).partitions.levels[0] < two.partitions.levels[0]


def test_rows_in_any_blocks_and_threads_give_the_same_bits():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 3000)
    x = rng.normal(size=(3000, 130)) + rng.random(130) * y[:, None]
    s = filled(GKClass(20).summary(), x, y)
    results = []
    for threads in (1, 2, 3):
        set_threads(threads)
        reading = Intervals().read(s)
        for step in (1, 7, 999, 3000):
            out = np.zeros((3000, 3))
            for lo in range(0, 3000, step):
                reading.add_log_prob(block_of(x[lo : lo + step], y[lo : lo + step]), out[lo : lo + step])
            results.append(out)
    set_threads(2)
    assert all(np.array_equal(out, results[0]) for out in results)


def test_realigning_is_reading_over_the_larger_schema():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 900)
    x = rng.normal(size=(900, 2)) + y[:, None]
    s = filled(GKClass().summary(), x, y)
    wider = plan(4, 3, 2, 2)
    wider.numeric.to[:] = [3, 1]
    wider.classes.to[:] = [2, 0]
    moved = Intervals().read(s).realign(wider)
    s.realign(wider)
    again = Intervals().read(s)
    for name in ("offsets", "cuts", "counts"):
        assert np.array_equal(moved.arrays()[name], again.arrays()[name])
    # Other class order
    np.testing.assert_allclose(moved.partitions.levels, again.partitions.levels, rtol=1e-12)
    assert np.array_equal(moved.table, again.table)
    assert moved.partitions[0].n_parts == 1


def test_a_searched_view_saves_and_restores_its_reading():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 700)
    x = rng.normal(size=(700, 3)) + y[:, None]
    reader = Intervals(EqualFrequency(5), smoothing="khiops")
    view = Searched(filled(GKClass().summary(), x, y), reader)
    view.refresh()
    twin = Searched(view.summary.fresh(), reader)
    twin.restore(view.arrays())
    out, again = np.zeros((700, 2)), np.zeros((700, 2))
    view.add_log_prob(block_of(x, y), out)
    twin.add_log_prob(block_of(x, y), again)
    assert np.array_equal(out, again)
    assert out.any()


def test_no_columns_and_no_rows():
    s = GKClass().summary()
    s.realign(plan(0, 2))
    reading = Intervals().read(s)
    out = np.zeros((4, 2))
    reading.add_log_prob(block_of(np.empty((4, 0)), np.zeros(4)), out)
    assert not out.any()
    grown = reading.realign(plan(2, 2, 0, 2))
    grown.add_log_prob(block_of(np.zeros((4, 2)), np.zeros(4)), out)
    assert not out.any()


@pytest.mark.parametrize("smoothing", [-1.0, "laplace", float("inf")])
def test_smoothing_refuses(smoothing):
    with pytest.raises(SchemaError, match="smoothing="):
        Intervals(smoothing=smoothing)


def test_smoothing_choices():
    assert Intervals(smoothing=0.5).added() == (0.5, 0.0, 0.0)
    assert Intervals(smoothing=MEstimate(2.0)).added() == (0.0, 2.0, 0.0)
