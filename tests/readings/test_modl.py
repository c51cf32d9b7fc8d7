"""MODL: published vectors, the Khiops binary, and the laws of the search."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets
from tests.naive import modl as naive

from bayou.errors import DataError
from bayou.readings.discretize import discretize
from bayou.readings.modl import MODL

VECTORS = Path(__file__).parent.parent / "vectors"
DISCRETISATION = json.loads((VECTORS / "modl_discretisation.json").read_text())
KHIOPS = json.loads((VECTORS / "modl_khiops_comparison.json").read_text())
SKLEARN = {"iris": datasets.load_iris, "wine": datasets.load_wine, "bc": datasets.load_breast_cancer}
IRIS = {"SL": 0, "SW": 1, "PL": 2, "PW": 3}
COLUMNS = [
    (name, column["variable"], column) for name, data in KHIOPS.items() for column in data["variables"]
]
patient = settings(deadline=None)


def values_and_classes(name, variable):
    if name in SKLEARN:
        data = SKLEARN[name]()
        return data.data[:, IRIS[variable] if name == "iris" else int(variable[1:])], data.target
    with (VECTORS / "adultlike_5000.csv").open() as file:
        rows = list(csv.DictReader(file))
    return np.array([float(row[variable]) for row in rows]), [row["cls"] for row in rows]


@pytest.mark.parametrize("method", ["auto", "optimal", "greedy"])
@pytest.mark.parametrize("case", DISCRETISATION["cases"], ids=lambda case: case["name"])
def test_the_optimum_of_every_named_table(case, method):
    cells = np.array(case["cells"], dtype=float)
    found = MODL(method=method).partition(np.arange(1.0, len(cells) + 1), cells)
    assert found.cuts.tolist() == case["optimal_cuts"]
    assert found.counts.tolist() == case["optimal_parts"]
    assert found.level == pytest.approx(case["level"], abs=1e-9)


@pytest.mark.parametrize("case", DISCRETISATION["smallest_pure_split"], ids=lambda c: str(c["n_per_class"]))
def test_the_smallest_pure_step_that_is_split(case):
    n = case["n_per_class"]
    found = discretize(range(2 * n), [0] * n + [1] * n)
    assert found.n_parts == len(case["cuts"]) + 1


@pytest.mark.parametrize("method", ["greedy", "optimal"])
@pytest.mark.parametrize(
    ("name", "variable", "column"), COLUMNS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_khiops_prior_equals_the_khiops_binary(name, variable, column, method):
    values, classes = values_and_classes(name, variable)
    attributes = len(KHIOPS[name]["variables"])
    found = discretize(values, classes, MODL(prior="khiops", method=method, attributes=attributes))
    assert found.level == pytest.approx(column["khiops"]["level"], abs=1e-5)
    expected = column["khiops"].get("table")
    if not expected:  # the binary reports no table for a column that it drops
        assert column["khiops"]["level"] == 0
        assert not found.informative
        return
    # the binary lists classes in the order of their first row, we in sorted order
    ours = sorted(found.counts.T.tolist())
    assert ours == sorted(np.array(expected, dtype=float).T.tolist())


@pytest.mark.parametrize(
    ("name", "variable", "column"), COLUMNS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_boulle_prior_on_the_same_columns(name, variable, column):
    values, classes = values_and_classes(name, variable)
    greedy = discretize(values, classes, MODL(method="greedy"))
    reference = column["boulle2006_greedy"]
    assert greedy.level == pytest.approx(reference["level"], abs=1e-9)
    best = discretize(values, classes, MODL(method="optimal"))
    assert best.level >= greedy.level - 1e-12
    if column["boulle2006_optimal"]:
        assert best.cuts == pytest.approx(column["boulle2006_optimal"]["cuts"])


def test_greedy_never_beats_the_programme_and_nearly_always_equals_it():
    rng = np.random.default_rng(2006)
    equal = 0
    for _ in range(1000):
        m, k = int(rng.integers(2, 16)), int(rng.integers(2, 5))
        share = rng.dirichlet(np.ones(k) * rng.choice([0.3, 1.0, 5.0]), size=m)
        cells = np.array([rng.multinomial(rng.integers(1, 30), p) for p in share], dtype=float)
        upper = np.arange(float(m))
        greedy = MODL(method="greedy").partition(upper, cells)
        best = MODL(method="optimal").partition(upper, cells)
        assert greedy.level <= best.level + 1e-9
        equal += greedy.level >= best.level - 1e-9
    assert equal >= 990


@patient
@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=1, max_size=8)
    ),
    st.sampled_from(["optimal", "greedy"]),
    st.sampled_from(["boulle2006", "khiops"]),
    st.sampled_from([1.0, 0.5, 0.37]),
)
def test_laws_of_every_partition(cells, method, prior, scale):
    counts = np.array(cells, dtype=float) * scale
    found = MODL(prior=prior, method=method).partition(np.arange(float(len(counts))), counts)
    assert 0 <= found.level < 1
    assert found.informative == (found.level > 0)
    assert (np.diff(found.cuts) > 0).all()
    assert len(found.cuts) == found.n_parts - 1
    ends = [0, *(found.cuts.astype(int) + 1), len(counts)]
    for i in range(found.n_parts):
        assert found.counts[i].tolist() == pytest.approx(counts[ends[i] : ends[i + 1]].sum(axis=0))
    if scale == 1.0:
        assert found.counts.sum() == counts.sum()
    if prior == "boulle2006" and counts.sum() > 1:
        cuts = (found.cuts + 1).astype(int).tolist()
        assert found.level == pytest.approx(naive.level(counts.tolist(), cuts, counts.shape[1]), abs=1e-6)
        if method == "optimal":
            least = naive.best_cost(counts.tolist(), counts.shape[1])
            reached = naive.cost(counts.tolist(), cuts, counts.shape[1])
            assert reached == pytest.approx(least, abs=2e-6)


def test_many_columns_at_once_equal_one_at_a_time():
    rng = np.random.default_rng(1)
    sizes = [0, 1, 5, 100, 0, 37]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    counts = rng.poisson(3.0, size=(offsets[-1], 3)).astype(float)
    upper = np.concatenate([np.sort(rng.normal(size=size)) for size in sizes])
    for reader in (MODL(), MODL(method="greedy"), MODL(prior="khiops")):
        for midpoints in (False, True):
            many = reader.partitions(offsets, upper, counts, midpoints=midpoints)
            assert len(many) == len(sizes)
            for j, (a, b) in enumerate(itertools.pairwise(offsets)):
                one = reader.partition(upper[a:b], counts[a:b], midpoints=midpoints)
                assert many[j].cuts.tolist() == one.cuts.tolist()
                assert many[j].counts.tolist() == one.counts.tolist()
                assert many[j].level == one.level


def test_a_class_the_model_knows_but_has_not_seen_here_costs_something():
    counts = np.array([[3.0, 0.0], [0.0, 3.0]])
    upper = np.array([1.0, 2.0])
    assert MODL().partition(upper, counts).level > MODL().partition(upper, counts, n_classes=5).level


def test_no_cells_give_one_empty_interval():
    found = MODL().partition(np.empty(0), np.empty((0, 3)))
    assert found.counts.tolist() == [[0.0, 0.0, 0.0]]
    assert found.level == 0.0


def test_cuts_of_exact_data_lie_half_way():
    found = MODL().partition(np.array([1.0, 4.0]), np.array([[9.0, 0.0], [0.0, 9.0]]), midpoints=True)
    assert found.cuts.tolist() == [2.5]


def test_wrong_choices_and_shapes_are_named():
    with pytest.raises(DataError, match="unknown prior: 'mdl'"):
        MODL(prior="mdl")
    with pytest.raises(DataError, match="unknown method"):
        MODL(method="fast")
    with pytest.raises(DataError, match="one row of counts per cell"):
        MODL().partition(np.zeros(2), np.zeros((3, 2)))


def test_parameters_are_those_of_the_recipe():
    assert MODL().get_params() == {"prior": "boulle2006", "method": "auto", "attributes": 1}
    assert repr(MODL(prior="khiops")) == "MODL(prior='khiops', method='auto', attributes=1)"
