"""Forgetting by exponential decay: old rows count less and less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.engines import Engine, Members
from bayou.engines.members import parts_at
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.errors import SchemaError
from bayou.laws import MergeLaw
from bayou.schema import Schema

if TYPE_CHECKING:
    from bayou.scorer import Node

STEPS = 16  # decays per half-life


class Fading(Ensemble):
    r"""A classifier that forgets: a row h half-lives old counts 2^{-h}; counts are decayed 16 times per half-life.

    Parameters
    ----------
    estimator
        The classifier to train, any whose counts can decay, by default `NaiveBayes()`.
    half_life
        Number of rows after which a row counts half: a shorter half-life follows changes sooner, a longer one is more
        accurate where nothing changes.

    Merge: the earlier model is faded by the rows of the later one, then they add up, in stream order. Memory: that
    of the classifier. Time: that of the classifier, and all of its state is multiplied 16 times per half-life.

    Raises
    ------
    SchemaError
        If `half_life` is not positive.
    UnsupportedError
        If the classifier cannot decay, as a tree, or rows are unlearned.

    Examples
    --------
    >>> model = Fading(half_life=50)
    >>> for i in range(1000): model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 700))
    >>> model.predict_one({"x": 1})
    True
    """

    def __init__(self, estimator: Estimator | None = None, half_life: float = 3000.0) -> None:
        self.estimator = estimator
        self.half_life = half_life

    def templates(self) -> Sequence[Estimator]:
        if not self.half_life > 0:
            raise SchemaError(f"half_life={self.half_life!r}; it is a positive number of rows")
        return [classifier_or(self.estimator, NaiveBayes)]

    def build_engine(self) -> FadingMember:
        return FadingMember(self.builders(), self.half_life)


class FadingMember(Members):
    """One member that is decayed at fixed row counts."""

    def __init__(self, builders: Sequence[Callable[[], Engine]], half_life: float) -> None:
        super().__init__(builders)
        self.half_life, self.period = half_life, max(1, round(half_life / STEPS))

    @property
    def law(self) -> MergeLaw:
        """At best ORDERED: merging takes the rows of the other model to be later."""
        return MergeLaw.weakest([MergeLaw.ORDERED, self.members[0].law])

    @property
    def depends_on_order(self) -> bool:
        return True

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        self.members[0].scale(1.0)  # raises an error now if the member cannot decay, not in mid-stream

    def learn(self, block: Block) -> None:
        for _, part, ends in parts_at(block, self.learned, self.period):
            self.members[0].learn(part)
            self._passed(part, ends)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self.n_classes))
        for where, part, ends in parts_at(block, self.learned, self.period):
            out[where] = self.members[0].test_then_train(part)
            self._passed(part, ends)
        return out

    def _passed(self, part: Block, ends: bool) -> None:
        self.learned += part.learned()
        if ends:
            self.members[0].scale(2.0 ** (-self.period / self.half_life))

    def joint_log_proba(self, block: Block) -> Floats:
        answer: Floats = self.members[0].joint_log_proba(block)
        return answer

    def scorer(self) -> Node:
        answer: Node = self.members[0].scorer()
        return answer

    def merge(self, other: Self) -> None:
        if other.learned:  # merging an empty model must change nothing, readings included
            self.members[0].scale(2.0 ** (-other.learned / self.half_life))
        super().merge(other)
