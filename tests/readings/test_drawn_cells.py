"""Rows drawn from level-1 summaries: their margins, class by class, and what they cannot teach."""

from __future__ import annotations

import numpy as np
import pytest
from reproduce.document_000_drawn import batches, redundant

from bayou import NaiveBayes
from bayou.errors import UnsupportedError


@pytest.mark.parametrize("numeric", ["gk", "pid", "cpid"])
def test_drawn_values_have_the_distribution_of_their_class(numeric):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=6000)
    X = np.column_stack([rng.normal(y * 3.0, 1.0 + y), rng.exponential(size=6000)])
    model = NaiveBayes(numeric=numeric).fit(X, y)
    rows, labels = model.sample(6000, seed=1)
    for c in (0, 1):
        for j, name in enumerate(("x0", "x1")):
            drawn = np.array([row[name] for row, label in zip(rows, labels, strict=True) if label == c])
            grid = np.quantile(X[y == c, j], np.linspace(0.05, 0.95, 19))
            true, found = ((values[:, None] <= grid).mean(axis=0) for values in (X[y == c, j], drawn))
            assert np.abs(true - found).max() < 0.05  # Kolmogorov-Smirnov
    assert np.mean(np.array(labels)) == pytest.approx(np.mean(y), abs=0.03)


def test_drawn_groups_are_drawn_as_values():
    rows = [{"a": v, "b": w} for v, w in zip("xxyyzz" * 50, "ppqqpq" * 50, strict=True)]
    model = NaiveBayes(groups="modl")
    model.learn_many(rows, [int(row["a"] == "x") for row in rows])
    drawn, labels = model.sample(200, seed=0)
    assert all((row["a"] == "x") == bool(label) for row, label in zip(drawn, labels, strict=True))


def test_a_sketch_still_refuses():
    model = NaiveBayes(nominal="sketch", groups="modl")
    model.learn_many([{"a": "x"}, {"a": "y"}], [0, 1])
    with pytest.raises(UnsupportedError, match="cannot sample"):
        model.sample(1)


def test_rows_drawn_from_margins_teach_no_weights():
    """Copies of a column mislead naive Bayes. Mini-batches of rows learn to discount them; rows drawn from the
    summaries have independent columns, of which naive Bayes is the best reading, and nothing is gained."""
    train, test = redundant(3000, seed=1), redundant(3000, seed=2)
    found = batches(train, test, passes=5)
    assert found["rows"] > found["naive Bayes"] + 3.0
    assert abs(found["drawn"] - found["naive Bayes"]) < 2.0
