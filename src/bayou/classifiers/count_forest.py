"""A random forest of counts: trees grown from the first rows, class counts of all rows at every node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from bayou.classifiers.estimator import Estimator
from bayou.classifiers.explanation import Explanation, record_of
from bayou.engines import Engine
from bayou.engines.forest import ForestViews
from bayou.errors import SchemaError
from bayou.kernels.forest_rows import READINGS
from bayou.readings.forest_paths import path_log_odds
from bayou.readings.forest_structure import Growth
from bayou.schema import Declared, Kind, Label
from bayou.summaries.cell_sample import CellSample
from bayou.summaries.forest import Forest
from bayou.summaries.pool_weights import PoolWeights
from bayou.views.learned_view import LearnedView
from bayou.views.view import AnyView

if TYPE_CHECKING:
    from bayou.inspection.forests import PartialView

COMBINE = ("pool", "mean")
RATE = 0.05  # learning rate of the pool
MOST_TREES = 10_000


class CountForest(Estimator):
    r"""A random forest whose nodes keep class counts of all rows that pass, so that models merge by addition.

    The trees are grown by Gini's gain on bootstrap samples of the first rows, as in a random forest, with one random
    level below; after `warm_up` rows they stay as they are, and only counts go on. A row's probabilities in one tree
    are read down its path, p_l(k) = (N_l(k) + c\,p_{l-1}(k)) / (N_l + c) for c = 0.1 and c = 2, and averaged over the
    trees. `combine="pool"` weighs the two readings by how well they predicted earlier rows; it sharpens the mean, which
    is under-confident.

    Parameters
    ----------
    trees
        Number of trees, T.
    warm_up
        Number of first rows from which the trees are grown, W. These rows are kept until then, and provisional trees
        are grown after …, W/4, W/2 of them.
    combine
        How the two estimates (c = 0.1 and c = 2) are combined: `"pool"` (weighed by how well they predicted earlier
        rows) or `"mean"` (their plain mean, which merges and unlearns exactly).
    extra
        Levels of random splits below the leaves, which later rows fill: 2 or 3 pay off if far more rows than `warm_up`
        follow.
    reservoir
        Size of a sample of later rows (one byte per value, chosen by a hash of their values) from which the trees grow
        further after 2, 4, 8, … times `warm_up` rows. New nodes start with the counts of the sample, and then count all
        rows. 0: trees do not grow after the warm-up. With a reservoir there are no random levels (`extra`).
    max_bytes
        Limit for nodes and kept rows together, in bytes; where it is reached, trees stop growing and the warm-up ends
        early.
    seed
        Seed of the bootstrap samples and of the columns tried at each node; every draw is a hash of it with the row or
        node.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    A missing number is a value of its own. Of a nominal column the 63 most frequent values are distinguished; the
    others, those that come after the trees were grown, and missing ones count as one. Text columns are ignored.

    Merge: exact with `"mean"`, averaged with `"pool"`, between models that were made by `fresh()` of one that has
    grown its trees, or that still keep their rows; else refused. So it is between two growths by the reservoir: shards
    count and keep rows on the trees they share, and once one side has grown on, the other is refused. Memory: 8 K + 16
    bytes per node, at most 4 T W nodes, or half of `max_bytes`; 8 p + 4 q + 12 per row of the warm-up, and d + 20 per
    row of the reservoir. Time: O(T h) per row to learn and to predict, h the depth of the trees;
    growing them takes O(T W h √d), each time.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    UnsupportedError
        If rows are unlearned with `combine="pool"`, or after trees have grown on by a reservoir without some of the
        rows.

    Examples
    --------
    >>> model = CountForest(trees=10, warm_up=100)
    >>> for i in range(200): model.learn_one({"x": i % 7, "y": i % 5}, (i % 7 > 3) != (i % 5 > 2))
    >>> model.predict_one({"x": 6, "y": 1}), model.predict_one({"x": 6, "y": 4})
    (True, False)
    """

    _offers = ("freeze", "grow", "uses", "partial")

    def __init__(
        self,
        trees: int = 40,
        warm_up: int = 20_000,
        combine: str = "pool",
        extra: int = 1,
        reservoir: int = 0,
        max_bytes: int = 1 << 28,
        seed: int = 0,
        schema: Declared | None = None,
    ) -> None:
        self.trees = trees
        self.warm_up = warm_up
        self.combine = combine
        self.extra = extra
        self.reservoir = reservoir
        self.max_bytes = max_bytes
        self.seed = seed
        self.schema = schema

    def views(self) -> Mapping[str, AnyView]:
        if self.combine not in COMBINE:
            raise SchemaError(f"combine={self.combine!r}; it is one of {', '.join(map(repr, COMBINE))}")
        if not (
            1 <= self.trees <= MOST_TREES
            and self.warm_up >= 1
            and 0 <= self.extra <= 8
            and self.reservoir >= 0
        ):
            raise SchemaError(
                f"{self!r}: trees lie between 1 and {MOST_TREES:,}, warm_up is at least 1, extra between 0 and 8, "
                "reservoir at least 0"
            )
        views: dict[str, AnyView] = {"forest": LearnedView(Forest())}
        if self.combine == "pool":
            views["pool"] = LearnedView(PoolWeights(READINGS, RATE))
        if self.reservoir:
            views["sample"] = LearnedView(CellSample(self.reservoir, self.max_bytes // 4))
        return views

    def build_engine(self) -> Engine:
        growth = Growth(self.trees, self.seed, 0 if self.reservoir else self.extra, self.max_bytes)
        return ForestViews(self.views(), growth, self.warm_up)

    def freeze(self) -> CountForest:
        """Grow the trees from the rows so far for the last time; later rows only count. `fresh()` then makes shards."""
        self.flush()
        cast(ForestViews, self.engine).freeze()
        return self

    def grow(self) -> CountForest:
        """Grow the trees further by the rows in the reservoir: one round of a training by shards.

        Shards made by `fresh()` count on the trees they share and never grow by themselves. Merge them, grow, and make
        the shards of the next round.
        """
        self.flush()
        cast(ForestViews, self.engine).grow_on()
        return self

    def explain(self, row: Any, label: Label | None = None, against: Label | None = None) -> Explanation:
        """The contribution of each column to the log-odds, along the paths of a row through the trees.

        Along a path the log-odds change from node to node, and each change belongs to the column that the node above is
        split by; `terms` are the mean of these sums over the trees and readings. `base` is the log-odds at the roots.
        `together` is the rest: tests of missing values, the difference between a mean of probabilities and one of
        log-odds, and the sharpening by the pool.
        """
        by_omission = super().explain(row, label, against)
        forest = cast(ForestViews, self.engine).forest
        if forest.trees == 0:
            return by_omission
        schema, record = self.schema_, record_of(row)
        classes = schema.classes.values
        base, terms = path_log_odds(
            forest,
            self.encode([record]),
            classes.index(by_omission.label),
            classes.index(by_omission.against),
        )
        names = (*schema.names(Kind.NUMERIC), *schema.names(Kind.NOMINAL))
        by_name = dict(zip(names, terms.tolist(), strict=True))
        column_terms = {name: by_name.get(name, 0.0) for name in by_omission.terms}
        return replace(
            by_omission,
            base=base,
            terms=column_terms,
            together=by_omission.log_odds - base - sum(column_terms.values()),
        )

    def uses(self) -> dict[str, float]:
        """By column, the mean number of tests of it on a row's path through one tree; the most used first."""
        from bayou.inspection.forests import forest_uses  # not needed to learn or predict

        self.refresh()
        return forest_uses(cast(ForestViews, self.engine).forest, self.schema_)

    def partial(self, column: str) -> PartialView:
        """Partial dependence: the class probabilities for each value of a column, whatever the other columns hold.

        At splits by other columns a row goes both ways, in proportion to the rows that went there.
        """
        from bayou.inspection.forests import partial_view  # not needed to learn or predict

        self.refresh()
        return partial_view(cast(ForestViews, self.engine).forest, self.schema_, column)
