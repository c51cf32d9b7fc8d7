"""The laws of summaries, for any summary that takes in blocks over the schema of random data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bayou.align import align, from_empty, union
from bayou.block import Block
from bayou.encoding import Encoder
from bayou.errors import MergeError
from bayou.hashing import digest
from bayou.laws import MergeLaw
from bayou.protocols import Decays, Regroups, Subtracts, Summary
from bayou.schema import Schema
from bayou.testing.data import Data, random_data
from bayou.testing.promises import means_of, off_by
from bayou.testing.tolerances import ABSORBED, CELL, LAW, UNLEARNED

Make = Callable[[], Summary]
# Laws that promise something about one pass
ONE_PASS = (MergeLaw.EXACT, MergeLaw.ROUNDING, MergeLaw.BOUNDED, MergeLaw.ORDERED)


def check_summary(make: Make, seeds: Iterable[int] = range(5), *, words: bool = False) -> None:
    """Run every law on summaries made by `make`; raises AssertionError where one is broken."""
    for check in SUMMARY_CHECKS:
        for seed in seeds:
            check(make, seed, words)


def encoded(data: Data, words: bool, schema: Schema | None = None) -> tuple[Block, Schema]:
    """The data as one block, and the schema with all its columns, classes and values."""
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
    """A new summary over the schema, updated with the block."""
    summary = make()
    summary.realign(from_empty(schema))
    summary.update(block)
    return summary


def assert_same(a: Any, b: Any, block: Block) -> None:
    """Assert that the summary `a` equals `b`, which learned the block in one pass, as exactly as its law promises.

    AVERAGED and NONE promise nothing about one pass; what they do promise has checks of its own.
    """
    if a.law in (MergeLaw.EXACT, MergeLaw.ORDERED):
        assert digest(a.arrays()) == digest(b.arrays())
    elif a.law is MergeLaw.ROUNDING:
        assert_close_states(a, b)
    elif a.law is MergeLaw.BOUNDED:
        assert_within_error(a, block)


def assert_close_states(a: Any, b: Any) -> None:
    """Assert that all arrays are equal up to rounding."""
    assert a.arrays().keys() == b.arrays().keys()
    for name, mine in a.arrays().items():
        theirs = b.arrays()[name]
        scale = max(1.0, float(np.abs(theirs).max(initial=0.0)))
        np.testing.assert_allclose(mine, theirs, rtol=CELL, atol=LAW * scale, err_msg=name)


def assert_within_error(summary: Any, block: Block) -> None:
    """Assert that the summary differs from the rows of the block by no more than its own `error()`."""
    off, error = off_by(summary, block), summary.error()
    assert off <= error + LAW, f"{type(summary).__name__} is off by {off}, and reports {error}"


def assert_weighted_mean(merged: Any, parts: list[Any]) -> None:
    """Assert that means over rows are, after a merge, the means of the parts, weighted by what each has learned."""
    weights = [means_of(part)[0] for part in parts]
    for name, mean in means_of(merged)[1].items():
        expected = sum(w * means_of(part)[1][name] for w, part in zip(weights, parts, strict=True)) / max(
            sum(weights), LAW
        )
        np.testing.assert_allclose(mean, expected, rtol=CELL, atol=LAW, err_msg=name)


def shards(make: Make, seed: int, words: bool) -> tuple[Block, Schema, list[Any]]:
    """Rows over one schema, and three summaries of their consecutive parts that share their frames.

    A BOUNDED summary gets more rows than it can keep exactly.
    """
    n = 2400 if make().law is MergeLaw.BOUNDED else 80
    block, schema = encoded(random_data(seed, n, words=words), words)
    first = filled(make, block.rows(0, n // 2), schema)
    second, third = first.fresh(), first.fresh()
    second.update(block.rows(n // 2, 3 * n // 4))
    third.update(block.rows(3 * n // 4, n))
    return block, schema, [first, second, third]


def merged(first: Any, *others: Any) -> Any:
    """The merged copies of summaries, which do not change."""
    total = copy.deepcopy(first)
    for other in others:
        total.merge(other)
    return total


def pieces(seed: int, words: bool) -> tuple[Data, Data, Data]:
    data = random_data(seed, 80, words=words)
    return data[:30], data[30:50], data[50:]


def check_merge_is_one_pass(make: Make, seed: int, words: bool) -> None:
    """Shards over one schema add up to one pass, in any order where it commutes; or the merge is refused."""
    block, schema, (a, b, c) = shards(make, seed, words)
    if not a.law.merges:
        assert_refuses(a, b)
    if a.law in ONE_PASS:
        one = filled(make, block, schema)
        assert_same(one, one, block)
        assert_same(merged(a, b, c), one, block)
        assert_same(merged(a, merged(b, c)), one, block)
        if a.law.commutes:
            assert_same(merged(c, a, b), one, block)


def assert_refuses(a: Any, b: Any) -> None:
    """Assert that a merge raises MergeError with a message, and changes nothing."""
    before = digest(a.arrays())
    try:
        a.merge(b)
    except MergeError as refusal:
        assert str(refusal)
        assert digest(a.arrays()) == before
    else:
        raise AssertionError(f"{type(a).__name__} has the law NONE and must refuse to merge")


def check_grouping(make: Make, seed: int, words: bool) -> None:
    """(a + b) + c is a + (b + c): ORDERED promises no more, and every law no less (BOUNDED: within the error)."""
    block, _, (a, b, c) = shards(make, seed, words)
    if a.law in (MergeLaw.ROUNDING, MergeLaw.ORDERED, MergeLaw.AVERAGED):
        assert_close_states(merged(a, b, c), merged(a, merged(b, c)))
    elif a.law.merges:
        assert_same(merged(a, b, c), merged(a, merged(b, c)), block)


def check_average(make: Make, seed: int, words: bool) -> None:
    """AVERAGED: the order of two shards is irrelevant, and what is a mean of rows is the mean of the shards."""
    _, _, (a, b, _) = shards(make, seed, words)
    if a.law is MergeLaw.AVERAGED:
        assert_close_states(merged(a, b), merged(b, a))
        assert_weighted_mean(merged(a, b), [a, b])


def check_empty(make: Make, seed: int, words: bool) -> None:
    """Empty plus empty is empty, and empty is the identity on both sides: to the bit, whatever the law."""
    block, schema = encoded(random_data(seed, 40, words=words), words)
    full = filled(make, block, schema)
    if not full.law.merges:
        return
    for empty in (full.fresh(), filled(make, block.rows(0, 0), schema)):
        assert digest(merged(empty, full.fresh()).arrays()) == digest(empty.arrays())
        assert digest(merged(full, empty).arrays()) == digest(full.arrays())
        assert digest(merged(empty, full).arrays()) == digest(full.arrays())


def check_disjoint(make: Make, seed: int, words: bool) -> None:
    """Workers that saw other classes, values and columns merge through alignment, as if one had seen all."""
    first, _, last = pieces(seed, words)
    (block_a, schema_a), (block_b, schema_b) = encoded(first, words), encoded(last, words)
    a, b = filled(make, block_a, schema_a), filled(make, block_b, schema_b)
    joint = union(schema_a, schema_b)
    a.realign(align(schema_a, joint)), b.realign(align(schema_b, joint))
    if not a.law.merges:
        assert_refuses(a, b)
        return
    a.merge(b)
    joint_encoder = Encoder(joint, words)
    one = make()
    one.realign(from_empty(joint))
    for data, block, schema in ((first, block_a, schema_a), (last, block_b, schema_b)):
        aligned, _ = joint_encoder.encode(data.records, data.labels, data.weights)
        scores = np.zeros((aligned.n, joint.classes.size))
        scores[:, align(schema, joint).classes.to] = block.proba
        one.update(aligned.scored(scores))
    rows, _ = joint_encoder.encode(
        [*first.records, *last.records], [*first.labels, *last.labels], [*first.weights, *last.weights]
    )
    assert_same(a, one, rows)


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
    assert digest(filled(make, block, schema).arrays()) == digest(
        _of_rows(make, block, schema, rows).arrays()
    )
    if make().law in (MergeLaw.EXACT, MergeLaw.ROUNDING):
        twice = [i for i in rows for _ in range(int(block.w[i]))]
        ones = copy.deepcopy(block)
        ones.w[:] = 1.0
        assert_same(filled(make, block, schema), _of_rows(make, ones, schema, twice), block)


def _of_rows(make: Make, block: Block, schema: Schema, rows: list[int]) -> Any:
    summary = filled(make, block.rows(0, 0), schema)
    for i in rows:
        summary.update(block.rows(i, i + 1))
    return summary


def check_subtract(make: Make, seed: int, words: bool) -> None:
    """A summary from which rows are subtracted equals one that never had them."""
    block, schema = encoded(random_data(seed, 60, words=words, odd=False), words)
    full, kept = filled(make, block, schema), filled(make, block.rows(0, 40), schema)
    can_subtract = isinstance(full, Subtracts)
    if can_subtract:
        full.subtract(block.rows(40, 60))
        if full.law is MergeLaw.EXACT:
            assert_same(full, kept, block.rows(0, 40))
        else:
            for name, mine in full.arrays().items():
                absorbed = float(np.abs(block.numeric[np.isfinite(block.numeric)]).max(initial=1.0)) ** 2
                np.testing.assert_allclose(
                    mine, kept.arrays()[name], rtol=UNLEARNED, atol=ABSORBED * absorbed, err_msg=name
                )


def check_scale(make: Make, seed: int, words: bool) -> None:
    """Scaling by 1 changes nothing; scaling by 1/2 and adding the same again gives the whole, for exact sums."""
    block, schema = encoded(random_data(seed, 60, words=words), words)
    full, half = filled(make, block, schema), filled(make, block, schema)
    can_fade = isinstance(half, Decays)
    if can_fade:
        half.scale(1.0)
        assert digest(half.arrays()) == digest(full.arrays())
        half.scale(0.5)
        if half.law is MergeLaw.BOUNDED:
            assert_within_error(half, replace(block, w=0.5 * block.w))
        if half.law in (MergeLaw.EXACT, MergeLaw.ROUNDING):
            half.merge(copy.deepcopy(half))
            assert_same(half, full, block)


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
        assert_same(full.regroup(groups), direct, relabelled)


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
    check_grouping,
    check_average,
    check_empty,
    check_disjoint,
    check_cuts,
    check_weights,
    check_subtract,
    check_scale,
    check_regroup,
    check_round_trip,
]
