"""Kernels of coded classifiers against their slow twins, by hand, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import ecoc as naive

from bayou.codes import BCH, OneVsAll, OneVsOne, RandomCode, nearest
from bayou.codes.bch import words
from bayou.kernels import ecoc
from bayou.kernels.gaussian import CONSTANT_SHARE
from bayou.kernels.moments import add_rows
from bayou.kernels.normal import read_columns

UNFOLDED = np.zeros((0, 0))
LOGS = np.array([-1e290] + [math.log(i) for i in range(1, 64)])


def dichotomies_of(matrix):
    return np.ascontiguousarray(np.stack([matrix > 0, matrix < 0]).astype(float))


def tables(counts, total, width, dichotomies, fold=UNFOLDED, alpha=1.0, m=0.0):
    out = np.full((len(counts), fold.shape[1] if len(fold) else dichotomies.shape[2]), np.nan)
    ecoc.odds_table(counts, np.arange(len(counts)), total, width, dichotomies, fold, LOGS, alpha, m, 0.0, out)
    return out


@st.composite
def coded_counts(draw):
    k, cells, seed = draw(st.integers(1, 6)), draw(st.integers(0, 7)), draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1, 2, (k, draw(st.integers(0, 9)))).astype(np.int8)
    counts = rng.integers(0, 3, (cells, k)) * rng.choice([1.0, 0.5, 1e6], k)
    width = rng.integers(0, 9, matrix.shape[1]).astype(float)
    return matrix, counts, counts.sum(axis=0), width


@given(coded_counts(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 2.0]))
@settings(deadline=None)
def test_tables_have_the_bits_of_the_twin(case, alpha, m):
    matrix, counts, total, width = case
    found = tables(counts, total, width, dichotomies_of(matrix), alpha=alpha, m=m)
    assert np.array_equal(found, naive.odds_table(counts, total, width, dichotomies_of(matrix), alpha, m))


@given(coded_counts(), st.integers(0, 100))
@settings(deadline=None)
def test_folded_tables_are_sums_over_the_columns(case, seed):
    matrix, counts, total, width = case
    if not matrix.shape[1]:
        return
    fold = np.random.default_rng(seed).normal(size=matrix.T.shape)
    plain = tables(counts, total, width, dichotomies_of(matrix))
    folded = tables(counts, total, width, dichotomies_of(matrix), fold)
    expected = np.zeros_like(folded)
    for b in range(len(fold)):
        expected += plain[:, b : b + 1] * fold[b]
    assert np.array_equal(folded, expected)
    added = np.ones_like(folded)
    ecoc.add_folded(added, plain, fold)
    assert np.array_equal(added, 1.0 + expected)


@given(coded_counts(), st.integers(0, 9))
@settings(deadline=None)
def test_widths_count_what_either_side_has_seen(case, declared):
    matrix, counts, _, _ = case
    width = np.empty(matrix.shape[1])
    ecoc.side_width(width, counts, dichotomies_of(matrix), float(declared), 0, len(counts))
    seen = [(counts[:, column != 0].sum(axis=1) > 0).sum() for column in matrix.T]
    assert width.tolist() == [max(s, declared) for s in seen]


def test_prior_by_hand():
    out = np.empty(3)
    ecoc.prior_odds(
        out, np.array([1.0, 2.0, 5.0]), dichotomies_of(np.array([[1, 1, -1], [-1, 1, 0], [-1, -1, 0]])), 1.0
    )
    assert out.tolist() == [math.log(2) - math.log(8), math.log(4) - math.log(6), math.log(1) - math.log(2)]


@pytest.mark.parametrize("code", [BCH(15), OneVsAll(), OneVsOne(), RandomCode(7)], ids=repr)
def test_gaussians_of_sides_are_those_of_relabelled_rows(code):
    rng = np.random.default_rng(1)
    matrix, y = code.rows(4), rng.integers(0, 4, 80).astype(np.int32)
    x = rng.normal(y[:, None] * [1.0, -2.0, 0.0], [1.0, 1e-3, 1e3])
    x[rng.random(x.shape) < 0.2] = np.nan
    shape = (2 * matrix.shape[1], 3)
    found = [np.empty(shape) for _ in range(3)]
    n, mean, m2 = (np.zeros((4, 3)) for _ in range(3))
    add_rows(n, mean, m2, x, y, np.ones(80), 0, 3, False)
    ecoc.side_gaussians(n, mean, m2, dichotomies_of(matrix), 1.0, 1e-9, *found)
    for b, column in enumerate(matrix.T):
        side = np.array([{1: 0, -1: 1, 0: -1}[int(s)] for s in column], dtype=np.int32)[y]
        n, mean, m2 = (np.zeros((2, 3)) for _ in range(3))
        add_rows(n, mean, m2, x, side, np.ones(80), 0, 3, False)
        expected = [np.empty((2, 3)) for _ in range(3)]
        read_columns(*expected, np.empty((3, 3)), n, mean, m2, 1.0, 1e-9, CONSTANT_SHARE)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one[2 * b : 2 * b + 2], other, rtol=1e-11)


@st.composite
def received(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m, k = draw(st.integers(0, 8)), draw(st.integers(1, 6))
    signs = rng.integers(-1, 2, (m, k)).astype(float)
    odds = rng.choice([-800.0, -2.0, -0.5, 0.0, 0.5, 1.0, 800.0], (5, m))
    return odds, signs, rng.integers(1, 4, m).astype(float)


@given(received())
@settings(deadline=None)
def test_soft_and_absolute_decoding(case):
    odds, signs, weight = case
    for decode, kernel in (("soft", ecoc.decode_soft), ("l1", ecoc.decode_absolute)):
        out = np.full((len(odds), signs.shape[1]), np.nan)
        kernel(odds, signs, weight, out)
        times = weight.astype(int)
        expected = [
            [
                naive.score(np.repeat(z, times), np.repeat(signs[:, c], times), decode)
                for c in range(signs.shape[1])
            ]
            for z in odds
        ]
        np.testing.assert_allclose(out, np.array(expected).reshape(out.shape), rtol=1e-12, atol=1e-12)


@given(received(), st.booleans())
@settings(deadline=None)
def test_votes_and_their_ties(case, lexical):
    odds, signs, weight = case
    prior = np.arange(signs.shape[1]) * 0.1
    out = np.full((len(odds), signs.shape[1]), np.nan)
    ecoc.decode_votes(odds, signs, weight, np.tile(prior, (len(odds), 1)), lexical, 1e-6, out)
    for z, row in zip(odds, out, strict=True):
        dots = [0.5 * float((weight * signs[:, c]) @ np.sign(z)) for c in range(signs.shape[1])]
        assert all(0 <= score - dot < 1e-6 for score, dot in zip(row, dots, strict=True))
        best = naive.votes(z, signs, weight, prior, lexical)[0]
        assert row[best] == row.max()


@pytest.mark.parametrize(
    ("book", "bits"), [(np.array([[0, 0, 0, 0, 0], [1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 1, 0, 1]]), 5),
                       (words(3), 7), (words(4), 15)], ids=["(5, 2, 3)", "(7, 4, 3)", "(15, 5, 7)"],
)  # fmt: skip
def test_votes_with_the_rule_of_the_standard_array_find_its_codeword_on_all_words(book, bits):
    code = [int("".join(map(str, row)), 2) for row in book.tolist()]
    everything = np.arange(1 << bits)
    odds = np.ascontiguousarray((everything[:, None] >> np.arange(bits - 1, -1, -1) & 1) * 2.0 - 1.0)
    signs = np.ascontiguousarray(2.0 * book.T - 1.0)
    out = np.empty((len(odds), len(code)))
    ecoc.decode_votes(odds, signs, np.ones(bits), np.zeros(out.shape), True, 1e-6, out)
    assert out.argmax(axis=1).tolist() == [nearest(code, int(word)) for word in everything]


@pytest.mark.parametrize("z", [-1e300, -800.0, -1.0, 0.0, 1.0, 800.0, 1e300])
def test_log_sigmoid_never_overflows(z):
    found = ecoc.log_sigmoid(z)
    assert found <= 0.0
    assert found == pytest.approx(-np.logaddexp(0.0, -z), rel=1e-15)


def test_nothing_in_nothing_out():
    out = np.empty((0, 3))
    ecoc.decode_soft(np.empty((0, 2)), np.ones((2, 3)), np.ones(2), out)
    ecoc.decode_absolute(np.empty((0, 2)), np.ones((2, 3)), np.ones(2), out)
    ecoc.decode_votes(np.empty((0, 2)), np.ones((2, 3)), np.ones(2), np.zeros((0, 3)), False, 1e-6, out)
    ecoc.add_difference(np.empty((0, 2)), np.empty((0, 4)))
    margins = np.zeros((2, 1))
    ecoc.add_difference(margins, np.array([[3.0, 1.0], [0.0, 5.0]]))
    assert margins.tolist() == [[2.0], [-5.0]]
