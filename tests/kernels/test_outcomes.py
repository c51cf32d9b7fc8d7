"""Kernels of outcomes: cells of scores found by table, and what fades."""

from __future__ import annotations

import numpy as np
from tests.reach import reach

from bayou.kernels.last_label import recode
from bayou.kernels.outcomes import CELLS, EDGES, fade_outcomes, score_cell
from bayou.kernels.portions import add_rows


def test_cells_of_scores_are_those_between_the_edges() -> None:
    cell = reach(score_cell)
    inner = EDGES[1:-1]
    near = np.concatenate([inner, np.nextafter(inner, 0), np.nextafter(inner, 1)])
    powers = 2.0 ** -np.arange(0, 60.0)
    random = np.random.default_rng(0).random(20_000)
    p = np.concatenate([[0.0, 0.5, 1.0], near, powers, 1 - powers, random, random**20, 1 - random**20])
    assert [cell(v) for v in p] == (np.searchsorted(EDGES, p, side="right") - 1).tolist()
    assert len(EDGES) == CELLS + 1


def test_what_is_long_ago_fades_to_nothing() -> None:
    """Not to a denormal number, which would stay for ever and make every row after it slow."""
    n, k = 2_000, 2
    y, guesses, losses = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros((n, 2))
    y[0] = guesses[0] = 1
    true, predicted, right, sums = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(8)
    fade_outcomes(true, predicted, right, sums, np.array([-1, -1, 0]), 0.5, y, np.ones(n), guesses, losses)
    for found in (true, predicted, right):
        assert found.tolist() == [2.0, 0.0]
    assert sums.tolist() == [2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 2.0, 0.0]


def test_rows_are_added_to_a_weight_that_is_no_integer_one_by_one() -> None:
    """As many ones added at once would be rounded once, and not in every sum."""
    for weight in (0.3, 1.7, 1023.9, 5.0):
        cells, wanted = np.array([0.0, weight]), weight
        reach(add_rows)(cells, 1, 3_000)
        for _ in range(3_000):
            wanted += 1.0
        assert cells.tolist() == [0.0, wanted]


def test_codes_are_translated_and_others_are_missing() -> None:
    out = np.empty(6, np.int32)
    recode(np.array([2, 0, 1], np.int32), np.array([0, 1, 2, -1, 3, 0], np.int32), out)
    assert out.tolist() == [2, 0, 1, -1, -1, 2]
