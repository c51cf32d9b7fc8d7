"""The engine of classifiers that are a choice of summaries and readers."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.engines.engine import Engine, row_count, under
from bayou.engines.packed_rows import PackedRows
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.threads import SharedWork
from bayou.views.view import AnyView, next_point

if TYPE_CHECKING:
    from bayou.scorer import Node


class Views(Engine):
    """log P(c, x) as the sum over views of the log-probabilities that each reads off its summary.

    Learning, exact test-then-train, growth, merge, unlearning, decay, refresh and state all follow from the views.

    Parameters
    ----------
    views
        The summaries and how they are read, by name.
    refreshes_on_schema_change
        Whether a row with a new class or column leaves searched readings stale. False where learning depends on when
        they are read: there a row of weight 0 with a new column would change the model.
    """

    def __init__(self, views: Mapping[str, AnyView], refreshes_on_schema_change: bool = True) -> None:
        self.views = views
        self.refreshes_on_schema_change = refreshes_on_schema_change
        self.rows = 0
        self.active_views: Sequence[AnyView] = ()
        self._has_searched = any(view.searched for view in views.values())
        self._has_history = any(view.depends_on_history for view in views.values())
        self._prediction_is_pure = False

    @property
    def law(self) -> MergeLaw:
        """The weakest law among the views in use; before anything is learned, among all of them.

        Once a vocabulary has overflowed, which values have cells of their own depends on which came first, and
        merging is a heuristic.
        """
        laws = [view.law for view in self.active_views or self.views.values()]
        if self.active_views and any(v.overflowed for v in self.schema.vocabularies.values()):
            laws.append(MergeLaw.AVERAGED)
        return MergeLaw.weakest(laws)

    @property
    def depends_on_order(self) -> bool:
        return any(view.depends_on_order for view in self.views.values())

    @property
    def prediction_is_pure(self) -> bool:
        return self._prediction_is_pure

    def refresh_at_row_counts(self) -> None:
        self.refreshes_on_schema_change = False

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        for view in self.views.values():
            view.realign(plan)
        self.active_views = [view for view in self.views.values() if not view.has_no_columns]
        self._prediction_is_pure = all(view.prediction_is_pure for view in self.active_views)
        self._pack()

    def _pack(self) -> None:
        # A subclass combines its views in another way
        self.packed = PackedRows.of(self.views.values(), self.schema) if type(self) is Views else None

    def learn(self, block: Block) -> None:
        if len(block.y) == 1:  # nothing to cut
            if self._has_searched:
                self.refresh_stale()
            for view in self.active_views:
                view.update(block)
            self.learned(block)
            return
        parts = [part for _, part in block.cut(self.refresh_points(block))]
        for part in parts:
            # Readings that the next refresh point replaces are not used, unless the new ones depend on them.
            if part is parts[-1] or self._has_history:
                self.refresh_stale()
            for view in self.active_views:
                view.update(part)
            self.learned(part)

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((len(block.y), self.n_classes))
        if len(block.y) == 1:
            if self._has_searched:
                self.refresh_stale()
            for view in self.active_views:
                view.predict_then_update(block, out)
            self.learned(block)
            return out
        for where, part in block.cut(self.refresh_points(block)):
            self.refresh_stale()
            self._predict_then_update(part, out[where])
            self.learned(part)
        return out

    def _predict_then_update(self, block: Block, out: Floats) -> None:
        """Add what the views say of each row before it is learned; one view in another thread, if it is worth it."""
        views = self.active_views
        # The first view is that of the classes, which takes too little time to run another one beside it.
        i = next((i for i in range(2, len(views)) if views[i].is_worth_a_thread(block)), None)
        if i is None:
            for view in views:
                view.predict_then_update(block, out)
            return
        apart = np.zeros_like(out)
        beside = SharedWork(partial(views[i].predict_then_update, block, apart), ())
        try:
            for view in views[:i]:
                view.predict_then_update(block, out)
        finally:
            beside.finish()
        out += apart
        for view in views[i + 1 :]:
            view.predict_then_update(block, out)

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((len(block.y), self.n_classes))
        for view in self.active_views:
            if view.searched:
                view.refresh_if_stale()
            view.add_log_prob(block, out)
        return out

    def scorer(self) -> Node:
        from bayou.scorer import silent

        self.refresh_stale()
        so_far: Node = silent(self.n_classes)
        for view in self.active_views:
            so_far = view.add_to_scorer(so_far)
        return so_far

    def refresh(self) -> None:
        for view in self.views.values():
            view.refresh()

    def refresh_points(self, block: Block) -> list[int]:
        """Rows before which a searched reading changes: refresh points, and rows after one that changes the schema."""
        if not self._has_searched:
            return []
        learned = np.cumsum((block.y >= 0) & (block.w > 0))
        points = [row + 1 for row in block.schema_change_rows] if self.refreshes_on_schema_change else []
        rows = next_point(self.rows)
        while block.n and rows <= self.rows + learned[-1]:
            points.append(int(np.searchsorted(learned, rows - self.rows)) + 1)
            rows = next_point(rows)
        return points

    def refresh_stale(self) -> None:
        """Search the readings that are stale."""
        for view in self.active_views:
            view.refresh_if_stale()

    def learned(self, part: Block) -> None:
        """Count rows that the views have learned; at a refresh point searched readings become stale."""
        before = self.rows
        self.rows += part.learned()
        if not self._has_searched:
            return
        changed = self.refreshes_on_schema_change and part.schema_change_rows
        if self.rows >= next_point(before) or changed:
            self.mark_stale()

    def mark_stale(self) -> None:
        """Mark searched readings as stale, after a change that the row count does not show."""
        for view in self.views.values():
            view.mark_stale()

    def merge(self, other: Self) -> None:
        for name, view in self.views.items():
            view.merge(other.views[name])
        self.rows += other.rows
        if other.rows:  # merging an engine that has learned nothing changes nothing, readings included
            self.mark_stale()

    def subtract(self, block: Block) -> None:
        for view in self.views.values():
            view.subtract(block)
        self.rows -= block.learned()
        self.mark_stale()

    def scale(self, factor: float) -> None:
        for view in self.views.values():
            view.scale(factor)
        self.mark_stale()

    def fresh(self) -> Self:
        twin = copy.copy(self)
        twin.views = {name: view.fresh() for name, view in self.views.items()}
        twin.active_views = [view for view in twin.views.values() if not view.has_no_columns]
        twin.rows = 0
        twin._pack()
        return twin

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        for name, view in self.views.items():
            if name != "classes" and not view.has_no_columns:
                view.draw(block, rng)

    def arrays(self) -> Arrays:
        out: dict[str, Any] = {"rows": np.array([self.rows])}
        for name, view in self.views.items():
            out.update({f"{name}.{k}": a for k, a in view.arrays().items()})
        return out

    def restore(self, arrays: Arrays) -> None:
        self.rows = row_count(arrays["rows"])
        for name, view in self.views.items():
            view.restore(under(f"{name}.", arrays))

    def parts(self) -> Mapping[str, AnyView]:
        return self.views
