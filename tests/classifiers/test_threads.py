"""Several threads that ask one model at once, right after it has learned."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bayou import TAN, AveragedNB, Bagging, GKClass, NaiveBayes

ROWS = [({"n": float(i % 13), "c": "uvw"[i % 3]}, i % 2) for i in range(50)]
MODELS = {
    "normal": NaiveBayes,
    "quantiles": lambda: NaiveBayes(numeric=GKClass(), bins="modl"),
    "tree": TAN,
    "averaged": AveragedNB,
    "bagged": lambda: Bagging(NaiveBayes(), n_estimators=3),
}


def learned(make):
    model = make()
    for x, y in ROWS:
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("name", MODELS)
def test_who_asks_while_records_are_taken_in_waits_for_them(name):
    calm, model = learned(MODELS[name]), learned(MODELS[name])
    expected = [calm.predict_proba_one(x) for x, _ in ROWS]
    take_in = model.learn

    def slowly(block):
        time.sleep(0.05)
        take_in(block)

    model.learn = slowly
    assert model._pending
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(model.predict_proba_one, [x for x, _ in ROWS]))
    del model.learn
    assert found == expected
    assert model.digest() == calm.digest()
