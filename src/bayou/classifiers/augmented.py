"""Naive Bayes with one more parent per column, where a search finds one."""

from __future__ import annotations

from bayou.classifiers.joint import JointClassifier
from bayou.readings.structure import StructureSearch
from bayou.views.searched_collection import SearchedCollection
from bayou.views.view import AnyView


class AugmentedNB(JointClassifier):
    """A searched structure over pair counts."""

    _offers = ("parents_",)

    def search(self) -> StructureSearch:
        """How the structure is found."""
        raise NotImplementedError

    def joint_view(self) -> AnyView:
        return SearchedCollection(self.counts(2), self.search(), self.smoothing)

    @property
    def parents_(self) -> dict[str, str | None]:
        """The attribute parent of every column, None for those that have only the class."""
        view, names = self.engine.views["joint"], self.engine.column_names()
        view.refresh_if_stale()
        found = {int(i): int(p) for i, p, _ in view.arrays()["reading.sets"]}
        return {name: names[found[j]] if found.get(j, -1) >= 0 else None for j, name in enumerate(names)}
