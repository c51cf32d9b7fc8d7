"""Track records: all parts in one kernel, as each of them alone; baselines by labels, as by their predictions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bayou.block import Block, Floats
from bayou.evaluate.curve import Curve
from bayou.evaluate.record import Record
from bayou.kernels.outcomes import EDGES, PORTION
from bayou.summaries.outcomes import class_plan, scored_rows

PARTS = ("confusion", "losses", "recent", "faded", "no_change", "majority", "first")
WEIGHTS = {"one": [1.0], "none or one": [0.0, 1.0], "whole": [0.0, 1.0, 2.0], "any": [0.0, 0.3, 1.0, 1.7]}


def fresh(k: int, window: int = 40, alpha: float = 0.999) -> Record:
    record = Record(window, alpha)
    record.realign(class_plan([], [f"c{i}" for i in range(k)]))
    return record


def rows(n: int, k: int, weights: list[float], seed: int = 0, decides: bool = False) -> Block:
    """Rows, some of them without label, weight, prediction or decision."""
    random = np.random.default_rng(seed)
    proba = random.dirichlet([0.2] * k, n)
    proba[::9] = 0.0
    decided = random.integers(-1, k, n).astype(np.int32) if decides else None
    first = 0 if weights == [1.0] else -1
    return scored_rows(random.integers(first, k, n), proba, random.choice(weights, n), decided)


def assert_same(found: Record, wanted: Record) -> None:
    arrays = found.arrays()
    for name, array in wanted.arrays().items():
        np.testing.assert_array_equal(arrays[name], array, err_msg=name)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_counts_what_each_of_its_parts_counts_alone(weights: str, k: int) -> None:
    together, apart = fresh(k), fresh(k)
    for n in (1, 30, 200, 3 * PORTION):
        block = rows(n, k, WEIGHTS[weights], n + k, n == 30)
        together.update(block, [n // 2, n])
        for part in PARTS:
            getattr(apart, part).update(block)
    assert_same(together, apart)


@pytest.mark.parametrize("decides", [False, True])
@pytest.mark.parametrize("classes", ["unlike", "alike", "equal"])
def test_two_classes_of_which_every_row_has_a_prediction(classes: str, decides: bool) -> None:
    """Scores that fall into opposite cells, near their edges, or both into the one of a half."""
    random, n = np.random.default_rng(0), 5 * PORTION + 7
    p = {"unlike": random.random(n), "alike": random.choice(EDGES[100:157], n), "equal": np.full(n, 0.5)}[
        classes
    ]
    p[PORTION : 2 * PORTION] = random.random(PORTION) ** 9
    decided = random.integers(-1, 2, n).astype(np.int32) if decides else None
    block = scored_rows(random.integers(0, 2, n), np.stack([p, 1.0 - p], axis=1), decided=decided)
    together, apart = fresh(2), fresh(2)
    together.update(block, [PORTION, n - 3])
    for part in PARTS:
        getattr(apart, part).update(block)
    assert_same(together, apart)


@pytest.mark.parametrize("k", [2, 3])
def test_a_majority_that_changes_and_one_that_stays(k: int) -> None:
    """Few rows ahead, many rows ahead, and a tie again, for the hits of the majority class."""
    random = np.random.default_rng(k)
    parts = [random.integers(0, k, 300), np.full(2_000, 1), random.integers(0, k, 999), np.full(2_100, 0)]
    y = np.concatenate([*parts, random.integers(0, k, 3_000)]).astype(np.int32)
    together, apart = fresh(k), fresh(k)
    together.count_labels(y)
    block = scored_rows(y, None)
    apart.no_change.update(block)
    apart.majority.update(block)
    for name in ("sums", "weight"):
        np.testing.assert_array_equal(getattr(together.majority, name), getattr(apart.majority, name))
    np.testing.assert_array_equal(together.no_change.sums, apart.no_change.sums)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_points_are_what_the_record_says_after_so_many_rows(weights: str, k: int) -> None:
    """Whatever the weights, and whether or not a window follows the one before."""
    whole, parts, n = fresh(k, 30), fresh(k, 30), 1000
    block = rows(n, k, WEIGHTS[weights], k)
    present = np.flatnonzero((block.y >= 0) & (block.w > 0))
    points = sorted({*(present[29:600:30] + 1).tolist(), 555, 900, n})
    read = whole.update(block, points)
    lo = 0
    for hi, point in zip(points, read, strict=True):
        parts.update(block.rows(lo, hi))
        np.testing.assert_array_equal(point, parts.point())
        lo = hi
    assert_same(whole, parts)


@pytest.mark.parametrize("weights", ["whole", "any"])
def test_rows_of_one_after_rows_of_other_weights(weights: str) -> None:
    """Windows that hold both, and sums that are not whole."""
    together, apart = fresh(3), fresh(3)
    for n, kind in ((60, weights), (30, "one"), (500, "none or one"), (500, "one")):
        block = rows(n, 3, WEIGHTS[kind], n)
        read = together.update(block, [n // 3, n])
        for i, (lo, hi) in enumerate(pairwise([0, n // 3, n])):
            for part in PARTS:
                getattr(apart, part).update(block.rows(lo, hi))
            np.testing.assert_array_equal(read[i], apart.point())
    assert_same(together, apart)


def test_points_before_the_first_label() -> None:
    record = fresh(2, 5)
    read = record.update(scored_rows([-1] * 20 + [0, 1], np.full((22, 2), 0.5)), [10, 20, 21])
    assert not read[:2].any()
    assert read[2, :, 0].tolist() == [1.0, 1.0, 1.0]
    assert record.running.weight == 2.0


@pytest.mark.parametrize("cuts", [[1100], [1037, 1038, 1279, 1280], [1, 7, 300, 1000, 1050, 1281]])
def test_what_has_faded_is_forgotten_at_row_numbers(cuts: list[int]) -> None:
    """A class that comes no more: its weight ends at 0, at the same row however rows are cut, and alone."""
    n, alpha = 6 * PORTION, 0.5
    proba = np.tile([1.0, 0.0], (n, 1))
    proba[:40] = [0.2, 0.8]
    block = scored_rows([1] * 40 + [0] * (n - 40), proba)
    parts = fresh(2, 40, alpha)
    for lo, hi in pairwise([0, *cuts, n]):
        parts.update(block.rows(lo, hi))
        whole, alone = fresh(2, 40, alpha), fresh(2, 40, alpha)
        whole.update(block.rows(0, hi))
        for part in PARTS:
            getattr(alone, part).update(block.rows(0, hi))
        assert_same(parts, whole)
        assert_same(alone, whole)
    faded = parts.faded
    assert faded.true[1] == faded.predicted[1] == faded.right[1] == faded.sums[4] == faded.sums[7] == 0.0


def _majority(y: list[int], k: int) -> Floats:
    proba, counts = np.zeros((len(y), k)), np.zeros(k)
    for i, c in enumerate(y):
        proba[i] = counts / max(counts.sum(), 1.0)
        counts[c] += 1.0
    return proba


def _no_change(y: list[int], k: int) -> Floats:
    proba = np.zeros((len(y), k))
    for i, c in enumerate(y[:-1]):
        proba[i + 1, c] = 1.0
    return proba


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("said", [_majority, _no_change])
@pytest.mark.parametrize("skewed", [False, True])
def test_baselines_by_their_labels_are_what_their_predictions_say(k: int, said: Any, skewed: bool) -> None:
    """Steady shares, and shares that cross edges of cells: the classes are as many, or one of them is most."""
    random, n = np.random.default_rng(k), 6_000
    y = random.choice(k, n, p=[0.7, *[0.3 / (k - 1)] * (k - 1)] if skewed and k > 1 else None)
    block, points = scored_rows(y, said(y.tolist(), k)), [500, 3_000, n]
    given, by_labels = fresh(k, 300), fresh(k, 300)
    wanted, read = given.update(block, points), []
    for lo, hi in ((0, 1), (1, 700), (700, 4_000), (4_000, n)):
        inside = [point - lo for point in points if lo < point <= hi]
        labels = by_labels.count_labels(block.y[lo:hi], inside)
        read += list(by_labels.update_baseline(labels, said is _majority))
    np.testing.assert_array_equal(read, wanted)
    assert_same(by_labels, given)


def test_a_copy_is_independent() -> None:
    record = fresh(3)
    record.update(rows(100, 3, [1.0]))
    twin = record.copy()
    assert_same(twin, record)
    record.update(rows(100, 3, [1.0]))
    assert twin.running.weight == 100.0
    assert record.running.weight == 200.0


def test_curves_are_equal_if_their_values_are() -> None:
    points = np.full((1, 3, 2), np.nan)
    assert Curve((10,), points) == Curve((10,), points.copy())
    assert hash(Curve((10,), points)) == hash(Curve((10,), points.copy()))
    assert Curve((10,), points) != Curve((11,), points)
    assert Curve((10,), points) != Curve((10,), np.zeros((1, 3, 2)))
