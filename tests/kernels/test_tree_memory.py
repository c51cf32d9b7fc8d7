"""Which leaves keep statistics, beside a slow way of choosing them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reach import reach

from bayou.kernels.tree import AT_MOST, SLOT, TEST
from bayou.kernels.tree_memory import (
    LOYALTY,
    choose_leaves,
    dormant_leaves,
    empty_tournament,
    enter,
    free_slot,
    least_player,
)


def some_tree(rng, count):
    """Nodes of which some are leaves, some of these with slots; promises often tie."""
    nodes = np.zeros((count + 3, 8), dtype=np.int64)
    nodes[:count, TEST] = np.where(rng.random(count) < 0.3, AT_MOST, 0)
    leaves = np.flatnonzero(nodes[:count, TEST] == 0)
    slots = rng.permutation(2 * count)[: len(leaves)] + 1
    nodes[leaves, SLOT] = np.where(rng.random(len(leaves)) < 0.5, slots, 0)
    return nodes, rng.integers(0, 4, (count + 3, 3)).astype(float), leaves


def chosen(nodes, weight, leaves, most):
    """The leaves that leave and those that come, by sorting all of them."""
    active = {leaf for leaf in leaves.tolist() if nodes[leaf, SLOT] > 0}
    promise = {
        leaf: (sum(weight[leaf]) - max(weight[leaf])) * (LOYALTY if leaf in active else 1.0)
        for leaf in leaves.tolist()
    }
    keep = set(sorted(promise, key=lambda leaf: (-promise[leaf], leaf))[:most])
    return sorted(active - keep), sorted(keep - active)


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_the_most_promising_leaves_keep_statistics(count):
    rng = np.random.default_rng(count)
    for _ in range(60):
        nodes, weight, leaves = some_tree(rng, count)
        most = int(rng.integers(1, count + 2))
        leaving, coming = np.empty((2, count + 1), dtype=np.int64)
        choose_leaves(leaving, coming, nodes, weight, count, most)
        found = (leaving[1 : 1 + leaving[0]].tolist(), coming[1 : 1 + coming[0]].tolist())
        assert found == chosen(nodes, weight, leaves, most)
        assert dormant_leaves(nodes, count) == sum(nodes[leaf, SLOT] == 0 for leaf in leaves)
        taken = set(nodes[:count, SLOT].tolist())
        assert free_slot(nodes, count) == next(slot for slot in range(count + 1) if slot + 1 not in taken)


@pytest.mark.parametrize("players", [0, 1, 2, 5, 8, 33])
def test_a_tournament_is_won_by_the_least_value(players):
    rng = np.random.default_rng(players)
    tournament, values = reach(empty_tournament)(players), [np.inf] * players
    assert reach(least_player)(tournament, False) == reach(least_player)(tournament, True) == -1
    for player in rng.integers(0, max(1, players), 200 * (players > 0)).tolist():
        values[player] = rng.choice([-1.0, 0.0, 0.5, 2.0, np.inf])  # few, so that they tie
        reach(enter)(tournament, player, values[player])
        least = [i for i, value in enumerate(values) if value == min(values) < np.inf] or [-1]
        assert reach(least_player)(tournament, False) == least[0]
        assert reach(least_player)(tournament, True) == least[-1]
        assert tournament[1] == min(values)
