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
