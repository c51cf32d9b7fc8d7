"""Weights per word beside their slow twin, and what they are good for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.naive import word_weights as naive

from bayou.block import Block, Words
from bayou.readings.logs import integer_logs
from bayou.summaries.word_counts import TextCounts, WordCounts
from bayou.summaries.word_weights import WordFactors, WordWeights


def documents(rng, n, words):
    """Documents of zero to six distinct words, as dictionaries and as arrays."""
    found = []
    for _ in range(n):
        ids = np.sort(rng.choice(words, rng.integers(0, 7), replace=False))
        found.append(
            dict(zip(ids.tolist(), rng.integers(1, 4, len(ids)).astype(float).tolist(), strict=True))
        )
    ids = np.array([w for d in found for w in d], dtype=np.int32)
    counts = np.array([m for d in found for m in d.values()])
    return found, Words(np.cumsum([0, *map(len, found)], dtype=np.int64), ids, counts)


def summaries(eta, words, k, least=0.0):
    counts, weights = WordCounts(), WordWeights(eta, 0.001)
    counts.texts = [TextCounts(np.zeros((words, k)), np.zeros(k), words, least=least)]
    weights.texts = [WordFactors(np.zeros((words, k)), np.zeros((words, k)), np.zeros((2, k)), words)]
    return counts, weights


def priors(y, w, k):
    """Log prior before each row, as empirical counts have it."""
    out, seen = np.full((len(y), k), -np.inf), np.zeros(k)
    for i in range(len(y)):
        if seen.sum():
            with np.errstate(divide="ignore"):
                out[i] = np.log(seen / seen.sum())
        if y[i] >= 0:
            seen[y[i]] += w[i]
    return out


def block_of(words, y, w):
    n = len(y)
    return Block(np.zeros((n, 0)), np.zeros((n, 0), dtype=np.int32), (words,), y.astype(np.int32), w, 0)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("min_count", [1, 9])
def test_learns_as_its_twin(seed, k, min_count):
    rng = np.random.default_rng(seed)
    n, size = 80, 12
    texts, words = documents(rng, n, size)
    y, w = rng.integers(-1, k, n), rng.choice([0.0, 1.0, 1.0, 2.5], n)
    prior = priors(y, w, k)
    others = rng.dirichlet(np.ones(k), n)
    counts, weights = summaries(0.2, size, k, least=float(min_count) if min_count > 1 else 0.0)
    block = block_of(words, y, w)
    scores = weights.bounded_scores(np.zeros((n, 0, k)), prior, 0)
    terms, heard = weights.learn(counts, block, prior, scores, integer_logs(500), 1.0)
    assert terms.shape == (n, 1, k)
    out = np.log(others)
    before = scores.copy()
    weights.mix(out, scores, heard, prior, block.y, w)
    slow, mixture = naive.WordWeights(k, 1.0, min_count), naive.Mixture(0.001)
    for i in range(n):
        label = None if y[i] < 0 else int(y[i])
        found = slow.step(texts[i], prior[i].tolist(), label, float(w[i]))
        assert heard[0, i] == (found is not None)
        if found is not None:
            np.testing.assert_allclose(before[0, i], found, rtol=1e-9, atol=1e-9)
        mixed = mixture.step(others[i].tolist(), found, prior[i].tolist(), label, float(w[i]))
        np.testing.assert_allclose(np.exp(out[i]), mixed, rtol=1e-9, atol=1e-12)
    for (word, c), v in slow.V.items():
        assert weights.factors[0][word, c] == pytest.approx(1.0 + v, rel=1e-9)
    assert weights.texts[0].mixture_weights.tolist() == pytest.approx(mixture.q)


def test_rows_cut_anywhere_give_the_same_bits():
    rng = np.random.default_rng(5)
    n, size, k = 60, 10, 3
    _, words = documents(rng, n, size)
    y, w = rng.integers(0, k, n), np.ones(n)
    prior = priors(y, w, k)
    found = []
    for cuts in ([], [1, 7, 30], range(1, n)):
        counts, weights = summaries(0.2, size, k)
        rows = []
        for _, part in block_of(words, y, w).cut(cuts):
            at = len(rows)
            here = prior[at : at + part.n]
            scores = weights.bounded_scores(np.zeros((part.n, 0, k)), here, 0)
            untaught = scores.copy()
            first = weights.predict(counts, part.rows(0, 1), here[:1], untaught[:, :1])
            _, heard = weights.learn(counts, part, here, scores, integer_logs(500), 1.0)
            assert untaught[0, 0].tolist() == scores[0, 0].tolist()
            assert first[0, 0] == heard[0, 0]
            rows += scores[0].tolist()
        found.append((rows, [array.tolist() for array in weights.arrays().values()]))
    assert found[0] == found[1] == found[2]


def test_other_columns_are_bounded():
    weights = summaries(0.2, 3, 2)[1]
    terms = np.array([[[-1000.0, 0.0]]])
    prior = np.log([[0.5, 0.5]])
    scores = weights.bounded_scores(terms, prior, 0)
    assert scores[0, 0].tolist() == pytest.approx([math.log(0.5) - 5.0, math.log(0.5) + math.log(2.0)])


def test_words_that_nobody_has_seen_say_nothing():
    counts, weights = summaries(0.2, 3, 2)
    words = Words(np.array([0, 2, 2]), np.array([0, 2], dtype=np.int32), np.ones(2))
    prior = np.log([[0.5, 0.5]] * 2)
    scores = weights.bounded_scores(np.zeros((2, 0, 2)), prior, 0)
    heard = weights.predict(counts, block_of(words, np.array([-1, -1]), np.ones(2)), prior, scores)
    assert not heard.any()
    assert scores[0].tolist() == prior.tolist()
