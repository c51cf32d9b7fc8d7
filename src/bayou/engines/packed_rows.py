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

# About as many predictions, and one for so many cells, take as long as to read off all there is
READINGS, CELLS = 8, 16
# What is read live by kernels that know packed rows, in the order in which it is added up
_KINDS = ((ClassCounts, CountedPrior), (Moments, Gaussian), (ValueCounts, CategoricalEstimator))


class PackedRows:
    """Three live views, asked about one row or a few in fewer calls than one for each of them.

    Bits are those that the views give for blocks, whatever they are asked in between.

    Parameters
    ----------
    views
        Class counts, moments and value counts, each with its reader.
    """

    def __init__(self, views: list[Live[Any]]) -> None:
        self.classes, self.numeric, self.nominal = views
        prior, normal, table = (cast(Any, view.reader) for view in views)
        self.settings = np.array([prior.alpha, normal.ddof, normal.floor, table.alpha, table.m])
        self._kept: tuple[Mark, Floats] = (Mark(), np.empty(0))  # readings, and of which state
        self._asked: tuple[Mark, int] = (Mark(), 0)  # how often one was missed, and of which state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ([self.classes, self.numeric, self.nominal],)  # without what is kept

    @classmethod
    def of(cls, views: Collection[AnyView], schema: Schema) -> Self | None:
        """Of views that are all of these kinds, or have no columns; None if others are among them."""
        busy = [view for view in views if not view.has_no_columns]
        kinds = [(type(view.summary), type(getattr(view, "reader", None))) for view in busy]
        found: dict[Any, Any] = dict(zip(kinds, busy, strict=True))
        if list(found) != [kind for kind in _KINDS if kind in found] or len(found) < len(busy):
            return None
        if not all(type(view) is Live for view in busy) or _KINDS[0] not in found:
            return None
        made = cls([found.get(kind) or Live(kind[0](), kind[1]()) for kind in _KINDS])
        columns = made.numeric.summary.n.shape[1], len(made.nominal.summary.sizes)
        fits = columns == (len(schema.names(Kind.NUMERIC)), len(schema.names(Kind.NOMINAL)))
        return made if fits and not schema.declared.hash_values else None

    def learn(self, rows: Floats, count: int) -> int:
        """Learn the first rows: how many teach something; -1, and none is learned, if a number is infinite or huge."""
        moments, values = self.numeric.summary, self.nominal.summary
        return learn_packed(
            self.classes.summary.weight, moments.n, moments.mean, moments.m2, values.counts, values.present,
            values.seen, values.offsets, rows, count,
        )  # fmt: skip

    def predict(self, rows: Floats, count: int, order: Index, row: Floats, mark: Mark) -> int:
        """Learn the first rows, then put the probabilities of the classes behind another one; else as `learn`.

        `mark` stands for the model's state. Readings of a state that is asked about again and again are kept: to make
        them takes about as long as to do without them so often.
        """
        kept = self._kept
        if kept[0] is mark:
            return predict_kept(kept[1], row)
        classes, moments, values = self.classes.summary, self.numeric.summary, self.nominal.summary
        if not count:
            before, asked = self._asked
            asked = asked + 1 if before is mark else 1
            self._asked = mark, asked
            if asked > READINGS + len(values.counts) // CELLS:
                self._kept = mark, self._readings(order)
        return predict_packed(
            classes.weight, moments.n, moments.mean, moments.m2, values.counts, values.present, values.seen,
            values.offsets, rows, count, classes.declared, values.declared, self.settings, order, row,
        )  # fmt: skip

    def _readings(self, order: Index) -> Floats:
        """What the views read off their summaries, for `predict_kept`."""
        prior = np.zeros((1, len(order)))
        self.classes.reader.add_log_prob(self.classes.summary, ANY_ROW, prior)
        normal, estimator = (
            cast(Gaussian, self.numeric.reader),
            cast(CategoricalEstimator, self.nominal.reader),
        )
        _, centre, half = normal.tables(self.numeric.summary)
        table, offsets = estimator.table(self.nominal.summary), self.nominal.summary.offsets
        kept = np.empty(2 + 3 * len(order) + len(offsets) + 2 * half.size + table.size)
        keep_readings(kept, order, prior, centre, half, offsets, table)
        return kept
