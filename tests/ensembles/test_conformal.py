"""Sets of classes: by their rule, and the promise they keep over every stretch of a stream that drifts."""

from __future__ import annotations

import numpy as np
import pytest

from bayou import ConformalSet, NaiveBayes, load
from bayou.ensembles.conformal import FORGET
from bayou.errors import SchemaError
from bayou.kernels.conformal import CELLS
from bayou.testing import CHECKS


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, by_class):
    check(lambda: ConformalSet(NaiveBayes("gaussian"), by_class=by_class), 1)


def drifting(n, seed=0):
    """Three classes whose distance and order change with time."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.7, 0.25, 0.05])
    time = np.arange(n) / n
    apart = 1.0 + 2.0 * np.sin(12 * time)
    return (rng.normal(y * apart, 1.0))[:, np.newaxis], y


def naive_sets(proba, y, coverage, rate, groups):
    """The rule in plain Python: scores in cells, a quantile, a level that moves."""
    scores, levels = np.zeros((groups, CELLS)), np.full(groups, 1 - coverage)
    seen, sets = set(), []
    for p, label in zip(proba, y, strict=True):
        cells = np.minimum(np.floor((1 - p) * CELLS), CELLS - 1).astype(int)
        chosen = set()
        for c in seen:
            g = c if groups > 1 else 0
            if levels[g] <= 0:
                last = CELLS - 1
            elif levels[g] >= 1:
                last = -1
            else:
                enough = np.cumsum(scores[g]) >= (1 - levels[g]) * (scores[g].sum() + 1)
                last = int(enough.argmax()) if enough.any() else CELLS - 1
            if cells[c] <= last:
                chosen.add(c)
        sets.append(chosen)
        if label in seen:
            g = label if groups > 1 else 0
            levels[g] += rate * ((label in chosen) - coverage)
            scores[g] *= FORGET
            scores[g, cells[label]] += 1
        seen.add(label)
    return sets


@pytest.mark.parametrize("by_class", [False, True])
def test_it_follows_its_rule(by_class):
    X, y = drifting(800)
    model = ConformalSet(NaiveBayes("gaussian"), 0.8, by_class, rate=0.05)
    sets = model.sets_then_train(X, y)
    proba = NaiveBayes("gaussian").test_then_train_batch(X, y)
    assert sets == naive_sets(proba, y, 0.8, 0.05, 3 if by_class else 1)
    held = [label in chosen for label, chosen in zip(y, sets, strict=True)]
    first = [int(np.flatnonzero(y == c)[0]) for c in range(3)]
    counted = [h for i, h in enumerate(held) if i not in first]
    assert model.coverage_ == pytest.approx(np.mean(counted))
    model.sets_then_train([[np.inf, *X[0, 1:]]], y[:1])
    assert (model.position, model.unusable) == (801, 1)


def test_the_promise_holds_over_every_window_where_a_plain_quantile_leaves_it():
    X, y = drifting(20_000)
    sets = ConformalSet(NaiveBayes("gaussian")).sets_then_train(X, y)
    frozen = ConformalSet(NaiveBayes("gaussian"), rate=1e-12).sets_then_train(X, y)

    def windows(some):
        held = np.cumsum([label in chosen for label, chosen in zip(y, some, strict=True)])
        return (held[5000:] - held[:-5000]) / 5000

    assert np.abs(windows(sets) - 0.9).max() < 0.01
    assert np.abs(windows(frozen) - 0.9).max() > 0.02


def test_each_class_is_covered_by_itself():
    X, y = drifting(20_000)

    def of_the_rare(by_class):
        sets = ConformalSet(NaiveBayes("gaussian"), by_class=by_class).sets_then_train(X, y)
        return np.mean([2 in chosen for label, chosen in zip(y, sets, strict=True) if label == 2])

    assert abs(of_the_rare(True) - 0.9) < 0.02
    assert of_the_rare(False) < 0.8


def test_predictions_are_the_classifiers_own_and_looking_changes_nothing(tmp_path):
    X, y = drifting(400)
    model, alone = ConformalSet(NaiveBayes("gaussian")), NaiveBayes("gaussian")
    model.partial_fit(X, y)
    alone.partial_fit(X, y)
    before = model.digest()
    assert (model.predict_proba(X) == alone.predict_proba(X)).all()
    sets = model.predict_set(X)
    assert model.predict_set_one({"x0": X[0, 0]}) == sets[0]
    assert model.digest() == before
    model.save(tmp_path / "m.bayou")
    again = load(tmp_path / "m.bayou")
    assert again.predict_set(X) == sets
    assert ConformalSet().predict_set_one({"x": 1.0}) == set()


def test_parameters():
    for wrong in (ConformalSet(coverage=1.0), ConformalSet(rate=0.0)):
        with pytest.raises(SchemaError, match="coverage lies in"):
            wrong.learn_one({"x": 1.0}, "a")
