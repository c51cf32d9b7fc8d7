"""Weighted voting of different classifiers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import counts, require
from bayou.classifiers.estimator import Estimator
from bayou.engines import Engine, Members
from bayou.ensembles.different import DifferentMembers
from bayou.errors import SchemaError
from bayou.kernels.votes import log_votes, running_weights
from bayou.protocols import Arrays
from bayou.schema import Schema
from bayou.summaries.array_summary import move

if TYPE_CHECKING:
    from bayou.scorer import Node


class WeightedVoting(DifferentMembers):
    r"""Weighted majority vote of different classifiers: argmax_c \sum_m w_m [C_m(x) = c].

    Parameters
    ----------
    estimators
        The classifiers, by default naive Bayes and a Hoeffding tree.
    weights
        Weights of the votes: `"accuracy"` (each member's share of right predictions so far, (right + 1) / (all + 2)),
        or numbers, one per member.
    vote
        How members vote: `"hard"` (each votes for one class) or `"soft"` (its vote is divided among the classes by its
        probabilities).
    threshold
        With two classes: the share of votes that the second class (in canonical order) needs to win.

    Merge: member by member where all merge (a heuristic, for the weights), else none. Memory: that of the members.
    Time: that of the members, which also predict every row they learn where weights follow their accuracy.

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
    >>> model = WeightedVoting([NaiveBayes(), MajorityClass()], weights=[2, 1])
    >>> model.fit([[1.0], [1.2], [3.0], [3.1], [3.2]], ["a", "a", "b", "b", "b"]).predict([[1.1]]).tolist()
    ['a']
    """

    def __init__(
        self,
        estimators: Sequence[Estimator] | None = None,
        weights: str | Sequence[float] = "accuracy",
        vote: str = "hard",
        threshold: float = 0.5,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.vote = vote
        self.threshold = threshold

    def templates(self) -> Sequence[Estimator]:
        if self.vote not in ("soft", "hard") or not 0 < self.threshold < 1:
            raise SchemaError(f"{self!r}: vote is 'soft' or 'hard', threshold lies in (0, 1)")
        return self.different_members()

    def build_engine(self) -> VotingMembers:
        builders = self.builders()
        if isinstance(self.weights, str):
            if self.weights != "accuracy":
                raise SchemaError(f"weights={self.weights!r}; it is 'accuracy' or a number per member")
            return VotingMembers(builders, None, self.vote == "hard", self.threshold)
        if len(self.weights) != len(builders) or min(self.weights) < 0:
            raise SchemaError(f"weights={self.weights!r}: {len(builders)} members need as many weights >= 0")
        weights = np.array(self.weights, dtype=np.float64)
        return VotingMembers(builders, weights, self.vote == "hard", self.threshold)


class VotingMembers(Members):
    """Members that vote, with given weights or with their share of right predictions so far."""

    def __init__(
        self, builders: Sequence[Callable[[], Engine]], weights: Floats | None, hard: bool, threshold: float
    ) -> None:
        super().__init__(builders)
        self.weights, self.hard, self.threshold = weights, hard, threshold
        if weights is None:
            self.refresh_at_row_counts()
        self.record = np.zeros(len(self.members) + 1)
        self.seen = np.zeros(0, dtype=np.int64)  # 1: the class has been learned

    @property
    def depends_on_order(self) -> bool:
        return self.weights is None or super().depends_on_order

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        self.seen = np.zeros(self.n_classes, dtype=np.int64)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.seen = move(self.seen, 0, plan.classes)

    def learn(self, block: Block) -> None:
        if self.weights is None:
            self.test_then_train(block)
            return
        for member in self.members:
            member.learn(block)
        self.learned += block.learned()
        self.seen[block.y[(block.y >= 0) & (block.w > 0)]] = 1

    def test_then_train(self, block: Block) -> Floats:
        joint = self.ask(lambda member: member.test_then_train(block), block.n)
        self.learned += block.learned()
        weights = self._weights(block.n)
        if self.weights is None:
            running_weights(self.record, joint, block.y, block.w, self.class_order(), weights)
        out = self._votes(joint, weights)
        self._tilt_learned(out, block)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        joint = self.ask(lambda member: member.joint_log_proba(block), block.n)
        out = self._votes(joint, self._weights(block.n))
        self._tilt(out, np.flatnonzero(self.seen))
        return out

    def scorer(self) -> Node:
        from bayou.scorer import Chosen, LogSoftmax, Mixture, added

        joint, order = [member.scorer() for member in self.members], self.class_order()
        votes = tuple(Chosen(node, order) if self.hard else LogSoftmax(node) for node in joint)
        with np.errstate(divide="ignore"):
            mixture = Mixture(votes, np.log(self._weights(1)[0]))
        tilt = np.zeros((1, self.n_classes))
        self._tilt(tilt, np.flatnonzero(self.seen))
        return added(mixture, tilt[0]) if tilt.any() else mixture

    def _weights(self, rows: int) -> Floats:
        """[n, M] the current weights of the members, repeated for each row."""
        if self.weights is None:
            current = (self.record[:-1] + 1.0) / (self.record[-1] + 2.0)
        else:
            current = self.weights
        return np.tile(current, (rows, 1))

    def _votes(self, joint: Floats, weights: Floats) -> Floats:
        out = np.empty(joint.shape[1:])
        log_votes(joint, weights, self.class_order(), self.hard, out)
        return out

    def _tilt(self, out: Floats, classes: Index) -> None:
        """Divide the votes of two classes by the share that each must reach; nothing unless there are two classes."""
        if self.threshold != 0.5 and len(classes) == 2:
            first, second = (c for c in self.class_order() if c in classes)
            out[:, first] -= math.log(1.0 - self.threshold)
            out[:, second] -= math.log(self.threshold)

    def _tilt_learned(self, out: Floats, block: Block) -> None:
        """Apply the threshold to rows before which exactly two classes were seen, and record the block's classes."""
        first_row = np.where(self.seen > 0, -1, block.n)
        for i in np.flatnonzero((block.y >= 0) & (block.w > 0))[::-1]:
            first_row[block.y[i]] = min(i, first_row[block.y[i]])
        by_first_row = np.argsort(first_row, kind="stable")
        ends = [*first_row[by_first_row].tolist(), block.n, block.n, block.n]
        self._tilt(out[max(0, ends[1] + 1) : ends[2] + 1], by_first_row[:2])
        self.seen[first_row < block.n] = 1

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.record += other.record
        self.seen |= other.seen

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.record, twin.seen = np.zeros_like(self.record), np.zeros_like(self.seen)
        return twin

    def arrays(self) -> Arrays:
        return {**super().arrays(), "record": self.record, "seen": self.seen}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        if arrays["record"].shape != self.record.shape or arrays["seen"].shape != self.seen.shape:
            raise SchemaError("the record of the votes does not fit the members and classes")
        counts("the record of the votes", arrays["record"])
        require(np.isin(arrays["seen"], (0, 1)).all(), "a class was seen or not")
        self.record, self.seen = np.array(arrays["record"]), np.array(arrays["seen"])
