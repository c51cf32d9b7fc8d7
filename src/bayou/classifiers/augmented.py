"""Naive Bayes with one more parent per column, where a search finds one."""

from __future__ import annotations

from bayou.classifiers.joint import JointClassifier, Prior
from bayou.engines.joint import JointViews, Order
from bayou.readings.structure import HoeffdingSearch, NetworkSearch
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.views.backed_off import BackedOff
from bayou.views.kept_network import KeptNetwork
from bayou.views.searched_collection import SearchedCollection
from bayou.views.view import AnyView


class AugmentedNB(JointClassifier):
    """Base of classifiers with a searched structure over pair counts."""

    _offers = ("parents_",)

    def __init__(
        self,
        smoothing: float | str = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
        delta: float | None = None,
    ) -> None:
        self.delta = delta
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema)

    def search(self) -> NetworkSearch:
        """The search for the structure."""
        raise NotImplementedError

    def joint_view(self) -> AnyView:
        if self.backs_off and self.delta is None:
            return BackedOff(self.counts(2), self.search())
        if self.delta is None:
            return SearchedCollection(self.counts(2), self.search(), self.alpha)
        return KeptNetwork(self.counts(2), HoeffdingSearch(self.search(), self.delta), self.alpha)

    def build_engine(self) -> JointViews:
        # A kept network depends on when it was compared, which must not depend on how rows are cut into blocks.
        return JointViews(self.views(), self.order, self.column_naming(), self.delta is None)

    @property
    def parents_(self) -> dict[str, str | None]:
        """The attribute parent of every column, None for those that have only the class."""
        view, names = self.engine.views["joint"], self.engine.column_names()
        view.refresh_if_stale()
        parent_of = {int(i): int(p) for i, p, _ in view.arrays()["reading.sets"]}
        return {
            name: names[parent_of[j]] if parent_of.get(j, -1) >= 0 else None for j, name in enumerate(names)
        }
