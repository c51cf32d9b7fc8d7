"""Different classifiers that vote, each with its weight."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayou.align import canonical_order
from bayou.block import Block, Floats
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.shell import Shell
from bayou.ensembles.members import MetaClassifier, classifier_or, stacked
from bayou.errors import SchemaError
from bayou.kernels.votes import log_votes, running_weights
from bayou.protocols import Arrays
from bayou.schema import Schema


class WeightedVoting(MetaClassifier):
    r"""The class with the greatest sum of weights of the members that vote for it: argmax_c \sum_m w_m [C_m(x) = c].

    Parameters
    ----------
    estimators
        The members; naive Bayes and a Hoeffding tree unless given.
    weights
        `"accuracy"`: each member's share of right predictions so far, (right + 1) / (all + 2); or numbers, one per
        member.
    vote
        `"hard"`: each member votes for one class; `"soft"`: it shares its weight out by its probabilities.
    threshold
        With two classes, how large the share of votes for the second class (in canonical order) must be to win.

    Merge: member by member where all merge (a heuristic, for the weights), else none. Memory: that of the members.

    Examples
    --------
    >>> from bayou import MajorityClass
    >>> model = WeightedVoting([NaiveBayes(), MajorityClass()], weights=[2, 1])
    >>> model.fit([[1.0], [1.2], [3.0], [3.1], [3.2]], ["a", "a", "b", "b", "b"]).predict([[1.1]]).tolist()
    ['a']
    """

    def __init__(
        self,
        estimators: Sequence[Shell] | None = None,
        weights: str | Sequence[float] = "accuracy",
        vote: str = "hard",
        threshold: float = 0.5,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.vote = vote
        self.threshold = threshold

    def templates(self) -> Sequence[Shell]:
        if self.vote not in ("soft", "hard") or not 0 < self.threshold < 1:
            raise SchemaError(f"{self!r}: vote is 'soft' or 'hard', threshold lies in (0, 1)")
        if self.estimators is None:
            return [NaiveBayes(), HoeffdingTree()]
        if len(self.estimators) == 0:
            raise SchemaError("estimators is empty; give at least one classifier")
        return [classifier_or(each, NaiveBayes) for each in self.estimators]

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        self._record = np.zeros(len(self._members) + 1)
        if isinstance(self.weights, str):
            if self.weights != "accuracy":
                raise SchemaError(f"weights={self.weights!r}; it is 'accuracy' or a number per member")
        elif len(self.weights) != len(self._members) or min(self.weights) < 0:
            raise SchemaError(
                f"weights={self.weights!r}: {len(self._members)} members need as many weights >= 0"
            )

    def learn(self, block: Block) -> None:
        if self.weights == "accuracy":
            self.test_then_train(block)
            return
        for member in self._members:
            member.learn(block)
        self._learned += block.learned()

    def test_then_train(self, block: Block) -> Floats:
        joint = stacked(
            self._members, block.n, self._k, lambda m: self._members[m].test_then_train(block)
        )  # fmt: skip
        self._learned += block.learned()
        weights = self._now(block.n)
        if self.weights == "accuracy":
            running_weights(self._record, joint, block.y, block.w, self.class_order(), weights)
        return self._votes(joint, weights)

    def joint_log_proba(self, block: Block) -> Floats:
        joint = stacked(
            self._members, block.n, self._k, lambda m: self._members[m].joint_log_proba(block)
        )  # fmt: skip
        return self._votes(joint, self._now(block.n))

    def _now(self, rows: int) -> Floats:
        """[n, M] the weights as they are."""
        if isinstance(self.weights, str):
            now = (self._record[:-1] + 1.0) / (self._record[-1] + 2.0)
        else:
            now = np.array(self.weights, dtype=np.float64)
        return np.tile(now, (rows, 1))

    def _votes(self, joint: Floats, weights: Floats) -> Floats:
        out = np.empty(joint.shape[1:])
        log_votes(joint, weights, self.class_order(), self.vote == "hard", out)
        if self.threshold != 0.5 and self._known is not None and self._known.classes.size == 2:
            first, second = canonical_order(self._known.classes.values)
            out[:, first] -= math.log(1.0 - self.threshold)
            out[:, second] -= math.log(self.threshold)
        return out

    def merge_state(self, other: WeightedVoting) -> None:
        super().merge_state(other)
        self._record += other._record

    def empty_like(self, other: WeightedVoting) -> None:
        super().empty_like(other)
        self._record[:] = 0.0

    def arrays(self) -> Arrays:
        return {**super().arrays(), "record": self._record}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        if arrays["record"].shape != self._record.shape:
            raise SchemaError("the record of the votes does not fit the members")
        self._record = np.array(arrays["record"])
