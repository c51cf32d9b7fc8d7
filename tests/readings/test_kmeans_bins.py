"""K-means intervals."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import modl as naive

from bayou.readings.kmeans_bins import KMeansBins


def test_three_clusters_by_hand():
    upper = np.array([0.0, 0.1, 5.0, 5.2, 9.0])
    found = KMeansBins(3).partition(upper, np.ones((5, 2)))
    assert found.cuts.tolist() == [0.1, 5.2]


def test_weights_pull_the_centres():
    upper = np.array([0.0, 1.0, 2.1])
    light = KMeansBins(2).partition(upper, np.ones((3, 1)))
    heavy = KMeansBins(2).partition(upper, np.array([[90.0], [9.0], [1.0]]))
    assert light.cuts.tolist() == [1.0]
    assert heavy.cuts.tolist() == [0.0]


@pytest.mark.parametrize("bins", [1, 2, 4])
def test_spread_is_least_on_a_larger_column(bins):
    rng = np.random.default_rng(bins)
    upper = np.sort(rng.normal(size=16)) + 1e3
    weights = rng.integers(1, 9, size=16).astype(float)
    found = KMeansBins(bins).partition(upper, weights[:, None])
    cells = found.cell_of(upper)
    got = sum(naive.spread(upper[cells == i], weights[cells == i]) for i in range(found.n_parts))
    assert got == pytest.approx(naive.best_spread(upper.tolist(), weights.tolist(), bins), rel=1e-9)


def test_more_bins_than_values_gives_every_value_its_own():
    found = KMeansBins(10).partition(np.arange(4.0), np.ones((4, 2)))
    assert found.cuts.tolist() == [0.0, 1.0, 2.0]
