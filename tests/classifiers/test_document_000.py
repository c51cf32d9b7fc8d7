"""The offline references of document 000's table 2, by our own code."""

from __future__ import annotations

import numpy as np
import pytest
from reproduce.document_000 import pieces
from reproduce.document_000_drawn import redundant
from reproduce.document_000_offline import offline

from bayou import discretize
from bayou.streams.generators import ManyGaussians


def test_offline_naive_bayes_is_the_product_of_its_tables():
    (X, y), (T, truth) = redundant(600, 1), redundant(200, 2)
    found = offline(X.T, y, T.T, truth)
    scores = np.tile(np.log(np.bincount(y) / len(y)), (200, 1))
    for column, asked in zip(X.T, T.T, strict=True):
        parts = discretize(column, y)
        p = (parts.counts + 1 / parts.n_parts) / (np.bincount(y) + 1)
        scores += np.log(p[parts.cell_of(asked)])
    assert found["NB"] == pytest.approx(100 * np.mean(scores.argmax(axis=1) == truth))
    assert found["ANB"] >= found["NB"]
    assert found["fractional"] > found["NB"] + 2.0  # it selects among the copies


def test_test_rows_are_the_same_however_they_are_read():
    whole = ManyGaussians(100, structure="factor", seed=1).read(1200)
    stream = ManyGaussians(100, structure="factor", seed=1)
    parts = list(pieces(stream, 1200, most=500))
    assert [len(part) for part in parts] == [500, 500, 200]
    for name, column in whole.columns.items():
        assert np.array_equal(np.concatenate([np.asarray(part.columns[name]) for part in parts]), column)
