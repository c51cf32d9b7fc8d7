"""Frames: what is kept while a column warms up, when it freezes, and what refuses to merge."""

from __future__ import annotations

import numpy as np
import pytest
from tests.summaries.columns import block_of, plan

from bayou.errors import MergeError
from bayou.summaries.frame import Frames


def warming(p=2, rows=5):
    frames = Frames(rows)
    frames.resize(p)
    return frames


def test_columns_fill_by_their_own_values():
    frames = warming()
    x = np.array([[1.0, np.nan], [2.0, 7.0], [3.0, np.nan], [4.0, 8.0], [5.0, 9.0], [6.0, 1.0]])
    first = frames.take(block_of(x, np.zeros(6)))
    assert first.tolist() == [5, 6]
    assert frames.ready().tolist() == [0]
    assert [a.tolist() for a in frames.kept(1)] == [[7.0, 8.0, 9.0, 1.0], [0, 0, 0, 0], [1.0, 1.0, 1.0, 1.0]]


def test_freezing_fixes_the_range_and_empties_the_buffer():
    frames = warming(1)
    frames.take(block_of([3.0, 1.0, 2.0, 5.0, 4.0], [0, 1, 0, 1, 0]))
    x, y, w = frames.freeze(0)
    assert (x.tolist(), y.tolist(), w.tolist()) == ([3.0, 1.0, 2.0, 5.0, 4.0], [0, 1, 0, 1, 0], [1.0] * 5)
    assert (frames.low[0], frames.high[0]) == (1.0, 5.0)
    assert frames.warm_values.shape == (1, 0)
    assert frames.take(block_of([9.0], [0])).tolist() == [0]


@pytest.mark.parametrize(("value", "half"), [(3.0, 0.5), (0.0, 0.5), (-1e12, 1e6)])
def test_a_constant_gets_some_width(value, half):
    frames = warming(1)
    frames.add(0, np.full(5, value), np.zeros(5, np.int32), np.ones(5))
    frames.freeze(0)
    assert (frames.low[0], frames.high[0]) == (value - half, value + half)


def test_there_is_no_more_room_than_rows():
    frames = warming(1)
    assert frames.add(0, np.arange(3.0), np.zeros(3, np.int32), np.ones(3)) == 3
    assert frames.add(0, np.arange(3.0), np.zeros(3, np.int32), np.ones(3)) == 2


def test_different_ranges_refuse_with_a_way_out():
    a, b = warming(), warming()
    a.fix(1, 0.0, 1.0)
    a.check_same(b)
    b.fix(1, 0.0, 2.0)
    with pytest.raises(MergeError, match=r"column 1 .*\[0, 1\] here .*\[0, 2\] there.*model\.fresh\(\)"):
        a.check_same(b)


def test_before_there_is_a_schema_there_are_no_columns():
    assert {name: array.shape[0] for name, array in Frames(5).arrays().items()} == dict.fromkeys(
        ("warm_values", "warm_labels", "warm_weights", "filled", "low", "high"), 0
    )


def test_once_all_columns_are_frozen_a_new_class_brings_no_buffer_back():
    frames = warming(2)
    frames.take(block_of(np.ones((3, 2)), [0, 1, 0]))
    frames.fix(0, 0.0, 1.0), frames.fix(1, 0.0, 1.0)
    assert frames.warm_values.shape == (2, 0)
    frames.realign(plan(2, 3, 2, 2))
    assert frames.warm_values.shape == frames.warm_labels.shape == frames.warm_weights.shape == (2, 0)
    frames.realign(plan(3, 3, 2, 3))
    assert frames.warm_values.shape == (3, 5)


def test_growing_moves_ranges_and_buffers_and_warms_new_columns():
    frames = warming(1)
    frames.take(block_of([3.0, 1.0], [0, 1]))
    wider = plan(2, 3, 1, 2)
    wider.numeric.to[:] = [1]
    wider.classes.to[:] = [2, 0]
    frames.realign(wider)
    assert [a.tolist() for a in frames.kept(1)] == [[3.0, 1.0], [2, 0], [1.0, 1.0]]
    frames.fix(0, 0.0, 1.0), frames.fix(1, 0.0, 1.0)
    frames.realign(plan(3, 3, 2, 3))
    assert frames.frozen.tolist() == [True, True, False]
    assert frames.take(block_of(np.ones((1, 3)), [0])).tolist() == [0, 0, 1]
    twin = Frames(5)
    twin.restore(frames.arrays())
    assert twin.kept(2)[0].tolist() == [1.0]
