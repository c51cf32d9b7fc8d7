"""Averaged one-dependence estimators, read off pair counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.kernels.aode import add_aode, add_aode_direct, fill_aode, mark_parents, trail_aode
from bayou.readings.collection import GRAIN, trailing_parts
from bayou.summaries.joint_counts import JointCounts
from bayou.threads import over_ranges


@dataclass(frozen=True)
class OneDependence:
    r"""$\log \frac{1}{|S|} \sum_{s \in S} P(c, x_s) \prod_{i \ne s} P(x_i | c, x_s)$, always current.

    S are the columns whose value was seen `min_count` times; where there is none, naive Bayes.
    """

    alpha: float = 1.0
    min_count: float = 1.0

    def add_log_prob(self, summary: JointCounts, block: Block, out: Floats) -> None:
        s = summary.settled()
        self._add(s, s.codes_of(block), out)

    def _add(self, s: JointCounts, codes: Codes, out: Floats) -> None:
        declared, (n, m) = int(s.declared_classes[0]), codes.shape
        tables = s.read.get(self)
        if tables is None:
            cells = len(s.singles)
            if n * m * m < cells * cells:
                add_aode_direct(
                    out, s.classes, s.singles, s.present, s.pairs, s.layout, codes, s.width,
                    declared, self.alpha, self.min_count, s.nominal,
                )  # fmt: skip
                return
            table, joint = np.empty((cells + 1, cells + 1, out.shape[1])), np.empty_like(s.singles)
            fill_aode(
                table,
                joint,
                s.classes,
                s.singles,
                s.present,
                s.pairs,
                s.layout,
                s.width,
                declared,
                self.alpha,
            )
            state = np.empty(cells, dtype=np.int64)
            mark_parents(state, s.singles, self.min_count)
            tables = s.read[self] = (table, joint, state)
        table, joint, state = tables
        width = s.width

        def rows(lo: int, hi: int) -> None:
            add_aode(
                out[lo:hi], table, joint, state, s.classes, s.singles, s.present, s.layout, codes[lo:hi], width,
                declared, self.alpha, s.nominal,
            )  # fmt: skip

        over_ranges(rows, n, 1 + GRAIN // max(1, m * m))

    def trail(self, summary: JointCounts, block: Block, out: Floats) -> None:
        s = summary
        for where, counted in trailing_parts(summary, block):
            part = block.rows(where.start, where.stop)
            if not counted or part.n == 1:
                self.add_log_prob(summary, part, out[where])
                summary.update(part)
                continue
            trail_aode(
                s.classes, s.singles, s.present, s.seen, s.pairs, s.triples, out[where], s.layout,
                s.codes_of(part), part.y, part.w, s.declared, int(s.declared_classes[0]),
                self.alpha, self.min_count, s.nominal,
            )  # fmt: skip
            s.changed()
