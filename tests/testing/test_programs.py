"""Random programs on every exported classifier and on recipes that change how one counts and reads."""

from __future__ import annotations

import copy

import pytest
from tests.seeds import LONG

import bayou.classifiers as classifiers
import bayou.ensembles as ensembles
from bayou import AODE, TAN, AdaGrad, Bagging, Fading, Grid, MiniBatch, NaiveBayes, WeightedNB, Window
from bayou.testing.programs import check_program, check_programs

PROGRAMS = 20_000 if LONG else 140
EXPORTED = {name: getattr(home, name) for home in (classifiers, ensembles) for name in home.__all__}
MODELS = EXPORTED | {
    "gk": lambda: NaiveBayes(numeric="gk"),
    "pid": lambda: NaiveBayes(numeric="pid", bins="fayyad-irani"),
    "cpid": lambda: NaiveBayes(numeric="cpid", bins="equal-frequency"),
    "kernel, groups": lambda: NaiveBayes(numeric="kernel", groups="modl"),
    "rounded normal": lambda: NaiveBayes(numeric="rounded-normal"),
    "sketch": lambda: NaiveBayes(nominal="sketch"),
    "sketch, groups": lambda: NaiveBayes(nominal="sketch", groups="modl"),
    "count-min": lambda: NaiveBayes(nominal="count-min"),
    "AODE, early grid": lambda: AODE(numeric=Grid(warm_up=20)),
    "TAN by frequency": lambda: TAN(numeric=Grid(rule="frequency", warm_up=20)),
    "WeightedNB, mini-batches": lambda: WeightedNB(rate=MiniBatch()),
    "WeightedNB, AdaGrad": lambda: WeightedNB(rate=AdaGrad()),
    "Window of gk": lambda: Window(NaiveBayes(numeric="gk"), rows=20, panes=4),
    "Window of groups": lambda: Window(NaiveBayes(groups="modl", numeric="kernel"), rows=20, panes=4),
    "Fading": lambda: Fading(NaiveBayes(numeric="gk"), half_life=20),
    "Bagging": lambda: Bagging(NaiveBayes()),
}


@pytest.mark.parametrize("name", MODELS)
def test_programs(name):
    share = -(-PROGRAMS // len(MODELS))
    place = list(MODELS).index(name)
    for seed in range(place * share, (place + 1) * share):
        check_program(MODELS[name], seed)


class Counting(NaiveBayes):
    """Breaks the first rule: a prediction leaves a trace."""

    def predict_proba_many(self, X):
        if self.started and self.engine.rows:
            self.engine.rows += 1
        return super().predict_proba_many(X)


class Careless(NaiveBayes):
    """Changes before it refuses."""

    def decay(self, factor):
        if self.started:
            self.engine.rows += 1
        return super().decay(factor)


class Forgetful(NaiveBayes):
    """A pickle that leaves something out."""

    def __getstate__(self):
        state = super().__getstate__()
        if self.started:
            state = copy.deepcopy(state)
            state["_engine"].rows = 0
        return state


@pytest.mark.parametrize("kind", [Counting, Careless, Forgetful])
def test_programs_find_out_a_model_that_breaks_the_rules(kind):
    with pytest.raises(AssertionError) as found:
        check_programs(kind, range(30))
    assert "program" in found.value.__notes__[0]
