"""The trees of a forest of counts, as a function of a bag of rows: cells, places, bootstrap samples, splits.

Rows, columns, classes and values are brought into an order of their own first, so that neither the order in which
they came nor the schema's shows in the trees: merged shards grow the trees that one pass would have grown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayou.align import canonical_order
from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.forest_growth import grow_tree, hash_rows
from bayou.kernels.forest_rows import NO_PLACE, place_numeric
from bayou.schema import Kind, Label, Schema
from bayou.summaries.forest import CUTS, PLACES, Structure, padded_cuts
from bayou.summaries.pending_rows import PendingRows
from bayou.threads import over_ranges


@dataclass(frozen=True)
class Growth:
    """How trees are grown: how many, by which seed, with how many random levels, and how much room they may take."""

    trees: int
    seed: int
    extra: int
    max_bytes: int

    def nodes_per_tree(self, k: int) -> int:
        """How many nodes of k classes one tree may have, so that all take half of the memory."""
        return self.max_bytes // (2 * self.trees * (16 + 8 * k))


@dataclass(frozen=True, eq=False)
class Bag:
    """Rows in canonical order, equal ones once, with classes, columns and values as they stand in the schema.

    hashes : int64[n], of what each row holds; columns : the schema's columns in canonical order, numeric ones first
    y : int32[n], classes numbered in canonical order, of those that have rows
    """

    rows: PendingRows
    hashes: Index
    columns: Index
    y: Codes


def bag_of(kept: PendingRows, schema: Schema) -> Bag:
    """Put rows in canonical order and equal ones together."""
    p = kept.numeric.shape[1]
    numeric, nominal = (
        np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        for names in (schema.names(Kind.NUMERIC), schema.names(Kind.NOMINAL))
    )
    codes = np.empty_like(kept.codes)
    for j, vocabulary in enumerate(schema.vocabulary_list(Kind.NOMINAL)):
        codes[:, j] = canonical_codes(kept.codes[:, j], vocabulary.values, vocabulary.size)
    y = canonical_codes(kept.y, schema.classes.values, schema.classes.size)
    # A column without a value says nothing, nor does its place
    present = np.asarray(~np.isnan(kept.numeric).all(axis=0))
    has_values = np.asarray((kept.codes >= 0).any(axis=0))
    numeric, nominal = numeric[present[numeric]], nominal[has_values[nominal]]
    hashes = np.empty(len(kept), dtype=np.int64)
    hash_rows(
        hashes, np.ascontiguousarray(kept.numeric[:, numeric]), np.ascontiguousarray(codes[:, nominal]), y
    )
    found, first, same = np.unique(hashes, return_index=True, return_inverse=True)
    w = np.zeros(len(found))
    np.add.at(w, same, kept.w)
    return Bag(
        kept.take(first).weighted(w),
        found,
        np.concatenate([numeric, p + nominal]),
        np.ascontiguousarray(y[first]),
    )


def _order(values: list[Label], size: int) -> Index:
    """Rank of every code; what has no value of its own (too many were met) comes last."""
    order = canonical_order(values)
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[len(order) :] = np.arange(len(order), size)
    return rank


def canonical_codes(codes: Codes, values: list[Label], size: int) -> Codes:
    """Codes numbered in canonical order among those that occur; -1 stays."""
    rank = _order(values, size)
    there = np.unique(rank[codes[codes >= 0]])
    out = np.full(len(codes), -1, dtype=np.int32)
    known = codes >= 0
    out[known] = np.searchsorted(there, rank[codes[known]])
    return out


def grow(
    bag: Bag, schema: Schema, growth: Growth, hashes_of: Callable[[Bytes, Codes], Index] | None = None
) -> Structure:
    """Cells and places from the rows, then the trees, over both cores; rows are drawn by their own hash, or by this."""
    rows = bag.rows
    p, q = rows.numeric.shape[1], rows.codes.shape[1]
    cuts = np.full((p, CUTS), np.inf)
    for j in bag.columns[bag.columns < p]:
        _cut(cuts[j], rows.numeric[:, j], rows.w)
    values = np.full((q, PLACES), -1, dtype=np.int64)
    for j, vocabulary in enumerate(schema.vocabulary_list(Kind.NOMINAL)):
        _choose(values[j], rows.codes[:, j], rows.w, _order(vocabulary.values, vocabulary.size))
    every = _cells(rows, cuts, values)
    hashes = bag.hashes if hashes_of is None else hashes_of(every, rows.y)
    cells = np.ascontiguousarray(every[:, bag.columns])
    numeric = int(np.count_nonzero(bag.columns < p))
    k = int(bag.y.max(initial=-1)) + 1
    room = _room(len(rows), k, growth)
    attribute, left = np.empty((growth.trees, room), np.int32), np.empty((growth.trees, room), np.int32)
    threshold, sizes = np.zeros((growth.trees, room), np.int64), np.ones(growth.trees, np.int64)
    attribute[:, 0] = -1

    def trees(lo: int, hi: int) -> None:
        for t in range(lo, hi):
            sizes[t] = grow_tree(
                attribute[t], threshold[t], left[t], cells, numeric, bag.y, rows.w, hashes, k,
                growth.seed, t, growth.extra,
            )  # fmt: skip

    if len(bag.columns):
        over_ranges(trees, growth.trees, 1)
    return _together(cuts, values, attribute, threshold, left, sizes, bag.columns)


def _room(rows: int, k: int, growth: Growth) -> int:
    """Nodes that a tree may have: twice the rows, doubled by each random level, or what memory allows."""
    return max(1 << (growth.extra + 2), min((2 * rows) << growth.extra, growth.nodes_per_tree(k)))


def _cut(out: Floats, values: Floats, w: Floats) -> None:
    """Cuts that divide the weight evenly, each half-way between two values; fewer where there are fewer values."""
    there = ~np.isnan(values)
    found, same = np.unique(values[there] + 0.0, return_inverse=True)
    below = np.zeros(len(found))
    np.add.at(below, same, w[there])
    below = np.cumsum(below)
    if len(found) <= CUTS + 1:
        after = np.arange(len(found) - 1)
    else:
        wanted = below[-1] * np.arange(1, CUTS + 1) / (CUTS + 1)
        after = np.unique(np.searchsorted(below, wanted))
        after = after[after < len(found) - 1]
    low, high = found[after], found[after + 1]
    middle = low + (high - low) / 2
    out[: len(after)] = np.where((middle < high) & np.isfinite(middle), middle, low)


def _choose(out: Index, codes: Codes, w: Floats, rank: Index) -> None:
    """The values with the largest weight have places of their own, in canonical order."""
    weight = np.bincount(codes[codes >= 0], w[codes >= 0], minlength=len(rank))
    there = np.flatnonzero(weight > 0)
    heaviest = there[np.lexsort((rank[there], -weight[there]))][:PLACES]
    chosen = heaviest[np.argsort(rank[heaviest])]
    out[: len(chosen)] = chosen


def _cells(rows: PendingRows, cuts: Floats, values: Index) -> Bytes:
    p, q = len(cuts), len(values)
    cells: Bytes = np.empty((len(rows), p + q), dtype=np.uint8)
    place_numeric(cells, rows.numeric, padded_cuts(cuts))
    for j in range(q):
        places = np.full(int(rows.codes[:, j].max(initial=-1)) + 2, NO_PLACE, dtype=np.uint8)
        there = np.flatnonzero(values[j] >= 0)
        places[values[j][there]] = there
        places[-1] = NO_PLACE
        cells[:, p + j] = places[rows.codes[:, j]]
    return cells


def _together(
    cuts: Floats, values: Index, attribute: Codes, threshold: Index, left: Codes, sizes: Index, columns: Index
) -> Structure:
    """One array of each kind for all trees, columns as the schema has them."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    to = np.append(columns, -1)
    return Structure(
        cuts,
        values,
        np.concatenate([to[a[:n]] for a, n in zip(attribute, sizes, strict=True)]).astype(np.int32),
        np.concatenate([t[:n] for t, n in zip(threshold, sizes, strict=True)]),
        np.concatenate(
            [
                np.where(a[:n] >= 0, c[:n] + s, 0)
                for a, c, n, s in zip(attribute, left, sizes, starts[:-1], strict=True)
            ]
        ).astype(np.int32),
        starts[:-1],
    )
