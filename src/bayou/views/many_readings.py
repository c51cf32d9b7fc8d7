"""A view that reads one set of joint counts in several ways, and picks or mixes these by their track record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.kernels.track_record import join_rows
from bayou.protocols import Arrays
from bayou.readings.aode import OneDependence
from bayou.readings.collection import add_terms, kept_terms
from bayou.readings.joint_rows import (
    OneDependent,
    Prior,
    Readings,
    add_prior_of,
    readings_predict_then_update,
)
from bayou.readings.parent_sets import ParentSets, ParentSetTable
from bayou.readings.structure import GreedyForest, SpanningTree
from bayou.summaries.joint_counts import JointCounts, moved_columns
from bayou.summaries.track_record import TrackRecord
from bayou.views.recorded import RecordedView

ROWS = 4096  # read in every way at a time
# Factors of hits and of log-loss in the exponent of a mixture weight
RATES = {
    "hits": (0.5, 0.0),
    "best": (0.0, 0.0),
    "loss": (0.0, 1.0),
}
Rule = ParentSets | SpanningTree | GreedyForest | None  # None: averaged one-dependence estimators


class ManyReadings(RecordedView):
    """Log-probabilities of the reading with the best record, or a mixture weighted by exp(hits / 2) or exp(-log-loss).

    Parent sets of collections follow the order of the columns, those of searched structures change at refresh
    points.
    """

    instead = "a single reading (AODE, FANC, TC, TAN)"

    def __init__(
        self, summary: JointCounts, rules: Mapping[str, Rule], prior: Prior, alpha: float, combine: str
    ) -> None:
        super().__init__(summary, TrackRecord(len(rules)))
        self.rules, self.prior, self.alpha, self.combine = rules, prior, alpha, combine
        self.structures: dict[str, ParentSetTable] = {}
        self.refresh()
        self.stale = True

    def refresh(self) -> None:
        s = self.summary.flushed()
        self.structures = {
            name: rule.search(s)
            for name, rule in self.rules.items()
            if isinstance(rule, SpanningTree | GreedyForest)
        }
        self.stale = False

    def readings(self, s: JointCounts) -> Readings:
        """The parent sets of every reading as they stand."""
        return [self._terms(s, name, rule) for name, rule in self.rules.items()]

    def _terms(self, s: JointCounts, name: str, rule: Rule) -> ParentSetTable | None:
        if name in self.structures:
            return self.structures[name]
        return OneDependent if rule is None else kept_terms(s, rule)  # type: ignore[arg-type]

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s = self.summary.flushed()
        terms, codes = self.readings(s), s.codes_of(block)
        unlabelled = block.relabelled(np.full(block.n, -1, dtype=np.int32))
        for lo in range(0, block.n, ROWS):
            part = unlabelled.rows(lo, min(block.n, lo + ROWS))
            scores = np.zeros((len(terms), part.n, out.shape[1]))
            add_prior_of(s, self.prior, part, terms, scores)
            for r, t in enumerate(terms):
                if t is None:
                    OneDependence(self.alpha).add_codes(s, codes[lo : lo + part.n], scores[r])
                else:
                    add_terms(s, t, self.alpha, codes[lo : lo + part.n], scores[r])
            self._join(out[lo : lo + part.n], scores, part, False)

    def update(self, block: Block) -> None:
        self.refresh_if_stale()
        self.predict_then_update(block, np.zeros((block.n, len(self.summary.classes))))

    def predict_then_update(self, block: Block, out: Floats) -> None:
        for lo in range(0, block.n, ROWS):
            part = block.rows(lo, min(block.n, lo + ROWS))
            scores = np.zeros((len(self.rules), part.n, out.shape[1]))
            readings_predict_then_update(
                self.summary, self.readings, self.alpha, part, scores, prior=self.prior
            )
            self._join(out[lo : lo + part.n], scores, part, True)

    def _join(self, out: Floats, scores: Floats, part: Block, learn: bool) -> None:
        join_rows(self.record.record, out, scores, part.y, part.w, *RATES[self.combine], learn)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        m, columns = plan.nominal.size + plan.numeric.size, moved_columns(plan)
        self.structures = {name: terms.moved(columns, m) for name, terms in self.structures.items()}

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.rules, self.prior, self.alpha, self.combine)

    def arrays(self) -> Arrays:
        self.refresh_if_stale()
        out = {**self.summary.arrays(), **self.record.arrays()}
        for name, terms in self.structures.items():
            out |= {f"reading.{name}.sets": terms.sets, f"reading.{name}.u": terms.u}
        return out

    def restore(self, arrays: Arrays) -> None:
        self.summary.restore(arrays)
        self.record.restore(arrays)
        m = len(self.summary.sizes)
        self.structures = {
            name: ParentSetTable.restored(
                arrays[f"reading.{name}.sets"], arrays[f"reading.{name}.u"], m, self.summary.interaction_order
            )
            for name in self.structures
        }
        self.stale = False
