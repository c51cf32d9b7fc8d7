"""Rules that learn weights: published steps, slow twins, numerical gradients."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.naive import weights as naive

from bayou.kernels.expert_scores import PERSISTENT
from bayou.kernels.weights import SCALARS, TAU, next_speed
from bayou.rates import AdaGrad, Constant, Decaying, Experts, MiniBatch, PaperRate
from bayou.summaries.weights import Weights

VECTORS = Path(__file__).parents[1] / "vectors"
SGD = json.loads((VECTORS / "wnb_sgd.json").read_text())
DEFAULT = json.loads((VECTORS / "wnb_default.json").read_text())
TABLES = [np.log(np.array(table)) for table in SGD["tables"]]
STEPS = [((0, 2), 0), ((1, 0), 1), ((0, 1), 1)]


def sized(rate, d, k, tied=False):
    weights = Weights(rate, tied)
    weights._empty(d, k)
    return weights


def feed(weights, terms, prior, label=None, w=1.0, pmi_prior=None):
    """One row; returns its scores."""
    terms = np.array(terms, dtype=float)[None]
    prior = np.array(prior, dtype=float)[None]
    pmi_prior = prior if pmi_prior is None else np.array(pmi_prior, dtype=float)[None]
    y = np.array([-1 if label is None else label], dtype=np.int32)
    edges = np.array([0, 0, terms.shape[1]], dtype=np.int64)
    index = np.arange(terms.shape[1])
    return weights.learn(terms, np.zeros((1, 0)), prior, pmi_prior, edges, y, np.array([w]), index, 0)[0]


def terms_of(x):
    return [TABLES[0][x[0]].tolist(), TABLES[1][x[1]].tolist()]


def random_rows(seed, n=60, d=5, k=3, missing=0.2):
    rng = np.random.default_rng(seed)
    terms = np.log(rng.dirichlet(np.ones(4), size=(n, d, k))[..., 0])
    terms[rng.random((n, d)) < missing] = 0.0
    prior = np.log(rng.dirichlet(np.ones(k), size=n))
    return terms, prior, rng.integers(k, size=n), rng.choice([1.0, 1.0, 2.5], n)


@pytest.mark.parametrize("start", ["b=log prior", "b=0"])
def test_document_steps(start):
    weights = sized(Constant(SGD["eta"]), 2, 2)
    prior = np.log(SGD["prior"]) if start == "b=log prior" else np.zeros(2)
    for step in SGD["runs"][start]:
        scores = feed(weights, terms_of(step["x"]), prior, step["target"])
        np.testing.assert_allclose(scores, step["H"], rtol=1e-12)
        np.testing.assert_allclose(weights.factors, step["w_after"], rtol=1e-12)
        np.testing.assert_allclose(prior + weights.bias[0], step["b_after"], rtol=1e-12, atol=1e-15)


def test_rule_d_steps():
    weights, counts = sized(Experts(published=True), 2, 2), np.zeros(2)
    for (x, label), expected in zip(STEPS, DEFAULT["P"], strict=True):
        prior = np.log((counts + 0.5) / (counts.sum() + 1))
        scores = feed(weights, terms_of(x), prior, label, pmi_prior=np.log([0.6, 0.4]))
        np.testing.assert_allclose(np.exp(scores), expected, rtol=1e-12)
        counts[label] += 1
    np.testing.assert_allclose(weights.factors, DEFAULT["W"], rtol=1e-12)
    np.testing.assert_allclose(weights.scalars[TAU], DEFAULT["tau"], rtol=1e-12)
    np.testing.assert_allclose(weights.mixture_weights[:PERSISTENT], DEFAULT["q"], rtol=1e-12)


def test_kuncheva_plumpton_rates():
    told = SGD["runs"]["kuncheva_plumpton"]
    scalars, ring = np.zeros(SCALARS), np.zeros((2, told["window_M"]))
    rates = [next_speed(scalars, ring, float(wrong), told["lambda0"]) for wrong in told["errors"]]
    np.testing.assert_allclose(rates, told["lambdas"], rtol=1e-12)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("forget", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_experts_are_the_slow_twin(seed, forget, published):
    terms, prior, y, w = random_rows(seed)
    terms[::5, 0, 1] = -30.0  # lies beyond the bound
    fast = sized(Experts(forget=forget, published=published), 5, 3)
    slow = naive.Experts(5, 3, forget=forget, published=published)
    for i in range(len(y)):
        scores = feed(fast, terms[i], prior[i], y[i], w[i])
        expected = slow.step(terms[i].tolist(), prior[i].tolist(), prior[i].tolist(), int(y[i]), float(w[i]))
        np.testing.assert_allclose(np.exp(scores), expected, rtol=1e-9)
    np.testing.assert_allclose(fast.factors, slow.W, rtol=1e-9)
    np.testing.assert_allclose(fast.mean_factors, slow.WA, rtol=1e-9)
    np.testing.assert_allclose(fast.bias[:2], [slow.B, slow.BA], atol=1e-12)
    np.testing.assert_allclose(np.delete(fast.mixture_weights, PERSISTENT)[: len(slow.q)], slow.q, rtol=1e-9)
    assert not fast.mixture_weights[PERSISTENT]


@pytest.mark.parametrize("persistence", [False, True])
def test_mixing_costs_next_to_nothing_over_naive_bayes(persistence):
    """Where naive Bayes is sure and right and tempered is too timid: -ln .95 once, and the share of each row."""
    weights, n = sized(Experts(persistence=persistence), 3, 2), 60
    plain, cost = np.array([-9.0, -0.03]), 0.0
    for _ in range(n):
        joint = feed(weights, [plain / 3] * 3, np.log([0.5, 0.5]), 1)
        cost += plain[1] - np.logaddexp.reduce(plain) - joint[1]
    assert 0.0 < cost <= -np.log(0.95) + n * 0.001


@pytest.mark.parametrize("tied", [False, True])
def test_a_step_goes_down_the_numerical_gradient(tied):
    terms, prior, y, _ = random_rows(4, n=8)
    for i in range(len(y)):
        weights = sized(Constant(1e-3), 5, 3, tied)
        rng = np.random.default_rng(i)
        weights.weights = rng.uniform(-0.9, -0.1, weights.weights.shape)
        weights.bias[0] = rng.normal(size=3)
        before, bias = weights.weights.copy(), weights.bias[0].copy()
        feed(weights, terms[i], prior[i], int(y[i]))
        for at in np.ndindex(*before.shape):
            slopes = []
            for h in (1e-6, -1e-6):
                moved = before.copy()
                moved[at] += h
                full = np.broadcast_to(1 + moved, (5, 3)).tolist()
                slopes.append(naive.cost(full, (prior[i] + bias).tolist(), terms[i].tolist(), int(y[i])))
            slope = (slopes[0] - slopes[1]) / 2e-6
            assert (weights.weights[at] - before[at]) / -1e-3 == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("pmi", [False, True])
def test_the_first_step_of_adagrad_by_hand(pmi):
    """Every gradient over the root of 1 and its square, all cut back by one share; inputs as told."""
    terms, prior = np.log([[0.2, 0.5]]), np.log([0.5, 0.5])
    inputs = terms[0] - np.log(0.35) if pmi else terms[0]
    weights = sized(AdaGrad(0.3, pmi=pmi), 1, 2)
    feed(weights, terms, prior, 0)
    residual = np.array([2 / 7 - 1, 5 / 7])
    gradient = residual * inputs
    step, bias = (-0.3 * g / np.sqrt(1 + g**2) for g in (gradient, residual))
    change = bias + inputs * step
    share = 1 / (1 + np.ptp(change) ** 2 / (4 * -(residual @ change)))
    np.testing.assert_allclose(weights.weights[0], share * step, rtol=1e-12)
    np.testing.assert_allclose(weights.bias[0], share * bias, rtol=1e-12)


def test_tied_weights_stay_in_the_box():
    terms, prior, y, w = random_rows(5, n=200)
    for rate in (Constant(1.0), AdaGrad(2.0), Experts(eta=3.0)):
        weights = sized(rate, 5, 3, tied=True)
        for i in range(len(y)):
            feed(weights, terms[i], prior[i], int(y[i]), w[i])
        assert weights.weights.min() >= -1.0
        assert weights.weights.max() <= 0.0
        assert np.ptp(weights.weights) > 0.0


def test_adagrad_never_overshoots():
    """After the cut-back step a row is never less likely than before it, however large the rate."""
    terms, prior, y, _ = random_rows(6, n=100, missing=0.0)
    weights = sized(AdaGrad(50.0), 5, 3)
    for i in range(len(y)):
        before = feed(weights, terms[i], prior[i], int(y[i]))
        after = feed(weights, terms[i], prior[i])
        gain = [s[y[i]] - math.log(np.exp(s - s.max()).sum()) - s.max() for s in (before, after)]
        assert gain[1] >= gain[0] - 1e-12


def test_decaying_rate():
    terms, prior, y, _ = random_rows(7, n=30)
    weights, constant = sized(Decaying(0.1, horizon=10.0, power=1.0), 5, 3), sized(Constant(0.1), 5, 3)
    for i in range(len(y)):
        constant.weights, constant.bias = weights.weights.copy(), weights.bias.copy()
        before = weights.weights.copy()
        feed(weights, terms[i], prior[i], int(y[i]))
        feed(constant, terms[i], prior[i], int(y[i]))
        np.testing.assert_allclose(
            weights.weights - before, (constant.weights - before) / (1 + i / 10), rtol=1e-9, atol=1e-15
        )


def test_mini_batches_are_the_slow_twin():
    terms, prior, y, _ = random_rows(8, n=24, missing=0.0)
    fast = sized(MiniBatch(rows=8, passes=3), 5, 3)
    slow = [[1.0] * 3 for _ in range(5)], [0.0] * 3, [[0.0] * 3 for _ in range(5)], [0.0] * 3
    for start in range(0, 24, 8):
        rows = []
        for i in range(start, start + 8):
            feed(fast, terms[i], prior[i], int(y[i]))
            inputs = naive.pmi(terms[i].tolist(), prior[i].tolist())
            rows.append((inputs, (prior[i] + terms[i].sum(axis=0)).tolist(), int(y[i])))
        for _ in range(3):
            naive.batch_step(*slow, rows, 0.3)
    np.testing.assert_allclose(fast.factors, slow[0], rtol=1e-9)
    np.testing.assert_allclose(fast.bias[0], slow[1], atol=1e-12)


def test_impossible_classes_take_no_part():
    """A class of prior 0 leaves the bits of the others alone and has probability 0."""
    terms, prior, y, w = random_rows(9, k=2)
    for rate in (Experts(), Experts(persistence=True), AdaGrad(), PaperRate(), MiniBatch(rows=5)):
        small, large = sized(rate, 5, 2), sized(rate, 5, 3)
        for i in range(len(y)):
            more = np.concatenate([terms[i], np.full((5, 1), -3.0) * (terms[i][:, :1] != 0)], axis=1)
            a = feed(small, terms[i], prior[i], int(y[i]), w[i])
            b = feed(large, more, [*prior[i], -math.inf], int(y[i]), w[i])
            assert b[2] == -math.inf
            assert a.tolist() == b[:2].tolist()
        assert small.weights.tolist() == large.weights[:, :2].tolist()
        assert not large.weights[:, 2].any()


def test_far_away_rows_leave_numbers():
    """Terms as small as a logarithm of 0 stands for, and rows of huge weight, do no harm."""
    terms, prior, y, _ = random_rows(10)
    terms[::3, 0, 1] = -1e290
    for rate in (Experts(), AdaGrad(), Constant(0.1), MiniBatch(rows=4)):
        weights = sized(rate, 5, 3)
        for i in range(len(y)):
            assert not np.isnan(
                feed(weights, terms[i], prior[i], int(y[i]), 1e300 if i % 7 == 0 else 1.0)
            ).any()
        assert np.isfinite(weights.weights).all()
