"""Every column of a code is naive Bayes trained from scratch on relabelled rows, though none was trained."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.classifiers.ecoc_models import rows_of_the_vectors, taught, unfolded
from tests.naive.ecoc import NaiveEcoc, relabelled

from bayou import BernoulliNB, ComplementNB, Declared, Gaussian, MultinomialNB, NaiveBayes
from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode
from bayou.densities.binned import CPiD, GKClass, PiD
from bayou.testing import random_data

TERNARY = GivenCode([[1, 0, 1, 1], [-1, 1, 0, 1], [0, -1, -1, -1]])
CODES = [BCH(15), BCH(63, seed=2), OneVsAll(), OneVsOne(), RandomCode(9), TERNARY]


@pytest.mark.parametrize("code", CODES, ids=repr)
@pytest.mark.parametrize("decode", ["soft", "l1", "hamming"])
@pytest.mark.parametrize(
    "estimator",
    [MultinomialNB(), BernoulliNB(), ComplementNB(), NaiveBayes("gaussian"), NaiveBayes(Gaussian(ddof=1))],
    ids=repr,
)
def test_predictions_are_those_of_columns_trained_from_scratch(estimator, decode, code):
    data = random_data(3, 90, words=estimator.numbers_are_words, odd=False)
    model = taught(estimator, code, decode, data.records, data.labels)
    naive = NaiveEcoc(estimator, code.rows(3), decode).fit(data.records, data.labels)
    np.testing.assert_allclose(
        model.predict_proba(data.records), naive.proba(data.records), rtol=0, atol=2e-6
    )


@pytest.mark.parametrize("code", CODES, ids=repr)
@given(seed=st.integers(0, 1000))
@settings(max_examples=5, deadline=None)
def test_tables_of_counts_have_the_bits_of_columns_trained_from_scratch(code, seed):
    """Words: every entry is the difference of two entries of naive Bayes on relabelled data, bit for bit."""
    data = random_data(seed, 60, words=True)
    base = MultinomialNB()
    base.learn_many(data.records, data.labels)
    order = [base.labels().index(c) for c in base.schema_.classes.values]
    matrix = code.rows(3)[order]
    found = unfolded(base.engine, matrix)["words"].columns[0].full_table()
    for b, column in enumerate(matrix.T):
        if 1 not in column or -1 not in column:
            continue
        scratch = MultinomialNB(schema=Declared(columns={"x": "text"}))
        scratch.learn_many(*relabelled(data.records, data.labels, column, base.schema_.classes.values))
        view = scratch.engine.views["words"]
        vocabulary = scratch.schema_.vocabularies
        (name,) = (n for n in scratch.schema_.names("text") if n != "x")
        table = view.reader.tables(view.summary)[scratch.schema_.place[name][1]][0]
        plus, minus = (scratch.schema_.classes.code(side) for side in "+-")
        for v, word in enumerate(base.schema_.vocabularies[name].values):
            place = vocabulary[name].code(word)
            expected = table[place, plus] - table[place, minus] if place >= 0 else 0.0
            assert found[v, b] == expected


def test_nominal_tables_have_the_bits_of_columns_trained_from_scratch():
    rows, labels = rows_of_the_vectors()
    base = NaiveBayes()
    base.learn_many(rows, labels)
    for column in OneVsOne().rows(4).T.tolist() + BCH(15).rows(4).T.tolist():
        if 1 not in column or -1 not in column:
            continue
        scratch = NaiveBayes()
        scratch.learn_many(*relabelled(rows, labels, column, range(4)))
        view, schema = scratch.engine.views["nominal"], scratch.schema_
        table = view.reader.table(view.summary)
        plus, minus = (schema.classes.code(side) for side in "+-")
        found = unfolded(base.engine, np.array(column)[:, None])["nominal"]
        for j, name in enumerate(("a", "b")):
            values = base.schema_.vocabularies[name].values
            cells = [
                view.summary.offsets[schema.place[name][1]] + schema.vocabularies[name].code(v)
                for v in values
            ]
            expected = [table[cell, plus] - table[cell, minus] for cell in cells]
            assert found.columns[j].full_table()[:, 0].tolist() == expected


@pytest.mark.parametrize("code", [BCH(15), OneVsOne()], ids=repr)
@pytest.mark.parametrize("smoothing", [1.0, 0.5])
def test_binned_columns_share_the_cuts_of_the_classes(code, smoothing):
    """Naive Bayes on relabelled rows with the cuts found for all classes, counted from the rows."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 400)
    x = np.round(rng.normal(y, 0.7), 1)  # few enough values for the quantile tuples to be exact
    base = NaiveBayes("gk", smoothing=smoothing).fit(x[:, None], y)
    (partition,) = base.engine.views["numeric"].reading
    parts = np.searchsorted(partition.cuts, x)
    assert partition.n_parts > 2
    block = base.encode(x[:, None])
    matrix = code.rows(4)[base.schema_.classes.values]
    found = np.zeros((len(x), matrix.shape[1]))
    unfolded(base.engine, matrix)["numeric"].add(block, found)
    for b, column in enumerate(matrix.T):
        logs = []
        for side in (1, -1):
            counts = np.bincount(parts[column[base_codes(base, y)] == side], minlength=partition.n_parts)
            logs.append(np.log(counts + 1.0 / partition.n_parts) - np.log(counts.sum() + 1.0))
        np.testing.assert_allclose(found[:, b], (logs[0] - logs[1])[parts], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("numeric", [GKClass(tuples=30), PiD(), CPiD(cells=30)], ids=repr)
def test_ternary_columns_over_summaries_are_off_by_their_error_at_most(numeric):
    """Below every cut, either side of every pair of classes has the rows it has, within what `error` tells."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, 6000)
    x = rng.normal(y, 1.0)
    base = NaiveBayes(numeric).fit(x[:, None], y)
    view = base.engine.views["numeric"]
    (partition,) = view.reading
    cuts = partition.cuts
    slack = view.summary.error() * len(x)
    assert len(cuts) > 2
    assert 0 < slack < 600
    matrix = OneVsOne().rows(4)[base.schema_.classes.values]
    counts = unfolded(base.engine, matrix)["numeric"].reading.partitions.counts
    off = []
    for b, column in enumerate(matrix.T):
        for place, side in ((2 * b, 1), (2 * b + 1, -1)):
            rows = np.sort(x[column[base_codes(base, y)] == side])
            assert counts[:, place].sum() == pytest.approx(len(rows))
            below = np.cumsum(counts[:, place])[:-1]
            off.append(np.abs(below - np.searchsorted(rows, cuts, side="right")).max())
    assert max(off) <= slack


def base_codes(base, y):
    return np.array([base.schema_.classes.code(int(label)) for label in y])


@pytest.mark.parametrize("code", [BCH(7), OneVsOne()], ids=repr)
def test_kernels_are_those_of_columns_trained_from_scratch(code):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 80)
    rows = [
        {"x": float(v), "z": float(u)}
        for v, u in zip(np.round(rng.normal(y), 1), rng.integers(0, 5, 80), strict=True)
    ]
    model = taught(NaiveBayes("kernel"), code, "soft", rows, y.tolist()).refresh()
    naive = NaiveEcoc(NaiveBayes("kernel"), code.rows(3), "soft").fit(rows, y.tolist())
    for _, each in naive.models:
        each.refresh()
    np.testing.assert_allclose(model.predict_proba(rows), naive.proba(rows), atol=1e-12)
