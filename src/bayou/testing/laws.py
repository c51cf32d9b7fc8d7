"""The laws of summaries, for any summary that takes in blocks over the schema of random data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bayou.align import align, from_empty, union
from bayou.block import Block
from bayou.encoding import Encoder
from bayou.hashing import digest
from bayou.laws import MergeLaw
from bayou.protocols import Decays, Regroups, Subtracts, Summary
from bayou.schema import Schema
from bayou.testing.data import Data, random_data

Make = Callable[[], Summary]


def check_summary(make: Make, seeds: Iterable[int] = range(5), *, words: bool = False) -> None:
    """Run every law on summaries made by `make`; raises AssertionError where one is broken."""
    for check in SUMMARY_CHECKS:
        for seed in seeds:
            check(make, seed, words)


def encoded(data: Data, words: bool, schema: Schema | None = None) -> tuple[Block, Schema]:
    """The data as one block, with the schema that knows all of it."""
    schema = schema or Schema()
    block, growth = Encoder(schema, words).encode(data.records, data.labels, data.weights, learn=True)
    schema.grow(growth)
    return with_scores(block, schema.classes.size), schema


def with_scores(block: Block, k: int) -> Block:
    """Made-up class probabilities that depend on the row alone, for summaries of predictions."""
    rows = np.arange(block.n)[:, None] + block.start
    raw = 1.0 + (7 * rows + 3 * np.arange(k)) % 5
    return block.scored(raw / raw.sum(axis=1, keepdims=True))


def filled(make: Make, block: Block, schema: Schema) -> Any:
    summary = make()
    summary.realign(from_empty(schema))
    summary.update(block)
    return summary


def assert_same(a: Any, b: Any) -> None:
    """The same state, as exactly as the summary's law promises."""
    if a.law in (MergeLaw.EXACT, MergeLaw.ORDERED):
        assert digest(a.arrays()) == digest(b.arrays())
    elif a.law is MergeLaw.ROUNDING:
        for name, mine in a.arrays().items():
            theirs = b.arrays()[name]
            scale = max(1.0, float(np.abs(theirs).max(initial=0.0)))
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12 * scale)


def pieces(seed: int, words: bool) -> tuple[Data, Data, Data]:
    data = random_data(seed, 80, words=words)
    return data[:30], data[30:50], data[50:]


def check_merge_is_one_pass(make: Make, seed: int, words: bool) -> None:
    """Shards over one schema add up to one pass, whatever the grouping, in any order where it commutes."""
    block, schema = encoded(random_data(seed, 80, words=words), words)
    parts = [block.rows(0, 30), block.rows(30, 50), block.rows(50, 80)]
    one = filled(make, block, schema)
    a, b, c = (filled(make, part, schema) for part in parts)
    left = copy.deepcopy(a)
    left.merge(b), left.merge(c)
    assert_same(left, one)
    right = copy.deepcopy(b)
    right.merge(c)
    other = copy.deepcopy(a)
    other.merge(right)
    assert_same(other, one)
    if one.law.commutes:
        c.merge(a), c.merge(b)
        assert_same(c, one)


def check_empty(make: Make, seed: int, words: bool) -> None:
    """Empty plus empty is empty, and empty is the identity on both sides."""
    block, schema = encoded(random_data(seed, 40, words=words), words)
    full = filled(make, block, schema)
    for empty in (full.fresh(), filled(make, block.rows(0, 0), schema)):
        nothing = copy.deepcopy(empty)
        nothing.merge(full.fresh())
        assert digest(nothing.arrays()) == digest(empty.arrays())
        right, left = copy.deepcopy(full), copy.deepcopy(empty)
        right.merge(empty)
        left.merge(full)
        assert_same(right, full)
        assert_same(left, full)


def check_disjoint(make: Make, seed: int, words: bool) -> None:
    """Workers that saw other classes, values and columns merge through alignment, as if one had seen all."""
    first, _, last = pieces(seed, words)
    (block_a, schema_a), (block_b, schema_b) = encoded(first, words), encoded(last, words)
    a, b = filled(make, block_a, schema_a), filled(make, block_b, schema_b)
    joint = union(schema_a, schema_b)
    a.realign(align(schema_a, joint)), b.realign(align(schema_b, joint))
    a.merge(b)
    both = Encoder(joint, words)
    one = make()
    one.realign(from_empty(joint))
    for data, block in ((first, block_a), (last, block_b)):
        again, _ = both.encode(data.records, data.labels, data.weights)
        scores = np.zeros((again.n, joint.classes.size))
        scores[:, : block.proba.shape[1]] = 0.0 if block.proba is None else block.proba  # type: ignore[union-attr]
        if block is block_b:
            scores = np.zeros((again.n, joint.classes.size))
            scores[:, align(schema_b, joint).classes.to] = block.proba
        one.update(again.scored(scores))
    assert_same(a, one)


def check_cuts(make: Make, seed: int, words: bool) -> None:
    """Row by row, in pieces, or at once: the same bits."""
    block, schema = encoded(random_data(seed, 80, words=words), words)
    at_once, by_rows = filled(make, block, schema), filled(make, block.rows(0, 0), schema)
    for i in range(block.n):
        by_rows.update(block.rows(i, i + 1))
    assert digest(at_once.arrays()) == digest(by_rows.arrays())


def check_weights(make: Make, seed: int, words: bool) -> None:
    """Weight 0 is an absent row; weight 2 is the row twice, for laws that promise sums."""
    data = random_data(seed, 60, words=words)
    block, schema = encoded(data, words)
    rows = [i for i in range(block.n) if block.w[i] > 0]
    assert_same(filled(make, block, schema), _of_rows(make, block, schema, rows))
    if make().law in (MergeLaw.EXACT, MergeLaw.ROUNDING):
        twice = [i for i in rows for _ in range(int(block.w[i]))]
        ones = copy.deepcopy(block)
        ones.w[:] = 1.0
        assert_same(filled(make, block, schema), _of_rows(make, ones, schema, twice))


def _of_rows(make: Make, block: Block, schema: Schema, rows: list[int]) -> Any:
    summary = filled(make, block.rows(0, 0), schema)
    for i in rows:
        summary.update(block.rows(i, i + 1))
    return summary


def check_subtract(make: Make, seed: int, words: bool) -> None:
    """What is taken out was never there."""
    block, schema = encoded(random_data(seed, 60, words=words, odd=False), words)
    full, kept = filled(make, block, schema), filled(make, block.rows(0, 40), schema)
    can_subtract = isinstance(full, Subtracts)
    if can_subtract:
        full.subtract(block.rows(40, 60))
        if full.law is MergeLaw.EXACT:
            assert_same(full, kept)
        else:
            for name, mine in full.arrays().items():
                absorbed = float(np.abs(block.numeric[np.isfinite(block.numeric)]).max(initial=1.0)) ** 2
                np.testing.assert_allclose(mine, kept.arrays()[name], rtol=1e-6, atol=1e-9 * absorbed)


def check_scale(make: Make, seed: int, words: bool) -> None:
    """Scaling by 1 changes nothing; scaling by 1/2 and adding the same again gives the whole, for exact sums."""
    block, schema = encoded(random_data(seed, 60, words=words), words)
    full, half = filled(make, block, schema), filled(make, block, schema)
    can_fade = isinstance(half, Decays)
    if can_fade:
        half.scale(1.0)
        assert_same(half, full)
        half.scale(0.5)
        if half.law in (MergeLaw.EXACT, MergeLaw.ROUNDING):
            half.merge(copy.deepcopy(half))
            assert_same(half, full)


def check_regroup(make: Make, seed: int, words: bool) -> None:
    """Regrouping classes is counting regrouped labels."""
    data = random_data(seed, 60, words=words)
    block, schema = encoded(data, words)
    full = filled(make, block, schema)
    if isinstance(full, Regroups) and schema.classes.size > 1:
        k = schema.classes.size
        groups = np.zeros((2, k))
        groups[np.arange(k) % 2, np.arange(k)] = 1.0
        relabelled = block.relabelled(np.where(block.y >= 0, block.y % 2, -1).astype(np.int32))
        direct = make()
        two = copy.deepcopy(schema)
        two.classes = type(schema.classes)(["even", "odd"])
        direct.realign(from_empty(two))
        direct.update(relabelled)
        assert_same(full.regroup(groups), direct)


def check_round_trip(make: Make, seed: int, words: bool) -> None:
    """Arrays written and restored are the whole state."""
    block, schema = encoded(random_data(seed, 60, words=words), words)
    full = filled(make, block.rows(0, 35), schema)
    twin = full.fresh()
    twin.restore(copy.deepcopy(dict(full.arrays())))
    full.update(block.rows(35, 60))
    twin.update(block.rows(35, 60))
    assert digest(full.arrays()) == digest(twin.arrays())


SUMMARY_CHECKS = [
    check_merge_is_one_pass,
    check_empty,
    check_disjoint,
    check_cuts,
    check_weights,
    check_subtract,
    check_scale,
    check_regroup,
    check_round_trip,
]
