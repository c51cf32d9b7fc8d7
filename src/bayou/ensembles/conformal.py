"""Adaptive conformal prediction: sets of classes with a promised coverage, also when the stream drifts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayou.block import Block, Flags, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.decisions import Decision
from bayou.engines import Engine
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.ensembles.recorded_members import RecordedMembers
from bayou.errors import SchemaError
from bayou.kernels.conformal import CLASSES, ROWS, conformal_rows
from bayou.kernels.posterior import posterior
from bayou.schema import Label
from bayou.summaries.conformal_scores import ConformalScores

FORGET = 0.999  # what remains of each score's weight after a row, so that about the last thousand rows count


class ConformalSet(Ensemble):
    r"""A classifier that also predicts sets of classes, which contain the true class with a given coverage.

    Class c is in the set if 1 - P(c | x) is at most the (1 - \alpha)-quantile of the scores 1 - P(y | x) that true
    classes had lately; after each row \alpha moves by `rate` (1 - coverage - [the set missed]), adaptive conformal
    inference. So over any n rows the share of sets that hold the true class differs from `coverage` by at most
    (1 + 2 rate) / (rate n), whatever the classifier and the stream do. Probabilities and predictions stay those of the
    classifier.

    Parameters
    ----------
    estimator
        The classifier that gives the probabilities, by default `NaiveBayes()`. A better one gives smaller sets.
    coverage
        Share of rows whose set is to contain the true class, in (0, 1).
    by_class
        Whether the coverage holds for each class by itself (Mondrian): rare classes are then covered as often as
        others.
    rate
        Step size by which \alpha adapts to the coverage so far; a larger one reaches the coverage over fewer rows, and
        makes the sizes of sets vary more.

    Every row is predicted before it is learned, also by `learn`. A class that was never learned is in no set.

    Merge: the classifier as it merges, scores added, levels averaged (a heuristic); none where the classifier has none.
    Memory: that of the classifier and 2 kB, with `by_class` 2 kB a class. Time: that of test-then-train, and O(K) a
    row.

    Raises
    ------
    SchemaError
        If `coverage` lies outside (0, 1), or `rate` outside (0, 1].
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 6000)
    >>> X = rng.normal(y, 0.8)[:, np.newaxis]
    >>> model = ConformalSet(coverage=0.9).partial_fit(X, y)
    >>> abs(model.coverage_ - 0.9) < 0.01, 1 < model.set_size_ < 2
    (True, True)
    >>> model.predict_set([[-1.0], [0.5]])
    [{0}, {0, 1}]
    """

    _offers = ("predict_set", "predict_set_one", "sets_then_train", "coverage_", "set_size_")

    def __init__(
        self,
        estimator: Estimator | None = None,
        coverage: float = 0.9,
        by_class: bool = False,
        rate: float = 0.02,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.by_class = by_class
        self.rate = rate

    @property
    def decision(self) -> Decision | None:
        """The decision rule of the classifier."""
        return getattr(classifier_or(self.estimator, NaiveBayes), "decision", None)

    def templates(self) -> Sequence[Estimator]:
        if not (0 < self.coverage < 1 and 0 < self.rate <= 1):
            raise SchemaError(f"{self!r}: coverage lies in (0, 1), rate in (0, 1]")
        return [classifier_or(self.estimator, NaiveBayes)]

    def build_engine(self) -> ConformalMember:
        scores = ConformalScores(float(self.coverage), bool(self.by_class))
        return ConformalMember(self.builders(), scores, float(self.rate))

    def predict_set(self, X: Any) -> list[set[Label]]:
        """For each row, the set of classes that may be the true one; it may be empty where no class is likely."""
        return self._label_sets(self.reading(lambda: cast(ConformalMember, self.engine).sets(self.encode(X))))

    def predict_set_one(self, x: Mapping[str, Any]) -> set[Label]:
        """The set of classes that may be the true one of a record; empty before anything is learned."""
        return self.predict_set([x])[0] if self.started else set()

    def sets_then_train(self, X: Any, y: Any, w: Any = None) -> list[set[Label]]:
        """For each row, its set before the row was learned; learns all rows."""
        with self.locked():
            block = self.encode(X, y, w, learn=True)
            sets = cast(ConformalMember, self.engine).sets_then_train(block)
            self._count(block)
        return self._label_sets(sets)

    def latest_sets(self) -> tuple[Flags, NDArray[np.int32]]:
        """The sets [n, K] of the latest rows before they were learned, and the codes of their labels (-1: none)."""
        return cast(ConformalMember, self.engine).latest

    def _label_sets(self, sets: Flags) -> list[set[Label]]:
        names = np.array([*self.schema_.classes.values, None], dtype=object)[:-1]
        return [set(names[row].tolist()) for row in sets]

    @property
    def coverage_(self) -> float:
        """Share of the rows learned whose set, made before they were learned, held the true class."""
        return cast(ConformalMember, self.engine).conformal.covered

    @property
    def set_size_(self) -> float:
        """Mean number of classes in these sets."""
        record = cast(ConformalMember, self.engine).conformal.record
        return float(record[CLASSES] / max(record[ROWS], 1.0))


class ConformalMember(RecordedMembers):
    """One member, and the conformal scores of the true classes."""

    summary_names = ("classes", "conformal")

    def __init__(
        self, builders: Sequence[Callable[[], Engine]], conformal: ConformalScores, rate: float
    ) -> None:
        super().__init__(builders)
        self.conformal, self.rate = conformal, rate
        self.latest: tuple[Flags, NDArray[np.int32]] = (np.zeros((0, 0), np.bool_), np.empty(0, np.int32))

    def test_then_train(self, block: Block) -> Floats:
        return self._test_then_train(block)[0]

    def joint_log_proba(self, block: Block) -> Floats:
        answer: Floats = self.members[0].joint_log_proba(block)
        return answer

    def sets_then_train(self, block: Block) -> Flags:
        """[n, K] the set of each row before the row was learned; learns all rows."""
        return self._test_then_train(block)[1]

    def sets(self, block: Block) -> Flags:
        """[n, K] which classes are in the set of each row."""
        return self._sets(self.joint_log_proba(block), np.full(block.n, -1, dtype=np.int32), block.w)

    def _test_then_train(self, block: Block) -> tuple[Floats, Flags]:
        joint = self.members[0].test_then_train(block)
        self.learned += block.learned()
        sets = self._sets(joint, block.y, block.w)
        self.latest = sets, np.where(block.w > 0, block.y, -1).astype(np.int32)
        return joint, sets

    def _sets(self, joint: Floats, y: NDArray[np.int32], w: Floats) -> Flags:
        proba = joint.copy()
        posterior(proba, np.arange(self.n_classes), 0.0)
        out = np.zeros(proba.shape, dtype=np.bool_)
        scores, levels = self.conformal.at_work()
        conformal_rows(
            scores, levels, self.conformal.record, proba, self.classes.weight, y, w,
            self.conformal.coverage, self.rate, FORGET, self.conformal.by_class, out,
        )  # fmt: skip
        return out
