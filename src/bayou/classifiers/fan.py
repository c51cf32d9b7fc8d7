"""Forest augmented naive Bayes (Sacha, 1999)."""

from __future__ import annotations

from bayou.classifiers.augmented import AugmentedNB
from bayou.classifiers.joint import Prior
from bayou.engines.joint import Order
from bayou.readings.structure import GreedyForest, NetworkSearch
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES


class FAN(AugmentedNB):
    r"""Forest augmented naive Bayes: columns have one more parent or none; edges are added while a score grows.

    $P(c) \prod_i P(x_i | c, x_{p(i)})$, where the parent p(i) is a column or none.

    The forest is searched at refresh points; its probabilities are always current. A column whose parent is
    missing is read with the class alone.

    Parameters
    ----------
    criterion
        The score by which edges are added: `"bayes"` (evidence with uniform Dirichlet priors, as in K2), `"mdl"`
        (log-likelihood less log(N)/2 per parameter), `"aic"` or `"loglik"`.
    order
        Order of the columns, which decides ties (the first child wins, then the first parent): `"name"`, `"given"` (as
        they arrived), or a list of names.
    smoothing, prior, numeric, max_bytes, schema, delta
        As in `TAN`.

    Merge and unlearn: exact after `refresh()`, which searches the forest again in the counts. Memory: 8 bytes per
    pair of values and class. Time: O(d²) per row to learn, O(d K) to predict; a search looks at all pairs of values
    once, O(d² v² K) for v values a column.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> model = FAN().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 5, [0, 1, 1, 0] * 5)
    >>> model.parents_
    {'x0': 'x1', 'x1': None}
    """

    def __init__(
        self,
        criterion: str = "bayes",
        smoothing: float | str = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
        delta: float | None = None,
    ) -> None:
        self.criterion = criterion
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema, delta)

    def search(self) -> NetworkSearch:
        return GreedyForest(self.criterion)
