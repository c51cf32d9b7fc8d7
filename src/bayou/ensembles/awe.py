"""The accuracy-weighted ensemble (Wang, Fan, Yu and Han, 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.shell import Shell
from bayou.ensembles.chunk_learner import ChunkLearner
from bayou.ensembles.members import MetaClassifier, points_at, stacked
from bayou.ensembles.row_buffer import RowBuffer
from bayou.errors import SchemaError, UnsupportedError
from bayou.kernels.votes import log_votes, squared_errors
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Kind, Schema
from bayou.summaries.kept_rows import take


class AWE(MetaClassifier):
    r"""One classifier per chunk of the stream, weighted by how much better than chance it does on the latest chunk.

    w_m = MSE_r - MSE_m, with MSE_m = mean of (1 - P_m(y | x))^2 over that chunk and MSE_r = \sum_c p_c (1 - p_c)^2:
    members with w_m <= 0 do not vote. The newest is judged by cross-validation within its chunk, errors pooled over
    the folds. While a chunk fills, a classifier of its rows so far votes too, with the mean weight of the others times
    the share of the chunk that is there. Where nobody has w_m > 0, the newest member votes beside it.

    Parameters
    ----------
    estimator
        What to train on each chunk: a classifier of this library (`NaiveBayes()` unless given), or any object with
        scikit-learn's `fit` and `predict_proba`, streaming or not.
    chunk
        Rows per chunk.
    members
        Most members kept. Their votes average out what is chance in single chunks, but `members` chunks back is also as
        far as a concept that is over goes on voting: many members want small chunks, or learners that vary much.
    folds
        Folds of the cross-validation.
    replace
        Who goes when there are too many: `"worst"` (least weight) or `"oldest"`.

    Merge: none. Memory: that of the members and of one chunk of rows.

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
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    def templates(self) -> Sequence[Shell]:
        if self.members < 1 or not 2 <= self.folds <= self.chunk or self.replace not in ("worst", "oldest"):
            raise SchemaError(f"{self!r}: members >= 1, 2 <= folds <= chunk, replace 'worst' or 'oldest'")
        return [self._template()] * (self.members + 1)

    def _template(self) -> Shell:
        if self.estimator is None:
            return NaiveBayes()
        if isinstance(self.estimator, Shell):
            return self.estimator
        if not hasattr(self.estimator, "predict_proba") or not hasattr(self.estimator, "fit"):
            raise SchemaError(f"estimator={self.estimator!r} has no fit and predict_proba")
        return ChunkLearner(self.estimator)

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        self._weight = np.zeros(self.members)
        self._birth = np.zeros(self.members, dtype=np.int64)  # number of the chunk, from 1; 0 = not there
        self._buffer = RowBuffer(
            *(len(schema.names(kind)) for kind in (Kind.NUMERIC, Kind.NOMINAL, Kind.TEXT))
        )

    def grow(self, plan: Alignment) -> None:
        super().grow(plan)
        self._buffer.realign(plan)

    @property
    def weights(self) -> Floats:
        """Weights of the members that are there, oldest first."""
        self.flush()
        there = np.flatnonzero(self._birth)
        return self._weight[there[np.argsort(self._birth[there])]]

    def learn(self, block: Block) -> None:
        for _, part, ends in self._parts(block):
            self._members[-1].learn(part)
            self._passed(part, ends)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self._k))
        for where, part, ends in self._parts(block):
            out[where] = self._voted(part, self._members[-1].test_then_train(part))
            self._passed(part, ends)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        unlabelled = block.relabelled(np.full(block.n, -1, dtype=np.int32))
        return self._voted(unlabelled, self._members[-1].joint_log_proba(block))

    def _parts(self, block: Block) -> list[tuple[slice, Block, bool]]:
        points = points_at(block, self._learned, self.chunk)
        return [(where, part, where.stop in points) for where, part in block.cut(points)]

    def _voted(self, part: Block, newest: Floats) -> Floats:
        """The votes on each row, where the classifier of the unfinished chunk says `newest`."""
        teaches = (part.y >= 0) & (part.w > 0)
        share = (self._buffer.block.n + np.cumsum(teaches) - teaches) / self.chunk
        voters = [m for m in range(self.members) if self._birth[m] > 0 and self._weight[m] > 0.0]
        weights = np.empty((part.n, max(1, len(voters)) + 1))
        if voters:
            weights[:, :-1] = self._weight[voters]
            weights[:, -1] = share * (_sum(self._weight[voters]) / len(voters))
        elif self._birth.any():
            voters = [int(np.argmax(self._birth))]
            weights[:, 0], weights[:, 1] = 1.0 - share, share
        else:
            weights = np.ones((part.n, 1))
        answers = stacked(
            voters, part.n, self._k, lambda i: self._members[voters[i]].joint_log_proba(part)
        )  # fmt: skip
        joint = np.concatenate((answers, newest[None]))
        out = np.empty((part.n, self._k))
        log_votes(joint, weights, self.class_order(), False, out)
        return out

    def _passed(self, part: Block, ends: bool) -> None:
        self._learned += part.learned()
        self._buffer.add(part)
        if ends:
            self._finish()

    def _finish(self) -> None:
        """The chunk is full: weigh everybody on it, take the new classifier in, begin another."""
        chunk = self._buffer.block
        chance = mse_of_chance(chunk, self._k)
        for m in np.flatnonzero(self._birth).tolist():
            error = squared_errors(self._members[m].joint_log_proba(chunk), chunk.y, chunk.w)
            self._weight[m] = chance - error / _sum(chunk.w)
        candidate = chance - self._cross_validated(chunk)
        place = self._place(candidate)
        if place is not None:
            members = list(self._members)
            members[place] = members[-1]
            self._fit_chunk(members[place], chunk)
            self._members = members
            self._weight[place], self._birth[place] = candidate, 1 + self._birth.max()
        self._members = [*self._members[:-1], self.new_member(self._template())]
        self._buffer.clear()

    def _place(self, candidate: float) -> int | None:
        """Where the new classifier goes; None if all others are better."""
        empty = np.flatnonzero(self._birth == 0)
        if len(empty):
            return int(empty[0])
        if self.replace == "oldest":
            return int(np.argmin(self._birth))
        worst = int(np.lexsort((self._birth, self._weight))[0])
        return worst if candidate > self._weight[worst] else None

    def _cross_validated(self, chunk: Block) -> float:
        """MSE of classifiers trained on the other folds, pooled over all rows."""
        rows = np.arange(chunk.n)
        error = 0.0
        for fold in range(self.folds):
            test = take(chunk, rows[rows % self.folds == fold])
            member = self.new_member(self._template())
            train = take(chunk, rows[rows % self.folds != fold])
            member.learn(train)
            self._fit_chunk(member, train)
            error += squared_errors(member.joint_log_proba(test), test.y, test.w)
        return error / _sum(chunk.w)

    def _fit_chunk(self, member: Any, chunk: Block) -> None:
        """Learners that do not stream are fitted once their rows are complete."""
        if isinstance(member, ChunkLearner):
            member.fit_chunk(chunk)

    def scale_state(self, factor: float) -> None:
        raise UnsupportedError("AWE does not decay: it forgets by weighing its members on the latest chunk")

    def empty_like(self, other: AWE) -> None:
        super().empty_like(other)
        self._weight[:], self._birth[:] = 0.0, 0
        self._buffer.clear()

    def arrays(self) -> Arrays:
        buffer = {f"buffer.{name}": array for name, array in self._buffer.arrays().items()}
        return {**super().arrays(), **buffer, "weight": self._weight, "birth": self._birth}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        if arrays["weight"].shape != (self.members,) or arrays["birth"].shape != (self.members,):
            raise SchemaError("the weights do not fit the members")
        self._weight, self._birth = np.array(arrays["weight"]), np.array(arrays["birth"])
        self._buffer.restore(
            {k.removeprefix("buffer."): a for k, a in arrays.items() if k.startswith("buffer.")}
        )


def mse_of_chance(block: Block, classes: int) -> float:
    r"""MSE_r = \sum_c p_c (1 - p_c)^2, the error of who knows the class shares and nothing else."""
    weight = np.zeros(classes)
    np.add.at(weight, block.y, block.w)
    share = weight / _sum(block.w)
    return _sum(share * (1.0 - share) ** 2)


def _sum(values: Floats) -> float:
    """Added in order, so that classes yet to come do not show in the bits."""
    total = 0.0
    for value in values.tolist():
        total += value
    return total
