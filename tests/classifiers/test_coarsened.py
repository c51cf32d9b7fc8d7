"""A model over a fine grid, read on the coarser one a discretiser gives: as if it had counted there from the start."""

from __future__ import annotations

import numpy as np
import pytest

import bayou
from bayou import AODE, FANC, TAN, TC, Collection, Grid, ReadMany
from bayou.readings.equal import EqualFrequency


def rows(n, seed=0):
    """One column in three steps, one of noise with gaps, one nominal."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    step = rng.uniform(size=n) + np.where(y == 1, 1.0, rng.choice([0.0, 2.0], n))
    noise = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    colour = rng.choice(["red", "blue", "rose"], n)
    X = [{"s": float(a), "u": float(b), "c": str(d)} for a, b, d in zip(step, noise, colour, strict=True)]
    return X, y.tolist()


@pytest.mark.parametrize("make", [AODE, FANC, TAN, TC, Collection])
@pytest.mark.parametrize("bins", ["modl", "fayyad-irani", EqualFrequency(bins=4)])
@pytest.mark.parametrize("warm_up", [100, 10_000], ids=["frozen", "pending"])
def test_counts_are_those_of_the_coarser_grid(make, bins, warm_up):
    X, y = rows(300)
    fine = make(numeric=Grid(bins=12, warm_up=warm_up))
    fine.learn_batch(X, y, np.arange(300) % 3)
    before = fine.digest()
    coarse = fine.coarsened(bins)
    afresh = coarse.fresh()
    afresh.learn_batch(X, y, np.arange(300) % 3)
    assert coarse.refresh().digest() == afresh.refresh().digest()
    assert fine.digest() == before
    more, labels = rows(50, seed=1)
    for model in (coarse, afresh):
        model.learn_batch(more, labels)
    assert coarse.refresh().digest() == afresh.refresh().digest()


def test_the_intervals_are_the_discretisers(tmp_path):
    X, y = rows(600)
    fine = FANC(numeric=Grid(30, "width", 600))
    fine.learn_batch(X, y)
    coarse = fine.coarsened()
    counts = coarse.engine.views["joint"].summary
    steps, noise = (counts.cuts[j] for j in range(2))
    np.testing.assert_allclose(steps, [1.0, 2.0], atol=0.11)
    assert np.isinf(noise).all()
    assert coarse.numeric == Grid(3, "width", 600)
    assert counts.sizes.tolist() == [3, 3, 1]
    assert coarse.memory_bytes < fine.memory_bytes / 5
    coarse.save(tmp_path / "coarse.bayou")
    assert bayou.load(tmp_path / "coarse.bayou").digest() == coarse.digest()


def test_a_column_without_values_and_a_model_without_numeric_columns():
    X, y = rows(120)
    for row in X:
        row["u"] = None
    fine = AODE(numeric=Grid(bins=8, warm_up=50), schema=bayou.Declared(columns={"u": "numeric"}))
    fine.learn_batch(X, y)
    assert fine.coarsened().predict(X) is not None
    nominal = AODE().fit([["a", "b"], ["c", "d"]], [0, 1])
    assert nominal.coarsened().predict([["a", "b"]]).tolist() == [0]


def test_a_record_stays_that_of_the_finer_grid():
    X, y = rows(200)
    fine = ReadMany(numeric=Grid(bins=8, warm_up=50))
    fine.learn_batch(X, y)
    coarse = fine.coarsened("fayyad-irani")
    assert coarse.record_ == fine.record_
    assert coarse.proba(coarse.encode(X)).shape == (200, 2)
