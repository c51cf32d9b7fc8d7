"""Document 004's tree and bagging by batch, the references of the streaming ones: by hand and by brute force."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from reproduce.batch_tree import BatchTree, bagged, majority, taken, votes

from bayou.block import Block
from bayou.readings.splits import Gini, InformationGain

SPAM = json.loads((Path(__file__).parents[1] / "vectors" / "seed_examples.json").read_text())["spam_tree"]


def block_of(codes, y, numeric=None):
    codes = np.array(codes, dtype=np.int32).reshape(len(y), -1)
    numeric = np.zeros((len(y), 0)) if numeric is None else np.array(numeric, dtype=float).reshape(len(y), -1)
    return Block(numeric, codes, (), np.array(y, dtype=np.int32), np.ones(len(y)))


def spam():
    """The lecture's six mails, values as codes."""
    table = [
        ("yes", "com", "yes", "night", 1), ("yes", "edu", "no", "night", 1), ("no", "com", "yes", "night", 1),
        ("no", "edu", "no", "day", 0), ("no", "com", "no", "day", 0), ("yes", "cat", "no", "day", 1),
    ]  # fmt: skip
    names = [sorted({row[j] for row in table}) for j in range(4)]
    return block_of([[names[j].index(row[j]) for j in range(4)] for row in table], [row[4] for row in table])


@pytest.mark.parametrize("rule", [InformationGain(min_branch=0.0), Gini(min_branch=0.0)])
def test_the_lectures_tree(rule):
    """Money and time tell most (.459 bits each); the first is taken, then the rest is pure after one more split."""
    block = spam()
    tree = BatchTree(rule).grow(block, 2)
    assert tree.split.column == 0
    assert np.array_equal(votes(tree, block), block.y)
    assert all(np.count_nonzero(leaf.weight) == 1 for leaf in leaves(tree))


def leaves(node):
    return [leaf for branch in node.branches for leaf in leaves(branch)] if node.branches else [node]


def gain(y, way):
    """Information gain in bits."""

    def entropy(labels):
        shares = np.bincount(labels) / max(1, len(labels))
        return -sum(s * np.log2(s) for s in shares if s > 0)

    return entropy(y) - sum(np.mean(way == b) * entropy(y[way == b]) for b in np.unique(way))


@pytest.mark.parametrize("seed", range(5))
def test_every_split_is_the_best_of_all(seed):
    """Brute force over all columns and all cuts between values."""
    rng = np.random.default_rng(seed)
    numeric, codes, y = (
        rng.normal(size=(40, 2)).round(1),
        rng.integers(3, size=(40, 2)),
        rng.integers(3, size=40),
    )
    block = block_of(codes, y, numeric)
    split = BatchTree().best(block, 3)
    ways = [numeric[:, j] > t for j, t in product(range(2), sorted(set(numeric.ravel().tolist())))]
    best = max([gain(y, w) for w in ways] + [gain(y, codes[:, j]) for j in range(2)])
    mine = numeric[:, split.column] > split.cut if split.groups == () else codes[:, split.column]
    assert gain(y, mine) == pytest.approx(best, rel=1e-9)


def test_a_tree_grown_until_pure_knows_its_rows():
    rng = np.random.default_rng(0)
    block = block_of(rng.integers(4, size=(200, 5)), rng.integers(2, size=200), rng.normal(size=(200, 3)))
    assert np.array_equal(votes(BatchTree().grow(block, 2), block), block.y)
    stump = BatchTree(depth=1).grow(block, 2)
    assert stump.size() == 1 + len(stump.branches)


def test_bagging_votes_of_bootstrap_samples():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 4))
    y = (x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=600) > 0).astype(int)
    block = block_of(np.zeros((600, 0)), y, x)
    train, held = taken(block, np.arange(400)), taken(block, np.arange(400, 600))
    trees = bagged(train, 2, 25, seed=3)
    alone = [np.mean(votes(tree, held) == held.y) for tree in trees]
    together = np.mean(majority(trees, held, 2) == held.y)
    assert together > np.mean(alone)
    by_hand = np.array([votes(tree, held) for tree in trees]).sum(axis=0) * 2 > len(trees)
    assert np.array_equal(majority(trees, held, 2), by_hand.astype(int))
