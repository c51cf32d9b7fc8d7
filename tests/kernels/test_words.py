"""Word counts and their three readings against fractions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import counts as naive

from bayou import BernoulliNB, ComplementNB, MultinomialNB
from bayou.readings.kept import kept

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
