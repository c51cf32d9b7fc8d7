"""A view whose parent sets are searched for and kept, while its probabilities are always current."""

from __future__ import annotations

from typing import Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.checks import codes, finite, require
from bayou.protocols import Arrays
from bayou.readings.collection import add_terms, trail_terms, trailing_parts
from bayou.readings.parent_sets import Terms
from bayou.readings.structure import StructureSearch
from bayou.readings.view import View
from bayou.summaries.joint_counts import JointCounts


class SearchedCollection(View[JointCounts]):
    """Parent sets that change at refresh points only; counts that are read as they stand."""

    searched = True

    def __init__(self, summary: JointCounts, reader: StructureSearch, alpha: float) -> None:
        super().__init__(summary)
        self.reader, self.alpha = reader, alpha
        self.terms = reader.search(summary.settled())
        self.due = True

    def refresh(self) -> None:
        self.terms = self.reader.search(self.summary.settled())
        self.due = False

    def read_if_due(self) -> None:
        if self.due:
            self.refresh()

    def mark_due(self) -> None:
        self.due = True

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s = self.summary.settled()
        add_terms(s, self.terms, self.alpha, s.codes_of(block), out)

    def trail(self, block: Block, out: Floats) -> None:
        for where, counted in trailing_parts(self.summary, block):
            part = block.rows(where.start, where.stop)
            if counted:
                trail_terms(self.summary, self.terms, self.alpha, part, out[where])
            else:
                self.add_log_prob(part, out[where])
                self.summary.update(part)

    def realign(self, plan: Alignment) -> None:
        columns = np.append(plan.nominal.to, plan.nominal.size + plan.numeric.to)
        super().realign(plan)
        m = plan.nominal.size + plan.numeric.size
        sets = self.terms.sets
        moved = np.where(sets >= 0, np.append(columns, -1)[sets], -1)
        kept = [(int(i), int(p), int(r), float(u)) for (i, p, r), u in zip(moved, self.terms.u, strict=True)]
        new = np.setdiff1d(np.arange(m), columns)
        self.terms = Terms.of([*kept, *((int(j), -1, -1, 1.0) for j in new)], m)

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.reader, self.alpha)

    def arrays(self) -> Arrays:
        self.read_if_due()
        kept = {"reading.sets": self.terms.sets, "reading.u": self.terms.u}
        return {**self.summary.arrays(), **kept}

    def restore(self, arrays: Arrays) -> None:
        self.summary.restore({k: a for k, a in arrays.items() if not k.startswith("reading.")})
        sets, u = arrays["reading.sets"], arrays["reading.u"]
        require(
            sets.shape == (len(u), 3) and u.ndim == 1,
            "every term of a structure names a column and two parents",
        )
        codes("the columns of a structure", sets, len(self.summary.sizes))
        require(sets[:, :1].min(initial=0) >= 0, "a term of a structure belongs to a column")
        finite("the weights of a structure", u)
        terms = [(int(i), int(p), int(q), float(x)) for (i, p, q), x in zip(sets, u, strict=True)]
        self.terms = Terms.of(terms, len(self.summary.sizes))
        self.due = False
