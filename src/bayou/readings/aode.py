"""Averaged one-dependence estimators, read off pair counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.kernels.aode import add_aode, fill_aode
from bayou.kernels.collection import mark_no_missing
from bayou.readings.collection import GRAIN
from bayou.readings.joint_rows import OneDependent, read_direct, readings_predict_then_update
from bayou.readings.joint_scorer import aode_scorer
from bayou.readings.kept import kept
from bayou.readings.live import LiveReader
from bayou.summaries.joint_counts import JointCounts
from bayou.threads import over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node


@dataclass(frozen=True)
class OneDependence(LiveReader[JointCounts]):
    r"""$\log \frac{1}{|S|} \sum_{s \in S} P(c, x_s) \prod_{i \ne s} P(x_i | c, x_s)$, always current.

    S are the columns whose value was seen `min_count` times; where there is none, naive Bayes.
    """

    alpha: float = 1.0
    min_count: float = 1.0

    def add_log_prob(self, summary: JointCounts, block: Block, out: Floats) -> None:
        s = summary.flushed()
        self.add_codes(s, s.codes_of(block), out)

    def add_codes(self, s: JointCounts, codes: Codes, out: Floats) -> None:
        """Add the log-probabilities of rows given as cells: from a table for many rows, from the counts for few."""
        (n, m), cells, width = codes.shape, len(s.singles), s.width
        table = kept(s.mark).get(self)
        if table is None:
            if m > 0 and n * m * m < cells * cells:
                read_direct(s, [OneDependent], self.alpha, codes, out[np.newaxis], self.min_count)
                return
            no_missing = np.empty(m, dtype=np.bool_)
            mark_no_missing(no_missing, s.classes, s.present)
            table = kept(s.mark)[self] = np.empty(((cells + 1) ** 2, out.shape[1]))
            fill_aode(table, s.singles, s.pairs, s.layout, width, no_missing, self.alpha)

        def rows(lo: int, hi: int) -> None:
            add_aode(
                out[lo:hi], table, s.classes, s.singles, s.present, s.layout, codes[lo:hi], width,
                int(s.declared_classes[0]), self.alpha, self.min_count, s.nominal,
            )  # fmt: skip

        over_ranges(rows, n, 1 + GRAIN // max(1, m * m))

    def add_to_scorer(self, summary: JointCounts, so_far: Node) -> Node:
        return aode_scorer(summary.flushed(), self.alpha, self.min_count, so_far)

    def predict_then_update(self, summary: JointCounts, block: Block, out: Floats) -> None:
        readings_predict_then_update(
            summary, lambda _: [OneDependent], self.alpha, block, out[np.newaxis], min_count=self.min_count
        )
