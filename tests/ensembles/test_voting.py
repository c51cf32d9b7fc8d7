"""Weighted voting: fixed weights, running accuracies, thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from bayou import MajorityClass, NaiveBayes, NoChange
from bayou.ensembles import WeightedVoting


def test_fixed_weights_decide():
    rows, labels = [[0.0], [0.1], [5.0], [5.1], [5.2]], ["a", "a", "b", "b", "b"]
    members = [NaiveBayes(), MajorityClass()]
    assert WeightedVoting(members, weights=[2, 1]).fit(rows, labels).predict([[0.0]]).tolist() == ["a"]
    assert WeightedVoting(members, weights=[1, 2]).fit(rows, labels).predict([[0.0]]).tolist() == ["b"]
    proba = WeightedVoting(members, weights=[1, 3]).fit(rows, labels).predict_proba([[0.0]])
    assert proba.tolist() == [[0.25, 0.75]]


def test_running_accuracy_by_hand():
    """No-change is right from the second row on, the majority lags behind a switch."""
    model = WeightedVoting([NoChange(), MajorityClass()])
    labels = ["a", "a", "a", "b", "b", "b"]
    proba = model.test_then_train_batch([{"x": 1.0}] * 6, labels)
    assert proba[0].tolist() == [0.0, 0.0]
    # before row 5 (label b): no-change right in rows 1, 2, 4; majority right in rows 1, 2; 5 rows seen
    assert proba[5].tolist() == pytest.approx([3 / 7, 4 / 7])
    assert model.arrays()["record"].tolist() == [4.0, 2.0, 6.0]


@pytest.mark.parametrize(("threshold", "expected"), [(0.2, "b"), (0.3, "a")])
def test_threshold_on_the_share_of_the_second_class(threshold, expected):
    model = WeightedVoting(
        [NaiveBayes(), MajorityClass()], weights=[1, 3], threshold=threshold, vote="hard"
    )  # fmt: skip
    model.fit([[0.0], [0.1], [0.2], [5.0], [5.1]], ["a", "a", "a", "b", "b"])
    assert model.predict([[5.0]]).tolist() == [expected]  # the share of b is 1/4


def test_soft_votes_are_mean_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    members = [NaiveBayes(), NaiveBayes(prior="laplace")]
    both = WeightedVoting(members, weights=[1, 1], vote="soft").fit(X, y).predict_proba(X)
    alone = [member.fit(X, y).predict_proba(X) for member in members]
    np.testing.assert_allclose(both, (alone[0] + alone[1]) / 2, atol=1e-12)


def test_parameters_of_members_by_number():
    model = WeightedVoting([NaiveBayes(), MajorityClass()], weights=[2, 1])
    assert model.get_params()["estimators__0__smoothing"] == 1.0
    model.set_params(estimators__0__smoothing=0.5, vote="soft")
    assert model.estimators[0].smoothing == 0.5
    assert model.vote == "soft"
