"""Which split of a leaf tells most about the class: information gain or Gini, read off the leaf's statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats, Index
from bayou.errors import SchemaError
from bayou.kernels.splits import (
    BINARY,
    BITS,
    CANDIDATES,
    LEAST,
    MULTIWAY_VALUE,
    cell_merits,
    divide,
    divide_cells,
    nominal_merits,
    numeric_merits,
    read_scales,
)
from bayou.kernels.tree import AT_MOST, MULTIWAY, ONE_VALUE
from bayou.readings.partition import Discretiser
from bayou.recipe import Recipe

Cells = tuple[Index, Floats, Floats]  # of numeric columns, end to end: offsets, largest values, class counts


def hoeffding_bound(merit_range: float, delta: float, n: float) -> float:
    r"""\epsilon = \sqrt{R^2 \ln(1/\delta) / (2n)}: n means of numbers in a range R lie closer than this to the truth.

    >>> round(hoeffding_bound(1.0, 1e-7, 200), 6)
    0.200737
    """
    return math.sqrt(merit_range * merit_range * math.log(1.0 / delta) / (2.0 * n)) if n > 0 else math.inf


@dataclass(frozen=True)
class Merits:
    """The best split of every column of a leaf: numeric columns first, then nominal ones.

    merit : float64[p + q]; cut : float64[p]; value : int64[q], -1 for one branch per value
    """

    merit: Floats
    cut: Floats
    value: Index


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
    cuts
        Where leaves keep quantiles of numeric columns: the intervals between which cuts are tried, such as
        `EqualFrequency(bins=10)`, `EqualWidth()` or `FayyadIrani()`, which also says whether a column is worth any cut;
        None tries all that the quantiles can tell apart.
    """

    candidates: int = 10
    min_branch: float = 0.01
    binary: bool = False
    cuts: Discretiser | None = None

    def __post_init__(self) -> None:
        if self.candidates < 1 or not 0 <= self.min_branch < 0.5:
            raise SchemaError(f"{self}: at least one candidate, and min_branch a share in [0, 0.5)")

    @property
    def bits(self) -> bool:
        """Whether merit is measured in bits of entropy, rather than as Gini impurity."""
        raise NotImplementedError

    def rules(self, delta: float, tie: float) -> Floats:
        """What kernels need to know, in their order."""
        return np.array([delta, tie, self.min_branch, self.candidates, self.bits, self.binary])

    def read_cells(self, cells: Cells, rows: float, merits: Merits) -> None:
        """Put the merits of numeric columns in, read off cells instead of moments."""
        offsets, upper, counts = cells
        if self.cuts is not None:
            found = self.cuts.partitions(offsets, upper, counts)
            offsets, upper, counts = found.offsets, found.cuts, np.ascontiguousarray(found.counts)
        numeric = merits.merit[: len(merits.cut)]
        cell_merits(offsets, upper, counts, rows, self.min_branch, self.bits, numeric, merits.cut)

    def split(
        self,
        place: int,
        merits: Merits,
        moments: Floats,
        counts: Floats,
        offsets: Index,
        order: Index,
        cells: Cells | None = None,
    ) -> Split:
        """The split at a place of the merits."""
        p, k = moments.shape[2], moments.shape[1]
        if place < p:
            cut = float(merits.cut[place])
            weights, scale = np.empty((2, k)), np.empty(k)
            if cells is None:
                read_scales(scale, moments, place)
                divide(weights[0], weights[1], moments, scale, place, cut)
            else:
                here = slice(cells[0][place], cells[0][place + 1])
                divide_cells(weights[0], weights[1], cells[1][here], cells[2][here], cut)
            return Split(AT_MOST, place, cut, (), weights)
        j = place - p
        values_of = counts[offsets[j] : offsets[j + 1]]
        codes = order[offsets[j] : offsets[j + 1]] - offsets[j]
        v = int(merits.value[j])
        if v == MULTIWAY_VALUE:
            values = tuple(int(v) for v in codes if values_of[v].any())
            return Split(MULTIWAY, j, 0.0, values, values_of[list(values)])
        rest = np.zeros(k)
        for other in codes[codes != v]:
            rest += values_of[other]
        return Split(ONE_VALUE, j, 0.0, (v,), np.stack((values_of[v], rest)))


@dataclass(frozen=True)
class InformationGain(SplitRule):
    """Information gain: entropy before the split minus entropy after it, in bits, up to log2 of the classes."""

    @property
    def bits(self) -> bool:
        return True


@dataclass(frozen=True)
class Gini(SplitRule):
    """Gini impurity, 1 - sum of squared class shares, before the split minus after it; ranges up to 1.

    >>> Gini(binary=True)
    Gini(candidates=10, min_branch=0.01, binary=True, cuts=None)
    """

    @property
    def bits(self) -> bool:
        return False


RULES: dict[str, type[SplitRule]] = {"gain": InformationGain, "gini": Gini}


def split_rule(split: str | SplitRule) -> SplitRule:
    """The recipe behind a short name."""
    if isinstance(split, SplitRule):
        return split
    if split not in RULES:
        raise SchemaError(f"split={split!r}; it is 'gain', 'gini', or a recipe such as Gini(binary=True)")
    return RULES[split]()


def merits_of(
    moments: Floats, counts: Floats, present: Floats, offsets: Index, order: Index, rows: float, rules: Floats
) -> Merits:
    """Merits of all columns of a leaf that has seen `rows` weight; `order` ranks the cells of each column."""
    p, q = moments.shape[2], len(present)
    merits = Merits(np.empty(p + q), np.empty(p), np.empty(q, dtype=np.int64))
    least, bits = float(rules[LEAST]), bool(rules[BITS])
    numeric_merits(moments, rows, int(rules[CANDIDATES]), least, bits, merits.merit[:p], merits.cut)
    nominal_merits(
        counts,
        present,
        offsets,
        order,
        rows,
        least,
        bits,
        bool(rules[BINARY]),
        merits.merit[p:],
        merits.value,
    )
    return merits


def table_merit(counts: NDArray[np.float64], rule: SplitRule) -> float:
    """Merit of the best split by one table [values, K].

    >>> table_merit(np.array([[2.0, 0.0], [0.0, 2.0]]), InformationGain())
    1.0
    """
    merits = merits_of(
        np.zeros((5, counts.shape[1], 0)),
        np.ascontiguousarray(counts, dtype=np.float64),
        counts.sum(axis=0, keepdims=True).astype(np.float64),
        np.array([0, len(counts)]),
        np.arange(len(counts)),
        float(counts.sum()),
        rule.rules(1e-7, 0.05),
    )
    return float(merits.merit[0])
