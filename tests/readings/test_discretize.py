"""discretize and group on data in memory: labels of any kind, missing values, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayou.errors import DataError
from bayou.readings.discretize import discretize, group
from bayou.readings.equal import EqualWidth
from bayou.readings.modl_groups import MODLGroups

STEP = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize("labels", [("a", "b"), (0, 1), (False, True), (0.5, 1.5), (None, "x"), (b"p", b"q")])
def test_labels_of_any_kind(labels):
    found = discretize(STEP, [labels[0]] * 4 + [labels[1]] * 4)
    if None in labels:
        assert found.counts.tolist() == [[4.0]]
    else:
        assert found.cuts.tolist() == [4.5]
        assert found.counts.tolist() == [[4.0, 0.0], [0.0, 4.0]]


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series])
def test_columns_of_any_kind(make):
    found = discretize(make(STEP), make(["a"] * 4 + ["b"] * 4))
    assert found.cuts.tolist() == [4.5]


def test_labels_of_mixed_types_are_kept_apart():
    found = discretize([1, 1, 1, 2, 2, 2], [1, 1, "1", "1", "1", "1"])
    assert found.counts.sum() == 6.0
    assert found.counts.shape[1] == 2


def test_missing_values_and_labels_leave_their_rows_out():
    values = [*STEP, None, float("nan"), float("inf"), 1e200, 5.0]
    labels = ["a"] * 4 + ["b"] * 4 + ["a", "a", "a", "a", None]
    found = discretize(values, labels)
    assert found.counts.tolist() == [[4.0, 0.0], [0.0, 4.0]]
    frame = pd.DataFrame({"x": pd.array([1, 2, None], dtype="Int64"), "y": pd.array(["a", None, "b"])})
    assert discretize(frame["x"], frame["y"]).counts.sum() == 1.0


def test_nothing_left_is_one_empty_interval():
    for values, labels in (([], []), ([None], ["a"]), ([1.0], [None])):
        found = discretize(values, labels)
        assert found.n_parts == 1
        assert found.level == 0.0
    assert group([], []).n_parts == 1


def test_another_discretiser():
    assert discretize(STEP, [0] * 8, EqualWidth(bins=2)).cuts.tolist() == [4.5]


def test_values_are_grouped_by_name():
    found = group(["x", "y", "z", None] * 10, [0, 1, 0, 1] * 10)
    assert found.groups == [["x", "z"], ["y"]]
    assert found.values == ("x", "y", "z")
    numbers = group(np.array([7, 8, 9] * 10), [0, 1, 0] * 10, MODLGroups(prior="khiops"))
    assert numbers.groups == [[7, 9], [8]]


def test_bad_input_is_named():
    with pytest.raises(DataError, match=r"row 1: not a number: 'abc'"):
        discretize([1.0, "abc"], [0, 1])
    with pytest.raises(DataError, match=r"row 0: not a number: True"):
        discretize([True, 2], [0, 1])
    with pytest.raises(DataError, match="2 values but 3 classes"):
        discretize([1.0, 2.0], [0, 1, 1])
    with pytest.raises(DataError, match="one column"):
        discretize(np.zeros((2, 2)), [0, 1])
    with pytest.raises(DataError, match=r"row 1: not usable as a label: \[1\]"):
        group(["a", [1]], [0, 1])
    with pytest.raises(DataError, match="row 0: not a number"):
        discretize([object()], [0])
