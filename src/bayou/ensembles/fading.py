"""Forgetting by fading: old rows count less and less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.engine import BayesClassifier
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.shell import Shell
from bayou.ensembles.members import MetaClassifier, classifier_or, points_at
from bayou.errors import SchemaError
from bayou.schema import Schema

STEPS = 16  # decays per half-life


class Fading(MetaClassifier):
    r"""A row that is h half-lives old counts 2^{-h}: all that was counted is decayed 16 times per half-life.

    Parameters
    ----------
    estimator
        What to train: any classifier that can decay; a `NaiveBayes()` unless given.
    half_life
        Rows after which a row counts half.

    Merge: the earlier model is faded by the rows of the later one, then they add up (a heuristic, in stream order).
    Memory: that of the classifier.

    Examples
    --------
    >>> model = Fading(half_life=50)
    >>> for i in range(1000): model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 700))
    >>> model.predict_one({"x": 1})
    True
    """

    def __init__(self, estimator: Shell | None = None, half_life: float = 1000.0) -> None:
        self.estimator = estimator
        self.half_life = half_life

    def templates(self) -> Sequence[Shell]:
        if not self.half_life > 0:
            raise SchemaError(f"half_life={self.half_life!r}; it is a positive number of rows")
        return [classifier_or(self.estimator, NaiveBayes)]

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        self._members[0].scale_state(1.0)  # whoever cannot decay says so now, not in mid-stream

    @property
    def period(self) -> int:
        """Rows between two decays."""
        return max(1, round(self.half_life / STEPS))

    def _parts(self, block: Block) -> list[tuple[slice, Block, bool]]:
        points = points_at(block, self._learned, self.period)
        return [(where, part, where.stop in points) for where, part in block.cut(points)]

    def learn(self, block: Block) -> None:
        for _, part, ends in self._parts(block):
            self._members[0].learn(part)
            self._passed(part, ends)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self._k))
        for where, part, ends in self._parts(block):
            out[where] = self._members[0].test_then_train(part)
            self._passed(part, ends)
        return out

    def _passed(self, part: Block, ends: bool) -> None:
        self._learned += part.learned()
        if ends:
            self._fade(2.0 ** (-self.period / self.half_life))

    def _fade(self, factor: float) -> None:
        member = self._members[0]
        if not isinstance(member, BayesClassifier):
            member.scale_state(factor)
            return
        for view in member._views.values():  # in place: that all of them can decay was tried at the beginning
            view.scale(factor)
            view.mark_stale()

    def joint_log_proba(self, block: Block) -> Floats:
        answer: Floats = self._members[0].joint_log_proba(block)
        return answer

    def merge_state(self, other: Self) -> None:
        self._members[0].scale_state(2.0 ** (-other._learned / self.half_life))
        super().merge_state(other)
