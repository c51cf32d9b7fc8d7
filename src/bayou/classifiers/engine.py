"""The engine of classifiers that are a choice of summaries and readers.

A classifier names its views; the joint log-probability is the sum over them. Everything else (learning,
exact test-then-train, growth, merge, unlearning, decay, refresh, state) follows from the views.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from bayou.align import Alignment, from_empty
from bayou.block import Block, Floats
from bayou.classifiers.sampling import blank_block, records
from bayou.classifiers.shell import Shell
from bayou.errors import NotFittedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Label, Schema
from bayou.views.view import AnyView, next_point


class BayesClassifier(Shell):
    """log P(c, x) = sum over views of what each reads off its summary."""

    # Whether a row with a new class or column leaves searched readings due. Not where what is learned depends on when
    # they are read: a row of weight 0 that brings a column would leave its mark.
    refreshes_on_schema_change: ClassVar[bool] = True
    _views: Mapping[str, AnyView] = {}
    _busy: Sequence[AnyView] = ()
    _searching = False
    _rows = 0
    _k = 0

    def views(self) -> Mapping[str, AnyView]:
        """The summaries and how they are read: all a new classifier has to give."""
        raise NotImplementedError

    @property
    def law(self) -> MergeLaw:
        """The weakest law among the summaries in use; before anything is learned, among all of them.

        Once more values were met than a vocabulary may keep, which of them have cells of their own depends on who
        met them first, and merging is a heuristic.
        """
        laws = [view.law for view in self._busy or self.views().values()]
        if self.started and any(v.overflowed for v in self.schema_.vocabularies.values()):
            laws.append(MergeLaw.AVERAGED)
        return MergeLaw.weakest(laws)

    def begin(self, schema: Schema) -> None:
        self._views = self.views()
        self._rows = 0
        self.grow(from_empty(schema))

    def grow(self, plan: Alignment) -> None:
        self._k = plan.classes.size
        for view in self._views.values():
            view.realign(plan)
        self._take(self._views)

    def _take(self, views: Mapping[str, AnyView]) -> None:
        """Make these the views, and remember which of them have columns."""
        self._views = views
        self._busy = [view for view in views.values() if not view.has_no_columns]
        self._searching = any(view.searched for view in views.values())

    def learn(self, block: Block) -> None:
        parts = [part for _, part in block.cut(self._points(block))]
        for part in parts:
            if part is parts[-1]:  # nobody looks at readings that the next refresh point replaces
                self._refresh_stale()
            for view in self._busy:
                view.update(part)
            self._learned(part)

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((block.n, self._k))
        for where, part in block.cut(self._points(block)):
            self._refresh_stale()
            for view in self._busy:
                view.predict_then_update(part, out[where])
            self._learned(part)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((len(block.y), self._k))
        for view in self._busy:
            if view.searched:
                view.refresh_if_stale()
            view.add_log_prob(block, out)
        return out

    def refresh(self) -> Self:
        for view in self._views.values():
            view.refresh()
        return self

    def _points(self, block: Block) -> list[int]:
        """Rows before which a searched reading changes: refresh points, and behind rows that bring something new."""
        if not self._searching:
            return []
        teaches = np.cumsum((block.y >= 0) & (block.w > 0))
        points = [row + 1 for row in block.schema_change_rows] if self.refreshes_on_schema_change else []
        rows = next_point(self._rows)
        while block.n and rows <= self._rows + teaches[-1]:
            points.append(int(np.searchsorted(teaches, rows - self._rows)) + 1)
            rows = next_point(rows)
        return points

    def _refresh_stale(self) -> None:
        for view in self._busy:
            view.refresh_if_stale()

    def _learned(self, part: Block) -> None:
        before = self._rows
        self._rows += part.learned()
        news = self.refreshes_on_schema_change and part.schema_change_rows
        if self._searching and (self._rows >= next_point(before) or news):
            self._mark_stale()

    def _mark_stale(self) -> None:
        for view in self._views.values():
            view.mark_stale()

    def merge_state(self, other: Self) -> None:
        for name, view in self._views.items():
            view.merge(other._views[name])
        self._rows += other._rows
        self._mark_stale()

    def unlearn_block(self, block: Block) -> None:
        views = copy.deepcopy(self._views)
        for view in views.values():
            view.subtract(block)
        self._take(views)
        self._rows -= block.learned()
        self._mark_stale()

    def scale_state(self, factor: float) -> None:
        views = copy.deepcopy(self._views)
        for view in views.values():
            view.scale(factor)
        self._take(views)
        self._mark_stale()

    def empty_like(self, other: Self) -> None:
        self._take({name: view.fresh() for name, view in other._views.items()})
        self._rows, self._k = 0, other._k

    def sample(self, n: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[Label]]:
        """Draw `n` rows from the model: labels from the prior, columns from the densities of their class."""
        schema, rng = self.schema_, np.random.default_rng(seed)
        proba = self.proba(self.encode([{}]))[0]
        if not len(proba):
            raise NotFittedError(
                f"this {type(self).__name__} has met no class yet; learn labelled rows first"
            )
        labels = [self.labels()[i] for i in rng.choice(len(proba), size=n, p=proba)]
        block = blank_block(
            schema, np.array([schema.classes.code(label) for label in labels], dtype=np.int32)
        )
        for name, view in self._views.items():
            if name != "classes" and not view.has_no_columns:
                view.draw(block, rng)
        return records(block, schema), labels

    def arrays(self) -> Arrays:
        out: dict[str, Any] = {"rows": np.array([self._rows])}
        for name, view in self._views.items():
            out.update({f"{name}.{k}": a for k, a in view.arrays().items()})
        return out

    def restore(self, arrays: Arrays) -> None:
        self._rows = int(arrays["rows"][0])
        for name, view in self._views.items():
            prefix = f"{name}."
            view.restore({k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)})
