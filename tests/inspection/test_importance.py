"""What models say about their columns: importance, bins, and the bound that moments give."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import bayou
from bayou import classifiers, ensembles
from bayou.errors import NotFittedError, SchemaError, UnsupportedError
from bayou.files import dumps, loads
from bayou.inspection.information import count_information, mean_information

TEXT = {"MultinomialNB", "ComplementNB", "BernoulliNB"}
BLIND = {"MajorityClass", "NoChange"}
DENSITIES = ["gaussian", "gk", "pid", "cpid", "kernel", "rounded-normal"]
MODELS = {
    **{name: getattr(bayou, name) for name in (*classifiers.__all__, *ensembles.__all__)},
    **{f"numeric={d}": lambda d=d: bayou.NaiveBayes(numeric=d) for d in DENSITIES},
    "sketch": lambda: bayou.NaiveBayes(nominal=bayou.Sketch()),
    "count-min": lambda: bayou.NaiveBayes(nominal=bayou.CountMinSketch()),
    "groups": lambda: bayou.NaiveBayes(groups="modl"),
    "grouped sketch": lambda: bayou.NaiveBayes(nominal=bayou.Sketch(), groups="modl"),
    "grouped count-min": lambda: bayou.NaiveBayes(nominal=bayou.CountMinSketch(), groups="modl"),
    "bags of naive Bayes": lambda: bayou.Bagging(bayou.NaiveBayes(numeric="gk"), n_estimators=3),
}


def taught(name: str, rows: int = 3000):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, rows)
    model = MODELS[name]()
    if name in TEXT:
        told = [f"{'good' if c else 'bad'} thing {'and' if i % 3 else 'or'}" for i, c in enumerate(y)]
        model.learn_many(told, y.tolist())
        return model
    noise = rng.normal(size=(rows, 2))
    records = [
        {"strong": 4.0 * c + a, "none": b, "sky": str(c if a > -1.0 else 1 - c)}
        for c, (a, b) in zip(y.tolist(), noise.tolist(), strict=True)
    ]
    model.learn_many(records, y.tolist())
    return model


@pytest.mark.parametrize("name", MODELS)
def test_every_classifier_ranks_its_columns_and_keeps_its_state(name):
    model = taught(name)
    before = model.digest()
    found = model.importance()
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert all(0.0 <= told <= 1.0 for told in found.values())
    if name in TEXT:
        (told,) = found.values()
        assert 0.2 < told < 0.5  # one word in three tells all, the others nothing
    elif name in BLIND:
        assert set(found.values()) <= {0.0}
    else:
        assert set(found) == {"strong", "none", "sky"}
        assert found["strong"] > 0.3
        assert found["none"] < 0.02
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loads(dumps(model))):
        assert twin.importance() == found
    assert model.digest() == before


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        bayou.NaiveBayes().importance()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        bayou.NaiveBayes().bins_of("x")


def test_importance_is_the_information_of_the_counts():
    model = taught("groups")
    column = model.bins_of("sky")
    assert model.importance()["sky"] == column.information == count_information(column.counts)
    np.testing.assert_allclose(column.proba.sum(axis=1), 1.0)
    assert column.counts.sum() == 3000
    assert column.labels == (0, 1)


def test_intervals_hold_the_rows_between_their_cuts():
    model = taught("numeric=gk")
    column = model.bins_of("strong")
    assert column.shape == "intervals"
    assert len(column) == len(column.cuts) + 1 == len(column.parts)
    assert "P(0)" in str(column)
    assert column.proba[0, 0] > 0.9
    assert column.proba[-1, 1] > 0.9
    again = loads(dumps(model)).bins_of("strong")
    assert again.cuts == column.cuts
    np.testing.assert_array_equal(again.counts, column.counts)


@pytest.mark.parametrize(
    ("name", "column", "said"),
    [
        ("numeric=gaussian", "strong", "normal density per class; a model with numeric='gk'"),
        ("numeric=kernel", "strong", "kernel densities; a model with numeric='gk'"),
        ("count-min", "sky", "hashed counts.*Sketch()"),
        ("HoeffdingTree", "sky", r"text\(\) shows the tests"),
        ("MajorityClass", "sky", "by no intervals"),
    ],
)
def test_a_column_without_bins_says_what_it_is_read_by(name, column, said):
    with pytest.raises(UnsupportedError, match=said):
        taught(name, 300).bins_of(column)


def test_an_unknown_column_is_named_with_its_neighbours():
    with pytest.raises(SchemaError, match="no column 'strnog'; did you mean 'strong'"):
        taught("numeric=gk", 300).bins_of("strnog")


def test_the_gains_of_a_tree_add_up_to_what_its_leaves_tell():
    model = bayou.HoeffdingTree(grace=50, delta=0.01)
    rng = np.random.default_rng(1)
    x = rng.random((8000, 3))
    model.learn_many(x, ((x[:, 0] > 0.5) ^ (x[:, 1] > 0.7)).tolist())
    assert model.leaves > 3
    nodes = model.tree.summary.nodes
    leaves = nodes.weight[nodes.leaves()]
    p = leaves / leaves.sum(axis=1, keepdims=True).clip(1e-300)
    inside = -(leaves * np.log(np.where(p > 0, p, 1.0))).sum()
    prior = leaves.sum(axis=0) / leaves.sum()
    whole = -(leaves.sum() * prior * np.log(prior)).sum()
    assert sum(model.importance().values()) == pytest.approx(1 - inside / whole, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_moments_never_promise_more_than_the_values_tell(seed):
    """Against the exact mutual information of values of all kinds: few, many, heavy-tailed, of several classes."""
    rng = np.random.default_rng(seed)
    classes, kinds = int(rng.integers(2, 7)), int(rng.integers(2, 30))
    values = np.sort(rng.normal(size=kinds) * np.exp(rng.normal(scale=2.0, size=kinds)))
    counts = rng.gamma(0.3, size=(kinds, classes)) * np.exp(rng.normal(size=classes)) * 1e5
    if seed % 3 == 0:  # ordered: each class has its own stretch of values
        counts *= np.exp(-((np.linspace(0, 1, kinds)[:, None] - np.linspace(0, 1, classes)) ** 2) * 40)
    weight = counts.sum(axis=0)
    mean = values @ counts / weight
    squares = ((values[:, None] - mean) ** 2 * counts).sum(axis=0)
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    there = joint > 0
    told = float((joint[there] * np.log(joint[there] / apart[there])).sum())
    prior = joint.sum(axis=0)
    truth = told / float(-(prior * np.log(prior)).sum())
    assert mean_information(weight, mean, squares) <= truth + 1e-9


def test_moments_promise_nearly_all_that_the_means_of_normals_tell():
    rng = np.random.default_rng(0)
    rows = 20_000
    y = rng.integers(0, 5, rows)
    x = y + rng.normal(size=rows)
    records = [{"x": v} for v in x.tolist()]
    by_means, by_counts = (bayou.NaiveBayes(numeric=n) for n in ("gaussian", "gk"))
    for model in (by_means, by_counts):
        model.learn_many(records, y.tolist())
    assert 0.75 < by_means.importance()["x"] / by_counts.importance()["x"] <= 1.0


def test_a_column_that_never_varies_tells_nothing():
    model = bayou.NaiveBayes(numeric="gaussian")
    model.learn_many([{"x": 0.1}] * 10, [0, 1] * 5)
    assert model.importance() == {"x": 0.0}
