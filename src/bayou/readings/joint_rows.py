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

OneDependent = None  # stands for averaged one-dependence estimators among the terms of collections
Readings = Sequence[ParentSetTable | None]


class Prior(Protocol):
    """How the weights of the classes are read."""

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
    """Row by row: out[r, i] += what reading r says of row i as it stood before it; then count the row.

    Row i is read by the first read[i] readings (None: all). With a prior, collections start from it, but for the
    first `bare` readings; one-dependence estimators never do, for theirs is part of them.
    """
    how_many = np.full(block.n, len(out), dtype=np.int64) if read is None else read
    for where, counted in countable_runs(summary, block):
        part = block.rows(where.start, where.stop)
        s = summary if counted else summary.flushed()
        terms = readings(s)
        mine = out if part.n == block.n else np.ascontiguousarray(out[:, where])
        if prior is not None:
            add_prior_of(s, prior, part, terms, mine, bare)
        _predict_then_update(
            s, terms, alpha, part, s.codes_of(part), how_many[where], min_count, counted, mine
        )
        if mine is not out:
            out[:, where] = mine
        if counted:
            summary.changed()
        else:
            summary.update(part)


def read_direct(
    summary: JointCounts, terms: Readings, alpha: float, codes: Codes, out: Floats, min_count: float = 1.0
) -> None:
    """out[r, i] += what reading r says of row i, straight from the counts: for few rows."""
    n = len(codes)
    part = Block(np.empty((n, 0)), codes, (), np.full(n, -1, dtype=np.int32), np.zeros(n))
    how_many = np.full(n, len(terms), dtype=np.int64)
    _predict_then_update(summary, terms, alpha, part, codes, how_many, min_count, False, out)


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
    """The plans of all readings end to end, kept as long as the order of the columns."""
    key = tuple(terms)  # not their ids: a copy of the counts outlives the tables that had them
    tables = kept(s.columns_mark)
    found = tables.get(key)
    if found is None:
        given = [t for t in terms if t is not None]
        starts = np.cumsum([0, *(0 if t is None else len(t.u) for t in terms)])
        alone = np.full((len(s.sizes), 4), -1, dtype=np.int64)
        ends = np.array([alone if t is None else t.ends + at for t, at in zip(terms, starts, strict=False)])
        plan = np.concatenate([np.empty((6, 0), dtype=np.uint64), *(t.plan for t in given)], axis=1)
        found = tables[key] = (plan, ends, np.concatenate([np.empty(0), *(t.u for t in given)]), given)
    return found[:3]


def add_prior_of(
    s: JointCounts, prior: Prior, block: Block, terms: Readings, out: Floats, bare: int = 0
) -> None:
    """Start collections from the log prior as it stood before each row; a block without labels has one for all."""
    weights, log_prior = ClassCounts(), np.zeros(out.shape[1:])
    weights.weight, weights.declared = s.classes.copy(), s.declared_classes
    prior.predict_then_update(weights, block, log_prior)
    for r, t in enumerate(terms):
        if t is not None and r >= bare:
            out[r] += log_prior


def countable_runs(summary: JointCounts, block: Block) -> Iterator[tuple[slice, bool]]:
    """Runs of rows that are counted at once (True), and single rows while rows wait for a grid (False).

    A run ends behind a row that brings the first value of a column. The summary learns each part before the
    next one is asked for.
    """
    at = 0
    while at < block.n:
        if np.all(summary.frozen):
            end, counted = at + first_met(summary, block.rows(at, block.n)), True
        elif len(summary.pending):
            end, counted = at + 1, False
        else:
            waits = np.flatnonzero(summary.waits(block.rows(at, block.n)))
            run = int(waits[0]) if len(waits) else block.n - at
            counted = run > 0
            end = at + (first_met(summary, block.rows(at, at + run)) if counted else 1)
        yield slice(at, end), counted
        at = end


def first_met(summary: JointCounts, block: Block) -> int:
    """Number of rows up to and with the first that teaches a value of a column not met before; or all."""
    unmet = np.flatnonzero(summary.seen == 0)
    if len(unmet) == 0:
        return block.n
    new = np.any(summary.codes_of(block)[:, unmet] >= 0, axis=1) & (block.y >= 0) & (block.w > 0)
    rows = np.flatnonzero(new)
    return int(rows[0]) + 1 if len(rows) else block.n
