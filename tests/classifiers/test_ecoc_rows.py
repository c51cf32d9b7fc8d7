"""Exact test-then-train of coded models: what one kernel does with a block, against document by document."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.ecoc import NaiveEcoc

from bayou import Declared, MultinomialNB, NaiveBayes, Text
from bayou.classifiers.ecoc import EcocNB
from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode

CODES = {
    "one-vs-all": OneVsAll(),
    "one-vs-one": OneVsOne(),
    "bch": BCH(15),
    "random": RandomCode(9, seed=1),
    "given": GivenCode([[1, 0, 1, 1], [-1, 1, 1, 0], [0, -1, -1, 1], [0, 0, -1, -1]]),
}
COLUMNS = {
    "open": None,
    "rare words": Declared(columns={"t": Text(min_count=3)}),
    "six words at most": Declared(columns={"t": Text(vocabulary=6)}),
    "declared": Declared(columns={"t": Text()}, classes=("a", "b", "c", "d")),
}
WEIGHTS = {"ones": [1.0], "whole": [0.0, 1.0, 3.0], "real": [0.0, 0.3, 1.0, 1e6, 2.7]}


def documents(seed, n=40):
    """Documents whose classes and words come up one after the other; some have no label."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(14)])
    rows, labels = [], []
    for i in range(n):
        some = rng.choice(words[: 3 + i // 3], rng.integers(0, 7))
        rows.append({"t": " ".join(some)})
        labels.append("abcd"[rng.integers(0, 1 + min(3, i // 6))])
    return rows, labels


def said_of(model, rows, labels, weights, ends):
    """What test-then-train of the rows says, cut at the given ends."""
    out, at = np.full((len(rows), 4), np.nan), 0
    for end in [*ends, len(rows)]:
        found = model.test_then_train_batch(rows[at:end], labels[at:end], weights[at:end])
        out[at:end, : found.shape[1]] = found
        at = end
    return out


@pytest.mark.parametrize("decode", ["soft", "l1", "hamming", "slepian"])
@pytest.mark.parametrize("code", CODES)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    columns=st.sampled_from(sorted(COLUMNS)),
    weight=st.sampled_from(sorted(WEIGHTS)),
    alpha=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    decay=st.booleans(),
)
def test_a_block_has_the_bits_of_document_by_document(code, decode, seed, columns, weight, alpha, decay):
    rng = np.random.default_rng(seed)
    rows, labels = documents(seed)
    weights = rng.choice(WEIGHTS[weight], len(rows))
    prior = "laplace" if seed % 2 else "empirical"

    def make():
        return EcocNB(MultinomialNB(alpha, prior, schema=COLUMNS[columns]), CODES[code], decode)

    whole, by_row = make(), make()
    if decay:
        for model in (whole, by_row):
            model.learn_batch(rows[:9], labels[:9], weights[:9])
            model.decay(0.7)
    block = whole.encode(rows, labels, weights, learn=True)
    by_row.encode(rows, labels, weights, learn=True)
    expected = []
    for i in range(block.n):
        expected.append(by_row.engine.joint_log_proba(block.rows(i, i + 1))[0])
        by_row.learn(block.rows(i, i + 1))
    ends = sorted({0, block.n, *rng.integers(0, block.n, 2).tolist()})
    found = [whole.engine.test_then_train(block.rows(lo, hi)) for lo, hi in pairwise(ends)]
    assert np.concatenate(found).tobytes() == np.array(expected).tobytes()
    assert whole.digest() == by_row.digest()


@pytest.mark.parametrize("decode", ["soft", "hamming"])
@pytest.mark.parametrize("code", CODES)
def test_any_cut_gives_the_same_probabilities(code, decode):
    rows, labels = documents(5)
    weights = np.ones(len(rows))
    made = [EcocNB(MultinomialNB(), CODES[code], decode) for _ in range(3)]
    whole = said_of(made[0], rows, labels, weights, [])
    cut = said_of(made[1], rows, labels, weights, [1, 7, 8, 30])
    singly = said_of(made[2], rows, labels, weights, range(1, len(rows)))
    np.testing.assert_array_equal(np.nan_to_num(whole), np.nan_to_num(cut))
    np.testing.assert_array_equal(np.nan_to_num(whole), np.nan_to_num(singly))
    assert len({model.digest() for model in made}) == 1


@pytest.mark.parametrize("decode", ["soft", "l1"])
@pytest.mark.parametrize("code", [OneVsAll(), OneVsOne(), BCH(15)], ids=repr)
def test_a_block_says_what_columns_trained_from_scratch_say(code, decode):
    """Behind the first rows, where all classes are known: against a copy of the estimator for every column."""
    rows, labels = documents(3)
    model = EcocNB(MultinomialNB(prior="laplace"), code, decode)
    model.learn_batch(rows[:30], labels[:30])
    found = model.test_then_train_batch(rows[30:], labels[30:])
    for i in range(30, len(rows)):
        twin = NaiveEcoc(MultinomialNB(prior="laplace"), code.rows(4), decode).fit(rows[:i], labels[:i])
        order = [model.schema_.classes.code(c) for c in twin.classes]
        np.testing.assert_allclose(found[i - 30, order], twin.proba(rows[i : i + 1])[0], rtol=1e-9)


def test_views_of_several_kinds_are_read_row_by_row():
    rng = np.random.default_rng(0)
    rows = [
        {"x": float(x), "c": "uv"[int(x > 0)], "t": "wide" if x > 1 else "fine"} for x in rng.normal(size=60)
    ]
    labels = ["abc"[int(abs(row["x"]) * 2) % 3] for row in rows]
    for numeric in ("gaussian", "auto"):
        one, two = (EcocNB(NaiveBayes(numeric), BCH(15)) for _ in range(2))
        found = said_of(one, rows, labels, np.ones(60), [11, 40])
        assert found.tobytes() == said_of(two, rows, labels, np.ones(60), []).tobytes()
        assert one.digest() == two.digest()
