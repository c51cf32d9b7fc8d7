"""Which split of a leaf tells most about the class: information gain or Gini, read off the leaf's statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats, Index
from bayou.errors import SchemaError
from bayou.kernels.splits import best_two, divide, nominal_merits, numeric_merits
from bayou.kernels.tree import AT_MOST, MULTIWAY, ONE_VALUE
from bayou.recipe import Recipe


def hoeffding_bound(merit_range: float, delta: float, n: float) -> float:
    r"""\epsilon = \sqrt{R^2 \ln(1/\delta) / (2n)}: n means of numbers in a range R lie closer than this to the truth.

    >>> round(hoeffding_bound(1.0, 1e-7, 200), 6)
    0.200737
    """
    return math.sqrt(merit_range * merit_range * math.log(1.0 / delta) / (2.0 * n)) if n > 0 else math.inf


@dataclass(frozen=True)
class Merits:
    """The best split of every column of a leaf: numeric columns first, then nominal ones.

    merit : float64[p + q]; cut : float64[p]; multiway, single : float64[q]; value : int64[q]
    """

    merit: Floats
    cut: Floats
    multiway: Floats
    single: Floats
    value: Index

    def best_two(self, order: Index) -> tuple[int, float, float]:
        """Place of the best column (-1: not splitting, merit 0), its merit, and the second merit.

        Columns of equal merit come in the given order; not splitting comes before all that do not gain.
        """
        two = np.empty(2)
        return best_two(self.merit, order, two), float(two[0]), float(two[1])


@dataclass(frozen=True)
class Split:
    """A test and the class weights it sends each way."""

    test: int
    column: int
    cut: float
    values: tuple[int, ...]
    weights: Floats


@dataclass(frozen=True)
class SplitRule(Recipe):
    """What information gain and Gini share.

    Parameters
    ----------
    candidates
        Cuts tried between the least and the greatest value of a numeric column.
    min_branch
        At least two branches must each get more than this share of the weight.
    binary
        Only two-way splits of nominal columns (one value against the rest).
    """

    candidates: int = 10
    min_branch: float = 0.01
    binary: bool = False

    def __post_init__(self) -> None:
        if self.candidates < 1 or not 0 <= self.min_branch < 0.5:
            raise SchemaError(f"{self}: at least one candidate, and min_branch a share in [0, 0.5)")

    @property
    def bits(self) -> bool:
        raise NotImplementedError

    def merit_range(self, classes: int) -> float:
        """R, the range of the merit over this many classes."""
        raise NotImplementedError

    def merits(
        self, moments: Floats, counts: Floats, present: Floats, offsets: Index, order: Index, rows: float
    ) -> Merits:
        """Merits of all columns of a leaf that has seen `rows` weight; `order` ranks the cells of each column."""
        p, q = moments.shape[2], len(present)
        numeric, cut = np.empty(p), np.empty(p)
        multiway, single, value = np.empty(q), np.empty(q), np.empty(q, dtype=np.int64)
        numeric_merits(moments, rows, self.candidates, self.min_branch, self.bits, numeric, cut)
        nominal_merits(
            counts, present, offsets, order, rows, self.min_branch, self.bits, multiway, single, value
        )  # fmt: skip
        if self.binary:
            multiway[:] = -np.inf
        # one branch per value never tells less than one value against the rest, but may be too thin
        nominal = np.where(np.isfinite(multiway), multiway, single)
        return Merits(np.concatenate((numeric, nominal)), cut, multiway, single, value)

    def split(
        self, place: int, merits: Merits, moments: Floats, counts: Floats, offsets: Index, order: Index
    ) -> Split:
        """The split at a place of the merits."""
        p, k = moments.shape[2], moments.shape[1]
        if place < p:
            cut = float(merits.cut[place])
            weights = np.empty((2, k))
            divide(weights[0], weights[1], moments, place, cut)
            return Split(AT_MOST, place, cut, (), weights)
        j = place - p
        cells = counts[offsets[j] : offsets[j + 1]]
        codes = order[offsets[j] : offsets[j + 1]] - offsets[j]
        if np.isfinite(merits.multiway[j]):
            values = tuple(int(v) for v in codes if cells[v].any())
            return Split(MULTIWAY, j, 0.0, values, cells[list(values)])
        v = int(merits.value[j])
        rest = np.zeros(k)
        for other in codes[codes != v]:
            rest += cells[other]
        return Split(ONE_VALUE, j, 0.0, (v,), np.stack((cells[v], rest)))


@dataclass(frozen=True)
class InformationGain(SplitRule):
    """Entropy before the split minus entropy after it, in bits; ranges up to log2 of the number of classes.

    >>> InformationGain().merit_range(4)
    2.0
    """

    @property
    def bits(self) -> bool:
        return True

    def merit_range(self, classes: int) -> float:
        return math.log2(max(2, classes))


@dataclass(frozen=True)
class Gini(SplitRule):
    """1 - sum of squared class shares, before the split minus after it; ranges up to 1.

    >>> Gini(binary=True)
    Gini(candidates=10, min_branch=0.01, binary=True)
    """

    @property
    def bits(self) -> bool:
        return False

    def merit_range(self, classes: int) -> float:
        return 1.0


RULES: dict[str, type[SplitRule]] = {"gain": InformationGain, "gini": Gini}


def split_rule(split: str | SplitRule) -> SplitRule:
    """The recipe behind a short name."""
    if isinstance(split, SplitRule):
        return split
    if split not in RULES:
        raise SchemaError(f"split={split!r}; it is 'gain', 'gini', or a recipe such as Gini(binary=True)")
    return RULES[split]()


def table_merits(counts: NDArray[np.float64], rule: SplitRule) -> tuple[float, float]:
    """Merit of one branch per value, and of the best value against the rest, for one table [values, K].

    >>> multiway, single = table_merits(np.array([[2.0, 0.0], [0.0, 2.0]]), InformationGain())
    >>> multiway, single
    (1.0, 1.0)
    """
    merits = rule.merits(
        np.zeros((5, counts.shape[1], 0)),
        np.ascontiguousarray(counts, dtype=np.float64),
        counts.sum(axis=0, keepdims=True).astype(np.float64),
        np.array([0, len(counts)]),
        np.arange(len(counts)),
        float(counts.sum()),
    )
    return float(merits.multiway[0]), float(merits.single[0])
