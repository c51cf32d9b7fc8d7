"""Calibration learned from a classifier's own predictions: by its formulas, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from tests.reach import reach

from bayou import Calibrated, NaiveBayes, load
from bayou.ensembles.calibrated import METHODS
from bayou.errors import SchemaError
from bayou.kernels import calibration
from bayou.kernels.calibration import FLATTEST, HOLD, LEVELS, RANGES, SHARPEST
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
    # Before the first row of a class nothing is known of it
    assert sum(line["rows"] for line in told) == 6000 - 2
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


def held(levels, proba, label):
    """The power by level of confidence, slowly: what comes out, and the levels after the row."""
    top, best = proba.max(), int(proba.argmax())
    hats = np.maximum(1.0 - np.abs(top * (LEVELS - 1) - np.arange(LEVELS)), 0.0)
    powered = np.maximum(proba, 1e-6) ** np.exp(hats @ levels)
    out = powered / powered.sum()
    return out, np.clip(levels + HOLD * hats * ((best == label) - out[best]), FLATTEST, SHARPEST)


@given(st.integers(0, 10_000), st.integers(2, 5), st.floats(0.01, 8.0))
@settings(max_examples=20, deadline=None)
def test_confidence_is_held_by_its_formula(seed, classes, sharpness):
    rng = np.random.default_rng(seed)
    levels, gap = rng.normal(0, 0.5, LEVELS), np.zeros(LEVELS)
    start, twin = levels.copy(), levels.copy()
    hold = reach(calibration.hold)
    for _ in range(40):
        proba = rng.dirichlet(np.ones(classes)) ** sharpness
        proba, label = proba / proba.sum(), int(rng.integers(classes))
        expected, moved = held(twin, proba, label)
        out = proba.copy()
        hold(twin, np.zeros(classes), out, -1, 1.0)
        np.testing.assert_allclose(out, expected, rtol=1e-9)
        assert out.argmax() == proba.argmax(), "a power keeps the order of the classes"
        hats = np.maximum(1.0 - np.abs(proba.max() * (LEVELS - 1) - np.arange(LEVELS)), 0.0)
        gap += hats * ((proba.argmax() == label) - out.max())
        hold(levels, np.zeros(classes), proba.copy(), label, 1.0)
        np.testing.assert_allclose(levels, moved, rtol=1e-9, atol=1e-12)
        twin = levels.copy()
    np.testing.assert_allclose(gap, (levels - start) / HOLD, atol=1e-9)  # steps of one size add up


def test_classes_that_are_not_known_get_nothing():
    levels, proba = np.zeros(LEVELS), np.array([0.7, 0.0, 0.3, 0.0])
    reach(calibration.hold)(levels, np.array([0.0, -np.inf, 0.0, 0.0]), proba, 0, 1.0)
    assert proba[1] == 0.0
    assert proba[3] > 0.0, "a class that is known is never impossible"
    alone = np.array([1.0, 0.0])
    reach(calibration.hold)(levels, np.array([0.0, -np.inf]), alone, 0, 1.0)
    assert alone.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("method", METHODS)
def test_confidence_is_held_to_hits_whatever_the_stream_does(method):
    """Columns that say more and less by turns, 500 rows each: the map lags, what holds it does not."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 9000)
    useful = (np.arange(9000) // 500) % 2 == 0
    X = np.column_stack([rng.normal(np.where(useful, y, 0.5), 0.4)] * 3)
    kept, loose = (Calibrated(NaiveBayes("gaussian"), method) for _ in range(2))
    for lo in range(0, 9000, 50):
        for model in (kept, loose):
            model.learn_many(X[lo : lo + 50], y[lo : lo + 50])
        loose.engine.calibrator.levels[:] = 0.0
    assert kept.calibration_error_[1] < 0.5 * loose.calibration_error_[1]


def test_temperature_never_changes_the_class():
    X, y = overconfident(2000, classes=4)
    model, alone = Calibrated(NaiveBayes("gaussian"), "temperature"), NaiveBayes("gaussian")
    assert (model.test_then_train_batch(X, y).argmax(1) == alone.test_then_train_batch(X, y).argmax(1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_it_follows_a_classifier_that_changes(method):
    """Labels that become noise half-way: what forgets knows it sooner, even where nothing holds it to what it says."""
    X, y = overconfident(8000)
    y = np.where(np.arange(8000) < 6000, y, np.random.default_rng(1).integers(0, 2, 8000))

    def loss(forget):
        model, found = Calibrated(NaiveBayes("gaussian"), method, forget), []
        for lo in range(0, 8000, 50):
            found.append(model.test_then_train_batch(X[lo : lo + 50], y[lo : lo + 50]))
            model.engine.calibrator.levels[:] = 0.0
        proba = np.concatenate(found)
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
