"""The normal density of numeric columns: how it is chosen, summarised, read and grouped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Floats
from bayou.densities.density import Density
from bayou.encoding.column_block import numbers_of
from bayou.errors import SchemaError
from bayou.kernels.column_terms import gaussian_terms_then_update, read_units
from bayou.kernels.ecoc import add_difference, side_gaussians
from bayou.kernels.gaussian import (
    CONSTANT_SHARE,
    add_gaussian,
    add_gaussian_direct,
    gaussian_terms,
)
from bayou.kernels.gaussian_rows import gaussian_predict_then_update
from bayou.kernels.normal import read_columns
from bayou.readings.dichotomies import Dichotomies, Odds
from bayou.readings.live import LiveReader
from bayou.readings.partition import Discretiser
from bayou.summaries.moments import Moments
from bayou.threads import over_ranges
from bayou.views.view import AnyView, Live

if TYPE_CHECKING:
    from bayou.scorer import Node

GRAIN = 200_000  # cells worth a thread of their own
ODDS_GRAIN = 500  # rows worth a thread of their own


@dataclass(frozen=True)
class Gaussian(Density, LiveReader[Moments]):
    r"""The normal density per column and class: $\log p(x | c) = -\log(2\pi\sigma^2)/2 - (x - \mu)^2 / (2\sigma^2)$.

    Parameters
    ----------
    ddof
        0 for the population variance, 1 for the sample variance.
    floor
        A class whose variance is at most this share of the column's pooled variance counts as constant, and takes
        a hundredth of the pooled one: each column is judged on its own scale, and a value never seen before does
        not veto all other evidence. A class with one row takes the pooled variance.

    Examples
    --------
    >>> Gaussian(ddof=1)
    Gaussian(ddof=1, floor=1e-09)
    """

    ddof: int = 0
    floor: float = 1e-9

    def __post_init__(self) -> None:
        if self.ddof not in (0, 1) or not 0 <= self.floor < 1:
            raise SchemaError(f"{self}: ddof is 0 or 1, floor a share in [0, 1)")

    has_units = True
    prediction_is_pure = True

    def view(self, bins: Discretiser) -> AnyView:
        """Moments, read live."""
        return Live(Moments(), self)

    def tables(self, summary: Moments) -> tuple[Floats, Floats, Floats]:
        """Peak (log-density at the centre), centre, and 1 / (2 var), each [K, p]."""
        s = summary
        peak, centre, half = np.empty_like(s.n), np.empty_like(s.n), np.empty_like(s.n)
        bounds = np.empty((3, s.n.shape[1]))
        read_columns(
            peak, centre, half, bounds, s.n, s.mean, s.m2, float(self.ddof), self.floor, CONSTANT_SHARE
        )
        return peak, centre, half

    def add_log_prob(self, summary: Moments, block: Block, out: Floats) -> None:
        x, s = block.numeric, summary
        if len(x) == 1:
            add_gaussian_direct(out, x, s.n, s.mean, s.m2, float(self.ddof), self.floor)
            return
        n, p = x.shape
        if p == 0:
            return
        _, centre, half = self.tables(summary)

        def rows(lo: int, hi: int) -> None:
            add_gaussian(out[lo:hi], x[lo:hi], centre, half)

        over_ranges(rows, n, 1 + GRAIN // p)

    def terms(self, summary: Moments, block: Block) -> Floats:
        """[n, p, K] log p(x_j | c), 0 where missing."""
        out = np.empty((*block.numeric.shape, len(summary.n)))
        gaussian_terms(out, block.numeric, *self.tables(summary))
        return out

    def scorer_columns(self, summary: Moments) -> list[Node]:
        from bayou.scorer import Normal, silent

        peak, centre, half = self.tables(summary)
        return [
            Normal(j, peak[:, j].copy(), centre[:, j].copy(), half[:, j].copy())
            if peak[:, j].any() or half[:, j].any()
            else silent(len(peak))
            for j in range(peak.shape[1])
        ]

    def draw(self, summary: Moments, block: Block, rng: np.random.Generator) -> None:
        """Draw the numeric columns of a block for the classes of its rows; a column never seen stays missing."""
        _, centre, half = self.tables(summary)
        spread = np.sqrt(0.5 / np.where(half > 0, half, np.inf))
        seen = summary.n > 0
        constant = np.max(summary.mean, axis=0, initial=-np.inf, where=seen)
        centre = np.where(half > 0, centre, np.where(seen.any(axis=0), constant, np.nan))
        block.numeric[:] = rng.normal(centre[block.y], spread[block.y])

    def predict_then_update(self, summary: Moments, block: Block, out: Floats) -> None:
        s, (x, columns) = summary, numbers_of(block)
        gaussian_predict_then_update(
            s.n, s.mean, s.m2, out, x, columns, block.y, block.w, block.no_missing, float(self.ddof), self.floor
        )  # fmt: skip

    def terms_then_update(self, summary: Moments, block: Block, units: Floats) -> Floats:
        s, x = summary, block.numeric
        terms = np.empty((*x.shape, len(s.n)))
        gaussian_terms_then_update(
            s.n, s.mean, s.m2, terms, units, x, block.y, block.w, float(self.ddof), self.floor
        )
        return terms

    def fill_units(self, summary: Moments, units: Floats) -> None:
        """Write the logarithms of the columns' pooled standard deviations to `units`."""
        if units.shape[1]:
            read_units(summary.n, summary.mean, summary.m2, units)

    def odds(self, summary: Moments, dichotomies: Dichotomies) -> Odds:
        s = summary
        peak, centre, half = (np.empty((2 * dichotomies.columns, s.n.shape[1])) for _ in range(3))
        side_gaussians(
            s.n, s.mean, s.m2, dichotomies.dichotomies, float(self.ddof), self.floor, peak, centre, half
        )
        return GaussianOdds((peak, centre, half), dichotomies)


@dataclass(frozen=True)
class GaussianOdds:
    """Log-odds of numeric columns: two normal densities per column of the code."""

    tables: tuple[Floats, Floats, Floats]
    dichotomies: Dichotomies

    def scorer(self) -> Node:
        from bayou.scorer import Folded, Normal, silent, total

        peak, centre, half = self.tables
        normals = [Normal(j, peak[:, j], centre[:, j], half[:, j]) for j in range(peak.shape[1])]
        matrix = self.dichotomies.of_pairs()
        return Folded(total(silent(len(peak)), normals), matrix, np.zeros(matrix.shape[1]))

    def add(self, block: Block, out: Floats) -> None:
        both = np.zeros((block.n, len(self.tables[0])))
        margins = np.zeros((block.n, both.shape[1] // 2))

        def rows(lo: int, hi: int) -> None:
            add_gaussian(both[lo:hi], block.numeric[lo:hi], *self.tables[1:])
            add_difference(margins[lo:hi], both[lo:hi])
            self.dichotomies.put(out[lo:hi], margins[lo:hi])

        over_ranges(rows, block.n, ODDS_GRAIN)
