"""The trees of a forest of counts, as a function of a bag of rows: cells, places, bootstrap samples, splits.

Rows, columns, classes and values are first brought into canonical order, so that neither the order in which they came
nor the schema's influences the trees: merged shards grow the same trees as one pass.
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
    """Parameters of growing: number of trees, seed, random levels (`extra`), and memory."""

    trees: int
    seed: int
    extra: int
    max_bytes: int

    def nodes_per_tree(self, k: int) -> int:
        """The number of nodes of k classes that one tree may have, so that all trees take half of the memory."""
        return self.max_bytes // (2 * self.trees * (16 + 8 * k))


@dataclass(frozen=True, eq=False)
class Bag:
    """Distinct rows in canonical order, with classes, columns and values as in the schema.

    hashes : int64[n], of the content of each row; columns : the schema's columns in canonical order, numeric ones first
    y : int32[n], classes numbered in canonical order, of those that have rows
    """

    rows: PendingRows
    hashes: Index
    columns: Index
    y: Codes


def bag_of(rows: PendingRows, schema: Schema) -> Bag:
    """Sort rows by their hashes, and add up the weights of equal ones."""
    p = rows.numeric.shape[1]
    numeric, nominal = (
        np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        for names in (schema.names(Kind.NUMERIC), schema.names(Kind.NOMINAL))
    )
    codes = np.empty_like(rows.codes)
    for j, vocabulary in enumerate(schema.vocabulary_list(Kind.NOMINAL)):
        codes[:, j] = canonical_codes(rows.codes[:, j], vocabulary.values, vocabulary.size)
    y = canonical_codes(rows.y, schema.classes.values, schema.classes.size)
    # Columns without values are left out, so that they do not change the hashes
    present = np.asarray(~np.isnan(rows.numeric).all(axis=0))
    has_values = np.asarray((rows.codes >= 0).any(axis=0))
    numeric, nominal = numeric[present[numeric]], nominal[has_values[nominal]]
    hashes = np.empty(len(rows), dtype=np.int64)
    hash_rows(
        hashes, np.ascontiguousarray(rows.numeric[:, numeric]), np.ascontiguousarray(codes[:, nominal]), y
    )
    distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    w = np.zeros(len(distinct))
    np.add.at(w, inverse, rows.w)
    return Bag(
        rows.take(first).weighted(w),
        distinct,
        np.concatenate([numeric, p + nominal]),
        np.ascontiguousarray(y[first]),
    )


def _order(values: list[Label], size: int) -> Index:
    """The canonical rank of every code; the code of overflowing values comes last."""
    order = canonical_order(values)
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[len(order) :] = np.arange(len(order), size)
    return rank


def canonical_codes(codes: Codes, values: list[Label], size: int) -> Codes:
    """Codes renumbered in canonical order among those that occur; -1 stays -1."""
    rank = _order(values, size)
    occurring = np.unique(rank[codes[codes >= 0]])
    out = np.full(len(codes), -1, dtype=np.int32)
    known = codes >= 0
    out[known] = np.searchsorted(occurring, rank[codes[known]])
    return out


def grow(
    bag: Bag, schema: Schema, growth: Growth, hashes_of: Callable[[Bytes, Codes], Index] | None = None
) -> Structure:
    """Grow trees on all cores; rows are sampled by the hashes of the bag, or by those of `hashes_of`."""
    rows = bag.rows
    p, q = rows.numeric.shape[1], rows.codes.shape[1]
    cuts = np.full((p, CUTS), np.inf)
    for j in bag.columns[bag.columns < p]:
        _cut(cuts[j], rows.numeric[:, j], rows.w)
    values = np.full((q, PLACES), -1, dtype=np.int64)
    for j, vocabulary in enumerate(schema.vocabulary_list(Kind.NOMINAL)):
        _choose(values[j], rows.codes[:, j], rows.w, _order(vocabulary.values, vocabulary.size))
    all_cells = _cells(rows, cuts, values)
    hashes = bag.hashes if hashes_of is None else hashes_of(all_cells, rows.y)
    cells = np.ascontiguousarray(all_cells[:, bag.columns])
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
    return _concatenated(cuts, values, attribute, threshold, left, sizes, bag.columns)


def _room(rows: int, k: int, growth: Growth) -> int:
    """The number of nodes that a tree may have: twice the rows, doubled by each random level, within the memory."""
    return max(1 << (growth.extra + 2), min((2 * rows) << growth.extra, growth.nodes_per_tree(k)))


def _cut(out: Floats, values: Floats, w: Floats) -> None:
    """Fill `out` with cuts that divide the weight evenly, half-way between values; fewer where values are few."""
    present = ~np.isnan(values)
    distinct, inverse = np.unique(values[present] + 0.0, return_inverse=True)
    below = np.zeros(len(distinct))
    np.add.at(below, inverse, w[present])
    below = np.cumsum(below)
    if len(distinct) <= CUTS + 1:
        after = np.arange(len(distinct) - 1)
    else:
        targets = below[-1] * np.arange(1, CUTS + 1) / (CUTS + 1)
        after = np.unique(np.searchsorted(below, targets))
        after = after[after < len(distinct) - 1]
    low, high = distinct[after], distinct[after + 1]
    middle = low + (high - low) / 2
    out[: len(after)] = np.where((middle < high) & np.isfinite(middle), middle, low)


def _choose(out: Index, codes: Codes, w: Floats, rank: Index) -> None:
    """Fill `out` with the codes of largest weight, in canonical order."""
    weight = np.bincount(codes[codes >= 0], w[codes >= 0], minlength=len(rank))
    occurring = np.flatnonzero(weight > 0)
    heaviest = occurring[np.lexsort((rank[occurring], -weight[occurring]))][:PLACES]
    chosen = heaviest[np.argsort(rank[heaviest])]
    out[: len(chosen)] = chosen


def _cells(rows: PendingRows, cuts: Floats, values: Index) -> Bytes:
    p, q = len(cuts), len(values)
    cells: Bytes = np.empty((len(rows), p + q), dtype=np.uint8)
    place_numeric(cells, rows.numeric, padded_cuts(cuts))
    for j in range(q):
        places = np.full(int(rows.codes[:, j].max(initial=-1)) + 2, NO_PLACE, dtype=np.uint8)
        used = np.flatnonzero(values[j] >= 0)
        places[values[j][used]] = used
        places[-1] = NO_PLACE
        cells[:, p + j] = places[rows.codes[:, j]]
    return cells


def _concatenated(
    cuts: Floats, values: Index, attribute: Codes, threshold: Index, left: Codes, sizes: Index, columns: Index
) -> Structure:
    """Concatenate the trees, with the schema's numbers of columns."""
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
