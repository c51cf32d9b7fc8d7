"""Class counts, moments and value counts that learn and predict packed rows, in one kernel call each."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self, cast

import numpy as np

from bayou.block import Floats, Index
from bayou.densities.gaussian import Gaussian
from bayou.kernels.packed_rows import keep_readings, learn_packed, predict_kept, predict_packed
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.prior import ANY_ROW, CountedPrior
from bayou.schema import Kind, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.mark import Mark
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.views.view import AnyView, Live

# So many predictions, and one more for so many cells, take about as long as computing the cached readings
READINGS, CELLS = 8, 16
# Summaries and readers for which there are kernels of packed rows, in the order in which they are added up
_KINDS = ((ClassCounts, CountedPrior), (Moments, Gaussian), (ValueCounts, CategoricalEstimator))


class PackedRows:
    """Three live views that learn and predict one row or a few in fewer calls than one per view.

    The bits are those that the views give for blocks.

    Parameters
    ----------
    views
        Class counts, moments and value counts, each with its reader.
    """

    def __init__(self, views: list[Live[Any]]) -> None:
        self.classes, self.numeric, self.nominal = views
        prior, normal, table = (cast(Any, view.reader) for view in views)
        self.settings = np.array([prior.alpha, normal.ddof, normal.floor, table.alpha, table.m])
        self._cached: tuple[Mark, Floats] = (Mark(), np.empty(0))  # the state, and its readings
        self._misses: tuple[Mark, int] = (Mark(), 0)  # the state, and predictions without a cache

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ([self.classes, self.numeric, self.nominal],)  # without caches

    @classmethod
    def of(cls, views: Collection[AnyView], schema: Schema) -> Self | None:
        """The packed rows of these views; None if one that has columns is of another kind, or values are hashed."""
        busy = [view for view in views if not view.has_no_columns]
        kinds = [(type(view.summary), type(getattr(view, "reader", None))) for view in busy]
        by_kind: dict[Any, Any] = dict(zip(kinds, busy, strict=True))
        if list(by_kind) != [kind for kind in _KINDS if kind in by_kind] or len(by_kind) < len(busy):
            return None
        if not all(type(view) is Live for view in busy) or _KINDS[0] not in by_kind:
            return None
        packed = cls([by_kind.get(kind) or Live(kind[0](), kind[1]()) for kind in _KINDS])
        columns = packed.numeric.summary.n.shape[1], len(packed.nominal.summary.sizes)
        fits = columns == (len(schema.names(Kind.NUMERIC)), len(schema.names(Kind.NOMINAL)))
        return packed if fits and not schema.declared.hash_values else None

    def learn(self, rows: Floats, count: int) -> int:
        """Learn the first `count` rows, and return how many have a label and weight.

        Returns -1, and learns none, if a number is infinite or huge.
        """
        moments, values = self.numeric.summary, self.nominal.summary
        return learn_packed(
            self.classes.summary.weight, moments.n, moments.mean, moments.m2, values.counts, values.present,
            values.seen, values.offsets, rows, count,
        )  # fmt: skip

    def predict(self, rows: Floats, count: int, order: Index, row: Floats, mark: Mark) -> int:
        """Learn the first `count` rows, then write class probabilities behind the values of `row`; return as `learn`.

        `mark` stands for the model's state. Readings of a state are cached once it has predicted so many rows that
        computing them would have taken no longer.
        """
        cache = self._cached
        if cache[0] is mark:
            return predict_kept(cache[1], row)
        classes, moments, values = self.classes.summary, self.numeric.summary, self.nominal.summary
        if not count:
            before, misses = self._misses
            misses = misses + 1 if before is mark else 1
            self._misses = mark, misses
            if misses > READINGS + len(values.counts) // CELLS:
                self._cached = mark, self._readings(order)
        return predict_packed(
            classes.weight, moments.n, moments.mean, moments.m2, values.counts, values.present, values.seen,
            values.offsets, rows, count, classes.declared, values.declared, self.settings, order, row,
        )  # fmt: skip

    def _readings(self, order: Index) -> Floats:
        """The readings of the three views in one array, for `predict_kept`."""
        prior = np.zeros((1, len(order)))
        self.classes.reader.add_log_prob(self.classes.summary, ANY_ROW, prior)
        normal, estimator = (
            cast(Gaussian, self.numeric.reader),
            cast(CategoricalEstimator, self.nominal.reader),
        )
        _, centre, half = normal.tables(self.numeric.summary)
        table, offsets = estimator.table(self.nominal.summary), self.nominal.summary.offsets
        readings = np.empty(2 + 3 * len(order) + len(offsets) + 2 * half.size + table.size)
        keep_readings(readings, order, prior, centre, half, offsets, table)
        return readings
