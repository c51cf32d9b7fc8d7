"""Forgetting by a sliding window: a ring of panes that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.engines import Engine, Members
from bayou.engines.members import parts_at
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.errors import SchemaError, UnsupportedError
from bayou.laws import MergeLaw
from bayou.schema import Schema

if TYPE_CHECKING:
    from bayou.scorer import Node


class Window(Ensemble):
    r"""A classifier of the rows in a sliding window: panes are filled in turn, the oldest dropped, their sum predicts.

    With N_p the counts of pane p, prediction reads N = \sum_p N_p. The window holds between `rows` - `rows` / `panes`
    and `rows` rows. Nothing is ever subtracted, so it works for every summary that merges, without cancellation.

    Parameters
    ----------
    estimator
        The classifier to train, any that merges, by default `NaiveBayes()`.
    rows
        Length of the window, in rows: a shorter one follows changes sooner, a longer one is more accurate where nothing
        changes.
    panes
        Number of parts of the window, which are forgotten one at a time.

    Merge: none, since a window belongs to one stream. Memory: `panes` + 1 times that of the classifier. Time: a row
    is learned twice, and `panes` models are added up when a pane is full.

    Raises
    ------
    SchemaError
        If `rows` is not a multiple of `panes`.
    MergeError
        If models are merged.
    UnsupportedError
        If the classifier does not merge, or rows are unlearned.

    Examples
    --------
    >>> model = Window(rows=100)
    >>> for i in range(1000): model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 700))
    >>> model.predict_one({"x": 1})
    True
    """

    def __init__(self, estimator: Estimator | None = None, rows: int = 3000, panes: int = 10) -> None:
        self.estimator = estimator
        self.rows = rows
        self.panes = panes

    @property
    def copies(self) -> int:
        return self.panes + 1

    def templates(self) -> Sequence[Estimator]:
        if not 1 <= self.panes <= self.rows or self.rows % self.panes:
            raise SchemaError(f"{self!r}: rows must be a multiple of panes, and at least one pane")
        return [classifier_or(self.estimator, NaiveBayes)] * (self.panes + 1)

    def build_engine(self) -> Panes:
        return Panes(self.builders(), self.rows // self.panes)


class Panes(Members):
    """A ring of members, each with one part of the window; the last member is their sum and predicts."""

    def __init__(self, builders: Sequence[Callable[[], Engine]], rows_per_pane: int) -> None:
        super().__init__(builders)
        self.rows_per_pane = rows_per_pane

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        if not self._total.law.merges:
            raise UnsupportedError(
                f"a Window needs a classifier whose panes add up, and {type(self._total).__name__} does not merge; "
                "use ResetOnDrift or AWE"
            )

    @property
    def _total(self) -> Any:
        return self.members[-1]

    @property
    def _pane(self) -> int:
        return (self.learned // self.rows_per_pane) % (len(self.members) - 1)

    def predicting(self) -> Sequence[int]:
        return [len(self.members) - 1]

    def learn(self, block: Block) -> None:
        for _, part, ends in parts_at(block, self.learned, self.rows_per_pane):
            self._total.learn(part)
            self._passed(part, ends)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self.n_classes))
        for where, part, ends in parts_at(block, self.learned, self.rows_per_pane):
            out[where] = self._total.test_then_train(part)
            self._passed(part, ends)
        return out

    def _passed(self, part: Block, ends: bool) -> None:
        self.members[self._pane].learn(part)
        self.learned += part.learned()
        if ends:
            panes = self.members[:-1]
            panes[self._pane] = panes[self._pane].fresh()
            total = self._total.fresh()
            for i in range(len(panes)):  # oldest first, the empty pane last
                total.merge(panes[(self._pane + 1 + i) % len(panes)])
            self.members = [*panes, total]

    def joint_log_proba(self, block: Block) -> Floats:
        answer: Floats = self._total.joint_log_proba(block)
        return answer

    def scorer(self) -> Node:
        answer: Node = self._total.scorer()
        return answer
