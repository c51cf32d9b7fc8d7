"""What a row costs a classifier, by the shape of the table alone: microseconds of one processor, for Auto's budgets.

Fitted by hand to processor times of test-then-train on 8,000 rows of eleven real sets, blocks of 2,000
(`python -m benchmarks auto` measures them again). Only their ratios matter. Where they differ from set to set with the
same shape, naive Bayes is told low and the others high, so that a budget is rather kept than used up. What a budget
decides must follow from the rows alone, so nothing here looks at a clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Columns of each kind that have had a value, and classes."""

    numeric: int
    nominal: int
    text: int
    classes: int

    @property
    def columns(self) -> int:
        """Columns that trees look at."""
        return self.numeric + self.nominal


def encoding(of: Sizes) -> float:
    """Turning a row of a table into numbers and codes; words of a text are the dear part."""
    return 0.3 + 0.01 * of.numeric + 0.13 * of.nominal + 50.0 * of.text


def normal_densities(of: Sizes) -> float:
    """Naive Bayes by normal densities."""
    return 0.25 + 0.01 * of.numeric * of.classes + 0.02 * of.columns


def quantiles(of: Sizes) -> float:
    """Naive Bayes by quantiles that are cut into intervals."""
    return 0.1 + 0.02 * of.columns + (3.5 + 0.4 * of.numeric if of.numeric else 0.0)


def naive_bayes(of: Sizes) -> float:
    """Naive Bayes from the user's hands: rows are encoded for it."""
    return encoding(of) + quantiles(of)


def weighted(of: Sizes) -> float:
    """Naive Bayes with weights of the columns."""
    return quantiles(of) + 0.9 + of.nominal * (0.05 + 0.02 * of.classes) + 0.02 * of.columns


def tree(of: Sizes) -> float:
    """A Hoeffding tree."""
    return 0.6 + 0.03 * of.numeric * of.classes + 0.06 * of.columns


def forest(of: Sizes, trees: int) -> float:
    """A forest of counts."""
    columns = 0.2 * math.sqrt(of.numeric) + 0.1 * math.sqrt(of.nominal)
    return trees * (0.5 + 0.08 * of.classes + columns)


def bagged_trees(of: Sizes) -> float:
    """Ten bagged trees; a split by names opens a leaf for each, and all numeric columns there."""
    return 40.0 + 0.6 * of.numeric * of.classes + of.columns + 3.0 * min(of.numeric, 4) * of.nominal


def mixing(of: Sizes) -> float:
    """Following one member."""
    return 0.05 + 0.02 * of.classes


def nothing(of: Sizes) -> float:
    """A baseline, too cheap to be told."""
    return 0.0
