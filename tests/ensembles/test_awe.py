"""The accuracy-weighted ensemble: weights by hand, who goes, drift, and learners that do not stream."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bayou import NaiveBayes
from bayou.block import Block
from bayou.ensembles import AWE
from bayou.ensembles.awe import mse_of_chance
from bayou.errors import UnsupportedError
from bayou.kernels.votes import squared_errors

AWE_VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "awe_oza_cms.json").read_text())["awe"]


def labelled(y):
    y = np.array(y, dtype=np.int32)
    return Block(np.empty((len(y), 0)), np.empty((len(y), 0), np.int32), (), y, np.ones(len(y)))


def test_error_of_chance():
    shares = {"(0.5, 0.5)": [0, 1], "(0.9, 0.1)": [0] * 9 + [1], "(0.25, 0.25, 0.25, 0.25)": [0, 1, 2, 3],
              "(0.3333333333333333, 0.3333333333333333, 0.3333333333333333)": [0, 1, 2], "(1.0, 0.0)": [0]}  # fmt: skip
    assert set(shares) == set(AWE_VECTORS["mse_r_examples"])
    for name, y in shares.items():
        assert mse_of_chance(labelled(y), 4) == pytest.approx(AWE_VECTORS["mse_r_examples"][name], abs=1e-12)
    assert mse_of_chance(labelled([0] * 6 + [1] * 4), 2) == pytest.approx(AWE_VECTORS["mse_r"])


@pytest.mark.parametrize("name", ["good", "fair", "bad"])
def test_weights_of_the_vector(name):
    p = np.array(AWE_VECTORS["prob_true_class"][name])
    y = np.array([0] * 6 + [1] * 4, dtype=np.int32)
    joint = np.log(np.where(np.arange(2) == y[:, None], p[:, None], 1.0 - p[:, None]))
    mse = squared_errors(joint, y, np.ones(10)) / 10
    assert mse == pytest.approx(AWE_VECTORS["mse"][name], abs=1e-12)
    assert max(0.0, AWE_VECTORS["mse_r"] - mse) == pytest.approx(AWE_VECTORS["weight"][name], abs=1e-12)


def rows_of(seed, n, flip):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where((x[:, 0] + x[:, 1] > 0) != flip, "up", "down")
    return [{"a": float(r[0]), "b": float(r[1]), "c": float(r[2])} for r in x], y.tolist()


def accuracy(model, rows, labels):
    proba = model.test_then_train_batch(rows, labels)
    return np.mean(np.array(model.labels())[proba.argmax(axis=1)] == np.array(labels))


def test_newest_weight_is_pooled_cross_validation():
    rows, labels = rows_of(0, 50, False)
    model = AWE(chunk=50, folds=5)
    model.learn_many(rows, labels)
    error = 0.0
    for fold in range(5):
        train, test = [i for i in range(50) if i % 5 != fold], [i for i in range(50) if i % 5 == fold]
        plain = NaiveBayes()
        plain.learn_many([rows[i] for i in train], [labels[i] for i in train])
        error += sum((1 - plain.predict_proba_one(rows[i])[labels[i]]) ** 2 for i in test)
    share = np.array([labels.count("down"), labels.count("up")]) / 50
    assert model.weights.tolist() == pytest.approx([np.sum(share * (1 - share) ** 2) - error / 50])


def test_follows_a_concept_that_changes_and_comes_back():
    parts = [rows_of(seed, 400, flip) for seed, flip in enumerate([False, True, False, True])]
    rows, labels = [r for part in parts for r in part[0]], [y for part in parts for y in part[1]]
    followed = accuracy(AWE(NaiveBayes("gaussian"), chunk=50), rows, labels)
    assert followed > 0.85 > 0.6 > accuracy(NaiveBayes(), rows, labels)


def test_best_stay_or_oldest_goes():
    parts = [rows_of(seed, 100, flip) for seed, flip in enumerate([False, False, True, True, False])]
    best, newest = AWE(chunk=100, members=2), AWE(chunk=100, members=2, replace="oldest")
    for rows, labels in parts:
        best.learn_many(rows, labels)
        newest.learn_many(rows, labels)
    assert sorted(newest.engine.birth.tolist()) == [4, 5]
    assert max(best.weights) > 0
    assert len(best.weights) == 2


def test_a_partial_chunk_votes():
    rows, labels = rows_of(1, 60, False)
    model = AWE(NaiveBayes("gaussian"), chunk=1000)
    assert accuracy(model, rows, labels) > 0.75
    assert len(model.weights) == 0


def test_learners_that_do_not_stream():
    tree = pytest.importorskip("sklearn.tree")
    bayes = pytest.importorskip("sklearn.naive_bayes")
    parts = [rows_of(seed, 300, flip) for seed, flip in enumerate([False, True, True])]
    rows, labels = [r for part in parts for r in part[0]], [y for part in parts for y in part[1]]
    for estimator in (tree.DecisionTreeClassifier(max_depth=4, random_state=0), bayes.GaussianNB()):
        model = AWE(estimator, chunk=100)
        assert accuracy(model, rows, labels) > 0.7
        by_rows = AWE(estimator, chunk=100)
        for x, y in zip(rows, labels, strict=True):
            by_rows.learn_one(x, y)
        assert by_rows.predict_proba_one(rows[0]) == model.predict_proba_one(rows[0])
        assert by_rows.predict_proba_one({"a": None, "b": 1.0})
        with pytest.raises(UnsupportedError, match="saved"):
            model.arrays()
