"""The engine of averaged naive Bayes: one weight per column, searched on a sample of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Floats
from bayou.engines.views import Views
from bayou.kernels.averaging import add_weighted_rows
from bayou.protocols import Arrays
from bayou.schema import Kind
from bayou.views.averaged import AveragedView
from bayou.views.column_terms import (
    COLUMN_VIEWS,
    chunk_rows,
    column_edges,
    stacked,
)

if TYPE_CHECKING:
    from bayou.scorer import Node


class AveragedViews(Views):
    """Views "classes", "numeric", "nominal" and "words", and "weights", a sample of rows with the weights found on it.

    The search for weights reads the other views, so these are refreshed first.
    """

    @property
    def averaged(self) -> AveragedView:
        """The sample and its weights."""
        view = self.views["weights"]
        assert isinstance(view, AveragedView)
        return view

    def refresh_stale(self) -> None:
        super().refresh_stale()
        if self.averaged.stale:
            self.averaged.search(self.views, self.column_names())

    def refresh(self) -> None:
        super().refresh()
        self.averaged.search(self.views, self.column_names())

    def column_names(self) -> list[str]:
        """The columns in the order of their weights."""
        return [name for kind in (Kind.NUMERIC, Kind.NOMINAL, Kind.TEXT) for name in self.schema.names(kind)]

    def arrays(self) -> Arrays:
        self.refresh_stale()
        return super().arrays()

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((block.n, self.n_classes))
        for where, part in block.cut(self.refresh_points(block)):
            self.refresh_stale()
            self._add_weighted(part, out[where], learn=True)
            self.averaged.update(part)
            self.learned(part)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((block.n, self.n_classes))
        self.refresh_stale()
        self._add_weighted(block, out, learn=False)
        return out

    def scorer(self) -> Node:
        from bayou.scorer import scaled, silent, total

        self.refresh_stale()
        so_far = self.views["classes"].add_to_scorer(silent(self.n_classes))
        columns = [self.views[name].scorer_columns() for name in COLUMN_VIEWS]
        runs = [columns[0], columns[1], *([text] for text in columns[2])]
        weights = iter(self.averaged.weights.tolist())
        return total(
            so_far, *([scaled(node, np.full(node.width, next(weights))) for node in run] for run in runs)
        )

    def _add_weighted(self, block: Block, out: Floats, learn: bool) -> None:
        """Add prior and weighted terms to `out`, few enough rows at a time for their terms to stay in the cache."""
        classes, edges, no_units = self.views["classes"], column_edges(block), np.zeros((0, 0))
        views = [self.views[name] for name in COLUMN_VIEWS]
        rows = chunk_rows(int(edges[-1]), self.n_classes)
        for where, part in block.cut(range(rows, block.n, rows)):
            if learn:
                classes.predict_then_update(part, out[where])
                terms = [view.terms_then_update(part, no_units) for view in views]
            else:
                classes.add_log_prob(part, out[where])
                terms = [view.column_terms(part) for view in views]
            add_weighted_rows(out[where], stacked(terms), self.averaged.weights, edges)
