"""Naive Bayes with one weight per column, searched on a bounded sample of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayou.block import Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import given_classes, hashed_values, table_param
from bayou.classifiers.nominal import Nominal, nominal_recipe
from bayou.classifiers.weighted import table_views
from bayou.engines.averaged import AveragedViews
from bayou.errors import SchemaError
from bayou.readings.categorical import MEstimate
from bayou.readings.modl_groups import MODLGroups
from bayou.schema import Declared, Label
from bayou.summaries.hashed_reservoir import HashedReservoir
from bayou.summaries.reservoir import Reservoir
from bayou.views.averaged import AveragedView
from bayou.views.view import AnyView


class AveragedNB(Estimator):
    r"""Naive Bayes with a weight per column: P(c) \prod_i P(x_i | c)^{w_i}, the w_i searched at refresh points.

    The tables learn from every row; the weights are found on a uniform sample of the rows, which stands for all
    of them. `fit` on data no larger than the sample is the offline method itself. In a search, the cost of describing a
    column is half the logarithm of the rows for each parameter of its tables.

    Parameters
    ----------
    weights
        How the weights are found: `"fractional"` (steps of 1, 1/2, 1/4 … on a penalised likelihood, as in Khiops'
        selective naive Bayes), `"compression"` (selections of columns averaged by the share of code length they save,
        Boullé 2006b), `"bma"` (averaged by their posterior probability), `"selected"` (the best selection alone),
        `"sgd"` (projected gradient steps, Guigourès and Boullé 2011), or `"ones"` (no search: naive Bayes, up to
        rounding).
    rows
        Size of the sample of rows on which the weights are searched.
    numeric, bins, nominal, groups, smoothing, prior, schema
        As in `WeightedNB`.

    Merge: AVERAGED, a heuristic: tables merge by their own laws, the samples by chance, and the weights are
    searched again. Not unlearnable. Memory: that of the tables, and rows (8 p + 4 q + 20) bytes for p numeric and q
    nominal columns (12 q with sketches; and the words of text columns); a search holds 8 rows d K bytes for d
    columns, and looks at every row of the sample about 4 d log2(rows) times. Time: that of `NaiveBayes` to learn,
    O(d K) per row to predict; the search at refresh points comes on top.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.integers(2, size=2000)
    >>> good = np.where(rng.random(2000) < 0.9, labels, 1 - labels)
    >>> noise = rng.integers(5, size=2000)
    >>> rows = [{"good": str(a), "twin": str(a), "noise": str(b)} for a, b in zip(good, noise)]
    >>> model = AveragedNB("fractional"); model.learn_many(rows, labels)
    >>> {name: round(float(w), 1) for name, w in zip(["good", "twin", "noise"], model.refresh().weights_)}
    {'good': 1.0, 'twin': 0.0, 'noise': 0.0}

    References
    ----------
    M. Boullé, Regularization and averaging of the selective naive Bayes classifier, IJCNN 2006.
    """

    def __init__(
        self,
        weights: str = "fractional",
        rows: int = 2000,
        numeric: Any = "auto",
        bins: Any = "modl",
        nominal: str | Nominal = "counts",
        groups: str | MODLGroups | None = None,
        smoothing: float | MEstimate = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        schema: Declared | None = None,
    ) -> None:
        self.weights = weights
        self.rows = rows
        self.numeric = numeric
        self.bins = bins
        self.nominal = nominal
        self.groups = groups
        self.smoothing = smoothing
        self.prior = prior
        self.schema = schema

    def declared(self) -> Declared:
        return hashed_values(given_classes(super().declared(), self.prior), self.nominal)

    def build_engine(self) -> AveragedViews:
        return AveragedViews(self.views())

    def views(self) -> Mapping[str, AnyView]:
        if not 1 <= self.rows <= 10_000_000:
            raise SchemaError(f"rows={self.rows!r}; it lies between 1 and 10,000,000")
        tables = table_views(self.numeric, self.bins, self.nominal, self.groups, self.smoothing, self.prior)
        sample = Reservoir if nominal_recipe(self.nominal) is None else HashedReservoir
        return {**tables, "weights": AveragedView(sample(self.rows), self.weights)}

    def resolve_param(self, name: str, value: Any) -> Any:
        return table_param(name, value)

    @property
    def weights_(self) -> Floats:
        """[d] weights of the columns: numeric first, then nominal, then text."""
        self._averaged.refresh_stale()
        return self._averaged.averaged.weights.copy()

    @property
    def _averaged(self) -> AveragedViews:
        engine = self.engine
        assert isinstance(engine, AveragedViews)
        return engine
