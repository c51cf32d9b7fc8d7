"""River's own checks, and its pipelines around our classifiers."""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import compose, evaluate, metrics, preprocessing
from river.checks import yield_checks
from tests.seeds import LONG, seeds

import bayou.classifiers as classifiers
from bayou import Grid, NaiveBayes
from bayou.adapt.river import RiverClassifier
from bayou.classifiers.joint import JointClassifier


def made(name):
    """A classifier as it is by default; one that keeps rows until it has a grid keeps twenty, since River learns one
    row at a time and predicts after each."""
    cls = getattr(classifiers, name)
    return cls(numeric=Grid(warm_up=20)) if issubclass(cls, JointClassifier) else cls()


def cases():
    """Every check of River; one that River repeats on several data sets is run on one of them, and on all if long."""
    for name in classifiers.__all__:
        checks = defaultdict(list)
        for check in yield_checks(RiverClassifier(made(name))):
            checks[getattr(check, "__name__", None) or check.func.__name__].append(check)
        for title, repeated in checks.items():
            chosen = repeated if LONG else [repeated[seeds(name, title).start % len(repeated)]]
            for check in chosen:
                yield pytest.param(name, check, id=f"{name}-{title}")


@pytest.mark.parametrize(("name", "check"), list(cases()))
def test_check_estimator(name, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(RiverClassifier(made(name)).clone())


def test_in_a_pipeline_with_progressive_validation():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    stream = [({"a": float(rng.normal(y)), "b": float(rng.normal())}, bool(y)) for y in labels]
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), RiverClassifier(NaiveBayes()))
    accuracy = evaluate.progressive_val_score(stream, pipeline, metrics.Accuracy())
    assert accuracy.get() > 0.6


def test_clones_start_empty_and_batches_keep_their_frame():
    model = RiverClassifier(NaiveBayes())
    frame = pd.DataFrame({"a": [0.0, 1.0, 0.1, 1.1]}, index=[5, 6, 7, 8])
    model.learn_many(frame, pd.Series(["x", "y", "x", "y"]))
    assert model.clone().predict_one({"a": 0.0}) is None
    assert model.predict_many(frame).tolist() == ["x", "y", "x", "y"]
    assert model.predict_proba_many(frame).index.tolist() == [5, 6, 7, 8]
    assert model.predict_proba_many(pl.DataFrame({"a": [0.0]})).columns == ["x", "y"]
    assert model.predict_many(pl.DataFrame({"a": [0.0]})).to_list() == ["x"]
