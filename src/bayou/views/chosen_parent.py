"""A view that chooses its super parent by the candidates' track record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import codes, require
from bayou.errors import SchemaError
from bayou.kernels.track_record import draw_rows, record_rows
from bayou.protocols import Arrays
from bayou.readings.collection import add_terms, kept_terms
from bayou.readings.joint_rows import Prior, readings_predict_then_update
from bayou.readings.joint_scorer import collection_scorer
from bayou.readings.parent_sets import Forests, NoParents, OneParent, ParentSets, ParentSetTable, SuperParents
from bayou.readings.prior import CountedPrior
from bayou.summaries.joint_counts import JointCounts, moved_columns
from bayou.summaries.track_record import ColumnRecord
from bayou.views.recorded import RecordedView

if TYPE_CHECKING:
    from bayou.scorer import Node

ROWS = 1024  # predicted under all candidates at a time


@dataclass(frozen=True)
class Choice:
    """How candidates are scored and compared.

    `SuperParents` (over triples) or `OneParent` (over pairs) per candidate; the best by the sum of probabilities
    of the true class, or by hits and then by that sum. After the first thousand rows one in `sample` is recorded.
    With `evidence` a candidate needs odds in its favour against none, too. A model that predicts each row before it
    learns it gives all rows together the probability exp(-log-loss); where none has the prior probability 1/2 and m
    candidates share the other half, the log-loss must be less than that of none by log m.
    """

    family: Callable[[int], ParentSets] = SuperParents
    by_hits: bool = False
    alpha: float = 1.0
    prior: Prior = field(default_factory=CountedPrior)
    sample: int = 8
    seed: int = 0
    evidence: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.sample, int | np.integer) or not 1 <= self.sample < 1 << 31:  # type: ignore[redundant-expr] # users pass anything
            raise SchemaError(f"one_in={self.sample!r}; it is a whole number of rows from 1 on")

    def candidates(self, summary: JointCounts) -> list[ParentSetTable]:
        """The parent sets under every column as super parent, and last under none; an unseen column has those."""
        none = NoParents() if self.family is OneParent else Forests()
        rules = [*(self.family(s) if was_seen else none for s, was_seen in enumerate(summary.seen > 0)), none]
        return [kept_terms(summary, rule) for rule in rules]

    def best(self, record: Floats, candidates: Index) -> int:
        """The best of the candidates, the first of them among equals; -1 for none."""
        chosen, best_merit = -1, (-1.0, -1.0)
        if self.family is OneParent:
            best_merit = self._merit(record, -1)
        for s in candidates.tolist():
            if self._merit(record, s) > best_merit and self._has_evidence(record, s, len(candidates)):
                chosen, best_merit = s, self._merit(record, s)
        return chosen

    def _has_evidence(self, record: Floats, s: int, candidates: int) -> bool:
        return not self.evidence or bool(record[2, s] + np.log(candidates) < record[2, -1])

    def _merit(self, record: Floats, s: int) -> tuple[float, float]:
        return (float(record[1, s]) if self.by_hits else 0.0), float(record[0, s])


class ChosenParent(RecordedView):
    """Live probabilities under the chosen super parent; the choice changes at refresh points."""

    instead = "SPC(super_parent=...) and SuperParent's counts with a given parent"

    def __init__(self, summary: JointCounts, choice: Choice) -> None:
        super().__init__(summary, ColumnRecord())
        self.choice = choice
        self.column = np.full(1, -1, dtype=np.int64)

    def refresh(self) -> None:
        order, was_seen = self.summary.reading_order, self.summary.flushed().seen > 0
        self.column = np.array([self.choice.best(self.record.record, order[was_seen[order]])], dtype=np.int64)
        self.stale = False

    def terms(self) -> ParentSetTable:
        """Parent sets under the chosen super parent."""
        return kept_terms(self.summary.flushed(), self.choice.family(int(self.column[0])))

    def update(self, block: Block) -> None:
        self._predict_then_update(block, None)

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s = self.summary.flushed()
        add_terms(s, self.terms(), self.choice.alpha, s.codes_of(block), out)

    def add_to_scorer(self, so_far: Node) -> Node:
        return collection_scorer(self.summary.flushed(), self.terms(), self.choice.alpha, so_far)

    def predict_then_update(self, block: Block, out: Floats) -> None:
        self._predict_then_update(block, out)

    def _predict_then_update(self, block: Block, out: Floats | None) -> None:
        """Learn, and record every candidate on the drawn rows; with `out`, predict all rows under the chosen one."""
        first, r = int(out is not None), len(self.summary.sizes) + 1
        for lo in range(0, block.n, ROWS):
            part = block.rows(lo, min(block.n, lo + ROWS))
            n_readings = np.empty(part.n, dtype=np.int64)
            draw_rows(n_readings, part.start, self.choice.seed, self.choice.sample, first + r, first)
            n_readings[(part.y < 0) | (part.w <= 0)] = first
            scores = np.zeros((first + r, part.n, len(self.summary.classes)))
            if out is not None:
                scores[0] = out[lo : lo + part.n]
            readings_predict_then_update(
                self.summary, self._readings(out is not None), self.choice.alpha, part, scores, n_readings,
                self.choice.prior, bare=first,
            )  # fmt: skip
            record_rows(self.record.record, scores[first:], part.y, part.w, n_readings - first)
            if out is not None:
                out[lo : lo + part.n] = scores[0]

    def _readings(self, chosen: bool) -> Callable[[JointCounts], list[ParentSetTable]]:
        family = self.choice.family(int(self.column[0]))
        head: list[ParentSets] = [family] if chosen else []

        def readings(s: JointCounts) -> list[ParentSetTable]:
            return [*(kept_terms(s, rule) for rule in head), *self.choice.candidates(s)]

        return readings

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.record.realign(plan)
        if self.column[0] >= 0:
            self.column[0] = moved_columns(plan)[self.column[0]]

    def fresh(self) -> Self:
        twin = type(self)(self.summary.fresh(), self.choice)
        twin.record = self.record.fresh()
        return twin

    def arrays(self) -> Arrays:
        self.refresh_if_stale()
        return {**self.summary.arrays(), **self.record.arrays(), "reading.column": self.column}

    def restore(self, arrays: Arrays) -> None:
        self.summary.restore(arrays)
        self.record.restore(arrays)
        require(arrays["reading.column"].shape == self.column.shape, "one super parent is chosen")
        codes("the chosen super parent", arrays["reading.column"], len(self.summary.sizes))
        self.column = np.array(arrays["reading.column"], dtype=np.int64)
        self.stale = False
