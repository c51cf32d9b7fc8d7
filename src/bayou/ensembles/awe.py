"""The accuracy-weighted ensemble (Wang, Fan, Yu and Han, 2003)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, cast

import numpy as np

from bayou.align import Alignment, from_empty
from bayou.block import Block, Floats
from bayou.checks import finite, require
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.engines import Engine, Members
from bayou.engines.engine import under
from bayou.engines.members import parts_at
from bayou.ensembles.chunk_learner import ChunkLearner
from bayou.ensembles.ensemble import Ensemble
from bayou.ensembles.row_buffer import RowBuffer
from bayou.errors import SchemaError, UnsupportedError
from bayou.kernels.votes import log_votes, squared_errors
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Schema
from bayou.summaries.kept_rows import take


class AWE(Ensemble):
    r"""Accuracy-weighted ensemble: one classifier per chunk, weighted by its gain over chance on the latest chunk.

    w_m = MSE_r - MSE_m, with MSE_m = mean of (1 - P_m(y | x))^2 over that chunk and MSE_r = \sum_c p_c (1 - p_c)^2:
    members with w_m <= 0 do not vote. The newest is judged by cross-validation within its chunk, errors pooled over
    the folds. While a chunk fills, a classifier of its rows so far votes too, with the mean weight of the others times
    the share of the chunk that has come. Where no member has w_m > 0, the newest one votes beside it.

    Parameters
    ----------
    estimator
        The classifier to train on each chunk: one of this library (`NaiveBayes()` by default), or any object with
        scikit-learn's `fit` and `predict_proba`, streaming or not.
    chunk
        Rows per chunk.
    members
        Largest number of members. More of them average out the noise of single chunks, but a concept that is over goes
        on voting for as many chunks: many members suit small chunks, or learners of high variance.
    folds
        Folds of the cross-validation that judges the newest member.
    replace
        Which member is dropped when there are too many: `"worst"` (least weight) or `"oldest"`.

    Merge: none. Memory: that of the members and of one chunk of rows. Time: a chunk is learned `folds` + 1 times
    and predicted by every member; a row is predicted by every member.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    MergeError
        If models are merged.
    UnsupportedError
        If rows are unlearned or faded.

    Examples
    --------
    >>> model = AWE(chunk=50)
    >>> for i in range(400): model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 250))
    >>> model.predict_one({"x": 1})
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        chunk: int = 500,
        members: int = 5,
        folds: int = 10,
        replace: str = "worst",
    ) -> None:
        self.estimator = estimator
        self.chunk = chunk
        self.members = members
        self.folds = folds
        self.replace = replace

    @property
    def copies(self) -> int:
        return self.members + 1

    def templates(self) -> Sequence[Estimator]:
        is_classifier = self.estimator is None or isinstance(self.estimator, Estimator)
        return [self.estimator or NaiveBayes()] if is_classifier else [NaiveBayes()]

    def builders(self) -> list[Callable[[], Engine]]:
        if self.members < 1 or not 2 <= self.folds <= self.chunk or self.replace not in ("worst", "oldest"):
            raise SchemaError(f"{self!r}: members >= 1, 2 <= folds <= chunk, replace 'worst' or 'oldest'")
        if self.estimator is None or isinstance(self.estimator, Estimator):
            return super().builders() * (self.members + 1)
        if not hasattr(self.estimator, "predict_proba") or not hasattr(self.estimator, "fit"):
            raise SchemaError(f"estimator={self.estimator!r} has no fit and predict_proba")
        return [partial(ChunkLearner, self.estimator)] * (self.members + 1)

    def build_engine(self) -> ChunkMembers:
        return ChunkMembers(self.builders(), self.chunk, self.folds, self.replace)

    @property
    def weights(self) -> Floats:
        """Weights of the members in use, oldest first."""
        engine = cast(ChunkMembers, self.engine)
        in_use = np.flatnonzero(engine.birth)
        return engine.weight[in_use[np.argsort(engine.birth[in_use])]]


class ChunkMembers(Members):
    """Members that each learned one chunk, with their weights; the last one learns the chunk that is filling."""

    def __init__(
        self, builders: Sequence[Callable[[], Engine]], chunk: int, folds: int, replace: str
    ) -> None:
        super().__init__(builders)
        self.chunk, self.folds, self.replace = chunk, folds, replace
        self.weight = np.zeros(len(builders) - 1)
        self.birth = np.zeros(len(builders) - 1, dtype=np.int64)  # number of the chunk, from 1; 0: not in use
        self.buffer = RowBuffer()

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        self.buffer.realign(from_empty(schema))

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.buffer.realign(plan)

    def learn(self, block: Block) -> None:
        for _, part, ends in parts_at(block, self.learned, self.chunk):
            self.members[-1].learn(part)
            self._passed(part, ends)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self.n_classes))
        for where, part, ends in parts_at(block, self.learned, self.chunk):
            out[where] = self._voted(part, self.members[-1].test_then_train(part))
            self._passed(part, ends)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        unlabelled = block.relabelled(np.full(block.n, -1, dtype=np.int32))
        return self._voted(unlabelled, self.members[-1].joint_log_proba(block))

    def predicting(self) -> Sequence[int]:
        voters = self._voters()
        return [*voters, len(self.members) - 1] if self.buffer.block.n or not voters else voters

    def _voters(self) -> list[int]:
        """The finished members that vote: those better than chance, or the newest if none is."""
        better = [m for m in range(len(self.weight)) if self.birth[m] > 0 and self.weight[m] > 0.0]
        return better or ([int(np.argmax(self.birth))] if self.birth.any() else [])

    def _voted(self, part: Block, newest: Floats) -> Floats:
        """The weighted vote on each row; `newest` are joint log-probabilities by the member of the unfinished chunk."""
        labelled = (part.y >= 0) & (part.w > 0)
        share = (self.buffer.block.n + np.cumsum(labelled) - labelled) / self.chunk
        voters = [m for m in range(len(self.weight)) if self.birth[m] > 0 and self.weight[m] > 0.0]
        weights = np.empty((part.n, max(1, len(voters)) + 1))
        if voters:
            weights[:, :-1] = self.weight[voters]
            weights[:, -1] = share * (_sum(self.weight[voters]) / len(voters))
        elif self.birth.any():
            voters = [int(np.argmax(self.birth))]
            weights[:, 0], weights[:, 1] = 1.0 - share, share
        else:
            weights = np.ones((part.n, 1))
        votes = self.ask(lambda member: member.joint_log_proba(part), part.n, voters)
        joint = np.concatenate((votes, newest[None]))
        out = np.empty((part.n, self.n_classes))
        log_votes(joint, weights, self.class_order(), False, out)
        return out

    def _passed(self, part: Block, ends: bool) -> None:
        self.learned += part.learned()
        self.buffer.add(part)
        if ends:
            self._finish()

    def _finish(self) -> None:
        """When the chunk is full: weight all members on it, add the new classifier, and start another chunk."""
        chunk = self.buffer.block
        chance = mse_of_chance(chunk, self.n_classes)
        for m in np.flatnonzero(self.birth).tolist():
            error = squared_errors(self.members[m].joint_log_proba(chunk), chunk.y, chunk.w)
            self.weight[m] = chance - error / _sum(chunk.w)
        candidate = chance - self._cross_validated(chunk)
        place = self._place(candidate)
        members = list(self.members)
        if place is not None:
            members[place] = members[-1]
            self._fit_chunk(members[place], chunk)
            self.weight[place], self.birth[place] = candidate, 1 + self.birth.max()
        self.members = [*members[:-1], self.new_member()]
        self.buffer.clear()

    def _place(self, candidate: float) -> int | None:
        """The member that the new classifier replaces; None if all are better."""
        empty = np.flatnonzero(self.birth == 0)
        if len(empty):
            return int(empty[0])
        if self.replace == "oldest":
            return int(np.argmin(self.birth))
        worst = int(np.lexsort((self.birth, self.weight))[0])
        return worst if candidate > self.weight[worst] else None

    def _cross_validated(self, chunk: Block) -> float:
        """MSE of classifiers trained on the other folds, pooled over all rows."""
        rows = np.arange(chunk.n)
        error = 0.0
        for fold in range(self.folds):
            test = take(chunk, rows[rows % self.folds == fold])
            member = self.new_member()
            train = take(chunk, rows[rows % self.folds != fold])
            member.learn(train)
            self._fit_chunk(member, train)
            error += squared_errors(member.joint_log_proba(test), test.y, test.w)
        return error / _sum(chunk.w)

    def _fit_chunk(self, member: Any, chunk: Block) -> None:
        """Fit a member that does not stream, once its rows are complete."""
        if isinstance(member, ChunkLearner):
            member.fit_chunk(chunk)

    def scale(self, factor: float) -> None:
        raise UnsupportedError("AWE does not decay: it forgets by weighing its members on the latest chunk")

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.weight, twin.birth = np.zeros_like(self.weight), np.zeros_like(self.birth)
        twin.buffer = copy.copy(self.buffer)
        twin.buffer.clear()
        return twin

    def arrays(self) -> Arrays:
        buffer = {f"buffer.{name}": array for name, array in self.buffer.arrays().items()}
        return {**super().arrays(), **buffer, "weight": self.weight, "birth": self.birth}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        if arrays["weight"].shape != self.weight.shape or arrays["birth"].shape != self.birth.shape:
            raise SchemaError("the weights do not fit the members")
        finite("the weights of the members", arrays["weight"])
        require(
            (arrays["birth"] >= 0).all() and arrays["birth"].max() < 1 << 62, "members have a chunk or none"
        )
        self.weight, self.birth = np.array(arrays["weight"]), np.array(arrays["birth"])
        self.buffer.restore(under("buffer.", arrays))


def mse_of_chance(block: Block, classes: int) -> float:
    r"""MSE_r = \sum_c p_c (1 - p_c)^2, the error of a classifier that knows the class shares only."""
    weight = np.zeros(classes)
    np.add.at(weight, block.y, block.w)
    share = weight / _sum(block.w)
    return _sum(share * (1.0 - share) ** 2)


def _sum(values: Floats) -> float:
    """The sum in order, so that classes that come later do not change its bits."""
    total = 0.0
    for value in values.tolist():
        total += value
    return total
