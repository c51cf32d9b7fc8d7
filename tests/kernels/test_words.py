"""Word counts and their three readings against fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import counts as naive

from bayou import BernoulliNB, ComplementNB, MultinomialNB
from bayou.kernels.absent_words import bernoulli_table
from bayou.readings.kept import kept
from bayou.readings.logs import integer_logs

DOCUMENTS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abcde"), st.integers(0, 3), max_size=5), st.sampled_from("xyz")
    ),
    min_size=2,
    max_size=15,
)


def taught(model, documents):
    model.learn_many([d for d, _ in documents], [y for _, y in documents])
    return model


def columns(model, word):
    """Log-probabilities of one word in every class, by class label."""
    block = model.encode([{word: 1}])
    joint = model.engine.views["words"].column_terms(block)[0, 0]
    return dict(zip(model.schema_.classes.values, joint, strict=True))


@settings(max_examples=50, deadline=None)
@given(documents=DOCUMENTS)
def test_multinomial_against_fractions(documents):
    model = taught(MultinomialNB(), documents)
    labels = [y for _, y in documents]
    for word in "abcde":
        if any(word in d for d, _ in documents):
            for y in set(labels):
                p = naive.word_probability([d for d, _ in documents], labels, [1] * len(labels), word, y)
                expected = 0.0 if p is None else math.log(p)
                assert columns(model, word)[y] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(documents=DOCUMENTS)
def test_complement_is_the_multinomial_of_the_other_classes(documents):
    labels = [y for _, y in documents]
    model = taught(ComplementNB(), documents)
    for y in set(labels):
        rest = ["rest" if label != y else "own" for label in labels]
        for word in {w for d, _ in documents for w in d}:
            p = naive.word_probability([d for d, _ in documents], rest, [1] * len(rest), word, "rest")
            expected = 0.0 if p is None else -math.log(p)
            assert columns(model, word)[y] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(documents=DOCUMENTS)
def test_bernoulli_counts_every_word_of_the_vocabulary(documents):
    model = taught(BernoulliNB(), documents)
    seen = {w for d, _ in documents for w, n in d.items() if n > 0}
    if not any(d for d, _ in documents):
        return
    for query, _ in documents:
        block = model.encode([query])
        got = dict(zip(model.schema_.classes.values, model.joint_log_proba(block)[0], strict=True))
        for y in {y for _, y in documents}:
            own = [d for d, label in documents if label == y]
            expected = math.log(len(own) / len(documents))
            for word in seen:
                p = (sum(d.get(word, 0) > 0 for d in own) + 1) / (len(own) + 2)
                expected += math.log(p if query.get(word, 0) > 0 else 1 - p)
            assert got[y] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    documents=DOCUMENTS,
    weights=st.lists(st.sampled_from([1.0, 0.3, 100.0, 0.0]), min_size=15, max_size=15),
    model=st.sampled_from([MultinomialNB, ComplementNB, BernoulliNB]),
)
def test_a_row_is_predicted_as_before_it_is_learned(documents, weights, model):
    """Also where counts are no integers, or too large to be tallied: running sums have the bits of new ones."""
    records, labels = [d for d, _ in documents], [y for _, y in documents]
    whole, by_row = model(), model()
    block = whole.encode(records, labels, weights[: len(labels)], learn=True)
    found = whole.engine.test_then_train(block)
    expected = []
    by_row.encode(records, labels, weights[: len(labels)], learn=True)
    for i in range(block.n):
        expected.append(by_row.engine.joint_log_proba(block.rows(i, i + 1))[0])
        by_row.learn(block.rows(i, i + 1))
    assert found.tobytes() == np.array(expected).tobytes()
    assert whole.digest() == by_row.digest()


def test_words_that_nobody_has_are_summed_by_count():
    """Counts on both sides of what is tallied, and one that is no integer, against the plain sum over words."""
    rng = np.random.default_rng(0)
    counts = np.concatenate([rng.integers(0, 700, (300, 2)), [[0.5, 3.0], [0.0, 0.0]]]).astype(float)
    total, table, base = counts.max(axis=0) + 5.0, np.empty_like(counts), np.empty(2)
    bernoulli_table(table, base, counts, total, integer_logs(1), 400.0, 0.5, 0.0, np.empty(0, np.int64))
    absent = np.log(total - counts[:-1] + 0.5) - np.log(total + 1.0)
    unseen = (400 - 301) * (np.log(total + 0.5) - np.log(total + 1.0))
    np.testing.assert_allclose(base, absent.sum(axis=0) + unseen, rtol=1e-12)
    np.testing.assert_allclose(
        table[:-1], np.log(counts[:-1] + 0.5) - np.log(total - counts[:-1] + 0.5), rtol=1e-12
    )
    assert not table[-1].any()


def test_a_matrix_may_have_more_columns_than_the_one_before():
    rng = np.random.default_rng(0)
    wide = scipy.sparse.csr_matrix(rng.integers(0, 3, (6, 8)).astype(float))
    grown, whole = MultinomialNB(), MultinomialNB()
    labels = ["x", "y", "x", "y", "z", "x"]
    grown.learn_many(wide[:2, :5], labels[:2])
    grown.learn_many(wide[2:], labels[2:])
    first = wide[:2].toarray()
    first[:, 5:] = 0.0
    whole.learn_many(scipy.sparse.csr_matrix(first), labels[:2])
    whole.learn_many(wide[2:], labels[2:])
    assert grown.digest() == whole.digest()


def test_prediction_costs_the_words_present():
    """The table of a state is made once; predicting again only adds up the document's own words."""
    model = taught(BernoulliNB(), [({f"w{i}": 1 for i in range(200)}, "a"), ({"w1": 1}, "b")])
    model.predict_one({"w1": 1})
    summary = model.engine.views["words"].summary
    tables = dict(kept(summary.mark))
    assert tables
    model.predict_one({"w2": 1})
    assert all(kept(summary.mark)[k] is v for k, v in tables.items())
    model.learn_one({"w1": 1}, "b")
    model.predict_one({"w2": 1})
    assert kept(summary.mark)
    assert not any(v is tables.get(k) for k, v in kept(summary.mark).items())
