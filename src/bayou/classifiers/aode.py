"""Averaged one-dependence estimators (Webb, Boughton and Wang, 2005)."""

from __future__ import annotations

from collections.abc import Mapping

from bayou.classifiers.joint import JointClassifier
from bayou.readings.aode import OneDependence
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.views.backed_off import BackedOffOneDependence
from bayou.views.view import AnyView, Live


class AODE(JointClassifier):
    r"""AODE: the mean of $P(c, x_s) \prod_{i \ne s} P(x_i | c, x_s)$ over columns s whose value was seen often enough.

    Parameters
    ----------
    smoothing
        Pseudo-count per cell (1 is Laplace's rule), or `"back-off"`: P(x_i | c, x_s) is smoothed towards P(x_i | c),
        by a pseudo-count that is fitted to the counts (leave-one-out likelihood) at refresh points.
    min_count
        Least count of a value x_s for s to be used as a parent; a row without any such parent is predicted by naive
        Bayes.
    numeric
        How numeric columns are cut into intervals: `"frequency"` (eight intervals of equal weight over the first 200
        rows), `"width"` (three intervals of equal width over the range of the first 500 rows, as in the literature), or
        a `Grid`.
    max_bytes
        Limit for the tables of counts, in bytes; a model that would exceed it is refused.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge: exact. Memory: 8 bytes per pair of values and class. Time: O(d²) per row to learn, O(d² K) to predict,
    for d columns and K classes.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> model = AODE().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 5, [0, 1, 1, 0] * 5)
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist()
    [0, 1]

    References
    ----------
    G. I. Webb, J. R. Boughton, Z. Wang, Not so naive Bayes: aggregating one-dependence estimators, 2005.
    """

    def __init__(
        self,
        smoothing: float | str = 1.0,
        min_count: float = 1.0,
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
    ) -> None:
        super().__init__(smoothing, numeric=numeric, max_bytes=max_bytes, schema=schema)
        self.min_count = min_count

    def views(self) -> Mapping[str, AnyView]:
        return {"joint": self.joint_view()}

    def joint_view(self) -> AnyView:
        if self.backs_off:
            return BackedOffOneDependence(self.counts(2), float(self.min_count))
        return Live(self.counts(2), OneDependence(self.alpha, float(self.min_count)))
