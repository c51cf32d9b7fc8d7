"""Terms of all columns of a model, as they stand or as they trail the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.kernels.trail_terms import read_units, trail_gaussian_terms, trail_table_terms
from bayou.readings.gaussian import Gaussian
from bayou.readings.logs import integer_logs
from bayou.readings.table import Table
from bayou.readings.view import AnyView, Live
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts

CHUNK = 1 << 17  # terms held at a time, 1 MB


def chunk_rows(columns: int, classes: int) -> int:
    """Rows whose terms fill a chunk."""
    return max(1, CHUNK // max(1, columns * classes))


def trail_terms(view: AnyView, block: Block, units: Floats) -> Floats:
    """[n, d, K] what each column adds, as it stood before each row; the rows are then learned.

    `units`, [n, p] or [n, 0], takes the logarithms of the columns' pooled standard deviations where the view
    reads normal densities; the others are probabilities already.
    """
    if view.searched:
        terms = view.column_terms(block)
        view.update(block)
        return terms
    if isinstance(view, Live) and isinstance(view.reader, Gaussian):
        return _trail_gaussian(view.reader, view.summary, block, units)
    if isinstance(view, Live) and isinstance(view.reader, Table):
        return _trail_table(view.reader, view.summary, block)
    rows = []
    for i in range(block.n):
        row = block.rows(i, i + 1)
        rows.append(view.column_terms(row))
        view.update(row)
    return np.concatenate(rows) if rows else view.column_terms(block)


def fill_units(view: AnyView, units: Floats) -> None:
    """The units as they stand, for predictions."""
    if units.shape[1] and isinstance(view.summary, Moments):
        s = view.summary
        read_units(s.n, s.mean, s.m2, units)


def stacked(terms: Sequence[Floats], edges: Index) -> Floats:
    """The terms of several views as columns of one array."""
    several = [t for t in terms if t.shape[1]]
    if len(several) == 1:
        return np.ascontiguousarray(several[0])
    out = np.empty((len(terms[0]), int(edges[-1]), terms[0].shape[2]))
    at = 0
    for t in several:
        out[:, at : at + t.shape[1]] = t
        at += t.shape[1]
    return out


def _trail_gaussian(reader: Gaussian, s: Moments, block: Block, units: Floats) -> Floats:
    terms = np.empty((*block.numeric.shape, len(s.n)))
    if block.numeric.shape[1]:
        trail_gaussian_terms(
            s.n, s.mean, s.m2, terms, units, block.numeric, block.y, block.w, float(reader.ddof), reader.floor
        )
    return terms


def _trail_table(reader: Table, s: ValueCounts, block: Block) -> Floats:
    terms = np.empty((*block.codes.shape, s.counts.shape[1]))
    if block.codes.shape[1]:
        logs = integer_logs(int(s.present.max(initial=0.0)) + block.n + int(s.width.max(initial=0)) + 2)
        trail_table_terms(
            s.counts, s.present, s.seen, terms, s.declared, s.offsets, block.codes, block.y, block.w, logs,
            reader.alpha, reader.m,
        )  # fmt: skip
    return terms
