"""Split rules: the best split of a leaf by its statistics, and whether it is worth making."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats, Index
from bayou.errors import SchemaError
from bayou.kernels.splits import (
    BITS,
    BRANCHES,
    CANDIDATES,
    EACH_VALUE,
    GROUPS,
    LEAST,
    MULTIWAY_VALUE,
    ONE_AGAINST_REST,
    cell_merits,
    divide,
    divide_cells,
    draw_columns,
    nominal_merits,
    numeric_merits,
    read_scales,
    values_on_the_left,
)
from bayou.kernels.tree import AT_MOST, MULTIWAY, ONE_VALUE
from bayou.readings.partition import Discretiser
from bayou.recipe import Recipe

Cells = tuple[Index, Floats, Floats]  # of numeric columns, end to end: offsets, largest values, class counts
EVERY: Index = np.zeros(0, dtype=np.int64)  # no keys by which columns are drawn: all are tried


def hoeffding_bound(merit_range: float, delta: float, n: float) -> float:
    r"""\epsilon = \sqrt{R^2 \ln(1/\delta) / (2n)}: n means of numbers in a range R lie closer than this to the truth.

    >>> round(hoeffding_bound(1.0, 1e-7, 200), 6)
    0.200737
    """
    return math.sqrt(merit_range * merit_range * math.log(1.0 / delta) / (2.0 * n)) if n > 0 else math.inf


@dataclass(frozen=True)
class Merits:
    """The best split of every column of a leaf: numeric columns first, then nominal ones.

    merit, freedom : float64[p + q]; cut : float64[p]; value : int64[q], -1 for one branch per value, -2 - c for two
    groups of values along the share of class c
    """

    merit: Floats
    cut: Floats
    value: Index
    freedom: Floats


@dataclass(frozen=True)
class Split:
    """A test and the class weights it sends each way; of a nominal column, the groups of values that go each way."""

    test: int
    column: int
    cut: float
    groups: tuple[tuple[int, ...], ...]
    weights: Floats

    def values_of(self, child: int, size: int) -> list[int]:
        """The values of a nominal column with `size` values that go to a child."""
        if child < len(self.groups):
            return list(self.groups[child])
        return [v for v in range(size) if v != self.groups[0][0]]


@dataclass(frozen=True)
class SplitRule(Recipe):
    """Base of the rules by which leaves split.

    Parameters
    ----------
    candidates
        Cuts tried between the least and the greatest value of a numeric column.
    min_branch
        At least two branches must each get more than this share of the weight.
    binary
        Only two-way splits of nominal columns: one value against the rest; with `GTest`, the best two groups of values.
    cuts
        Where leaves keep quantiles of numeric columns: the intervals between which cuts are tried, such as
        `EqualFrequency(bins=10)`, `EqualWidth()` or `FayyadIrani()`, which also says whether a column is worth any cut;
        None tries all that the quantiles can tell apart.
    inherit
        Children begin with the statistics of their parent, scaled class by class to the weight that the split sends
        them (as if, within a class, the other columns had nothing to do with the split); else with empty ones.
    """

    candidates: int = 10
    min_branch: float = 0.01
    binary: bool = False
    cuts: Discretiser | None = None
    inherit: bool = False

    grace: ClassVar[float] = 200.0  # default of the tree's parameter, as is `delta`
    delta: ClassVar[float] = 1e-7

    def __post_init__(self) -> None:
        if self.candidates < 1 or not 0 <= self.min_branch < 0.5:
            raise SchemaError(f"{self}: at least one candidate, and min_branch a share in [0, 0.5)")

    @property
    def bits(self) -> bool:
        """Whether merit is measured in bits of entropy, rather than as Gini impurity."""
        raise NotImplementedError

    def rules(self, delta: float, tie: float) -> Floats:
        """The parameters of the rule as an array, in the order that kernels expect."""
        tested = isinstance(self, GTest)
        groups = (GROUPS if tested else ONE_AGAINST_REST) if self.binary else EACH_VALUE
        return np.array(
            [delta, tie, self.min_branch, self.candidates, self.bits, groups, tested, self.inherit]
        )

    def read_cells(self, cells: Cells, rows: float, merits: Merits) -> None:
        """Write the merits of numeric columns, computed from cells instead of moments, into `merits`."""
        offsets, upper, counts = cells
        if self.cuts is not None:
            partitions = self.cuts.partitions(offsets, upper, counts)
            offsets, upper, counts = (
                partitions.offsets,
                partitions.cuts,
                np.ascontiguousarray(partitions.counts),
            )
        p = len(merits.cut)
        cell_merits(
            offsets, upper, counts, rows, self.min_branch, self.bits, merits.merit[:p], merits.cut, merits.freedom[:p]
        )  # fmt: skip

    def split(
        self,
        place: int,
        merits: Merits,
        moments: Floats,
        counts: Floats,
        present: Floats,
        offsets: Index,
        order: Index,
        rows: float,
        cells: Cells | None = None,
    ) -> Split:
        """The split of the column at `place` in the merits."""
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
            values = [int(v) for v in codes if values_of[v].any()]
            return Split(MULTIWAY, j, 0.0, tuple((v,) for v in values), values_of[values])
        left_values = {v}
        if v < MULTIWAY_VALUE:
            cells_of = order[offsets[j] : offsets[j + 1]]
            left_cells = values_on_the_left(
                counts, present[j], cells_of, -2 - v, rows, self.min_branch, self.bits
            )
            left_values = set((left_cells - offsets[j]).tolist())
        weights = np.zeros((2, k))
        for code in codes:
            weights[0 if code in left_values else 1] += values_of[code]
        if v >= 0:
            return Split(ONE_VALUE, j, 0.0, ((v,),), weights)
        seen = [int(code) for code in codes if values_of[code].any()]
        groups = tuple(
            tuple(code for code in seen if (code in left_values) is left) for left in (True, False)
        )
        return Split(MULTIWAY, j, 0.0, groups, weights)


@dataclass(frozen=True)
class InformationGain(SplitRule):
    """Information gain: entropy before the split minus entropy after it, in bits, up to log2 of the classes.

    Parameters
    ----------
    candidates
        Cuts tried between the least and the greatest value of a numeric column.
    min_branch
        At least two branches must each get more than this share of the weight.
    binary
        Nominal columns are split into one value against the rest, instead of one branch per value.
    cuts
        Where leaves keep quantiles of numeric columns: the intervals between which cuts are tried, such as
        `EqualFrequency(bins=10)`, `EqualWidth()` or `FayyadIrani()`; None tries all that the quantiles can tell apart.
    inherit
        Children begin with the statistics of their parent, scaled class by class to the weight that the split sends
        them; else with empty ones.

    Examples
    --------
    >>> InformationGain(candidates=20).candidates
    20
    """

    @property
    def bits(self) -> bool:
        return True


@dataclass(frozen=True)
class Gini(SplitRule):
    """Gini impurity, 1 - sum of squared class shares, before the split minus after it; ranges up to 1.

    Parameters
    ----------
    candidates
        Cuts tried between the least and the greatest value of a numeric column.
    min_branch
        At least two branches must each get more than this share of the weight.
    binary
        Nominal columns are split into one value against the rest, instead of one branch per value.
    cuts
        Where leaves keep quantiles of numeric columns: the intervals between which cuts are tried, such as
        `EqualFrequency(bins=10)`, `EqualWidth()` or `FayyadIrani()`; None tries all that the quantiles can tell apart.
    inherit
        Children begin with the statistics of their parent, scaled class by class to the weight that the split sends
        them; else with empty ones.

    Examples
    --------
    >>> Gini(binary=True)
    Gini(candidates=10, min_branch=0.01, binary=True, cuts=None, inherit=False)
    """

    @property
    def bits(self) -> bool:
        return False


@dataclass(frozen=True)
class GTest(SplitRule):
    """Information gain, and a test whether chance would give as much: the likelihood-ratio or G-test.

    Of n rows, 2 n ln 2 · gain is compared with χ² of f = (branches - 1)(classes - 1) degrees of freedom, which
    it follows for large n where column and class are independent (Wilks); f counts all values of a nominal column,
    since its best two groups never tell more than they do. The column with the most beyond f splits the leaf if that is
    more than 2 √(f L) + 2 L, L = ln(columns / δ), which chance exceeds with probability δ at most
    (Laurent and Massart's bound, over all columns). Classes matter through f alone: many of them need few rows.

    What it is not: a bound over all looks together, or over the cuts tried in a numeric column, or below the root where
    `inherit` lets statistics begin with what independence within classes would send there. There it is a heuristic.

    Parameters
    ----------
    candidates
        Cuts tried between the least and the greatest value of a numeric column.
    min_branch
        At least two branches must each get more than this share of the weight.
    binary
        Nominal columns are split into the best two groups of values, instead of one branch per value.
    cuts
        Where leaves keep quantiles of numeric columns: the intervals between which cuts are tried, such as
        `EqualFrequency(bins=10)`, `EqualWidth()` or `FayyadIrani()`; None tries all that the quantiles can tell apart.
    inherit
        Children begin with the statistics of their parent, scaled class by class to the weight that the split sends
        them; else with empty ones.

    Examples
    --------
    >>> GTest()
    GTest(candidates=10, min_branch=0.01, binary=True, cuts=None, inherit=True)
    """

    binary: bool = True
    inherit: bool = True

    grace: ClassVar[float] = 50.0
    delta: ClassVar[float] = 0.1

    @property
    def bits(self) -> bool:
        return True


RULES: dict[str, type[SplitRule]] = {"g-test": GTest, "gain": InformationGain, "gini": Gini}


def split_rule(split: str | SplitRule) -> SplitRule:
    """The split rule with this short name; a rule is returned as it is."""
    if isinstance(split, SplitRule):
        return split
    if split not in RULES:
        raise SchemaError(
            f"split={split!r}; it is 'g-test', 'gain', 'gini', or a recipe such as Gini(binary=True)"
        )
    return RULES[split]()


def merits_of(
    moments: Floats,
    counts: Floats,
    present: Floats,
    offsets: Index,
    order: Index,
    classes: Index,
    rows: float,
    rules: Floats,
    keys: Index = EVERY,
    leaf: int = 0,
) -> Merits:
    """Merits of the columns of a leaf that has seen `rows` weight; `order` ranks the cells, `classes` the classes.

    With `keys` of the columns, only merits of columns that are drawn at random for this attempt; else of all.
    """
    p, q = moments.shape[2], len(present)
    merits = Merits(np.empty(p + q), np.empty(p), np.empty(q, dtype=np.int64), np.empty(p + q))
    least, bits = float(rules[LEAST]), bool(rules[BITS])
    tried = np.empty(p + q, dtype=np.bool_)
    draw_columns(keys, leaf, rows, moments, counts, present, offsets, tried)
    numeric_merits(
        moments, rows, int(rules[CANDIDATES]), least, bits, tried[:p], merits.merit[:p], merits.cut, merits.freedom[:p]
    )  # fmt: skip
    nominal_merits(
        counts,
        present,
        offsets,
        order,
        classes,
        rows,
        least,
        bits,
        int(rules[BRANCHES]),
        tried[p:],
        merits.merit[p:],
        merits.value,
        merits.freedom[p:],
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
        np.arange(counts.shape[1]),
        float(counts.sum()),
        rule.rules(1e-7, 0.05),
    )
    return float(merits.merit[0])
