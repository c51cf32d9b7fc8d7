"""Codes fitted to a problem: columns for confused pairs, read off the same counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.naive.ecoc import NaiveEcoc

from bayou import EcocNB, NaiveBayes
from bayou.codes import BCH, GivenCode, confused_pairs, fitted_columns
from bayou.errors import NotFittedError


def clusters(rows, seed=0):
    """Four classes: a and b lie close to each other, so do c and d, and the two pairs far apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=rows)
    centre = np.array([[0.0, 0.0], [1.2, 0.0], [30.0, 0.0], [30.0, 1.5]])
    return rng.normal(size=(rows, 2)) + centre[y], np.array(list("abcd"))[y]


@given(confusion=arrays(np.float64, (5, 5), elements=st.floats(0, 1)))
@settings(max_examples=50, deadline=None)
def test_pairs_are_all_that_are_confused_in_falling_order(confusion):
    pairs = confused_pairs(confusion)
    mutual = [confusion[a, b] + confusion[b, a] for a, b in pairs]
    assert mutual == sorted(mutual, reverse=True)
    everything = {(a, b) for a in range(5) for b in range(a + 1, 5) if confusion[a, b] + confusion[b, a] > 0}
    assert set(pairs) == everything
    signs = fitted_columns(confusion, 3)
    assert signs.shape == (5, min(3, len(pairs)))
    for column, (a, b) in zip(signs.T, pairs, strict=False):
        assert (column[a], column[b], np.abs(column).sum()) == (1, -1, 2)


def test_the_columns_added_ask_what_is_confused():
    X, y = clusters(400)
    model = EcocNB(NaiveBayes(), BCH(15)).fit(X, y)
    fitted = model.fitted(columns=2)
    added = np.array(fitted.code.matrix)[:, -2:]
    pairs = {tuple(np.flatnonzero(column).tolist()) for column in added.T}
    assert pairs == {(0, 1), (2, 3)}
    assert np.array_equal(np.array(fitted.code.matrix)[:, :-2], BCH(15).rows(4))


@pytest.mark.parametrize("decode", ["soft", "l1", "hamming"])
def test_a_fitted_model_is_the_one_trained_with_its_code(decode):
    """No second pass, and yet as if it had learned with that code from the first row; beside the slow twin."""
    X, y = clusters(300, seed=1)
    model = EcocNB(NaiveBayes("gaussian"), BCH(15), decode).partial_fit(X, y)
    fitted = model.fitted()
    scratch = EcocNB(NaiveBayes("gaussian"), fitted.code, decode).partial_fit(X, y)
    assert np.array_equal(fitted.predict_proba(X), scratch.predict_proba(X))
    rows = [dict(zip(("x0", "x1"), row, strict=True)) for row in X.tolist()]
    naive = NaiveEcoc(NaiveBayes("gaussian"), np.array(fitted.code.matrix), decode).fit(rows, y.tolist())
    np.testing.assert_allclose(fitted.predict_proba(X), naive.proba(rows), rtol=0, atol=2e-6)
    more = clusters(50, seed=2)
    assert np.array_equal(fitted.partial_fit(*more).predict(X), scratch.partial_fit(*more).predict(X))
    assert model.code == BCH(15)


def test_a_fitted_code_depends_on_the_counts_alone():
    X, y = clusters(200, seed=3)
    a, b = EcocNB().partial_fit(X, y), EcocNB().partial_fit(X[:80], y[:80]).partial_fit(X[80:], y[80:])
    assert a.fitted().code == b.fitted().code
    assert isinstance(a.fitted().code, GivenCode)


def test_nothing_learned_yet():
    with pytest.raises(NotFittedError):
        EcocNB().fitted()
