"""Fayyad and Irani's recursive splits: Weka's cuts on iris, traces, and the slow twin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.naive import modl as naive

from bayou.readings.discretize import discretize
from bayou.readings.fayyad_irani import FayyadIrani

VECTOR = json.loads((Path(__file__).parent.parent / "vectors" / "fayyad_irani.json").read_text())


@pytest.mark.parametrize(("name", "column"), [("SL", 0), ("SW", 1), ("PL", 2), ("PW", 3)])
def test_iris_cuts_are_wekas(name, column):
    data = load_iris()
    found = discretize(data.data[:, column], data.target, FayyadIrani())
    assert found.cuts == pytest.approx(VECTOR[name]["cuts"], abs=1e-9)
    assert found.counts.sum(axis=0).tolist() == [50.0, 50.0, 50.0]


def test_noisy_step():
    case = VECTOR["noisy_step"]
    found = FayyadIrani().partition(
        np.array(case["values"], float), np.array(case["cells"], float), midpoints=True
    )
    assert found.cuts.tolist() == case["cuts"]
    on_summary = FayyadIrani().partition(np.array(case["values"], float), np.array(case["cells"], float))
    assert on_summary.cuts.tolist() == [4.0]


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_equal_the_twin(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 20)), int(rng.integers(1, 4))
    share = rng.dirichlet(np.ones(k) * 0.4, size=4)[np.arange(m) * 4 // m]
    cells = np.array([rng.multinomial(rng.integers(1, 12), p) for p in share], dtype=float)
    found = FayyadIrani().partition(np.arange(float(m)), cells)
    assert (found.cuts + 1).astype(int).tolist() == naive.fayyad_irani_cuts(cells.tolist())


@pytest.mark.parametrize("empty", [[0], [3], [0, 1, 4], [6]])
def test_cells_without_weight_change_nothing(empty):
    """A summary may hold a cell that all its rows have left: before, between or behind the others."""
    cells = np.array([[9.0, 1], [8, 0], [1, 9], [0, 12], [9, 2], [11, 0]])
    whole = FayyadIrani().partition(np.arange(6.0), cells)
    assert len(whole.cuts) == 2
    places = np.delete(np.arange(6 + len(empty)), empty)
    thin = np.zeros((6 + len(empty), 2))
    thin[places] = cells
    found = FayyadIrani().partition(np.arange(float(len(thin))), thin)
    assert found.counts.tolist() == whole.counts.tolist()
    assert found.level == whole.level


@pytest.mark.parametrize("cells", [np.empty((0, 2)), np.zeros((3, 2)), np.array([[0.4, 0.0], [0.0, 0.4]])])
def test_too_little_weight_is_one_interval(cells):
    found = FayyadIrani().partition(np.arange(float(len(cells))), cells)
    assert not found.informative
    assert found.level == 0.0
