"""Nominal values at the leaves of a tree: what is kept current beside what the counts say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.reach import reach

from bayou.kernels.tree_values import (
    add_known_terms,
    add_nominal_terms,
    find_cells,
    learn_nominal,
    read_slot_nominal,
)
from bayou.kernels.value_counts import fill_logs

LOGS = np.empty(64)
fill_logs(LOGS, 0)
S, K = 2, 3
ARRAYS = ("counts", "present", "above", "below", "known", "seen")


def empty_slots(sizes, declared):
    """The arrays of S slots that have seen nothing, and the offsets of their cells."""
    offsets, q = np.concatenate(([0], np.cumsum(sizes))), len(sizes)
    cells = int(offsets[-1])
    kept = {
        "counts": np.zeros((S, cells, K)),
        "present": np.zeros((S, q, K)),
        "above": np.zeros((S, K, cells)),
        "below": np.zeros((S, K, q)),
        "known": np.zeros((S, cells), dtype=np.bool_),
        "seen": np.zeros((S, q), dtype=np.int64),
    }
    for s in range(S):
        read(kept, s, declared, offsets)
    return kept, offsets


def read(kept, s, declared, offsets):
    out = [kept[name][s] for name in ("above", "below", "known", "seen", "counts", "present")]
    read_slot_nominal(*out, declared, offsets, LOGS)


def some_rows(rng, sizes, n):
    """Rows whose columns mostly have their first value, as at a leaf; in half of the rows some are missing."""
    codes = np.where(rng.random((n, len(sizes))) < 0.7, 0, rng.integers(0, sizes, (n, len(sizes))))
    missing = rng.random(codes.shape) < 0.1 * (np.arange(n)[:, np.newaxis] % 2)
    return np.where(missing, -1, codes).astype(np.int32)


@pytest.mark.parametrize("columns", [0, 1, 3, 4, 7, 63, 64, 66, 131])
def test_logarithms_kept_row_by_row_are_those_of_the_counts(columns):
    rng = np.random.default_rng(columns)
    sizes = rng.integers(1, 5, columns)
    declared = rng.integers(0, 6, columns)
    kept, offsets = empty_slots(sizes, declared)
    cells, terms = np.empty(columns, np.uint64), np.empty(columns)
    met_known = 0
    for codes in some_rows(rng, sizes, 120):
        s, c, w = int(rng.integers(S)), int(rng.integers(K)), float(rng.choice([1.0, 0.3, 2.5]))
        here = kept["known"][s, (offsets[:-1] + codes)[codes >= 0]]
        all_known = reach(find_cells)(cells, kept["known"], s, offsets, codes)
        assert all_known == bool((codes >= 0).all() and here.all())
        prior = np.where(rng.random(K) < 0.3, -np.inf, np.log(rng.random(K)))
        score = prior.copy()
        reach(add_nominal_terms)(score, terms, kept["above"], kept["below"], kept["known"], s, cells, codes)
        assert score == pytest.approx(prior + log_likelihood(kept, s, declared, offsets, codes), rel=1e-12)
        if all_known:
            same = prior.copy()
            reach(add_known_terms)(same, kept["above"], kept["below"], s, cells)
            assert same.tobytes() == score.tobytes()
            met_known += 1
        state = [kept[name] for name in ARRAYS]
        reach(learn_nominal)(*state, s, all_known, declared, LOGS, cells, codes, c, w)
        fresh = {name: kept[name].copy() for name in ARRAYS}
        for slot in range(S):
            read(fresh, slot, declared, offsets)
        for name in ARRAYS:
            assert np.array_equal(kept[name], fresh[name]), name
    assert met_known > 0


def log_likelihood(kept, s, declared, offsets, codes):
    """The sum over columns, class by class, straight from the counts."""
    found = np.zeros(K)
    for j, v in enumerate(codes.tolist()):
        counts = kept["counts"][s, offsets[j] : offsets[j + 1]]
        if v < 0 or not counts[v].any():
            continue
        values = max(int(counts.any(axis=1).sum()), int(declared[j]))
        for c in range(K):
            found[c] += math.log((counts[v, c] + 1.0) / (counts[:, c].sum() + values))
    return found
