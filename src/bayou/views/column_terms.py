"""Terms of all columns of a model, as they stand or as they trail the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.kernels.column_terms import (
    gather_intervals,
    gaussian_terms_then_update,
    read_units,
    table_terms_then_update,
)
from bayou.kernels.weights import pmi_table
from bayou.kernels.word_counts import add_multinomial, multinomial_predict_then_update
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.gaussian import Gaussian
from bayou.readings.intervals import IntervalReading
from bayou.readings.logs import integer_logs
from bayou.readings.words import Multinomial
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts
from bayou.views.view import AnyView, Live, Searched

CHUNK = 1 << 17  # terms held at a time, 1 MB
COLUMN_VIEWS = ("numeric", "nominal", "words")  # views whose terms are weighted, in the order of the weights


def chunk_rows(columns: int, classes: int) -> int:
    """Rows whose terms fill a chunk."""
    return max(1, CHUNK // max(1, columns * classes))


def terms_then_update(view: AnyView, block: Block, units: Floats, as_pmi: bool = False) -> Floats:
    """[n, d, K] what each column adds, as it stood before each row; the rows are then learned.

    With `as_pmi`, searched intervals give the terms of their informative columns only, as pointwise mutual
    information by the class counts they were read from.

    `units`, [n, p] or [n, 0], takes the logarithms of the columns' pooled standard deviations where the view
    reads normal densities; the others are probabilities already.
    """
    if view.has_no_columns:
        return view.column_terms(block)
    if view.searched:
        terms = current_terms(view, block, as_pmi)
        view.update(block)
        return terms
    if isinstance(view, Live) and isinstance(view.reader, Gaussian):
        return _gaussian_terms_then_update(view.reader, view.summary, block, units)
    if isinstance(view, Live) and isinstance(view.reader, CategoricalEstimator):
        return _table_terms_then_update(view.reader, view.summary, block)
    if isinstance(view, Live) and isinstance(view.reader, Multinomial):
        return _word_terms_then_update(view.reader, view.summary, block)
    rows = []
    for i in range(block.n):
        row = block.rows(i, i + 1)
        rows.append(view.column_terms(row))
        view.update(row)
    return np.concatenate(rows) if rows else view.column_terms(block)


def current_terms(view: AnyView, block: Block, as_pmi: bool = False) -> Floats:
    """[n, d, K] what each column adds as the view stands; for few documents without a table of all words."""
    if as_pmi and has_intervals(view):
        reading = cast(Searched[Any], view).reading
        return _pmi_terms(cast(IntervalReading, reading), block)
    if isinstance(view, Live) and isinstance(view.reader, Multinomial) and not view.has_no_columns:
        summary, reader = view.summary, view.reader
        few = sum(len(words.ids) for words in block.words) < sum(text.size for text in summary.texts)
        if few and reader not in summary.memo:
            terms = np.zeros((block.n, len(summary.texts), len(summary.texts[0].total)))
            for j, (text, words) in enumerate(zip(summary.texts, block.words, strict=True)):
                out = np.zeros((block.n, terms.shape[2]))
                add_multinomial(
                    out, text.counts, text.total, words.indptr, words.ids, words.counts, integer_logs(1),
                    float(text.width), reader.alpha,
                )  # fmt: skip
                terms[:, j] = out
            return terms
    return view.column_terms(block)


def fill_units(view: AnyView, units: Floats) -> None:
    """The units as they stand, for predictions."""
    if units.shape[1] and isinstance(view.summary, Moments):
        s = view.summary
        read_units(s.n, s.mean, s.m2, units)


def stacked(terms: Sequence[Floats]) -> Floats:
    """The terms of several views as columns of one array."""
    several = [t for t in terms if t.shape[1]]
    if len(several) == 1:
        return np.ascontiguousarray(several[0])
    out = np.empty((len(terms[0]), sum(t.shape[1] for t in several), terms[0].shape[2]))
    at = 0
    for t in several:
        out[:, at : at + t.shape[1]] = t
        at += t.shape[1]
    return out


_pmi: WeakKeyDictionary[IntervalReading, Floats] = WeakKeyDictionary()


def has_intervals(view: AnyView) -> bool:
    """Whether the view reads searched intervals."""
    return isinstance(view, Searched) and isinstance(view.reading, IntervalReading)


def informative_columns(view: AnyView) -> Index:
    """Columns of more than one interval; the others say nothing until the next search."""
    reading = cast(IntervalReading, cast(Searched[Any], view).reading)
    return np.flatnonzero(np.diff(reading.partitions.offsets) > 1)


def _pmi_terms(reading: IntervalReading, block: Block) -> Floats:
    parts, table = reading.partitions, _pmi_table(reading)
    index = np.flatnonzero(np.diff(parts.offsets) > 1)
    out = np.empty((block.n, len(index), table.shape[1]))
    gather_intervals(out, table, parts.cuts, parts.offsets, index, block.numeric)
    return out


def _pmi_table(reading: IntervalReading) -> Floats:
    """Lift-centred log-probabilities of a reading's intervals, made once."""
    if reading not in _pmi:
        table = reading.table.copy()
        pmi_table(table, reading.partitions.counts, reading.partitions.offsets)
        _pmi[reading] = table
    return _pmi[reading]


def _gaussian_terms_then_update(reader: Gaussian, s: Moments, block: Block, units: Floats) -> Floats:
    terms = np.empty((*block.numeric.shape, len(s.n)))
    if block.numeric.shape[1]:
        gaussian_terms_then_update(
            s.n, s.mean, s.m2, terms, units, block.numeric, block.y, block.w, float(reader.ddof), reader.floor
        )
    return terms


def _table_terms_then_update(reader: CategoricalEstimator, s: ValueCounts, block: Block) -> Floats:
    terms = np.empty((*block.codes.shape, s.counts.shape[1]))
    if block.codes.shape[1]:
        logs = integer_logs(int(s.present.max(initial=0.0)) + block.n + int(s.width.max(initial=0)) + 2)
        table_terms_then_update(
            s.counts, s.present, s.seen, terms, s.declared, s.offsets, block.codes, block.y, block.w, logs,
            reader.alpha, reader.m,
        )  # fmt: skip
    return terms


def _word_terms_then_update(reader: Multinomial, s: WordCounts, block: Block) -> Floats:
    s.memo.clear()
    terms = np.zeros((block.n, len(s.texts), len(s.texts[0].total)))
    for j, (text, words) in enumerate(zip(s.texts, block.words, strict=True)):
        out = np.zeros((block.n, terms.shape[2]))
        logs = integer_logs(int(text.total.max(initial=0.0)) + int(words.counts.sum()) + text.size + 2)
        multinomial_predict_then_update(
            text.counts, text.total, text.seen, out, words.indptr, words.ids, words.counts, block.y, block.w,
            logs, float(text.declared), reader.alpha,
        )  # fmt: skip
        terms[:, j] = out
    return terms


def column_edges(block: Block) -> Index:
    """Where the columns of each view end; every text column is summed up on its own, as naive Bayes does."""
    p, q = block.numeric.shape[1], block.codes.shape[1]
    return np.array([0, p, *range(p + q, p + q + len(block.words) + 1)], dtype=np.int64)


def column_parameters(view: AnyView) -> Floats:
    """[d] free parameters per class of each column of a view, as it stands."""
    summary = view.summary
    if isinstance(summary, ValueCounts):
        return np.array([max(width - 1.0, 0.0) for width in summary.width])
    if isinstance(summary, WordCounts):
        return np.array([max(text.width - 1.0, 0.0) for text in summary.texts])
    if isinstance(view, Searched) and isinstance(view.reading, IntervalReading):
        return np.diff(view.reading.partitions.offsets) - 1.0
    return np.full(summary.n.shape[1], 2.0)
