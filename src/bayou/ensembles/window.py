"""Forgetting by a sliding window: a ring of panes that add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.shell import Shell
from bayou.ensembles.members import MetaClassifier, classifier_or, points_at
from bayou.errors import SchemaError, UnsupportedError
from bayou.laws import MergeLaw
from bayou.schema import Schema


class Window(MetaClassifier):
    """A classifier of the latest rows only: panes are filled in turn, the oldest is emptied, their sum predicts.

    The window holds between `rows` - `rows` / `panes` and `rows` rows. Nothing is ever subtracted, so it works for
    every summary that merges, without cancellation.

    Parameters
    ----------
    estimator
        What to train: any classifier that merges; a `NaiveBayes()` unless given.
    rows
        Length of the window.
    panes
        Parts that are forgotten one at a time.

    Merge: none, since a window belongs to one stream. Memory: `panes` + 1 times that of the classifier.

    Examples
    --------
    >>> model = Window(rows=100)
    >>> for i in range(1000): model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 700))
    >>> model.predict_one({"x": 1})
    True
    """

    def __init__(self, estimator: Shell | None = None, rows: int = 1000, panes: int = 10) -> None:
        self.estimator = estimator
        self.rows = rows
        self.panes = panes

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    def templates(self) -> Sequence[Shell]:
        if not 1 <= self.panes <= self.rows or self.rows % self.panes:
            raise SchemaError(f"{self!r}: rows must be a multiple of panes, and at least one pane")
        return [classifier_or(self.estimator, NaiveBayes)] * (self.panes + 1)

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        if not self._total.law.merges:
            raise UnsupportedError(
                f"a Window needs a classifier whose panes add up, and {type(self._total).__name__} does not merge; "
                "use ResetOnDrift or AWE"
            )

    @property
    def _total(self) -> Any:
        return self._members[-1]

    @property
    def _pane(self) -> int:
        return (self._learned // (self.rows // self.panes)) % self.panes

    def _parts(self, block: Block) -> list[tuple[slice, Block, bool]]:
        points = points_at(block, self._learned, self.rows // self.panes)
        return [(where, part, where.stop in points) for where, part in block.cut(points)]

    def learn(self, block: Block) -> None:
        for _, part, ends in self._parts(block):
            self._total.learn(part)
            self._passed(part, ends)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self._k))
        for where, part, ends in self._parts(block):
            out[where] = self._total.test_then_train(part)
            self._passed(part, ends)
        return out

    def _passed(self, part: Block, ends: bool) -> None:
        self._members[self._pane].learn(part)
        self._learned += part.learned()
        if ends:
            members = list(self._members)
            members[self._pane] = self._emptied(members[self._pane])
            whole = self._emptied(members[-1])
            for i in range(self.panes):  # oldest first, the empty pane last
                whole.merge_state(members[(self._pane + 1 + i) % self.panes])
            self._members = [*members[:-1], whole]

    def _emptied(self, member: Any) -> Any:
        twin = self.new_member(self.templates()[0])
        twin.empty_like(member)
        return twin

    def joint_log_proba(self, block: Block) -> Floats:
        answer: Floats = self._total.joint_log_proba(block)
        return answer

    def merge_state(self, other: Self) -> None:
        raise NotImplementedError
