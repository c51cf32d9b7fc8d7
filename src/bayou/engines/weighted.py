"""The engine of weighted naive Bayes: views whose terms are weighted before they are added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Flags, Floats, Index
from bayou.engines.views import Views
from bayou.errors import UnsupportedError
from bayou.kernels.weights import LEAST
from bayou.rates import Experts
from bayou.readings.intervals import IntervalReading
from bayou.readings.prior import ANY_ROW
from bayou.readings.words import Multinomial
from bayou.summaries.weights import Weights
from bayou.summaries.word_weights import WordWeights
from bayou.views.column_terms import (
    COLUMN_VIEWS,
    chunk_rows,
    column_edges,
    stacked,
)
from bayou.views.view import AnyView, Live, Searched

if TYPE_CHECKING:
    from bayou.scorer import Node

EXCLUDED = -1e4  # added to the log-probabilities of an expert, it takes it out of the mixture


class WeightedViews(Views):
    """Views "classes", "numeric", "nominal" and "words", and "weights", which holds a weight for each of their terms.

    An optional view "sections" finds the rows for which the weights, or all but their average, are left out.

    Each labelled row is predicted first, moves the weights by a step with the tables as they stand, and only then
    is counted. Readings are refreshed at row counts only, because the weights depend on when they are read.
    """

    def __init__(self, views: Mapping[str, AnyView]) -> None:
        super().__init__(views, refreshes_on_schema_change=False)

    @property
    def weights(self) -> Weights:
        """The weights and the statistics by which they learn."""
        weights: Weights = self.views["weights"].summary
        return weights

    @property
    def word_weights(self) -> WordWeights | None:
        """The weights of single words, where they are kept and there is text."""
        view = self.views.get("word_weights")
        return None if view is None or view.has_no_columns else view.summary

    def learn(self, block: Block) -> None:
        self.test_then_train(block)

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((block.n, self.n_classes))
        for where, part in block.cut(self.refresh_points(block)):
            self.refresh_stale()
            self._in_chunks(part, out[where], learn=True)
            self.learned(part)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((block.n, self.n_classes))
        self.refresh_stale()
        self._in_chunks(block, out, learn=False)
        return out

    def _in_chunks(self, block: Block, out: Floats, learn: bool) -> None:
        """Write scores into `out`, few enough rows at a time for their terms to stay in the cache."""
        edges = column_edges(block)
        index, as_pmi = self._index(edges)
        rows = chunk_rows(len(index), self.n_classes)
        for where, part in block.cut(range(rows, block.n, rows)):
            out[where] = self._scores(part, edges, index, as_pmi, learn)

    def _index(self, edges: Index) -> tuple[Index, int]:
        """The columns that have terms, and how many of them are PMI already: searched intervals, if more than one."""
        intervals = self._pmi_intervals()
        if intervals is None:
            return np.arange(edges[-1]), 0
        informative = intervals.informative_columns()
        return np.concatenate([informative, np.arange(edges[1], edges[-1])]), len(informative)

    def _pmi_intervals(self) -> IntervalReading | None:
        """The searched intervals of numeric columns, where they enter as pointwise mutual information."""
        view = self.views["numeric"]
        if isinstance(self.weights.rate, Experts) and isinstance(view, Searched):
            return view.reading if isinstance(view.reading, IntervalReading) else None
        return None

    def _scores(self, block: Block, edges: Index, index: Index, as_pmi: int, learn: bool) -> Floats:
        prior = np.zeros((block.n, self.n_classes))
        units = np.zeros((block.n, block.numeric.shape[1] if self._needs_units() else 0))
        numeric, nominal, text = (self.views[name] for name in COLUMN_VIEWS)
        intervals = self._pmi_intervals()
        if learn:
            self.views["classes"].predict_then_update(block, prior)
            if intervals is not None:
                numeric_terms = intervals.pmi_terms(block)
                numeric.update(block)
            else:
                numeric_terms = numeric.terms_then_update(block, units)
            columns = [numeric_terms, nominal.terms_then_update(block, units)]
            y = block.y
            places = self._places(block, learn=True)
        else:
            self.views["classes"].add_log_prob(block, prior)
            numeric_terms = numeric.column_terms(block) if intervals is None else intervals.pmi_terms(block)
            columns = [numeric_terms, nominal.column_terms(block)]
            numeric.fill_units(units)
            y = np.full(block.n, -1, dtype=np.int32)
            places = self._places(block, learn=False)
        words = self.word_weights
        if words is None:
            columns.append(text.terms_then_update(block, units) if learn else text.column_terms(block))
            return self.weights.learn(
                stacked(columns), units, prior, prior, edges, y, block.w, index, as_pmi, places
            )
        others = stacked(columns)
        scores = words.bounded_scores(others, prior, as_pmi)
        if learn:
            assert isinstance(text, Live)
            assert isinstance(text.reader, Multinomial)
            terms, has_words = text.reader.weigh_then_update(text.summary, words, block, prior, scores)
        else:
            terms, has_words = text.column_terms(block), words.predict(text.summary, block, prior, scores)
        out = self.weights.learn(
            stacked([others, terms]), units, prior, prior, edges, y, block.w, index, others.shape[1], places
        )
        words.mix(out, scores, has_words, prior, y, block.w)
        return out

    def _places(self, block: Block, learn: bool) -> tuple[Flags, Flags] | None:
        """Rows outside the latest section of the stream, and rows far away, where sections are recorded."""
        view = self.views.get("sections")
        return None if view is None else view.summary.outside(block, learn)

    def scorer(self) -> Node:
        from bayou.scorer import (
            Constant,
            added,
            clipped,
            plain_sum,
            pointwise_information,
            says_nothing,
            scaled,
            total,
        )

        if self.word_weights is not None:
            raise UnsupportedError(
                "cannot be exported: weights of words see documents scaled to one length, which is no look-up; "
                "WeightedNB(rate=Experts(words=False)) can"
            )
        self.refresh_stale()
        if isinstance(self.weights.rate, Experts):
            return self._experts_scorer()
        prior = np.zeros((1, self.n_classes))
        self.views["classes"].add_log_prob(ANY_ROW, prior)
        columns = [self.views[name].scorer_columns() for name in COLUMN_VIEWS]
        joint = total(Constant(prior[0]), columns[0], columns[1], *([text] for text in columns[2]))
        units = np.zeros((1, len(columns[0]) if self._needs_units() else 0))
        self.views["numeric"].fill_units(units)
        scale = dict(enumerate(units[0].tolist()))
        inputs: list[Node] = []
        for j, node in enumerate([*columns[0], *columns[1], *columns[2]]):
            if self.weights.rate.takes_pmi:
                inputs.append(pointwise_information(node, prior[0], LEAST))
            else:
                inputs.append(clipped(node, scale.get(j, 0.0), LEAST, -LEAST))
        deviations = np.broadcast_to(self.weights.weights, (len(inputs), self.n_classes))
        weighted = [scaled(node, by) for node, by in zip(inputs, deviations, strict=True)]
        informative = [node for node in weighted if not says_nothing(node)]
        return plain_sum([added(joint, self.weights.bias[0]), *informative])

    def _experts_scorer(self) -> Node:
        """The mixture of experts, each a weighted naive Bayes, without those of no weight."""
        prior = np.zeros((1, self.n_classes))
        self.views["classes"].add_log_prob(ANY_ROW, prior)
        intervals = self._pmi_intervals()
        numeric = (
            self._as_pmi(self.views["numeric"].scorer_columns(), prior[0])
            if intervals is None
            else intervals.tables_of_columns(intervals.pmi_table)
        )
        others = [node for name in COLUMN_VIEWS[1:] for node in self.views[name].scorer_columns()]
        inputs = [*numeric, *self._as_pmi(others, prior[0])]
        view = self.views.get("sections")
        if view is None:
            return self.weights.experts_scorer(inputs, prior[0])
        excluded = (EXCLUDED, self.n_classes)
        outside, far = view.summary.scorer_columns(*excluded), view.summary.far_columns(*excluded)
        return self.weights.experts_scorer(inputs, prior[0], outside, far)

    def _as_pmi(self, columns: list[Node], prior: Floats) -> list[Node]:
        from bayou.scorer import pointwise_information

        return [pointwise_information(node, prior, LEAST) for node in columns]

    def _needs_units(self) -> bool:
        """Densities are measured in units of their column only where the inputs would depend on them."""
        rate = self.weights.rate
        return not self.weights.tied and not rate.takes_pmi and self.views["numeric"].has_units
