"""Several threads that ask one model at once, right after it has learned."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.seeds import LONG

from bayou import TAN, AveragedNB, Bagging, GKClass, NaiveBayes

ROUNDS = 40 if LONG else 16  # batches that make every array move, while other threads ask

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
    take_in = model._engine.learn

    def slowly(block):
        time.sleep(0.05)
        take_in(block)

    model._engine.learn = slowly
    assert model._encoder.records.waiting
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(model.predict_proba_one, [x for x, _ in ROWS]))
    del model._engine.learn
    assert found == expected
    assert model.digest() == calm.digest()


LEARNING = """
import threading, numpy as np
from bayou import *
model = eval({make!r})
rng = np.random.default_rng(0)
model.learn_many([{{"x0": 1.0, "c0": "u"}}, {{"x0": 2.0, "c0": "v"}}], ["k0", "k1"])
stop, asked = threading.Event(), []

def ask(n):
    while not stop.is_set():
        record = {{"x0": 1.5, "c0": "u", **{{f"x{{i}}": 1.0 for i in range(n % 9)}}}}
        (proba,) = model.predict_proba_many([record])
        assert abs(sum(model.predict_proba_one(record).values()) - 1) < 1e-9, proba
        assert abs(sum(proba.values()) - 1) < 1e-9
        model.explain(record)
        n += 1
        asked.append(n)

askers = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(3)]
problems = []
threading.excepthook = lambda what: problems.append(what.exc_value)
for asker in askers:
    asker.start()
for i in range(1, {rounds}):  # every batch brings a class, a column and values: all arrays move
    rows = [{{f"x{{j}}": float(j), f"c{{j % 7}}": f"v{{i * j}}"}} for j in range(i)]
    model.learn_many(rows, [f"k{{i}}"] * i)
    for row in rows[:5]:
        model.learn_one(row, "k0")
stop.set()
for asker in askers:
    asker.join(60)
    assert not asker.is_alive(), "a thread waits for ever"
assert not problems, problems
assert asked
print("whole")
"""


def test_who_predicts_while_another_thread_learns_sees_one_state_or_the_next():
    makes = ["NaiveBayes()", "NaiveBayes(numeric='gk')", "AODE()", "Bagging(n_estimators=2)"]
    assert_whole([LEARNING.format(make=make, rounds=ROUNDS) for make in makes])


def assert_whole(programs):
    """One after the other in a process of its own: arrays that move under a kernel end it."""
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(programs)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["whole"] * len(programs)), done.stderr[-2000:]


COPYING = """
import copy, pickle, threading
from bayou import *
from bayou.files import dumps, loads
model, whole = eval({make!r}), {whole!r}
model.learn_many([{{"x0": 1.0, "c0": "u"}}, {{"x0": 2.0, "c0": "v"}}], ["k0", "k1"])
stop, taken = threading.Event(), []

def merged(model):
    return model.fresh().merge(model) if model.law.merges else copy.copy(model)

def take(way):
    while not stop.is_set():
        twin = way(model)
        arrays = twin.arrays()
        if whole:  # every row has a class and every one of them is counted
            assert arrays["rows"][0] == arrays["classes.weight"].sum(), "rows and counts of different moments"
        assert loads(dumps(twin)).digest() == twin.digest()
        taken.append(way)

ways = [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, lambda m: loads(dumps(m)), merged]
takers = [threading.Thread(target=take, args=(way,), daemon=True) for way in ways]
problems = []
threading.excepthook = lambda what: problems.append(what.exc_value)
for taker in takers:
    taker.start()
i = 0
while i < {rounds} or (len(set(taken)) < len(ways) and not problems):  # each way at least once
    i += 1
    rows = [{{f"x{{j}}": float(j), f"c{{j % 7}}": f"v{{i % {rounds} * j}}"}} for j in range(i % {rounds})]
    model.learn_many(rows, [f"k{{i % {rounds}}}"] * len(rows))
    for row in rows[:5]:
        model.learn_one(row, "k0")
stop.set()
for taker in takers:
    taker.join(60)
    assert not taker.is_alive(), "a thread waits for ever"
assert not problems, problems
print("whole")
"""


def test_who_copies_pickles_saves_or_merges_while_another_thread_learns_gets_one_state():
    makes = {"NaiveBayes()": True, "NaiveBayes(numeric='gk')": True, "HoeffdingTree()": False}
    assert_whole([COPYING.format(make=m, whole=counts, rounds=ROUNDS) for m, counts in makes.items()])
