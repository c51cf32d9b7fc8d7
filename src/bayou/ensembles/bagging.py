"""Online bagging (Oza and Russell, 2001)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.engines import Engine, Members
from bayou.ensembles.drift import ResetOnDrift
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.errors import SchemaError
from bayou.kernels.poisson import poisson_weights
from bayou.kernels.votes import log_votes

if TYPE_CHECKING:
    from bayou.scorer import Node


class Bagging(Ensemble):
    r"""Online bagging: the mean of P_m(c | x) over members that learn every row with random weights, Poisson(6).

    The weight is a hash of seed, member and the number of the row, so it does not depend on blocks, and a resumed
    stream continues with the same numbers. Rows without weight or label are not numbered.

    Parameters
    ----------
    estimator
        The classifier to train, by default `ResetOnDrift(HoeffdingTree())`, a tree that starts afresh when its error
        rises.
    n_estimators
        Number of members.
    rate
        Mean of the Poisson weights: 1 is the bootstrap (Oza and Russell's online bagging), and with more (6 in Bifet's
        leveraging bagging) members learn faster.
    vote
        How members vote: `"soft"` (their probabilities are averaged) or `"hard"` (each votes for one class).
    seed
        Seed of the Poisson weights.

    Merge: member by member where members merge (a heuristic: a shard numbers its rows from 0), else none. Memory:
    that of all members. Time: that of all members.

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
    >>> from bayou import NaiveBayes
    >>> model = Bagging(NaiveBayes(), n_estimators=5).fit([[1.0], [1.2], [3.0], [3.1]], ["a", "a", "b", "b"])
    >>> model.predict([[1.1], [3.0]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int = 10,
        rate: float = 6.0,
        vote: str = "soft",
        seed: int = 1,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.rate = rate
        self.vote = vote
        self.seed = seed

    @property
    def copies(self) -> int:
        return self.n_estimators

    def templates(self) -> Sequence[Estimator]:
        if self.n_estimators < 1 or not self.rate > 0 or self.vote not in ("soft", "hard") or self.seed < 0:
            raise SchemaError(f"{self!r}: at least one member, rate > 0, seed >= 0, vote 'soft' or 'hard'")
        return [classifier_or(self.estimator, restarting_tree)] * self.n_estimators

    def build_engine(self) -> BaggedMembers:
        return BaggedMembers(self.builders(), self.rate, self.vote == "hard", self.seed)


def restarting_tree() -> ResetOnDrift:
    """The default member: a Hoeffding tree that restarts on drift."""
    return ResetOnDrift(HoeffdingTree())


class BaggedMembers(Members):
    """Members that learn every row with Poisson weights of their own, and vote."""

    def __init__(self, builders: Sequence[Callable[[], Engine]], rate: float, hard: bool, seed: int) -> None:
        super().__init__(builders)
        self.rate, self.hard, self.seed = rate, hard, seed

    def _weighted(self, block: Block, member: int) -> Block:
        out = np.empty(block.n)
        poisson_weights(block.y, block.w, cumulative(self.rate), self.seed, member, self.learned, out)
        return block.weighted(out)

    def learn(self, block: Block) -> None:
        self.each(lambda m: self.members[m].learn(self._weighted(block, m)), block.n)
        self.learned += block.learned()

    def test_then_train(self, block: Block) -> Floats:
        joint = np.empty((len(self.members), block.n, self.n_classes))

        def one(m: int) -> None:
            joint[m] = self.members[m].test_then_train(self._weighted(block, m))

        self.each(one, block.n)
        self.learned += block.learned()
        return self._votes(joint)

    def joint_log_proba(self, block: Block) -> Floats:
        return self._votes(self.ask(lambda member: member.joint_log_proba(block), block.n))

    def scorer(self) -> Node:
        from bayou.scorer import Chosen, LogSoftmax, Mixture

        joint = [member.scorer() for member in self.members]
        order = self.class_order()
        votes = tuple(Chosen(node, order) if self.hard else LogSoftmax(node) for node in joint)
        return Mixture(votes, np.zeros(len(votes)))

    def _votes(self, joint: Floats) -> Floats:
        out = np.empty(joint.shape[1:])
        weights = np.ones((joint.shape[1], joint.shape[0]))
        log_votes(joint, weights, self.class_order(), self.hard, out)
        return out


@cache
def cumulative(rate: float) -> Floats:
    """P(K <= k) of the Poisson distribution, as far as it differs from 1.

    >>> [round(float(p), 4) for p in cumulative(1.0)[:3]]
    [0.3679, 0.7358, 0.9197]
    """
    values, term, total, k = [], math.exp(-rate), 0.0, 0
    while total < 1.0 - 1e-15 and k < 1000:
        total += term
        values.append(total)
        k += 1
        term *= rate / k
    return np.array(values)
