"""scikit-learn's own checks, and its tools around our classifiers."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import bayou.classifiers as classifiers
from bayou import Gaussian, NaiveBayes
from bayou.errors import BayouError

MODELS = [getattr(classifiers, name)() for name in classifiers.__all__]
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
X = RNG.normal(size=(120, 3)) + Y[:, None]


DENSE, SPARSE = (f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse"))
# A row of weight 2 is judged once, two rows are judged twice, the second after the first was learned.
JUDGED_IN_TURN = "learns from its own predictions, row after row: a weight is not a repeated row"
EXPECTED_FAILURES = {
    "ReadMany": dict.fromkeys((DENSE, SPARSE), JUDGED_IN_TURN),
    "SPCr": {DENSE: JUDGED_IN_TURN},
    "SuperParent": {DENSE: JUDGED_IN_TURN},
    "WeightedNB": dict.fromkeys((DENSE, SPARSE), JUDGED_IN_TURN),
}


def cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that it is not inherited from: that is the point
        for model in MODELS:
            expected = EXPECTED_FAILURES.get(type(model).__name__, {})
            for estimator, check in estimator_checks_generator(model):
                reason = expected.get(check.func.__name__)
                mark = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
                yield pytest.param(
                    estimator, check, id=f"{type(model).__name__}-{check.func.__name__}", marks=mark
                )


@pytest.mark.parametrize(("estimator", "check"), list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator, check):
    check(estimator)


def test_nested_parameters_and_search():
    grid = GridSearchCV(
        NaiveBayes("gaussian"), {"numeric__floor": [1e-9, 1e-2], "smoothing": [0.5, 1.0]}, cv=2
    ).fit(X, Y)
    assert grid.best_score_ > 0.6
    model = NaiveBayes("gaussian").set_params(numeric__ddof=1)
    assert model.numeric == Gaussian(ddof=1)
    assert clone(model).get_params()["numeric__ddof"] == 1
    for wrong in ({"nonsense": 1}, {"numeric__nonsense": 1}):
        with pytest.raises(BayouError, match="Valid parameters"):
            model.set_params(**wrong)
    with pytest.raises(BayouError, match="none of its own"):
        model.set_params(smoothing__m=1)


def test_pipeline_and_cross_validation():
    pipeline = make_pipeline(StandardScaler(), NaiveBayes())
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.6
    frame = pd.DataFrame(X, columns=list("abc"))
    assert pipeline.fit(frame, Y).predict(frame).shape == (120,)


def test_columns_in_another_order_raise_here_and_are_matched_by_name_in_records():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = NaiveBayes().fit(frame, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[["c", "b", "a"]])
    assert model.predict_proba_many(frame[["c", "b", "a"]]) == model.predict_proba_many(frame)


def test_classes_given_close_the_set_and_not_given_leave_it_open():
    closed = NaiveBayes().partial_fit(X, Y, classes=[0, 1, 7])
    assert closed.classes_.tolist() == [0, 1, 7]
    assert closed.predict_proba(X)[:, 2].max() == 0.0
    with pytest.raises(ValueError, match="declared classes"):
        closed.partial_fit(X, Y + 5)
    assert NaiveBayes().partial_fit(X, Y).partial_fit(X, Y + 5).classes_.tolist() == [0, 1, 5, 6]


def test_labels_stay_what_they_are():
    model = NaiveBayes().fit(X[:5], [1, "1", True, 1.0, "a"])
    assert model.labels() == [True, 1, "1", "a"]
    assert NaiveBayes().partial_fit(X[:1], [1], classes=[1, "a"]).labels() == [1, "a"]
    for unknown in (["a", float("nan")], pd.Series(["a", None], dtype="string"), [1, None]):
        with pytest.raises(BayouError, match="NaN"):
            NaiveBayes().fit(X[:2], unknown)


def test_a_score_needs_one_label_per_row():
    model = NaiveBayes().fit(X, Y)
    for labels in (Y[:1], Y[:50]):
        with pytest.raises(BayouError, match="labels"):
            model.score(X, labels)
    with pytest.warns(UserWarning, match="column-vector"):
        assert model.score(X, Y[:, None]) == model.score(X, Y)


def test_neither_import_nor_help_needs_the_heavy_libraries():
    def loaded(statement, *heavy):
        code = f"import sys; {statement}; print(sorted(set({heavy!r}) & set(sys.modules)))"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return run.stdout.strip()

    assert loaded("import bayou", "numba", "pyarrow", "sklearn", "pandas", "scipy", "rich") == "[]"
    assert loaded("from bayou import NaiveBayes", "pyarrow", "sklearn", "pandas", "narwhals") == "[]"


def test_other_classes_at_a_later_partial_fit_are_refused():
    X, y = [[1.0], [2.0]], ["a", "b"]
    model = NaiveBayes().partial_fit(X, y, classes=["a", "b"])
    model.partial_fit(X, y, classes=["b", "a"]).partial_fit(X, y)
    before = model.digest()
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(X, y, classes=["a", "b", "c"])
    assert model.digest() == before
    assert NaiveBayes().partial_fit(X, y).partial_fit(X, y, classes=["a", "b", "c"]).labels() == y
