"""Calibration learned from a classifier's own predictions: by its formulas, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from tests.reach import reach

from bayou import Calibrated, NaiveBayes, load
from bayou.ensembles.calibrated import METHODS
from bayou.errors import SchemaError
from bayou.kernels import calibration
from bayou.kernels.calibration import RANGES
from bayou.report import report_html
from bayou.testing import CHECKS


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, method):
    check(lambda: Calibrated(NaiveBayes("gaussian"), method, forget=0.99), 1)


def overconfident(n, seed=0, classes=2):
    """Rows whose columns repeat each other, so that naive Bayes is far too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return np.column_stack([rng.normal(y, 1.5)] * 6), y


def test_isotonic_shares_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    counts = np.zeros((2, 3, RANGES))
    counts[0] = rng.integers(0, 40, (3, RANGES))
    counts[1] = np.floor(rng.random((3, RANGES)) * (counts[0] + 1))
    fitted = np.zeros((3, RANGES))
    reach(calibration.fit_isotonic)(counts, np.array([5.0, 0.0, 2.0]), fitted)
    middle = 1 / (1 + np.exp(-(np.arange(RANGES) - RANGES // 2 + 0.5) / 2))
    for c in (0, 2):
        weight = counts[0, c] + 1
        expected = IsotonicRegression().fit_transform(
            np.arange(RANGES), (counts[1, c] + middle) / weight, sample_weight=weight
        )
        np.testing.assert_allclose(fitted[c], expected, rtol=1e-12)
    assert not fitted[1].any(), "a class that was never learned is left alone"


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_come_to_mean_what_they_say(method):
    X, y = overconfident(6000)
    model = Calibrated(NaiveBayes("gaussian"), method)
    model.learn_many(X, y)
    before, after = model.calibration_error_
    assert before > 0.1
    assert after < 0.03
    told = model.reliability_["before"]
    assert (
        sum(line["rows"] for line in told) == 6000 - 2
    )  # before the first row of a class nothing is known of it
    assert all(line["low"] <= line["accuracy"] <= line["high"] for line in told)


def test_the_errors_told_are_those_of_the_answers():
    X, y = overconfident(500)
    model, alone = Calibrated(NaiveBayes("gaussian"), "vector"), NaiveBayes("gaussian")
    for i in range(0, 500, 50):
        proba = {"after": model.test_then_train_batch(X[i : i + 50], y[i : i + 50])}
        proba["before"] = alone.test_then_train_batch(X[i : i + 50], y[i : i + 50])
        if i == 0:
            kept = {name: [] for name in proba}
        for name, some in proba.items():
            kept[name].append(some)
    for name, parts in kept.items():
        whole = np.concatenate(parts)
        counted = whole.any(axis=1) & (whole[np.arange(500), y] > 0)
        confidence = whole.max(axis=1)[counted]
        told = model.reliability_[name]
        assert sum(line["rows"] for line in told) == counted.sum()
        total = sum(line["rows"] * line["confidence"] for line in told)
        assert total == pytest.approx(confidence.sum(), rel=1e-9)


def test_temperature_never_changes_the_class():
    X, y = overconfident(2000, classes=4)
    model, alone = Calibrated(NaiveBayes("gaussian"), "temperature"), NaiveBayes("gaussian")
    assert (model.test_then_train_batch(X, y).argmax(1) == alone.test_then_train_batch(X, y).argmax(1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_it_follows_a_classifier_that_changes(method):
    """Labels that become noise half-way: what forgets knows it sooner."""
    X, y = overconfident(8000)
    y = np.where(np.arange(8000) < 6000, y, np.random.default_rng(1).integers(0, 2, 8000))

    def loss(forget):
        proba = Calibrated(NaiveBayes("gaussian"), method, forget).test_then_train_batch(X, y)
        return -np.log(np.maximum(proba[np.arange(6300, 7500), y[6300:7500]], 1e-9)).mean()

    assert loss(0.999) < loss(1.0) - 0.005


def test_files_and_parameters(tmp_path):
    X, y = overconfident(300)
    model = Calibrated(method="beta")
    model.learn_many(X, y)
    model.save(tmp_path / "m.bayou")
    again = load(tmp_path / "m.bayou")
    assert again.digest() == model.digest()
    assert again.calibration_error_ == model.calibration_error_
    for wrong in (Calibrated(method="platt"), Calibrated(forget=0.0)):
        with pytest.raises(SchemaError, match="method is one of"):
            wrong.learn_many(X, y)


def test_the_page_shows_reliability_before_and_after():
    X, y = overconfident(1500)
    model = Calibrated(NaiveBayes("gaussian"))
    model.learn_many(X, y)
    page = report_html(models={"calibrated": model})
    before, after = model.calibration_error_
    assert "Reliability before and after calibration" in page
    assert f"Before: calibration error {before:.4f}" in page
    assert f"After: calibration error {after:.4f}" in page
