"""Base of live readers, which compute log-probabilities from the current state of a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from bayou.block import Block, Floats
from bayou.errors import UnsupportedError
from bayou.kernels.kernel_density import add_tiles
from bayou.protocols import Summary
from bayou.readings.dichotomies import ColumnOdds, Dichotomies, Odds

if TYPE_CHECKING:
    from bayou.scorer import Node

S = TypeVar("S", bound=Summary)


class LiveReader(Generic[S]):
    """Reads log p(x | c) from a summary without a fitted state of its own, so that it is always current.

    A subclass defines `terms`, or `add_log_prob` where its columns have no separate terms. All other methods have slow
    defaults, row by row in Python; a subclass overrides those for which it has a kernel.
    """

    __slots__ = ()

    def terms(self, summary: S, block: Block) -> Floats:
        """[n, d, K] log p(x_j | c), 0 where missing."""
        raise NotImplementedError

    def add_log_prob(self, summary: S, block: Block, out: Floats) -> None:
        """out[n, K] += log p(x | c) from the current summary."""
        add_tiles(out, self.terms(summary, block))

    def predict_then_update(self, summary: S, block: Block, out: Floats) -> None:
        """Row by row: add the log-probability of the row, then learn it."""
        for i in range(block.n):
            row = block.rows(i, i + 1)
            self.add_log_prob(summary, row, out[i : i + 1])
            summary.update(row)

    def terms_then_update(self, summary: S, block: Block, units: Floats) -> Floats:
        """[n, d, K] the terms of each row before it is learned, and `units` with them; all rows are learned."""
        terms = []
        for i in range(block.n):
            row = block.rows(i, i + 1)
            self.fill_units(summary, units[i : i + 1])
            terms.append(self.terms(summary, row))
            summary.update(row)
        return np.concatenate(terms) if terms else self.terms(summary, block)

    def scorer_columns(self, summary: S) -> list[Node]:
        """The contribution of each column as nodes of a scorer; see `bayou.scorer`."""
        raise UnsupportedError(
            f"cannot be exported: {type(self).__name__} does not say what its columns add as look-ups and sums; "
            "numeric='auto' and nominal='counts' do"
        )

    def add_to_scorer(self, summary: S, so_far: Node) -> Node:
        """`so_far` plus the contributions of all columns, added in the order of `add_log_prob`."""
        from bayou.scorer import total

        return total(so_far, self.scorer_columns(summary))

    def is_worth_a_thread(self, summary: S, block: Block) -> bool:
        """Whether `predict_then_update` adds one number per row and class, and takes long enough for a thread."""
        return False

    prediction_is_pure = False  # whether predicting changes nothing at all, not even a cache
    has_units = False  # whether terms are densities, which depend on the units of their columns

    def fill_units(self, summary: S, units: Floats) -> None:
        """units[n, d] = the logarithm of each column's scale, for readers of densities; others leave them unchanged."""

    def free_parameters(self, summary: S) -> Floats:
        """Free parameters per class, by column or one number for all: by default two, a location and a scale."""
        return np.array(2.0)

    def odds(self, summary: Any, dichotomies: Dichotomies) -> Odds:
        """The log-odds of every column of a code; by default from one regrouped summary per column."""
        return ColumnOdds([LiveReading(summary.regroup(g), self) for g in dichotomies.groups()], dichotomies)

    def odds_then_update(self, summary: S, dichotomies: Dichotomies, block: Block, out: Floats) -> None:
        """Row by row: add the log-odds of a code for the row, then learn it."""
        for i in range(block.n):
            row = block.rows(i, i + 1)
            self.odds(summary, dichotomies).add(row, out[i : i + 1])
            summary.update(row)

    def draw(self, summary: S, block: Block, rng: np.random.Generator) -> None:
        """Draw values of this reader's columns given the classes of the block's rows."""
        raise UnsupportedError(
            f"cannot sample: {type(self).__name__} does not say how its columns are drawn; NaiveBayes, taught the "
            "same rows, can"
        )


@dataclass(frozen=True)
class LiveReading:
    """A live reader bound to a summary, with the interface of a reading."""

    summary: Any
    reader: LiveReader[Any]

    def add_log_prob(self, block: Block, out: Floats) -> None:
        self.reader.add_log_prob(self.summary, block, out)
