"""Hold-out, cross-validation, and whether a difference is more than luck."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

from bayou.classifiers import MajorityClass, NaiveBayes
from bayou.errors import DataError
from bayou.evaluate import compare, cross_validate, holdout
from bayou.evaluate.crossval import splits
from bayou.evaluate.significance import corrected_t_test, incomplete_beta, student_two_sided
from bayou.streams.generators import MixedGaussian


def iris_like(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    y = np.repeat(["x", "y", "z"], n // 3)
    return random.normal(np.repeat([0, 1, 2], n // 3)[:, None], 1.0, (n, 3)), y


def test_holdout_is_learn_then_predict() -> None:
    X, y = iris_like()
    train, test = np.arange(0, 90, 2), np.arange(1, 90, 2)
    found = holdout(NaiveBayes(), (X[train], y[train]), (X[test], y[test]))
    model = NaiveBayes().fit(X[train], y[train])
    assert found.rows == 45
    assert found.accuracy == pytest.approx(model.score(X[test], y[test]), abs=1e-12)
    proba = model.predict_proba(X[test])
    losses = [
        -math.log(max(p[list(model.classes_).index(c)], 2**-52)) for p, c in zip(proba, y[test], strict=True)
    ]
    assert found.log_loss == pytest.approx(np.mean(losses), abs=1e-12)
    assert "45 rows learned" in str(found)


def test_holdout_measures_against_the_majority_of_the_training_rows() -> None:
    X = np.zeros((10, 1))
    found = holdout(NaiveBayes(), (X, ["a"] * 6 + ["b"] * 4), (X, ["a"] * 2 + ["b"] * 8))
    assert found["majority"].accuracy == 0.2
    assert found["majority"].kappa_m == 0.0
    assert found.only.scores.majority_accuracy == 0.2


def test_holdout_on_streams() -> None:
    found = holdout(NaiveBayes(), MixedGaussian(seed=5, rows=4000), MixedGaussian(seed=5, rows=2000))
    assert found.accuracy == pytest.approx(MixedGaussian(seed=5).bayes_accuracy, abs=0.03)


def test_classes_that_only_the_test_rows_have_are_wrong() -> None:
    found = holdout(NaiveBayes(), ([[0.0], [1.0]], ["a", "b"]), ([[0.0], [1.0]], ["a", "new"]))
    assert found.only.labels == ("a", "b", "new")
    assert found.accuracy == 0.5


def test_cross_validation_by_hand() -> None:
    X, y = iris_like()
    found = cross_validate(NaiveBayes(), X, y, folds=5, seed=3)
    scores = []
    for train, test in splits(y, 5, 1, True, 3):
        scores.append(NaiveBayes().fit(X[train], y[train]).score(X[test], y[test]))
    assert found.values["NaiveBayes"]["accuracy"] == pytest.approx(scores, abs=1e-12)
    assert found.accuracy == pytest.approx(np.mean(scores))
    assert found.deviation("NaiveBayes") == pytest.approx(np.std(scores, ddof=1))
    assert set(found.values) == {"NaiveBayes", "no-change", "majority"}


def test_folds_are_a_partition_stratified_and_repeatable() -> None:
    y = ["a"] * 50 + ["b"] * 25 + ["c"] * 25
    parts = list(splits(y, 5, 2, True, 7))
    assert len(parts) == 10
    for repeat in (parts[:5], parts[5:]):
        assert sorted(np.concatenate([test for _, test in repeat])) == list(range(100))
        for train, test in repeat:
            assert len(np.intersect1d(train, test)) == 0
            assert [sum(y[i] == c for i in test) for c in "abc"] == [10, 5, 5]
    assert not np.array_equal(parts[0][1], parts[5][1])
    again = list(splits(y, 5, 2, True, 7))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(parts, again, strict=True))
    assert not np.array_equal(next(splits(y, 5, 1, True, 8))[1], parts[0][1])
    loose = list(splits(y, 7, 1, False, 0))
    assert sorted(len(test) for _, test in loose) == [14] * 5 + [15] * 2


def test_a_stream_is_cross_validated_like_its_rows() -> None:
    rows = MixedGaussian(seed=2, rows=300).read(300)
    assert rows is not None
    from_stream = cross_validate(NaiveBayes(), MixedGaussian(seed=2, rows=300), folds=3)
    columns: dict[str, Any] = {name: values.to_pylist() for name, values in rows.columns.items()}
    from_rows = cross_validate(NaiveBayes(), columns, rows.labels, folds=3)
    assert from_stream.accuracy == pytest.approx(from_rows.accuracy, abs=0.01)


def test_the_models_given_stay_as_they_are() -> None:
    X, y = iris_like()
    model = NaiveBayes()
    cross_validate(model, X, y, folds=3)
    assert not model.started


def test_compare_tells_better_from_worse() -> None:
    X, y = iris_like(300)
    found = compare({"majority class": MajorityClass(), "nb": NaiveBayes()}, X, y, folds=10)
    verdict = found.against("majority class")["nb"]
    assert verdict.mark == "better"
    assert verdict.wins == 10
    assert found.against("nb")["majority class"].mark == "worse"
    assert found.against("nb")["majority class"].t == pytest.approx(-verdict.t)
    assert "reference" in found.table()
    data = json.loads(json.dumps(found.to_dict()))
    assert data["against"]["nb"]["mark"] == "better"
    assert "Nadeau" in data["test"]
    with pytest.raises(AttributeError):
        _ = found.accuracy
    assert "10-fold cross-validation, 300 rows" in found._repr_html_()


def test_progress_is_told_part_by_part() -> None:
    X, y = iris_like(30)
    seen: list[tuple[int, int]] = []
    cross_validate(NaiveBayes(), X, y, folds=2, repeats=2, progress=lambda *p: seen.append(p))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_too_many_folds_are_refused() -> None:
    with pytest.raises(DataError, match="10 folds of 4 rows"):
        cross_validate(NaiveBayes(), [[1], [2], [3], [4]], ["a", "b", "a", "b"])


def test_students_distribution() -> None:
    for degrees in (1, 2, 9, 29, 99):
        for t in (0.0, 0.3, -1.7, 4.0, 25.0):
            assert student_two_sided(t, degrees) == pytest.approx(
                2 * scipy.stats.t.sf(abs(t), degrees), rel=1e-10, abs=1e-15
            )
    for a, b, x in ((0.5, 0.5, 0.3), (2, 9, 0.9), (30, 0.5, 0.99), (1, 1, 0.0), (1, 1, 1.0)):
        assert incomplete_beta(a, b, x) == pytest.approx(scipy.special.betainc(a, b, x), rel=1e-10)


def test_the_correction_widens_the_plain_test() -> None:
    d = np.array([0.01, 0.03, -0.01, 0.02, 0.02, 0.04])
    plain = scipy.stats.ttest_1samp(d, 0.0)
    assert corrected_t_test(d, 0.0).t == pytest.approx(plain.statistic)
    assert corrected_t_test(d, 0.0).p_value == pytest.approx(plain.pvalue)
    assert corrected_t_test(d, 0.2).p_value > plain.pvalue
    assert corrected_t_test(d, 0.2).t == pytest.approx(plain.statistic / math.sqrt(1 + 6 * 0.2))


def test_equal_differences() -> None:
    assert corrected_t_test(np.zeros(5), 0.25).mark == "same"
    assert corrected_t_test(np.full(5, 0.1), 0.25).mark == "better"
    assert corrected_t_test(np.array([0.1]), 0.25).mark == "same"
