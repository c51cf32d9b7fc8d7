"""The engine of classifiers over joint counts: the order of their columns, and a budget checked before they grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np

from bayou.align import Alignment
from bayou.engines.views import Views
from bayou.schema import Growth, Kind, Schema, natural_key
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.set_counts import ColumnSets, SetCounts
from bayou.views.view import AnyView

Order = str | Sequence[str]
ColumnNaming = Callable[[AnyView, Mapping[str, int]], None]
ColumnSetsOf = Callable[[Mapping[str, int]], ColumnSets]


class JointViews(Views):
    """Views of which "joint" is over `JointCounts`, whose columns are read in an order.

    Parameters
    ----------
    views, refreshes_on_schema_change
        As in `Views`.
    order
        By `"name"`, as `"given"` (arrival), or a list of names, the others following by name.
    column_naming
        Called with the joint view and the numbers of its columns by name whenever these have changed, for readers whose
        parameters are names; it is no method of an estimator, since engines are copied on their own.
    column_sets
        From the numbers of the columns by name to the sets of three columns or more that `SetCounts` has to keep.
    """

    def __init__(
        self,
        views: Mapping[str, AnyView],
        order: Order,
        column_naming: ColumnNaming | None = None,
        refreshes_on_schema_change: bool = True,
        column_sets: ColumnSetsOf | None = None,
    ) -> None:
        super().__init__(views, refreshes_on_schema_change)
        self.order, self.column_naming, self.column_sets = order, column_naming, column_sets

    @property
    def counts(self) -> JointCounts:
        """The joint counts as they are stored."""
        counts: JointCounts = self.views["joint"].summary
        return counts

    def column_names(self) -> list[str]:
        """Columns as joint counts store them."""
        return joint_columns(self.schema)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        if all(np.array_equal(axis.to, np.arange(len(axis.to))) for axis in (plan.nominal, plan.numeric)):
            self._rank_columns()

    def merge(self, other: Self) -> None:
        super().merge(other)
        self._rank_columns()

    def _rank_columns(self) -> None:
        names = self.column_names()
        ranks = rank_columns(names, list(self.schema.place), self.order)
        if not np.array_equal(ranks, self.counts.ranks):
            self.counts.order_by(ranks)
        columns = {name: j for j, name in enumerate(names)}
        if self.column_sets is not None and isinstance(self.counts, SetCounts):
            self.counts.keep(self.column_sets(columns))
        if self.column_naming is not None:
            self.column_naming(self.views["joint"], columns)

    def check_growth(self, growth: Growth) -> None:
        """Refuse growth beyond the budget of the counts while nothing has changed yet."""
        shape = self.schema.shape()
        sizes = dict(zip(self.schema.names(Kind.NOMINAL), shape.values, strict=True))
        sizes.update({name: 0 for name, kind in growth.columns if kind is Kind.NOMINAL})
        for name in sizes:
            sizes[name] += len(growth.values.get(name, ()))
        new = sum(kind is Kind.NUMERIC for _, kind in growth.columns)
        numeric = [*self.counts.reserved(), *([self.counts.fewest_bins] * new)]
        k = shape.classes + len(growth.classes)
        self.counts.check_bytes([*sizes.values(), *numeric], k)
        if self.column_sets is not None and isinstance(self.counts, SetCounts):
            added = [name for name, kind in growth.columns if kind is Kind.NUMERIC]
            names = [*sizes, *self.schema.names(Kind.NUMERIC), *added]
            sets = self.column_sets({name: j for j, name in enumerate(names)})
            self.counts.check_sets([*sizes.values(), *numeric], k, sets)


def joint_columns(schema: Schema) -> list[str]:
    """The columns of a schema as joint counts store them: nominal ones, then numeric ones."""
    return [*schema.names(Kind.NOMINAL), *schema.names(Kind.NUMERIC)]


def rank_columns(
    names: list[str], arrival: list[str], order: Order
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The place of each column in the reading order.

    >>> rank_columns(["b", "c", "a"], ["b", "a", "c"], "name").tolist()
    [1, 2, 0]
    >>> rank_columns(["b", "c", "a"], ["b", "a", "c"], ["c"]).tolist()
    [2, 0, 1]
    >>> rank_columns(["x10", "x2"], ["x10", "x2"], "name").tolist()
    [1, 0]
    """
    if order == "given":
        ordered = [name for name in arrival if name in set(names)]
    else:
        first = [] if isinstance(order, str) else [name for name in order if name in set(names)]
        ordered = [*first, *sorted(set(names) - set(first), key=natural_key)]
    places = {name: r for r, name in enumerate(ordered)}
    return np.array([places[name] for name in names], dtype=np.int64)
