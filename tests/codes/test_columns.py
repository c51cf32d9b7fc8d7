"""Which columns of a code are classifiers of their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayou.codes import BCH, distances, useful_columns

MATRICES = arrays(
    np.int8, st.tuples(st.integers(2, 6), st.integers(0, 12)), elements=st.sampled_from([-1, 0, 1])
)


@given(MATRICES, st.data())
@settings(deadline=None)
def test_every_useful_column_is_there_once_with_its_weight(matrix, data):
    possible = np.array(data.draw(st.lists(st.booleans(), min_size=len(matrix), max_size=len(matrix))))
    found = useful_columns(matrix, possible)
    expected: dict[tuple[int, ...], int] = {}
    for column in (matrix * possible[:, None]).T.tolist():
        if 1 in column and -1 in column:
            leading = next(s for s in column if s)
            key = tuple(leading * s for s in column)
            expected[key] = expected.get(key, 0) + 1
    assert [tuple(row) for row in found.signs.tolist()] == list(expected)
    assert found.weight.tolist() == list(expected.values())


@given(MATRICES)
@settings(deadline=None)
def test_spread_is_the_mean_distance_that_the_columns_leave(matrix):
    everybody = np.ones(len(matrix), dtype=bool)
    columns = useful_columns(matrix, everybody)
    if len(columns.signs):
        repeated = np.repeat(columns.signs, columns.weight.astype(int), axis=0)
        assert columns.spread(everybody) == pytest.approx(distances(repeated.T).mean(), rel=1e-12)


def test_no_more_columns_than_there_are_ways_to_divide():
    for k, most in ((2, 1), (3, 3), (4, 7)):
        assert len(useful_columns(BCH(127).rows(k), np.ones(k, dtype=bool)).signs) <= most
    assert len(useful_columns(BCH(127).rows(1), np.ones(1, dtype=bool)).signs) == 0
