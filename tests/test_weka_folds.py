"""Folds dealt out as Weka does it: made by Weka 3.9.7 itself (`randomize(new Random(seed))`, `stratify`, `testCV`)."""

from __future__ import annotations

import numpy as np
from reproduce.weka_folds import JavaRandom, weka_folds

LABELS = [0, 0, 1, 0, 1, 2, 1, 0, 0, 2, 1, 1, 0]


def test_random_numbers_of_java():
    rng = JavaRandom(-5)
    assert [rng.below(1 << 28) for _ in range(6)] == [
        72289926,
        97558340,
        89682244,
        92249541,
        102245669,
        185772423,
    ]
    wanted = [617011057, 497885393, 741576374, 729537158, 245762545, 563232475]
    assert [rng.below(1_500_000_001) for _ in range(6)] == wanted


def test_folds_of_weka():
    folds = {seed: list(weka_folds(LABELS, 4, seed)) for seed in (1, 2)}
    assert [test.tolist() for _, test in folds[1]] == [[5, 0, 10, 4], [9, 3, 11], [1, 8, 2], [7, 12, 6]]
    assert [test.tolist() for _, test in folds[2]] == [[1, 7, 6, 5], [12, 0, 2], [3, 11, 4], [8, 10, 9]]
    for train, test in folds[1]:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(LABELS)))
