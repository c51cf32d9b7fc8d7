"""Base of classifiers that choose one super parent by how well the candidates have predicted."""

from __future__ import annotations

from bayou.classifiers.joint import JointClassifier, Prior
from bayou.engines.joint import Order
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.views.chosen_parent import Choice, ChosenParent
from bayou.views.view import AnyView


class ChosenParentClassifier(JointClassifier):
    """Base of classifiers with a chosen super parent: a sample of rows is predicted under each before it is learned."""

    _offers = ("super_parent_",)

    def __init__(
        self,
        one_in: int = 8,
        smoothing: float = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
    ) -> None:
        self.one_in = one_in
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema)

    def choice(self) -> Choice:
        """How candidates are scored and compared."""
        raise NotImplementedError

    def interaction_order(self) -> int:
        """2 where the super parent is the only parent, 3 where there may be another beside it."""
        raise NotImplementedError

    def joint_view(self) -> AnyView:
        return ChosenParent(self.counts(self.interaction_order()), self.choice())

    @property
    def super_parent_(self) -> str | None:
        """Name of the column chosen now, None where there is none."""
        view = self.engine.views["joint"]
        view.refresh_if_stale()
        column = int(view.arrays()["reading.column"][0])
        return self.engine.column_names()[column] if column >= 0 else None
