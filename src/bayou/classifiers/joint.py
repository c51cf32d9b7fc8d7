"""Base of classifiers over joint counts of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, cast

from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import given_classes
from bayou.classifiers.numeric import bins_recipe
from bayou.engines.joint import ColumnNaming, ColumnSetsOf, JointViews, Order
from bayou.errors import SchemaError
from bayou.readings.coarse_grid import joined_cells
from bayou.readings.partition import Discretiser
from bayou.readings.prior import prior_reader
from bayou.schema import Declared, Label
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.grid import Grid, grid_of
from bayou.summaries.joint_counts import MAX_BYTES, JointCounts
from bayou.views.view import AnyView, Live

Prior = str | Mapping[Label, float]
BACK_OFF = "back-off"


class JointClassifier(Estimator):
    """Base of classifiers with the views "classes" and "joint", the latter over `JointCounts`."""

    _offers: ClassVar[tuple[str, ...]] = ("coarsened",)
    refreshes_on_schema_change: ClassVar[bool] = True
    poor_score: ClassVar[bool] = True  # a few cells are too few for scikit-learn's numeric toy data

    def __init__(
        self,
        smoothing: float | str = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
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

    @property
    def alpha(self) -> float:
        """The pseudo-count as a float, as kernels need it; raises SchemaError where it is negative or infinite."""
        if isinstance(self.smoothing, str):
            raise SchemaError(
                f"smoothing={self.smoothing!r}; it is a pseudo-count >= 0, or {BACK_OFF!r} for TAN and FAN without "
                "delta, AODE, FANC, TC, and RandomNetworks that are not weighted"
            )
        if not 0 <= self.smoothing < float("inf"):
            raise SchemaError(f"smoothing={self.smoothing!r}; it is a pseudo-count >= 0")
        return float(self.smoothing)

    @property
    def backs_off(self) -> bool:
        """Whether probabilities back off to fewer parents, rather than to equal shares."""
        return isinstance(self.smoothing, str) and self.smoothing == BACK_OFF

    def views(self) -> Mapping[str, AnyView]:
        check_order(self.order)
        return {"classes": Live(ClassCounts(), prior_reader(self.prior)), "joint": self.joint_view()}

    def joint_view(self) -> AnyView:
        """The view that reads the joint counts: all that a classifier of this family has to define."""
        raise NotImplementedError

    def counts(self, interaction_order: int) -> JointCounts:
        """Empty counts of pairs (2) or triples (3) for the parameters."""
        grid = grid_of(self.numeric)
        return JointCounts(interaction_order, grid.bins, grid.rule, grid.warm_up, self.max_bytes)

    def column_naming(self) -> ColumnNaming | None:
        """A function that gives the joint view the numbers of columns, for readers whose parameters are names."""
        return None

    def column_sets(self) -> ColumnSetsOf | None:
        """A function that returns the sets of three columns or more to count, for readers that need only some."""
        return None

    def build_engine(self) -> JointViews:
        return JointViews(
            self.views(),
            self.order,
            self.column_naming(),
            self.refreshes_on_schema_change,
            self.column_sets(),
        )

    @property
    def engine(self) -> JointViews:
        """The engine that learns and predicts; pending records of `learn_one` are learned first."""
        return cast(JointViews, super().engine)

    def coarsened(self, bins: str | Discretiser = "modl") -> Self:
        """A new model on fewer intervals: neighbouring cells of numeric columns are joined by a discretiser.

        The counts are exactly those of a model on these intervals, and it can learn more rows. Learn on a fine grid,
        `numeric=Grid(bins=32)`, then coarsen it as often as you like. The track records of SPCr, SuperParent and
        ReadMany remain those of the finer grid.
        """
        fine = self.engine.counts.flushed()
        counts = fine.coarsened(joined_cells(fine, bins_recipe(bins)))
        twin = self.blank()
        twin.numeric = counts.grid
        twin.begin(self.schema_.copy())
        state = {**self.arrays(), **{f"joint.{name}": a for name, a in counts.arrays().items()}}
        twin.restore(state, self.position, self.unusable)
        twin.engine.mark_stale()
        return twin


def check_order(order: Order) -> None:
    """Refuse an order of columns that is neither a known word nor a list of names."""
    if isinstance(order, str) and order not in ("name", "given", "information"):
        raise SchemaError(f"order={order!r}; it is 'name', 'given', 'information' or a list of column names")
