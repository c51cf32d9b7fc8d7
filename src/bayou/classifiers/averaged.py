"""Naive Bayes with one weight per column, searched on a bounded sample of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.classifiers.engine import BayesClassifier
from bayou.classifiers.naive_bayes import given_classes
from bayou.classifiers.numeric import bins_recipe, numeric_recipe
from bayou.classifiers.weighted_columns import COLUMN_VIEWS, column_edges, column_parameters, table_views
from bayou.errors import DataError, SchemaError, UnsupportedError
from bayou.kernels.averaging import add_weighted_rows
from bayou.protocols import Arrays
from bayou.readings.averaging import Evidence, search_named
from bayou.readings.categorical import MEstimate
from bayou.schema import Declared, Label
from bayou.summaries.reservoir import Reservoir
from bayou.summaries.weights import column_axis
from bayou.views.column_terms import chunk_rows, current_terms, stacked, terms_then_update
from bayou.views.view import AnyView, View


class AveragedNB(BayesClassifier):
    r"""P(c | x) proportional to P(c) \prod_i P(x_i | c)^{w_i}, the weights in [0, 1] searched at refresh points.

    The tables learn from every row; the weights are found on a uniform sample of the rows, which stands for all
    of them. `fit` on data no larger than the sample is the offline method itself. Where a search asks what it
    costs to describe a column, it is half the logarithm of the rows for each parameter of its tables.

    Parameters
    ----------
    weights
        `"fractional"`: Khiops' selective naive Bayes, steps 1, 1/2, 1/4 .. on a penalised likelihood.
        `"compression"`: selections averaged by the share of code length they save (Boullé 2006b). `"bma"`: by
        their posterior probability. `"selected"`: the best selection. `"sgd"`: projected gradient steps
        (Guigourès and Boullé 2011). `"ones"`: naive Bayes, bit for bit.
    rows
        Rows in the sample.
    numeric, bins, smoothing, prior, schema
        As in `WeightedNB`.

    Merge: AVERAGED, a heuristic: tables merge by their own laws, the samples by chance, and the weights are
    searched again. Not unlearnable. Memory: that of the tables, and rows (8 p + 4 q + 20) bytes for p numeric
    and q nominal columns (and the words of text columns); a search holds 8 rows d K bytes for d columns, and
    looks at every row of the sample about 4 d log2(rows) times.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.integers(2, size=2000)
    >>> good = np.where(rng.random(2000) < 0.9, labels, 1 - labels)
    >>> noise = rng.integers(5, size=2000)
    >>> rows = [{"good": str(a), "copy": str(a), "noise": str(b)} for a, b in zip(good, noise)]
    >>> model = AveragedNB("fractional"); model.learn_many(rows, labels)
    >>> {name: round(float(w), 1) for name, w in zip(["good", "copy", "noise"], model.refresh().weights_)}
    {'good': 1.0, 'copy': 0.0, 'noise': 0.0}

    References
    ----------
    M. Boullé, Regularization and averaging of the selective naive Bayes classifier, IJCNN 2006.
    """

    def __init__(
        self,
        weights: str = "fractional",
        rows: int = 2000,
        numeric: Any = "gaussian",
        bins: Any = "modl",
        smoothing: float | MEstimate = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        schema: Declared | None = None,
    ) -> None:
        self.weights = weights
        self.rows = rows
        self.numeric = numeric
        self.bins = bins
        self.smoothing = smoothing
        self.prior = prior
        self.schema = schema

    def declared(self) -> Declared:
        return given_classes(super().declared(), self.prior)

    def views(self) -> Mapping[str, AnyView]:
        if not 1 <= self.rows <= 10_000_000:
            raise SchemaError(f"rows={self.rows!r}; it lies between 1 and 10,000,000")
        tables = table_views(self.numeric, self.bins, self.smoothing, self.prior)
        return {**tables, "weights": AveragedView(Reservoir(self.rows), self.weights)}

    def _nested(self, name: str, value: Any) -> Any:
        if name == "bins":
            return bins_recipe(value)
        return numeric_recipe(value) if name == "numeric" else value

    @property
    def weights_(self) -> Floats:
        """[d] weights of the columns: numeric first, then nominal, then text."""
        self._refresh_stale()
        return self._averaged.weights.copy()

    @property
    def _averaged(self) -> AveragedView:
        view = self._views["weights"]
        assert isinstance(view, AveragedView)
        return view

    def _refresh_stale(self) -> None:
        super()._refresh_stale()
        if self._averaged.stale:
            self._averaged.search(self._views)

    def refresh(self) -> Self:
        super().refresh()
        self._averaged.search(self._views)
        return self

    def arrays(self) -> Arrays:
        self._refresh_stale()
        return super().arrays()

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((block.n, self._k))
        for where, part in block.cut(self._points(block)):
            self._refresh_stale()
            self._add_weighted(part, out[where], learn=True)
            self._averaged.update(part)
            self._learned(part)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((block.n, self._k))
        self._refresh_stale()
        self._add_weighted(block, out, learn=False)
        return out

    def _add_weighted(self, block: Block, out: Floats, learn: bool) -> None:
        """Prior and weighted terms into `out`, few enough rows at a time for their terms to stay in the cache."""
        classes, edges, no_units = self._views["classes"], column_edges(block), np.zeros((0, 0))
        views = [self._views[name] for name in COLUMN_VIEWS]
        rows = chunk_rows(int(edges[-1]), self._k)
        for where, part in block.cut(range(rows, block.n, rows)):
            if learn:
                classes.predict_then_update(part, out[where])
                terms = [terms_then_update(view, part, no_units) for view in views]
            else:
                classes.add_log_prob(part, out[where])
                terms = [current_terms(view, part) for view in views]
            add_weighted_rows(out[where], stacked(terms), self._averaged.weights, edges)


class AveragedView(View[Reservoir]):
    """The sample, and the weights last found on it. The search looks at the other views, so the model asks for it."""

    searched = True

    def __init__(self, summary: Reservoir, kind: str) -> None:
        super().__init__(summary)
        self.kind = kind
        self.find = search_named(kind)
        self.weights: Floats = np.zeros(0)
        self.stale = True

    def search(self, views: Mapping[str, AnyView]) -> None:
        """Weights for the tables as they are now; a column that says nothing yet has weight 1."""
        kept = self.summary.kept
        self.weights = np.ones(len(self.weights))
        self.stale = False
        if self.kind == "ones" or kept.n == 0:
            return
        prior = np.zeros((1, len(views["classes"].summary.weight)))
        views["classes"].add_log_prob(kept.rows(0, 1), prior)
        terms = stacked([views[name].column_terms(kept) for name in COLUMN_VIEWS])
        possible = np.isfinite(prior[0])
        informative = np.flatnonzero((terms[:, :, possible] != 0.0).any(axis=(0, 2)))
        if len(informative) == 0:
            return
        columns = np.ascontiguousarray(terms[:, informative].transpose(1, 0, 2))
        w = kept.w * (int(self.summary.seen[0]) / kept.n)
        parameters = np.concatenate([column_parameters(views[name]) for name in COLUMN_VIEWS])[informative]
        costs = 0.5 * np.log(w.sum()) * possible.sum() * parameters + np.log(len(informative) + 1.0)
        self.weights[informative] = self.find(Evidence(columns, prior[0], kept.y, w, costs))

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
