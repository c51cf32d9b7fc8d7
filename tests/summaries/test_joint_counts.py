"""Joint counts as a summary: laws, both ways of counting, grids, growth, budget."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.align import from_empty
from bayou.align import grown as plan
from bayou.block import Block
from bayou.errors import DataError, MergeError, SchemaError
from bayou.hashing import digest
from bayou.schema import Declared, Kind, Schema
from bayou.summaries import joint_counts
from bayou.summaries.bitmap_counting import bitmaps_pay
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.track_record import ColumnRecord
from bayou.testing import SUMMARY_CHECKS


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("order", [2, 3])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_law(order, check, seed):
    check(lambda: JointCounts(order), seed, False)


def nominal(n, sizes=(2, 3, 2), k=2, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, s, n) for s in sizes]).astype(np.int32)
    codes[rng.random(codes.shape) < missing] = -1
    schema = Schema(
        Declared(columns={f"c{j}": list("abcdefgh"[:s]) for j, s in enumerate(sizes)}, classes=[*range(k)])
    )
    return Block(np.zeros((n, 0)), codes, (), rng.integers(0, k, n).astype(np.int32), np.ones(n)), schema


def numeric(n, p=2, seed=0):
    rng = np.random.default_rng(seed)
    schema = Schema(Declared(columns={f"x{j}": "numeric" for j in range(p)}, classes=[0, 1]))
    x, y = rng.normal(size=(n, p)), rng.integers(0, 2, n).astype(np.int32)
    return Block(x, np.zeros((n, 0), dtype=np.int32), (), y, np.ones(n)), schema


def over(schema, *args):
    summary = JointCounts(*args)
    summary.realign(from_empty(schema))
    return summary


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_large_blocks_by_bitmaps_and_rows_one_by_one_agree(monkeypatch, order, missing):
    block, schema = nominal(2000, sizes=(2,) * 12, missing=missing)
    by_maps, by_rows = over(schema, order), over(schema, order)
    used = []
    real = joint_counts.count_by_bitmaps
    monkeypatch.setattr(joint_counts, "count_by_bitmaps", lambda *a: (used.append(1), real(*a)))
    by_maps.update(block)
    assert used
    for i in range(0, 2000, 100):
        by_rows.update(block.rows(i, i + 100))
    assert len(used) == 1
    assert digest(by_maps.arrays()) == digest(by_rows.arrays())
    assert by_maps.seen.tolist() == by_rows.seen.tolist()
    by_maps.subtract(block)
    assert len(used) == 2
    assert not by_maps.pairs.any()


def test_bitmaps_are_left_alone_where_they_would_change_bits_or_cost_more():
    block, schema = nominal(2000, sizes=(2,) * 12)
    summary = over(schema, 2)
    assert bitmaps_pay(summary, block.codes, block.w)
    assert not bitmaps_pay(summary, block.codes, block.w * 1.5)
    assert not bitmaps_pay(summary, block.codes[:100], block.w[:100])
    few = block.codes.copy()
    few[:, 3:] = -1  # columns that other rows have brought cost these rows nothing
    assert not bitmaps_pay(summary, few, block.w)
    summary.update(block)
    summary.scale(0.3)
    assert not bitmaps_pay(summary, block.codes, block.w)
    wide, schema = nominal(2000, sizes=(8, 8))
    assert not bitmaps_pay(over(schema, 2), wide.codes, wide.w)


def test_a_grid_is_made_at_an_exact_weight_and_the_rows_before_are_on_it():
    block, schema = numeric(50)
    summary = over(schema, 2, 3, "width", 20)
    summary.update(block.rows(0, 19))
    assert not summary.frozen.any()
    assert len(summary.pending) == 19
    assert summary.flushed().classes.sum() == 19
    summary.update(block.rows(19, 50))
    assert summary.frozen.tolist() == [1, 1]
    first = block.numeric[:20]
    low, high = first.min(axis=0), first.max(axis=0)
    np.testing.assert_array_equal(summary.cuts[:, 0], low + (high - low) / 3)
    assert summary.classes.sum() == 50
    assert summary.pairs.sum() == 50


def test_pending_rows_can_be_unlearned_and_unknown_ones_cannot():
    block, schema = numeric(10)
    summary, other = over(schema), over(schema)
    summary.update(block)
    other.update(block.rows(0, 7))
    summary.subtract(block.rows(7, 10))
    assert digest(summary.arrays()) == digest(other.arrays())
    with pytest.raises(DataError, match="never learned"):
        summary.subtract(block.rows(8, 9))


def test_an_unfrozen_side_takes_over_the_grid_and_two_grids_refuse():
    block, schema = numeric(60)
    frozen, pending, other = (over(schema, 2, 3, "width", 20) for _ in range(3))
    frozen.update(block.rows(0, 30))
    pending.update(block.rows(30, 40))
    shard = frozen.fresh()
    shard.update(block.rows(30, 40))
    expected = copy.deepcopy(frozen)
    expected.merge(shard)
    for one, two in ((frozen, pending), (pending, frozen)):
        one = copy.deepcopy(one)
        one.merge(two)
        assert digest(one.arrays()) == digest(expected.arrays())
    other.update(block.rows(30, 60))
    with pytest.raises(MergeError, match=r"model\.fresh"):
        frozen.merge(other)


def test_a_column_without_values_keeps_no_rows_pending():
    block, schema = numeric(40)
    block.numeric[:, 1] = np.nan
    summary = over(schema, 2, 3, "width", 20)
    summary.update(block)
    assert summary.frozen.tolist() == [1, 0]
    assert not summary.frames_are_frozen
    assert len(summary.pending) == 0


def test_many_light_rows_do_not_wait_for_ever():
    block, schema = numeric(100)
    block.w[:] = 0.01
    summary, by_rows = over(schema, 2, 3, "width", 20), over(schema, 2, 3, "width", 20)
    summary.update(block)
    for i in range(100):
        by_rows.update(block.rows(i, i + 1))
    assert summary.frozen.all()
    assert summary.frames_are_frozen
    np.testing.assert_array_equal(summary.cuts, by_rows.cuts)
    np.testing.assert_array_equal(summary.pairs, by_rows.pairs)


def test_coarsening_is_counting_coarse_values():
    block, schema = nominal(500, sizes=(4, 3, 4))
    parts = [np.array([0, 0, 1, 1]), np.array([0, 1, 1]), np.array([0, 1, 1, 2])]
    fine = over(schema, 3)
    fine.update(block)
    coarse_block = copy.deepcopy(block)
    for j, part in enumerate(parts):
        there = block.codes[:, j] >= 0
        coarse_block.codes[there, j] = part[block.codes[there, j]]
    _, schema = nominal(1, sizes=(2, 2, 3))
    coarse = over(schema, 3)
    coarse.update(coarse_block)
    got = fine.coarsened(parts).arrays()
    for name in ("classes", "singles", "present", "pairs", "triples", "sizes", "declared"):
        np.testing.assert_array_equal(got[name], coarse.arrays()[name])


def test_the_budget_names_numbers_and_ways_out():
    _, schema = nominal(1, sizes=(8,) * 30)
    with pytest.raises(
        SchemaError, match=r"triples of 240 values in 30 columns and 2 classes need 34 MB.*Ways out"
    ):
        over(schema, 3, 3, "width", 1000, 10_000_000)
    assert JointCounts(3).bytes_for([8] * 30, 2) == 8 * 2 * (1 + 30 + 240 + 435 * 64 + 4060 * 512)


def test_orders_and_grids_that_make_no_sense():
    with pytest.raises(SchemaError, match="interaction_order=4"):
        JointCounts(4)
    with pytest.raises(SchemaError, match="rule='depth'"):
        JointCounts(2, 3, "depth")
    with pytest.raises(SchemaError, match="bins=0"):
        Grid(bins=0)


@pytest.mark.parametrize("rule", ["width", "frequency"])
@pytest.mark.parametrize("bins", [1, 2, 5])
def test_cuts(rule, bins):
    values = np.random.default_rng(0).exponential(size=100)
    cuts = Grid(bins, rule).cuts(values)
    sizes = np.bincount(np.searchsorted(cuts, values), minlength=bins)
    assert len(sizes) == bins
    if rule == "frequency":
        assert set(sizes) == {100 // bins}
    else:
        np.testing.assert_allclose(np.diff([values.min(), *cuts, values.max()]), np.ptp(values) / bins)
    assert np.isinf(Grid(bins, rule).cuts(np.full(4, 2.0))).all()


def test_a_late_candidate_starts_with_the_record_of_none():
    record = ColumnRecord()
    _, schema = nominal(1, sizes=(2,))
    record.realign(from_empty(schema))
    record.record[:] = [[5.0, 3.0], [4.0, 2.0], [1.0, 6.0]]
    grown = copy.deepcopy(schema)
    before = grown.shape()
    grown.add_column("new", Kind.NOMINAL)
    record.realign(plan(before, grown))
    assert record.record.tolist() == [[5.0, 3.0, 3.0], [4.0, 2.0, 2.0], [1.0, 6.0, 6.0]]
    twin = record.fresh()
    twin.merge(record)
    twin.scale(0.5)
    assert twin.record.tolist() == [[2.5, 1.5, 1.5], [2.0, 1.0, 1.0], [0.5, 3.0, 3.0]]


def test_flushed_counts_that_follow_row_by_row_are_those_counted_afresh():
    rng = np.random.default_rng(5)
    summary = JointCounts(3, warm_up=60)
    schema = Schema()
    for name in ("p", "q"):
        schema.add_column(name, Kind.NUMERIC)
    schema.classes.extend([0, 1])
    summary.realign(from_empty(schema))
    numeric = rng.normal(size=(80, 2))
    numeric[rng.random(numeric.shape) < 0.2] = np.nan
    y, w = rng.integers(-1, 2, 80).astype(np.int32), rng.integers(0, 3, 80).astype(float)
    w[30:40] = 0.5
    block, kept = Block(numeric, np.zeros((80, 0), dtype=np.int32), (), y, w), 0
    for i in range(80):
        before = summary.flushed()
        summary.update(block.rows(i, i + 1))
        kept += summary.flushed() is before and len(summary.pending) > 0
        followed = summary.flushed().arrays()
        summary.changed()
        assert digest(followed) == digest(summary.flushed().arrays())
    assert kept > 5


@pytest.mark.parametrize("order", [2, 3])
def test_real_weights_that_are_unlearned_leave_no_dust(order):
    """0.1 + 0.2 - 0.1 - 0.2 is not 0, and often less: neither a search nor a file may meet it."""
    block, schema = nominal(40, missing=0.0)
    block = replace(block, w=np.random.default_rng(3).random(40) / 3)
    summary, never = over(schema, order), over(schema, order)
    never.update(block.rows(0, 10))
    summary.update(block)
    for i in np.random.default_rng(4).permutation(np.arange(10, 40)).tolist():
        summary.subtract(block.rows(i, i + 1))
    for name, array in never.arrays().items():
        np.testing.assert_allclose(summary.arrays()[name], array, rtol=1e-9)
        assert np.array_equal(summary.arrays()[name] == 0, array == 0), name
    assert summary.seen.tolist() == never.seen.tolist()
