"""A view that chooses its super parent by the candidates' track record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import codes, require
from bayou.errors import UnsupportedError
from bayou.kernels.candidates import record_candidates
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.readings.collection import add_terms, kept_terms
from bayou.readings.parent_sets import OneParent, ParentSets, SuperParents, Terms
from bayou.readings.view import View
from bayou.summaries.candidate_record import CandidateRecord
from bayou.summaries.joint_counts import JointCounts


@dataclass(frozen=True)
class Choice:
    """How candidates are scored and compared.

    `SuperParents` (over triples) or `OneParent` (over pairs) per candidate; the best by the sum of probabilities
    of the true class, or by hits and then by that sum. After the first thousand rows one in `sample` is recorded.
    """

    family: Callable[[int], ParentSets] = SuperParents
    by_hits: bool = False
    alpha: float = 1.0
    prior_alpha: float = 0.0
    sample: int = 8
    seed: int = 0

    def best(self, record: Floats, candidates: Index) -> int:
        """The best of the candidates, the first of them among equals; -1 for none."""
        chosen, standard = -1, (-1.0, -1.0)
        if self.family is OneParent:
            standard = self._merit(record, -1)
        for s in candidates.tolist():
            if self._merit(record, s) > standard:
                chosen, standard = s, self._merit(record, s)
        return chosen

    def _merit(self, record: Floats, s: int) -> tuple[float, float]:
        return (float(record[1, s]) if self.by_hits else 0.0), float(record[0, s])


class ChosenParent(View[JointCounts]):
    """Live probabilities under the chosen super parent; the choice changes at refresh points.

    Learning predicts first, so that the record is honest; it is averaged in a merge and cannot be unlearned.
    """

    searched = True

    def __init__(self, summary: JointCounts, choice: Choice) -> None:
        super().__init__(summary)
        self.choice = choice
        self.record = CandidateRecord()
        self.column = np.full(1, -1, dtype=np.int64)
        self.due = True

    @property
    def law(self) -> MergeLaw:
        return self.record.law

    def refresh(self) -> None:
        order, met = self.summary.reading_order, self.summary.settled().seen > 0
        self.column = np.array([self.choice.best(self.record.record, order[met[order]])], dtype=np.int64)
        self.due = False

    def read_if_due(self) -> None:
        if self.due:
            self.refresh()

    def mark_due(self) -> None:
        self.due = True

    def terms(self) -> Terms:
        """Parent sets under the chosen super parent."""
        return kept_terms(self.summary.settled(), self.choice.family(int(self.column[0])))

    def update(self, block: Block) -> None:
        if np.all(self.summary.frozen) and not len(self.summary.waiting):
            score(self.summary, self.record, self.choice, block, 0.0, 1.0)
            self.summary.changed()
            return
        for i in range(block.n):
            row = block.rows(i, i + 1)
            score(self.summary.settled(), self.record, self.choice, row, 0.0, 0.0)
            self.summary.update(row)

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s = self.summary.settled()
        add_terms(s, self.terms(), self.choice.alpha, s.codes_of(block), out)

    def trail(self, block: Block, out: Floats) -> None:
        for i in range(block.n):
            row = block.rows(i, i + 1)
            self.add_log_prob(row, out[i : i + 1])
            self.update(row)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.record.merge(other.record)

    def subtract(self, block: Block) -> None:
        raise UnsupportedError(
            "cannot unlearn: the super parent was chosen by a track record of predictions, which keeps no rows; "
            "SPC(super_parent=...) and SuperParent's counts with a given parent can unlearn"
        )

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.record.scale(factor)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.record.realign(plan)
        columns = np.append(plan.nominal.to, plan.nominal.size + plan.numeric.to).astype(np.int64)
        if self.column[0] >= 0:
            self.column[0] = columns[self.column[0]]

    def fresh(self) -> Self:
        twin = type(self)(self.summary.fresh(), self.choice)
        twin.record = self.record.fresh()
        return twin

    def arrays(self) -> Arrays:
        self.read_if_due()
        return {**self.summary.arrays(), **self.record.arrays(), "reading.column": self.column}

    def restore(self, arrays: Arrays) -> None:
        self.summary.restore(arrays)
        self.record.restore(arrays)
        require(arrays["reading.column"].shape == self.column.shape, "one super parent is chosen")
        codes("the chosen super parent", arrays["reading.column"], len(self.summary.sizes))
        self.column = np.array(arrays["reading.column"], dtype=np.int64)
        self.due = False


def score(
    summary: JointCounts, record: CandidateRecord, choice: Choice, block: Block, before: float, after: float
) -> None:
    """Add rows to the record: (0, 1) learns them as they come, (0, 0) only scores, (-1, 1) leaves each out."""
    s = summary
    if len(s.sizes) == 0:
        if after:
            s.update(block)
        return
    triples = s.triples if choice.family is SuperParents else s.triples[:0]
    record_candidates(
        record.record, s.classes, s.singles, s.present, s.seen, s.pairs, triples, s.layout, s.codes_of(block),
        block.y, block.w, s.reading_order, s.declared, int(s.declared_classes[0]), choice.alpha,
        choice.prior_alpha, before, after, block.start, choice.seed, choice.sample,
    )  # fmt: skip
