"""A scikit-learn classifier fitted to one chunk, as a member of AWE."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.engines import Engine
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.readings.prior import CountedPrior
from bayou.summaries.class_counts import ClassCounts


class ChunkLearner(Engine):
    """Predicts by the class shares of its rows until it has them all; `fit_chunk` then fits the estimator.

    Numeric columns are passed on unchanged, with the column's mean for missing values; nominal ones as codes. It can
    neither be merged nor saved, since the state of the estimator is unknown.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self._shares = ClassCounts()
        self._fitted: Any = None
        self._columns: tuple[int, int] = (0, 0)
        self._means: Floats = np.zeros(0)

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self._shares.realign(plan)

    def learn(self, block: Block) -> None:
        self._shares.update(block)

    def fit_chunk(self, block: Block) -> None:
        """Fit the estimator to a whole chunk."""
        self._columns = block.numeric.shape[1], block.codes.shape[1]
        present = ~np.isnan(block.numeric)
        self._means = np.where(present, block.numeric, 0.0).sum(axis=0) / np.maximum(1, present.sum(axis=0))
        fitted = copy.deepcopy(self.estimator)
        try:
            fitted.fit(self._matrix(block), block.y, sample_weight=block.w)
        except TypeError:  # an estimator without weights
            fitted = copy.deepcopy(self.estimator)
            fitted.fit(self._matrix(block), block.y)
        self._fitted = fitted

    def _matrix(self, block: Block) -> Floats:
        p, q = self._columns
        numeric = block.numeric[:, :p]
        filled = np.where(np.isnan(numeric), self._means, numeric)
        return np.hstack((filled, block.codes[:, :q]))

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((block.n, len(self._shares.weight)))
        if self._fitted is None:
            CountedPrior().add_log_prob(self._shares, block, out)
        elif block.n:
            with np.errstate(divide="ignore"):
                logs = np.log(self._fitted.predict_proba(self._matrix(block)))
            out[:] = -np.inf
            out[:, np.asarray(self._fitted.classes_)] = logs
        return out

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((block.n, len(self._shares.weight)))
        CountedPrior().predict_then_update(self._shares, block, out)
        return out

    def fresh(self) -> Self:
        twin = type(self)(self.estimator)
        twin.schema, twin.n_classes, twin._shares = self.schema, self.n_classes, self._shares.fresh()
        return twin

    def arrays(self) -> Arrays:
        raise UnsupportedError(
            "a scikit-learn estimator inside AWE cannot be saved or compared: its state is its own; use a classifier "
            "of this library as estimator"
        )
