"""Views whose probabilities back off to fewer parents, by concentrations fitted at refresh points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.errors import UnsupportedError
from bayou.kernels.back_off import back_off_rows
from bayou.protocols import Arrays
from bayou.readings.back_off import Concentrations
from bayou.readings.collection import kept_terms
from bayou.readings.joint_rows import countable_runs, joined
from bayou.readings.parent_sets import NoParents, OneParent, ParentSets, ParentSetTable
from bayou.readings.structure import StructureSearch
from bayou.summaries.joint_counts import JointCounts, moved_columns
from bayou.views.column_terms import chunk_rows
from bayou.views.searched_collection import SearchedCollection

if TYPE_CHECKING:
    from bayou.scorer import Node


class RuleSearch:
    """Parent sets that follow from a rule, in the form of a search."""

    def __init__(self, rule: ParentSets) -> None:
        self.rule = rule

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The parent sets that the rule gives the columns seen so far."""
        return kept_terms(summary, self.rule)


class BackedOff(SearchedCollection):
    """Parent sets and concentrations that change at refresh points only; counts that are read as they stand."""

    one_dependent = False
    min_count = 1.0

    def __init__(self, summary: JointCounts, reader: StructureSearch, alpha: float = 1.0) -> None:
        super().__init__(summary, reader, alpha)
        self.fitted = Concentrations.fit(summary.flushed(), self.terms)

    def refresh(self) -> None:
        super().refresh()
        self.fitted = Concentrations.fit(self.summary.flushed(), self.terms)

    def readings(self, summary: JointCounts) -> list[ParentSetTable]:
        """The parent sets under which each row is read."""
        return [self.terms]

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s = self.summary.flushed()
        unlabelled = block.relabelled(np.full(block.n, -1, dtype=np.int32))
        self._read(s, unlabelled, False, out)

    def predict_then_update(self, block: Block, out: Floats) -> None:
        for where, counted in countable_runs(self.summary, block):
            part = block.rows(where.start, where.stop)
            self._read(self.summary if counted else self.summary.flushed(), part, counted, out[where])
            if counted:
                self.summary.changed()
            else:
                self.summary.update(part)

    def _read(self, s: JointCounts, block: Block, learn: bool, out: Floats) -> None:
        """Add log P(x | c) to `out` row by row; with `learn`, count each row after it is read."""
        if len(s.sizes) == 0:
            if learn:
                s.update(block)
            return
        readings = self.readings(s)
        plan, ends, u = joined(s, readings)
        triples, first = self.fitted.triples, self.fitted.first
        if self.one_dependent:
            triples, first = np.ones(len(u)), np.zeros(len(u), dtype=np.int64)
        rows = chunk_rows(len(readings), out.shape[1])
        for where, part in block.cut(range(rows, block.n, rows)):
            log_proba = np.zeros((len(readings), part.n, out.shape[1]))
            back_off_rows(
                s.classes, s.singles, s.present, s.seen, s.pairs, s.triples, log_proba, s.layout, s.codes_of(part),
                part.y, part.w, plan, ends, u, s.declared, int(s.declared_classes[0]), self.fitted.alone,
                self.fitted.pairs, triples, first, self.min_count, self.one_dependent, learn,
            )  # fmt: skip
            out[where] += self.combined(log_proba)

    def combined(self, log_proba: Floats) -> Floats:
        """log P(x | c) of all readings together."""
        only: Floats = log_proba[0]
        return only

    def add_to_scorer(self, so_far: Node) -> Node:
        raise UnsupportedError(
            "cannot be exported: smoothing='back-off' is no table of probabilities; export a model with smoothing=1.0"
        )

    def realign(self, plan: Alignment) -> None:
        before = self.terms
        super().realign(plan)
        m = plan.nominal.size + plan.numeric.size
        self.fitted = self.fitted.moved(before, self.terms, moved_columns(plan), m)

    def arrays(self) -> Arrays:
        state = super().arrays()  # refreshes first if stale
        return {**state, **{f"reading.{name}": array for name, array in self.fitted.arrays().items()}}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        fitted = {k.removeprefix("reading."): a for k, a in arrays.items() if k.startswith("reading.")}
        self.fitted = Concentrations.restored(fitted, self.terms, len(self.summary.sizes))


class BackedOffOneDependence(BackedOff):
    r"""$\log \frac{1}{|S|} \sum_{s \in S} P(c, x_s) \prod_{i \ne s} P(x_i | c, x_s)$, backing off to $P(x_i | c)$."""

    one_dependent = True

    def __init__(self, summary: JointCounts, min_count: float) -> None:
        super().__init__(summary, RuleSearch(NoParents()))
        self.min_count = min_count

    def readings(self, summary: JointCounts) -> list[ParentSetTable]:
        rules: list[ParentSets] = [*map(OneParent, range(len(summary.sizes))), NoParents()]
        return [kept_terms(summary, rule) for rule in rules]

    def combined(self, log_proba: Floats) -> Floats:
        """The mean over the parents; where no parent has a value, naive Bayes, which is the last reading."""
        with np.errstate(divide="ignore", invalid="ignore"):
            top = log_proba[:-1].max(axis=(0, 2), initial=-math.inf)
            n_parents = np.count_nonzero(np.isfinite(log_proba[:-1]).any(axis=2), axis=0)[:, np.newaxis]
            base = np.where(np.isfinite(top), top, 0.0)[:, np.newaxis]
            mean = np.log(np.exp(log_proba[:-1] - base).sum(axis=0) / np.maximum(1, n_parents)) + base
        out: Floats = np.where(n_parents > 0, mean, log_proba[-1])
        return out

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.min_count)
