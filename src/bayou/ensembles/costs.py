"""Costs of classifiers per row, by the shape of the table alone: microseconds of one processor, for Auto's budgets.

Fitted by hand to processor times of test-then-train on 8,000 rows of eleven real sets, blocks of 2,000
(`python -m benchmarks auto` measures them again). Only their ratios matter. Where they differ between sets of the same
shape, naive Bayes is estimated low and the others high, so that budgets are kept. What a budget decides must depend on
the rows alone, so nothing here reads a clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """The shape of a table: columns of each kind that have had a value, and classes."""

    numeric: int
    nominal: int
    text: int
    classes: int

    @property
    def columns(self) -> int:
        """The number of columns that trees use."""
        return self.numeric + self.nominal


def encoding(sizes: Sizes) -> float:
    """The cost of encoding a row of a table; words of texts cost most."""
    return 0.3 + 0.01 * sizes.numeric + 0.13 * sizes.nominal + 50.0 * sizes.text


def normal_densities(sizes: Sizes) -> float:
    """The cost of naive Bayes with normal densities."""
    return 0.25 + 0.01 * sizes.numeric * sizes.classes + 0.02 * sizes.columns


def quantiles(sizes: Sizes) -> float:
    """The cost of naive Bayes with quantiles that are cut into intervals."""
    return 0.1 + 0.02 * sizes.columns + (3.5 + 0.4 * sizes.numeric if sizes.numeric else 0.0)


def naive_bayes(sizes: Sizes) -> float:
    """The cost of naive Bayes by itself, encoding of rows included: the unit of budgets."""
    return encoding(sizes) + quantiles(sizes)


def weighted(sizes: Sizes) -> float:
    """The cost of weighted naive Bayes."""
    return quantiles(sizes) + 0.9 + sizes.nominal * (0.05 + 0.02 * sizes.classes) + 0.02 * sizes.columns


def tree(sizes: Sizes) -> float:
    """The cost of a Hoeffding tree."""
    return 0.6 + 0.03 * sizes.numeric * sizes.classes + 0.06 * sizes.columns


def forest(sizes: Sizes, trees: int) -> float:
    """The cost of a forest of counts."""
    columns = 0.2 * math.sqrt(sizes.numeric) + 0.1 * math.sqrt(sizes.nominal)
    return trees * (0.5 + 0.08 * sizes.classes + columns)


def bagged_trees(sizes: Sizes) -> float:
    """The cost of ten bagged trees; a split by nominal values makes a leaf, with all numeric columns, for each."""
    return (
        40.0
        + 0.6 * sizes.numeric * sizes.classes
        + sizes.columns
        + 3.0 * min(sizes.numeric, 4) * sizes.nominal
    )


def mixing(sizes: Sizes) -> float:
    """The cost of one member's part in the mixture."""
    return 0.05 + 0.02 * sizes.classes


def nothing(sizes: Sizes) -> float:
    """The cost of a baseline, which is negligible."""
    return 0.0
