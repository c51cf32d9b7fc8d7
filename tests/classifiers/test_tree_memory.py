"""The memory limit of a tree on a long stream whose concept keeps changing, so that it never stops wanting more.

With BAYOU_LONG=1 the stream has 10 million rows.
"""

from __future__ import annotations

import os
import pickle

import numpy as np
import pyarrow as pa
import pytest

from bayou import Gini, HoeffdingTree
from bayou.summaries.tree import Tree
from bayou.views.growing_tree import GrowingTree

BATCH = 10_000
ROWS = 10_000_000 if os.environ.get("BAYOU_LONG") else 100_000
LIMIT = 1 << 20 if os.environ.get("BAYOU_LONG") else 1 << 17
NAMES = np.array(["a", "b", "c", "d"])


def batch(number):
    """5 numeric and 3 nominal columns; every tenth of the stream another concept."""
    rng = np.random.default_rng(number)
    x = rng.random((BATCH, 5))
    codes = rng.integers(0, 4, (BATCH, 3))
    concept = 10 * number * BATCH // ROWS
    first, second = concept % 5, (concept + 2) % 5
    y = np.where(codes[:, concept % 3] < 2, x[:, first] > 0.5, x[:, first] + x[:, second] > 0.9)
    y = np.where(rng.random(BATCH) < 0.05, ~y, y)
    columns = {f"x{j}": x[:, j] for j in range(5)} | {f"n{j}": NAMES[codes[:, j]] for j in range(3)}
    return columns, np.array(["no", "yes"])[y.astype(int)]


def test_the_limit_is_kept_and_used_to_a_tenth():
    model = HoeffdingTree(grace=100, memory=LIMIT)
    used, written = [], []
    for number in range(ROWS // BATCH):
        columns, y = batch(number)
        model.learn_many(pa.table(columns), y)
        used.append(model.memory_bytes)
        if number % 10 == 9:
            # What there really is: state, tables, schema, all objects
            written.append(len(pickle.dumps(model)))
    assert max(used) <= LIMIT
    assert max(written) <= 1.1 * LIMIT
    assert min(used[len(used) // 2 :]) >= 0.9 * LIMIT
    tree = model.tree.summary
    assert 0 < tree.dormant < model.leaves


@pytest.mark.parametrize("split", ["g-test", Gini(binary=True)], ids=["g-test", "gini"])
def test_the_kernel_gives_slots_to_the_leaves_that_python_would_choose(monkeypatch, split):
    kept, looks = Tree.learn, []

    def in_python(tree, block, first, kind, grace, rules, watched, limited, *rest):
        looks.append(limited)
        return kept(tree, block, first, kind, grace, rules, watched or limited, False, *rest)

    states = []
    for learn in (kept, in_python):
        monkeypatch.setattr(Tree, "learn", learn)
        model = HoeffdingTree(grace=20, delta=0.5, tie=0.5, split=split, memory=1 << 16)
        for number in range(3):
            columns, y = batch(number)
            model.learn_many(pa.table(columns)[:3000], y[:3000])
        assert model.tree.summary.dormant > 0
        states.append(model.engine.arrays())
    assert sum(looks) > 50
    assert all(np.array_equal(array, states[1][name]) for name, array in states[0].items())


@pytest.mark.parametrize("memory", [1 << 14, 1 << 15, 1 << 16, 1 << 17, None])
def test_leaves_split_in_the_kernel_while_the_schema_grows_as_python_would_split_them(monkeypatch, memory):
    learn, attempt, attempts = Tree.learn, GrowingTree._attempt, [0]

    def no_room(tree, block, first, kind, grace, rules, watched, limited, room, *rest):
        return learn(tree, block, first, kind, grace, rules, watched, limited, 0, *rest)

    def counted(view, *of_what):
        attempts[-1] += 1
        attempt(view, *of_what)

    monkeypatch.setattr(GrowingTree, "_attempt", counted)
    states = []
    for in_python in (False, True):
        if in_python:
            monkeypatch.setattr(Tree, "learn", no_room)
            monkeypatch.setattr(GrowingTree, "_make_room", lambda view, lacks: False)
            attempts.append(0)
        model = HoeffdingTree(grace=20, delta=0.5, tie=0.5, memory=memory)
        for number in range(3):  # every batch has a new value, two new columns and a new class
            columns, y = batch(4 * number)
            names = np.char.add(columns["n0"], np.where(columns["x0"] > 0.7, str(number), ""))
            columns |= {"n0": names, f"x{number} again": columns["x1"], f"n{number} again": columns["n1"]}
            y = np.where(columns["x3"] > 0.9, f"class {number}", y)
            model.learn_many(pa.table(columns)[:1000], y[:1000])
        states.append(model.engine.arrays())
    assert attempts[0] < attempts[1]
    assert memory is not None or attempts[0] == 0
    assert states[0].keys() == states[1].keys()
    assert all(np.array_equal(array, states[1][name]) for name, array in states[0].items())
