"""Metrics against published numbers, against slow twins, and against scikit-learn."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from tests.naive import metrics as naive

from bayou.readings.metrics import (
    Scores,
    calibration,
    faded_scores,
    kappa_against,
    matrix_text,
    recent_scores,
    running_scores,
)
from bayou.readings.thresholds import threshold_table
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import Confusion, Losses, class_plan, scored_rows
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits

VECTORS = Path(__file__).parents[1] / "vectors"
VECTOR = json.loads((VECTORS / "prequential.json").read_text())
EXAMPLES = json.loads((VECTORS / "seed_examples.json").read_text())


def tracked(y: Any, proba: Any, w: Any = None, window: int = 5, alpha: float = 0.9) -> dict[str, Any]:
    k = np.asarray(proba).shape[1]
    parts = {
        "confusion": Confusion(),
        "losses": Losses(),
        "no_change": NoChangeHits(),
        "majority": MajorityHits(),
        "recent": RecentOutcomes(window),
        "faded": FadedOutcomes(alpha),
        "first": FirstScores(),
    }
    for part in parts.values():
        part.realign(class_plan([], list(range(k))))
        part.update(scored_rows(y, proba, w))
    return parts


def running(parts: dict[str, Any]) -> Scores:
    return running_scores(parts["confusion"], parts["losses"], parts["no_change"], parts["majority"])


def test_the_published_vector() -> None:
    parts = tracked(VECTOR["y"], np.eye(3)[VECTOR["p"]])
    told, found = VECTOR["metrics"], running(parts)
    assert found.accuracy == told["accuracy"]
    assert found.kappa == pytest.approx(told["kappa"], abs=1e-12)
    assert found.kappa_temporal == pytest.approx(told["kappa_temporal"], abs=1e-12)
    assert found.no_change_accuracy == pytest.approx(told["p_nochange"], abs=1e-12)
    assert found.kappa_m == pytest.approx(told["kappa_m_test_then_train"], abs=1e-12)
    assert found.majority_accuracy == pytest.approx(told["p_major_test_then_train"], abs=1e-12)
    assert found.kappa_majority(moa_compatible=True) == pytest.approx(told["kappa_m_moa"], abs=1e-12)
    assert found.majority_peeking / found.weight == pytest.approx(told["p_major_moa"], abs=1e-12)
    assert found.kappa_batch_majority == pytest.approx(told["kappa_m_batch_majority"], abs=1e-12)
    for name in ("precision", "recall", "f1"):
        assert getattr(found.per_class, name) == pytest.approx(told[name], abs=1e-12)
    assert not found.per_class.undefined.any()


@pytest.mark.parametrize(("form", "scores"), [("basic", 0), ("window5", 1), ("fading0.9", 2)])
def test_moas_own_numbers(form: str, scores: int) -> None:
    parts = tracked(VECTOR["y"], np.eye(3)[VECTOR["p"]])
    found = [running(parts), recent_scores(parts["recent"]), faded_scores(parts["faded"])][scores]
    told = VECTOR["moa"][form]
    assert 100 * found.accuracy == pytest.approx(told["classifications correct (percent)"], abs=1e-9)
    assert 100 * found.kappa == pytest.approx(told["Kappa Statistic (percent)"], abs=1e-9)
    assert 100 * found.kappa_temporal == pytest.approx(told["Kappa Temporal Statistic (percent)"], abs=1e-9)
    assert 100 * found.kappa_majority(True) == pytest.approx(told["Kappa M Statistic (percent)"], abs=1e-9)


def test_windowed_and_faded_accuracy_row_by_row() -> None:
    y, proba = VECTOR["y"], np.eye(3)[VECTOR["p"]]
    for n in range(1, 21):
        parts = tracked(y[:n], proba[:n])
        windowed, faded = recent_scores(parts["recent"]), faded_scores(parts["faded"])
        assert windowed.accuracy == pytest.approx(VECTOR["window5_accuracy"][n - 1], abs=1e-12)
        assert faded.accuracy == pytest.approx(VECTOR["fading09_accuracy"][n - 1], abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [0, 1, 4, 9, 10, 11, 47])
def test_all_forms_against_the_slow_twin(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    k = int(random.integers(1, 5))
    y = random.integers(-1, k, n)
    proba = random.dirichlet([0.5] * k, n) if n else np.zeros((0, k))
    proba[random.random(n) < 0.15] = 0.0
    w = random.integers(0, 3, n).astype(float)
    parts = tracked(y, proba, w)
    forms = {
        "running": (running(parts), lambda age: 1.0),
        "recent": (recent_scores(parts["recent"]), lambda age: 1.0 if age < 5 else 0.0),
        "faded": (faded_scores(parts["faded"]), lambda age: 0.9**age),
    }
    for form, (found, memory) in forms.items():
        told = naive.metrics(y.tolist(), proba.tolist(), w.tolist(), k, memory)
        seen = {**found.headlines(), "kappa_m_moa": found.kappa_majority(moa_compatible=True)}
        for name, value in told.items():
            assert seen[name] == pytest.approx(value, abs=1e-10), (form, name)


def test_against_scikit_learn() -> None:
    random = np.random.default_rng(7)
    y = random.integers(0, 4, 500)
    proba = random.dirichlet([0.6] * 4, 500) + 0.5 * np.eye(4)[y]
    proba /= proba.sum(axis=1, keepdims=True)
    found = running(tracked(y, proba))
    guess = proba.argmax(axis=1)
    assert found.accuracy == pytest.approx(sklearn.metrics.accuracy_score(y, guess), abs=1e-12)
    assert found.kappa == pytest.approx(sklearn.metrics.cohen_kappa_score(y, guess), abs=1e-12)
    assert found.macro_f1 == pytest.approx(sklearn.metrics.f1_score(y, guess, average="macro"), abs=1e-12)
    assert found.macro_recall == pytest.approx(
        sklearn.metrics.recall_score(y, guess, average="macro"), abs=1e-12
    )
    assert found.macro_precision == pytest.approx(
        sklearn.metrics.precision_score(y, guess, average="macro"), abs=1e-12
    )
    assert found.log_loss == pytest.approx(sklearn.metrics.log_loss(y, proba), abs=1e-10)
    assert found.brier == pytest.approx(
        float(np.mean(np.sum((proba - np.eye(4)[y]) ** 2, axis=1))), abs=1e-12
    )


def test_zero_denominators_give_zero_and_a_flag() -> None:
    found = running(tracked([0, 0, 1], np.eye(4)[[0, 0, 0]]))
    assert found.per_class.precision.tolist() == pytest.approx([2 / 3, 0, 0, 0])
    assert found.per_class.recall.tolist() == [1, 0, 0, 0]
    assert found.per_class.undefined.tolist() == [False, True, True, True]
    assert found.macro_f1 == pytest.approx(0.8 / 2)  # classes that never occur do not count
    nothing = running(tracked([], np.zeros((0, 2))))
    assert set(nothing.headlines().values()) == {0.0}


def test_a_rival_without_errors_gives_zero() -> None:
    assert kappa_against(1.0, 1.0) == 0.0
    assert kappa_against(0.5, 1.0) == 0.0


def test_rows_without_prediction_are_wrong_and_have_no_loss() -> None:
    found = running(tracked([0, 1, 1], [[0, 0], [0, 1], [0.5, 0.5]]))
    assert found.accuracy == pytest.approx(1 / 3)
    assert found.log_loss == pytest.approx(np.log(2) / 2)


def test_calibration_error_against_the_slow_twin() -> None:
    random = np.random.default_rng(3)
    proba = random.dirichlet([0.3, 0.3, 0.3], 300)
    y = random.integers(0, 3, 300)
    found = calibration(tracked(y, proba)["losses"])
    assert found.error == pytest.approx(naive.calibration_error(y.tolist(), proba.tolist()), abs=1e-12)
    assert found.weight.sum() == 300


def test_areas_against_the_slow_twin_and_scikit_learn() -> None:
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 400)
    # In the middle of cells: no cell mixes scores
    odds = np.round(random.normal(2.0 * y - 1.0, 2.0) * 8) / 8 + 1 / 16
    score = 1 / (1 + np.exp(-odds))
    table = threshold_table(tracked(y, np.column_stack([1 - score, score]))["losses"], 1)
    assert table.auc == pytest.approx(naive.area(score.tolist(), (y == 1).tolist()), abs=1e-12)
    assert table.auc == pytest.approx(sklearn.metrics.roc_auc_score(y, score), abs=1e-12)
    for threshold in (0.5, 0.25):
        line, called = table.at(threshold), score >= table.at(threshold)["threshold"]
        assert line["threshold"] <= threshold
        assert line["recall"] == pytest.approx(np.mean(called[y == 1]))
        assert line["false_positive_rate"] == pytest.approx(np.mean(called[y == 0]))
        assert line["precision"] == pytest.approx(np.mean(y[called] == 1))
    assert table.at(0.5)["threshold"] == 0.5


@pytest.mark.parametrize(("share", "contrast"), [(0.5, 1.0), (0.1, 3.0), (0.1, 1.0), (0.02, 2.0)])
def test_average_precision_beside_scikit_learn(share: float, contrast: float) -> None:
    """Scores that differ: close to the mean over rows, neither low nor high as a rule."""
    off = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        y = (random.random(5000) < share).astype(int)
        odds = 2.0 * (random.normal(contrast * y, 1.0) - contrast / 2) + np.log(share / (1 - share))
        score = 1 / (1 + np.exp(-odds))
        table = threshold_table(tracked(y, np.column_stack([1 - score, score]))["losses"], 1)
        off.append(table.average_precision - sklearn.metrics.average_precision_score(y, score))
    assert np.abs(off).max() < 4e-3
    assert abs(np.mean(off)) < 1e-3


@pytest.mark.parametrize("n", [1, 2, 30, 700])
def test_areas_of_few_rows_are_exact(n: int) -> None:
    """Row by row as scikit-learn has them, with weights, whatever lies between two rows."""
    for seed in range(6):
        random = np.random.default_rng(seed)
        y, w = random.integers(0, 2, n), random.integers(1, 4, n).astype(float)
        y[0] = 1
        score = random.permutation(np.linspace(0.2, 0.8, n))  # hundreds of rows in a few cells of log-odds
        parts = tracked(y, np.column_stack([1 - score, score]), w)
        table = threshold_table(parts["losses"], 1, parts["first"])
        want = sklearn.metrics.average_precision_score(y, score, sample_weight=w)
        assert table.average_precision == pytest.approx(want, abs=1e-12)
        if 0 < y.sum() < n:
            want = sklearn.metrics.roc_auc_score(y, score, sample_weight=w)
            assert table.auc == pytest.approx(want, abs=1e-12)


def test_areas_of_few_rows_with_ties_are_means_over_all_orders() -> None:
    y, score = np.array([1, 0, 1, 0, 0, 1, 1]), np.array([0.9, 0.5, 0.5, 0.5, 0.2, 0.2, 0.1])
    parts = tracked(y, np.column_stack([1 - score, score]))
    table = threshold_table(parts["losses"], 1, parts["first"])
    found = []
    for order in itertools.permutations(range(len(y))):
        if all(score[a] >= score[b] for a, b in itertools.pairwise(order)):
            right = np.cumsum(y[list(order)])
            found.append(np.mean((right / np.arange(1, len(y) + 1))[y[list(order)] == 1]))
    assert len(found) == 12
    assert table.average_precision == pytest.approx(np.mean(found), abs=1e-12)
    assert table.auc == pytest.approx(sklearn.metrics.roc_auc_score(y, score), abs=1e-12)


def test_average_precision_of_ties_is_the_mean_over_their_orders() -> None:
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 400)
    odds = np.round(random.normal(2.0 * y - 1.0, 2.0)) + 1 / 16
    score = 1 / (1 + np.exp(-odds))
    table = threshold_table(tracked(y, np.column_stack([1 - score, score]))["losses"], 1)
    orders = [
        sklearn.metrics.average_precision_score(y, odds + 1e-6 * random.random(400)) for _ in range(200)
    ]
    assert table.average_precision == pytest.approx(np.mean(orders), abs=1e-3)
    assert table.average_precision > sklearn.metrics.average_precision_score(y, score) + 5e-3


def test_a_threshold_table_is_monotone_and_spans_everything() -> None:
    random = np.random.default_rng(6)
    proba = random.dirichlet([0.1, 0.1, 0.1], 200)
    for code in range(3):
        table = threshold_table(tracked(random.integers(0, 3, 200), proba)["losses"], code)
        assert (np.diff(table.threshold) > 0).all()
        assert (np.diff(table.recall) <= 0).all()
        assert table.recall[0] == 1.0
        assert table.false_positive_rate[0] == 1.0
        assert table.recall[-1] == 0.0
        assert table.precision[-1] == 1.0
        assert 0 <= table.auc <= 1


@pytest.mark.parametrize("case", EXAMPLES["precision_recall_table"], ids=str)
def test_f_scores_that_document_001_leaves_blank(case: dict[str, float]) -> None:
    """A thousand rows of the rare class, as many called as precision and recall say."""
    right = 1000 * case["r"]
    found = Scores(np.array([1e6, 1000.0]), np.array([0.0, right / case["p"]]), np.array([0.0, right]), 1e6)
    assert found.per_class.f1[1] == pytest.approx(case["f1"], rel=1e-12)


def test_a_class_that_never_occurs_has_a_table_too() -> None:
    table = threshold_table(tracked([0, 0], [[0.6, 0.4], [0.7, 0.3]])["losses"], 1)
    assert table.auc == 0.0
    assert table.average_precision == 0.0
    assert table.recall.tolist() == [0.0] * 257


def test_the_matrix_as_text() -> None:
    assert matrix_text(np.array([[12, 3], [0.5, 1000]]), ["no", "yes"]).splitlines() == [
        "true \\ predicted   no    yes",
        "no                 12      3",
        "yes               0.5  1,000",
    ]
