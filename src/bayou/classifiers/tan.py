"""Tree augmented naive Bayes (Friedman, Geiger and Goldszmidt, 1997)."""

from __future__ import annotations

from bayou.classifiers.augmented import AugmentedNB
from bayou.classifiers.joint import Prior
from bayou.engines.joint import Order
from bayou.readings.structure import INTERPOLATE, NetworkSearch, SpanningTree
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES


class TAN(AugmentedNB):
    r"""Tree augmented naive Bayes: every column but the root has one more parent, in the tree with the largest
    $\sum I(X_i; X_j | C)$.

    $P(c) P(x_r | c) \prod_{i \ne r} P(x_i | c, x_{p(i)})$, r the root and p(i) the parent of column i.

    The tree is searched at refresh points; its probabilities are always current. A column whose parent is
    missing is read with the class alone.

    Parameters
    ----------
    smoothing
        Pseudo-count per value (1 is Laplace's rule), or `"back-off"`: each estimate is smoothed towards the one with
        one parent fewer, by a pseudo-count that is fitted to the counts (leave-one-out likelihood) at refresh points.
    prior
        Class prior: `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    order
        Order of the columns, of which the first is the root, and earlier ones win ties: `"name"`, `"given"` (as they
        arrived), or a list of names.
    numeric
        How numeric columns are cut into intervals: `"frequency"` (eight intervals of equal weight over the first 200
        rows), `"width"` (three intervals of equal width over the range of the first 500 rows, as in the literature), or
        a `Grid`.
    max_bytes
        Limit for the tables of counts, in bytes; a model that would exceed it is refused.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.
    delta
        When the structure changes: None takes the best one at every refresh point, and a small probability $\delta$
        keeps the present one until another is better by Hoeffding's bound, $\sqrt{R^2 \ln(1/\delta) / (2n)}$, with R
        the sum of $\ln \min(|X_i|, |X_j|)$ over its new edges. With $\delta$ the structure depends on the order of the
        rows, it is searched anew after a merge, and no row can be unlearned.
    interpolate
        Largest $\lambda$ in $(1 - \lambda) P(x | c, p) + \lambda P(x | c)$, the estimate for a column with parent p,
        where $\lambda$ is the number of cells of the table of x, p and c over the number of rows. With 0, or with
        `smoothing="back-off"`, it is P(x | c, p).

    Merge and unlearn: exact after `refresh()`, which searches the tree again in the counts. Memory: 8 bytes per
    pair of values and class. Time: O(d²) per row to learn, O(d K) to predict; a search looks at all pairs of values
    once, O(d² v² K) for v values a column.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> model = TAN().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 5, [0, 1, 1, 0] * 5)
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist(), model.parents_
    ([0, 1], {'x0': None, 'x1': 'x0'})
    """

    def __init__(
        self,
        smoothing: float | str = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
        delta: float | None = None,
        interpolate: float = INTERPOLATE,
    ) -> None:
        self.interpolate = interpolate
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema, delta)

    def search(self) -> NetworkSearch:
        return SpanningTree(0.0 if self.backs_off else self.interpolate)
