"""A log-linear pool of different classifiers, weighted by how well they predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.engines import Engine
from bayou.ensembles.different import DifferentMembers
from bayou.ensembles.recorded_members import RecordedMembers
from bayou.errors import SchemaError
from bayou.kernels.posterior import posterior
from bayou.summaries.pool_weights import PoolWeights

if TYPE_CHECKING:
    from bayou.scorer import Node


class Pool(DifferentMembers):
    r"""A log-linear pool of different classifiers, weighted by how well they predict rows before learning them.

    H_k = \log P(k) + b_k + \sum_m w_{mk} (\log P_m(k | x) - \log P(k)), and P = softmax(H); weights begin at 1/M.
    It is mixed with the plain mean of the members' probabilities, by the probability that each gave to the labels.
    A member that repeats another, or is over- or under-confident, is weighted accordingly: the pool also calibrates.

    Parameters
    ----------
    estimators
        The classifiers, by default naive Bayes and a Hoeffding tree. On streams whose labels come in runs, `NoChange()`
        among them lets the pool use the last label.
    rate
        Learning rate of the weights.
    forget
        Factor by which the pool discounts earlier rows after each row: 1 discounts nothing, 0.999 follows drift.

    Merge: member by member where all merge, weights averaged (a heuristic), else none. Memory: that of the members.
    Time: that of the members, and O(M K) per row for M members.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    MergeError
        If members do not merge, as those by default.
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> from bayou import MajorityClass, NaiveBayes
    >>> model = Pool([NaiveBayes(), MajorityClass()])
    >>> model.fit([[1.0], [1.2], [3.0], [3.1], [3.2]], ["a", "a", "b", "b", "b"]).predict([[1.1]]).tolist()
    ['a']
    """

    def __init__(
        self, estimators: Sequence[Estimator] | None = None, rate: float = 0.05, forget: float = 1.0
    ) -> None:
        self.estimators = estimators
        self.rate = rate
        self.forget = forget

    def templates(self) -> Sequence[Estimator]:
        if not (0 < self.rate <= 1 and 0 < self.forget <= 1):
            raise SchemaError(f"{self!r}: rate and forget lie in (0, 1]")
        return self.different_members()

    def build_engine(self) -> PooledMembers:
        return PooledMembers(self.builders(), float(self.rate), float(self.forget))


class PooledMembers(RecordedMembers):
    """Members whose probabilities a pool combines."""

    summary_names = ("classes", "pool")

    def __init__(self, builders: Sequence[Callable[[], Engine]], rate: float, forget: float) -> None:
        super().__init__(builders)
        self.pool = PoolWeights(len(self.members), rate, forget)

    def test_then_train(self, block: Block) -> Floats:
        joint = self.ask(lambda member: member.test_then_train(block), block.n)
        self.learned += block.learned()
        return self._pooled(joint, block, learn=True)

    def joint_log_proba(self, block: Block) -> Floats:
        joint = self.ask(lambda member: member.joint_log_proba(block), block.n)
        return self._pooled(joint, block, learn=False)

    def scorer(self) -> Node:
        from bayou.scorer import LogSoftmax

        opinions = [LogSoftmax(member.scorer()) for member in self.members]
        return self.pool.scorer(opinions, self.classes.weight, int(self.classes.declared[0]))

    def _pooled(self, joint: Floats, block: Block, learn: bool) -> Floats:
        """[n, K] log P of the pool; with `learn`, classes are counted and weights updated row by row."""
        order = np.arange(self.n_classes)
        for member_joint in joint:
            posterior(member_joint, order, 0.0)
        y = block.y if learn else np.full(block.n, -1, dtype=np.int32)
        out = np.empty((block.n, self.n_classes))
        self.pool.learn(
            np.ascontiguousarray(joint.transpose(1, 0, 2)),
            self.classes.weight, int(self.classes.declared[0]), y, block.w, learn, out,
        )  # fmt: skip
        return out
