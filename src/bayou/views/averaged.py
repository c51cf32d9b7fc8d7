"""A view of weights searched on a bounded sample of rows, for averaged naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.errors import DataError, UnsupportedError
from bayou.protocols import Arrays
from bayou.readings.averaging import Evidence, search_named
from bayou.summaries.reservoir import Reservoir
from bayou.summaries.weights import column_axis
from bayou.views.column_terms import COLUMN_VIEWS, stacked
from bayou.views.view import AnyView, View


class AveragedView(View[Reservoir]):
    """The sample, and the weights last found on it.

    The search reads the other views, so the engine calls it (`search`), not `refresh`.
    """

    searched = True

    def __init__(self, summary: Reservoir, kind: str) -> None:
        super().__init__(summary)
        self.kind = kind
        self.search_weights = search_named(kind)
        self.weights: Floats = np.zeros(0)
        self.stale = True

    @property
    def depends_on_order(self) -> bool:
        """False: the sample is drawn evenly from all rows, whatever their order."""
        return False

    def search(self, views: Mapping[str, AnyView], names: Sequence[str]) -> None:
        """Search the weights of columns with these names for the present tables; uninformative columns have 1."""
        sample = self.summary.kept
        self.weights = np.ones(len(self.weights))
        self.stale = False
        if self.kind == "ones" or sample.n == 0:
            return
        prior = np.zeros((1, len(views["classes"].summary.weight)))
        views["classes"].add_log_prob(sample.rows(0, 1), prior)
        by_view = [views[name].column_terms(sample) for name in COLUMN_VIEWS]
        terms = stacked(by_view)
        possible = np.isfinite(prior[0])
        informative = np.flatnonzero((terms[:, :, possible] != 0.0).any(axis=(0, 2)))
        if len(informative) == 0:
            return
        # Sorted by name, so that the place of a column never decides between two of equal loss.
        informative = np.array(sorted(informative.tolist(), key=lambda j: names[j]))
        columns = np.ascontiguousarray(terms[:, informative].transpose(1, 0, 2))
        w = sample.w * (int(self.summary.seen[0]) / sample.n)
        parameters = np.concatenate(
            [
                np.broadcast_to(views[name].free_parameters(), terms_of_view.shape[1])
                for name, terms_of_view in zip(COLUMN_VIEWS, by_view, strict=True)
            ]
        )[informative]
        costs = 0.5 * np.log(w.sum()) * possible.sum() * parameters + np.log(len(informative) + 1.0)
        self.weights[informative] = self.search_weights(Evidence(columns, prior[0], sample.y, w, costs))

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        axis = column_axis(plan)
        weights = np.ones(axis.size)
        weights[axis.to] = self.weights
        self.weights = weights

    def mark_stale(self) -> None:
        self.stale = True

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        raise UnsupportedError("cannot sample: weighted terms are no densities; NaiveBayes can")

    def fresh(self) -> Self:
        twin = type(self)(self.summary.fresh(), self.kind)
        twin.weights = np.ones_like(self.weights)
        return twin

    def arrays(self) -> Arrays:
        return {**self.summary.arrays(), "reading.weights": self.weights}

    def restore(self, arrays: Arrays) -> None:
        self.summary.restore({k: a for k, a in arrays.items() if not k.startswith("reading.")})
        weights = np.array(arrays["reading.weights"])
        if weights.shape != self.weights.shape or not ((weights >= 0.0) & (weights <= 1.0)).all():
            raise DataError("the weights are not one number in [0, 1] per column")
        self.weights = weights
        self.stale = False
