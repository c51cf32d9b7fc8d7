"""What classifiers over joint counts share: the order of their columns, and a budget kept before anything grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.classifiers.engine import BayesClassifier
from bayou.classifiers.naive_bayes import given_classes
from bayou.classifiers.numeric import bins_recipe
from bayou.errors import SchemaError
from bayou.readings.coarse_grid import joined_cells
from bayou.readings.partition import Discretiser
from bayou.readings.prior import prior_reader
from bayou.schema import Declared, Growth, Kind, Label, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.grid import Grid, grid_of
from bayou.summaries.joint_counts import MAX_BYTES, JointCounts
from bayou.views.view import AnyView, Live

Order = str | Sequence[str]
Prior = str | Mapping[Label, float]


class JointClassifier(BayesClassifier):
    """Views named "classes" and "joint", the latter over `JointCounts`."""

    poor_score: ClassVar[bool] = True  # three bins are too few for scikit-learn's numeric toy data

    def __init__(
        self,
        smoothing: float = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "width",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.prior = prior
        self.order = order
        self.numeric = numeric
        self.max_bytes = max_bytes
        self.schema = schema

    def declared(self) -> Declared:
        return given_classes(super().declared(), self.prior)

    def views(self) -> Mapping[str, AnyView]:
        check_smoothing(self.smoothing)
        check_order(self.order)
        return {"classes": Live(ClassCounts(), prior_reader(self.prior)), "joint": self.joint_view()}

    def joint_view(self) -> AnyView:
        """How the joint counts are read: all a classifier of this family has to give."""
        raise NotImplementedError

    def counts(self, order: int) -> JointCounts:
        """Empty counts of pairs (2) or triples (3) as the parameters want them."""
        grid = grid_of(self.numeric)
        return JointCounts(order, grid.bins, grid.rule, grid.warm_up, self.max_bytes)

    def named(self, columns: Mapping[str, int]) -> None:
        """Called when the columns are known by name; for readers that were told names."""

    def coarsened(self, bins: str | Discretiser = "modl") -> Self:
        """The same model on fewer intervals: neighbouring cells of numeric columns joined as a discretiser says.

        Exactly as if it had counted on these intervals from the start, and it can go on learning on them. Learn on
        a fine grid, `numeric=Grid(bins=32)`, then ask for as many readings as one likes. The track records of
        SPCr, SuperParent and ReadMany stay as they were kept on the finer grid.
        """
        self._require()
        fine = self._views["joint"].summary.flushed()
        counts = fine.coarsened(joined_cells(fine, bins_recipe(bins)))
        twin = self.blank()
        twin.numeric = counts.grid
        twin.begin_over(self.schema_.copy())
        twin.restore({**self.arrays(), **{f"joint.{name}": a for name, a in counts.arrays().items()}})
        twin._position = self.position
        twin._mark_stale()
        return twin

    def begin(self, schema: Schema) -> None:
        self._columns = schema  # the parent's, in a classifier made of classifiers
        super().begin(schema)

    def grow(self, plan: Alignment) -> None:
        super().grow(plan)
        if all(np.array_equal(axis.to, np.arange(len(axis.to))) for axis in (plan.nominal, plan.numeric)):
            self._name_columns()

    def merge_state(self, other: Self) -> None:
        super().merge_state(other)
        self._name_columns()

    def _name_columns(self) -> None:
        """Ranks and named columns, once the schema and the counts agree (a merge grows the counts first)."""
        names = column_names(self._columns)
        summary: JointCounts = self._views["joint"].summary
        if len(names) != len(summary.sizes):
            return
        ranks = rank_columns(names, list(self._columns.place), self.order)
        if not np.array_equal(ranks, summary.ranks):
            summary.order_by(ranks)
        self.named({name: j for j, name in enumerate(names)})

    def admit(self, growth: Growth) -> None:
        """Refuse growth beyond the budget while nothing has changed yet."""
        shape = self.schema_.shape()
        sizes = dict(zip(self.schema_.names(Kind.NOMINAL), shape.values, strict=True))
        sizes.update({name: 0 for name, kind in growth.columns if kind is Kind.NOMINAL})
        for name in sizes:
            sizes[name] += len(growth.values.get(name, ()))
        new = sum(kind is Kind.NUMERIC for _, kind in growth.columns)
        summary: JointCounts = self._views["joint"].summary
        numeric = [summary.grid.bins] * (shape.numeric + new)
        summary.check_bytes([*sizes.values(), *numeric], shape.classes + len(growth.classes))
        super().admit(growth)


def column_names(schema: Schema) -> list[str]:
    """Columns as joint counts store them: nominal ones, then numeric ones."""
    return [*schema.names(Kind.NOMINAL), *schema.names(Kind.NUMERIC)]


def rank_columns(
    names: list[str], arrival: list[str], order: Order
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The place of each column in the reading order.

    >>> rank_columns(["b", "c", "a"], ["b", "a", "c"], "name").tolist()
    [1, 2, 0]
    >>> rank_columns(["b", "c", "a"], ["b", "a", "c"], ["c"]).tolist()
    [2, 0, 1]
    """
    if order == "given":
        wanted = [name for name in arrival if name in set(names)]
    else:
        first = [] if isinstance(order, str) else [name for name in order if name in set(names)]
        wanted = [*first, *sorted(set(names) - set(first))]
    places = {name: r for r, name in enumerate(wanted)}
    return np.array([places[name] for name in names], dtype=np.int64)


def check_order(order: Order) -> None:
    if isinstance(order, str) and order not in ("name", "given", "information"):
        raise SchemaError(f"order={order!r}; it is 'name', 'given', 'information' or a list of column names")


def check_smoothing(smoothing: float) -> None:
    if not 0 <= smoothing < float("inf"):
        raise SchemaError(f"smoothing={smoothing!r}; it is a pseudo-count >= 0")
