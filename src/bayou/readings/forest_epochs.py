"""Further growth of the trees of a forest, as a function of the trees so far and a sample of the rows."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Index
from bayou.kernels.forest_epochs import extend_tree
from bayou.kernels.forest_growth import LEAF
from bayou.readings.forest_structure import Growth, canonical_codes
from bayou.schema import Kind, Schema
from bayou.summaries.cell_sample import CellSample
from bayou.summaries.forest import Forest, Structure
from bayou.threads import over_ranges

Extension = tuple[
    Codes, Index, Codes, Index
]  # attribute, threshold, left (old leaves first), ids of the old leaves


def grow_on(forest: Forest, sample: CellSample, schema: Schema, growth: Growth) -> Structure:
    """The trees with their leaves split by the rows of the sample that reach them; new nodes come behind all others.

    Rows, columns and classes are taken in canonical order, so that the schema's order has no influence.
    """
    all_cells = sample.cells()
    p = len(forest.cuts)
    columns = _columns(all_cells, schema, p)
    cells = np.ascontiguousarray(all_cells[:, columns])
    numeric = int(np.count_nonzero(columns < p))
    y = canonical_codes(sample.y, schema.classes.values, schema.classes.size)
    k = int(y.max(initial=-1)) + 1
    free = growth.nodes_per_tree(k) - len(forest.attribute) // max(1, forest.trees)
    extensions: list[Extension | None] = [None] * forest.trees

    def trees(lo: int, hi: int) -> None:
        room = len(y) + max(0, min(2 * len(y), free))
        for t in range(lo, hi):
            attribute, left = np.full(room, LEAF - 1, np.int32), np.zeros(room, np.int32)
            threshold, ids = np.zeros(room, np.int64), np.zeros(len(y), np.int64)
            tried = extend_tree(
                attribute, threshold, left, ids, forest.packed, forest.threshold, forest.roots, t,
                all_cells, cells, numeric, y, sample.w, sample.hashes, k, growth.seed, max(0, free),
            )  # fmt: skip
            size = tried + int(np.count_nonzero(attribute[tried:] >= LEAF))
            extensions[t] = (
                attribute[:size].copy(),
                threshold[:size].copy(),
                left[:size].copy(),
                ids[:tried].copy(),
            )

    if len(columns) and free >= 2:
        over_ranges(trees, forest.trees, 1)
    return _joined(forest, [extension for extension in extensions if extension is not None], columns)


def _columns(cells: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], schema: Schema, p: int) -> Index:
    """The columns in which rows differ, in canonical order, numeric ones first."""
    varies = (cells != cells[:1]).any(axis=0)
    names = schema.names(Kind.NUMERIC), schema.names(Kind.NOMINAL)
    order = [sorted(range(len(names_of_kind)), key=names_of_kind.__getitem__) for names_of_kind in names]
    columns = np.array([*order[0], *(p + j for j in order[1])], dtype=np.int64)
    chosen: Index = columns[varies[columns]]
    return chosen


def _joined(forest: Forest, extensions: list[Extension], columns: Index) -> Structure:
    """The trees so far, with new nodes appended and split leaves linked to them."""
    to = np.append(columns, -1)
    attribute, threshold, left = forest.attribute.copy(), forest.threshold.copy(), forest.left.copy()
    parts: list[tuple[Codes, Index, Codes]] = []
    end = len(attribute)
    for column, cut, below, ids in extensions:
        tried, inner = len(ids), column >= 0
        below = np.where(inner, below + (end - tried), 0).astype(np.int32)
        split = inner[:tried]
        attribute[ids[split]] = to[column[:tried][split]]
        threshold[ids[split]], left[ids[split]] = cut[:tried][split], below[:tried][split]
        parts.append((to[column[tried:]].astype(np.int32), cut[tried:], below[tried:]))
        end += len(column) - tried
    joined = [
        np.concatenate([old, *new])
        for old, new in zip((attribute, threshold, left), zip(*parts, strict=True), strict=False)
    ]
    a, t, c = joined or (attribute, threshold, left)
    return Structure(forest.cuts, forest.values, a, t, c, forest.roots)
