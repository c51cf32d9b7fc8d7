"""Exact test-then-train over joint counts: several readings predict each row before it is counted, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from bayou.block import Block, Codes, Floats, Index
from bayou.kernels.joint_rows import joint_predict_then_update
from bayou.readings.kept import kept
from bayou.readings.parent_sets import ParentSetTable
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.joint_counts import JointCounts

OneDependent = None  # marks averaged one-dependence estimators among the parent sets of collections
Readings = Sequence[ParentSetTable | None]


class Prior(Protocol):
    """A reader of the class weights."""

    def predict_then_update(self, summary: ClassCounts, block: Block, out: Floats) -> None:
        """Add the log prior as it stood before each row, then count the row."""


def readings_predict_then_update(
    summary: JointCounts,
    readings: Callable[[JointCounts], Readings],
    alpha: float,
    block: Block,
    out: Floats,
    read: Index | None = None,
    prior: Prior | None = None,
    min_count: float = 1.0,
    bare: int = 0,
) -> None:
    """Row by row: out[r, i] += the log-probability of row i by reading r before the row is counted; then count it.

    Row i is read by the first read[i] readings (None: all). With a prior, collections start from it, but for the
    first `bare` readings; one-dependence estimators never do, since the prior is part of them.
    """
    n_readings = np.full(block.n, len(out), dtype=np.int64) if read is None else read
    for run, counted in countable_runs(summary, block):
        part = block.rows(run.start, run.stop)
        s = summary if counted else summary.flushed()
        terms = readings(s)
        run_out = out if part.n == block.n else np.ascontiguousarray(out[:, run])
        if prior is not None:
            add_prior_of(s, prior, part, terms, run_out, bare)
        _predict_then_update(
            s, terms, alpha, part, s.codes_of(part), n_readings[run], min_count, counted, run_out
        )
        if run_out is not out:
            out[:, run] = run_out
        if counted:
            summary.changed()
        else:
            summary.update(part)


def read_direct(
    summary: JointCounts, terms: Readings, alpha: float, codes: Codes, out: Floats, min_count: float = 1.0
) -> None:
    """out[r, i] += the log-probability of row i by reading r, computed from the counts: for few rows."""
    n = len(codes)
    part = Block(np.empty((n, 0)), codes, (), np.full(n, -1, dtype=np.int32), np.zeros(n))
    n_readings = np.full(n, len(terms), dtype=np.int64)
    _predict_then_update(summary, terms, alpha, part, codes, n_readings, min_count, False, out)


def _predict_then_update(
    s: JointCounts,
    terms: Readings,
    alpha: float,
    part: Block,
    codes: Codes,
    read: Index,
    min_count: float,
    learn: bool,
    out: Floats,
) -> None:
    if codes.shape[1] == 0:
        if learn:
            s.update(part)
        return
    plan, ends, u = joined(s, terms)
    joint_predict_then_update(
        s.classes, s.singles, s.present, s.seen, s.pairs, s.triples, out, s.layout, codes, part.y, part.w,
        read, plan, ends, u, s.declared, int(s.declared_classes[0]), alpha, min_count, s.nominal, learn,
    )  # fmt: skip


def joined(s: JointCounts, terms: Readings) -> tuple[np.ndarray, Index, Floats]:
    """The concatenated plans of all readings, cached as long as the order of the columns does not change."""
    key = tuple(terms)  # not their ids: a copy of the counts outlives the tables that had them
    tables = kept(s.columns_mark)
    cached = tables.get(key)
    if cached is None:
        parent_set_tables = [t for t in terms if t is not None]
        starts = np.cumsum([0, *(0 if t is None else len(t.u) for t in terms)])
        no_terms = np.full((len(s.sizes), 4), -1, dtype=np.int64)
        ends = np.array(
            [no_terms if t is None else t.ends + at for t, at in zip(terms, starts, strict=False)]
        )
        plan = np.concatenate(
            [np.empty((6, 0), dtype=np.uint64), *(t.plan for t in parent_set_tables)], axis=1
        )
        cached = tables[key] = (
            plan,
            ends,
            np.concatenate([np.empty(0), *(t.u for t in parent_set_tables)]),
            parent_set_tables,
        )
    return cached[:3]


def add_prior_of(
    s: JointCounts, prior: Prior, block: Block, terms: Readings, out: Floats, bare: int = 0
) -> None:
    """Add the log prior before each row to the collections; in a block without labels it is the same for all rows."""
    weights, log_prior = ClassCounts(), np.zeros(out.shape[1:])
    weights.weight, weights.declared = s.classes.copy(), s.declared_classes
    prior.predict_then_update(weights, block, log_prior)
    for r, t in enumerate(terms):
        if t is not None and r >= bare:
            out[r] += log_prior


def countable_runs(summary: JointCounts, block: Block) -> Iterator[tuple[slice, bool]]:
    """Runs of rows that can be counted at once (True), and single rows while rows wait for a grid (False).

    A run ends behind a row with the first value of a column. The caller must learn each part before it takes the next.
    """
    at = 0
    while at < block.n:
        if np.all(summary.frozen):
            end, counted = at + first_met(summary, block.rows(at, block.n)), True
        elif len(summary.pending):
            end, counted = at + 1, False
        else:
            pending_rows = np.flatnonzero(summary.waits(block.rows(at, block.n)))
            run = int(pending_rows[0]) if len(pending_rows) else block.n - at
            counted = run > 0
            end = at + (first_met(summary, block.rows(at, at + run)) if counted else 1)
        yield slice(at, end), counted
        at = end


def first_met(summary: JointCounts, block: Block) -> int:
    """The number of rows up to the first, included, that has a value of an unseen column; or all rows."""
    unseen = np.flatnonzero(summary.seen == 0)
    if len(unseen) == 0:
        return block.n
    new = np.any(summary.codes_of(block)[:, unseen] >= 0, axis=1) & (block.y >= 0) & (block.w > 0)
    rows = np.flatnonzero(new)
    return int(rows[0]) + 1 if len(rows) else block.n
