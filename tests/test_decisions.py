"""Decisions that name classes nobody has met: told, rather than ignored in silence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayou import Abstain, Calibrated, Costs, NaiveBayes, Threshold, prequential
from bayou.decisions import DecisionWarning, tell_unknown
from bayou.errors import SchemaError
from tests.cli.invoke import bayou

PROBA = np.array([[0.3, 0.7], [0.1, 0.9]])


@pytest.mark.parametrize(
    ("rule", "labels", "told"),
    [
        (Threshold("fruad", 0.2), ["fraud", "ok"], "no class 'fruad' was met.*did you mean 'fraud'"),
        (Threshold("1", 0.2), [0, 1], "no class '1' was met.*did you mean 1?"),
        (Costs(miss={"fruad": 5.0}), ["fraud", "ok"], "no class 'fruad' was met.*did you mean 'fraud'"),
        (Costs(pairs={("fraud", "okay"): 5.0}), ["fraud", "ok"], "no class 'okay' was met.*'ok'"),
    ],
)
def test_a_class_that_does_not_exist_is_told(rule: Threshold | Costs, labels: list[Any], told: str) -> None:
    with pytest.warns(DecisionWarning, match=told):
        tell_unknown(rule, labels)
    assert rule.decide(labels, PROBA).tolist() == [1, 1]  # as without the rule


def test_classes_that_are_there_are_no_mistake() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tell_unknown(None, ["ok"])
        tell_unknown(Threshold("fraud", 0.2), ["fraud", "ok"])
        tell_unknown(Costs(miss={"fraud": 5.0}, pairs={("ok", "fraud"): 2.0}), ["fraud", "ok"])


def test_a_right_decision_has_no_cost() -> None:
    with pytest.raises(SchemaError, match="a right decision costs nothing"):
        Costs(pairs={("fraud", "fraud"): 5.0})


def test_evaluations_and_the_command_line_tell_it(tmp_path: Path) -> None:
    model = NaiveBayes(decision=Threshold("q", 0.1))
    with pytest.warns(DecisionWarning, match="the classes are 'a', 'b'"):
        prequential(model, ([[1.0], [2.0]] * 9, ["a", "b"] * 9))
    rows, out = tmp_path / "rows.csv", tmp_path / "m.bayou"
    rows.write_text("x,c\n" + "1,a\n2,b\n" * 9)
    spec = "nb(decision=Threshold(q, 0.1))"
    warning = "warning: Threshold(label='q', probability=0.1): no class 'q' was met, so it decides nothing"
    for command in (
        ("learn", rows, "-t", "c", "-m", spec, "-o", out, "-q"),
        ("evaluate", rows, "-t", "c", "-m", spec, "-q"),
        ("predict", out, rows, "-q", "-o", tmp_path / "out.csv"),
    ):
        assert bayou(*command).stderr.startswith(warning)


def test_fitting_and_predicting_tell_it() -> None:
    rows, labels = [[1.0], [2.0]] * 5, ["fraud", "ok"] * 5
    model = NaiveBayes(decision=Threshold("fruad", 0.2))
    with pytest.warns(DecisionWarning, match="did you mean 'fraud'") as told:
        model.fit(rows, labels)
    assert told[0].filename == __file__
    with pytest.warns(DecisionWarning, match="did you mean 'fraud'"):
        model.predict(rows)
    with pytest.warns(DecisionWarning, match="did you mean 'fraud'"):
        model.predict_many(rows)
    assert NaiveBayes(decision=Threshold("fraud", 0.2)).fit(rows, labels).predict([[1.0]]).tolist() == [
        "fraud"
    ]


def test_a_decision_that_is_no_rule_is_refused_before_anything_is_learned() -> None:
    model = NaiveBayes(decision="fraud")  # type: ignore[arg-type] # the mistake
    for learn in (model.fit, model.partial_fit, model.learn_many):
        with pytest.raises(SchemaError, match="decision='fraud' is no rule; give Threshold"):
            learn([[1.0], [2.0]], ["fraud", "ok"])
    assert not model.started


def test_no_answer_below_a_probability_or_above_a_cost() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(y, 1.0)[:, np.newaxis]
    model = NaiveBayes("gaussian", decision=Abstain(0.8)).fit(X, y)
    proba, decided = model.predict_proba(X), model.predict(X)
    silent = proba.max(axis=1) < 0.8
    assert 0 < silent.sum() < 400
    assert [answer is None for answer in decided] == silent.tolist()
    assert (decided[~silent] == proba.argmax(axis=1)[~silent]).all()
    assert model.predict_many([{"x0": float(x)} for x in X[:, 0]]) == decided.tolist()
    assert model.predict(X[~silent]).dtype == model.classes_.dtype
    by_cost = NaiveBayes("gaussian", decision=Abstain(cost=0.2)).fit(X, y)  # an error costs 1: the same rows
    assert [answer is None for answer in by_cost.predict(X)] == (proba.min(axis=1) > 0.2).tolist()


def test_what_it_cost_is_counted_from_the_decisions() -> None:
    rng = np.random.default_rng(1)
    y = rng.choice(["fraud", "ok"], 600, p=[0.2, 0.8])
    X = rng.normal(y == "fraud", 1.0)[:, np.newaxis]
    costs = Costs(miss={"fraud": 5.0})
    for rule in (costs, Abstain(cost=0.5, otherwise=costs)):
        found = prequential(NaiveBayes("gaussian", decision=rule), (X, y)).only
        (_, missed), (alarms, _) = found.confusion
        silent = 600 - found.confusion.sum()
        assert found.cost == pytest.approx((5 * missed + alarms + 0.5 * silent * (rule is not costs)) / 600)
        assert found.answered == pytest.approx(1 - silent / 600)
    plain = prequential(NaiveBayes("gaussian"), (X, y)).only
    assert plain.cost is None
    assert prequential(Calibrated(NaiveBayes("gaussian", decision=Abstain(0.9))), (X, y)).only.answered < 1


def test_parameters_of_abstaining() -> None:
    for wrong in ({"probability": 1.5}, {"cost": -1.0}, {"cost": np.inf}, {"otherwise": "Costs"}):
        with pytest.raises(SchemaError, match=r"Abstain\("):
            Abstain(**wrong)  # type: ignore[arg-type] # the mistakes
