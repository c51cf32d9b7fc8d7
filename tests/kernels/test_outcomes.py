"""The cell of a score, found by table, is the one found by searching the edges."""

from __future__ import annotations

import numpy as np
from tests.reach import reach

from bayou.kernels.outcomes import CELLS, EDGES, score_cell


def test_cells_of_scores_are_those_between_the_edges() -> None:
    cell = reach(score_cell)
    inner = EDGES[1:-1]
    near = np.concatenate([inner, np.nextafter(inner, 0), np.nextafter(inner, 1)])
    powers = 2.0 ** -np.arange(0, 60.0)
    random = np.random.default_rng(0).random(20_000)
    p = np.concatenate([[0.0, 0.5, 1.0], near, powers, 1 - powers, random, random**20, 1 - random**20])
    assert [cell(v) for v in p] == (np.searchsorted(EDGES, p, side="right") - 1).tolist()
    assert len(EDGES) == CELLS + 1
