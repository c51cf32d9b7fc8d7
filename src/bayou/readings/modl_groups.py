"""MODL grouping of the values of a nominal column (Boullé 2005)."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.kernels.khiops import universal
from bayou.kernels.modl import running_totals, search_cells
from bayou.kernels.modl_groups import group_cost, log_groupings, search_groups
from bayou.readings.logs import log_factorials
from bayou.readings.modl import AUTO_CELLS, star_sums
from bayou.readings.partition import Floats, Ints
from bayou.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of the values of one nominal column.

    Parameters
    ----------
    group_of
        int32[V], the group of every value; -1 for a value without weight that belongs to no group.
    counts
        float64[G, K], weight per group and class.
    level
        Relevance in [0, 1): the share of the null model's code length that the groups save.
    values
        The values themselves, where they are known; otherwise a value is its number.

    Examples
    --------
    >>> Grouping(np.array([0, 1, 0], dtype=np.int32), np.eye(2), 0.5, ("red", "blue", "rose")).groups
    [['red', 'rose'], ['blue']]
    """

    group_of: NDArray[np.int32]
    counts: Floats
    level: float
    values: tuple[object, ...] = ()

    @property
    def n_parts(self) -> int:
        """Number of groups, at least one."""
        return len(self.counts)

    @property
    def informative(self) -> bool:
        """Whether there is more than one group."""
        return len(self.counts) > 1

    @property
    def groups(self) -> list[list[object]]:
        """The values of every group."""
        groups: list[list[object]] = [[] for _ in self.counts]
        for value, group in enumerate(self.group_of.tolist()):
            if group >= 0:
                groups[group].append(self.values[value] if self.values else value)
        return groups


@dataclass(frozen=True)
class MODLGroups(Recipe):
    r"""MODL grouping: groups of values that minimise the length of describing the groups and the classes inside them.

    It is ln V + ln B(V, I) + Σ_i [ln C(N_i + K - 1, K - 1) + ln(N_i! / ∏_c N_ic!)] for I groups of N_i rows, N_ic of
    them of class c, with C(n, k) the number of ways to choose k of n.

    V values are seen, and $B(V, I)$ counts the ways to put them into at most I groups. Values that hold one
    and the same class are joined first. With two classes the best groups are runs of the values sorted by the
    share of a class, so the exact interval programme applies, $O(V^2)$; with more, greedy merging of pairs
    and moves of single values from five states of it, about $O(K V^2)$.

    Parameters
    ----------
    prior
        ``"boulle2005"``: the criterion above. ``"khiops"``: that of Khiops 11 without its garbage group.
    max_values
        At most this many values are distinguished: if there are more, the rarest count as one value.
    attributes
        Khiops only: the number of attributes it chooses from, which it adds to the cost as a logarithm.

    Examples
    --------
    >>> grouping = MODLGroups().group([[20, 0], [0, 20], [15, 0], [0, 12]])
    >>> grouping.group_of, round(grouping.level, 6)
    (array([0, 1, 0, 1], dtype=int32), 0.787592)

    References
    ----------
    M. Boullé, A Bayes optimal approach for partitioning the values of categorical attributes, Journal of
    Machine Learning Research 6 (2005).
    """

    prior: Literal["boulle2005", "khiops"] = "boulle2005"
    max_values: int = 100
    attributes: int = 1

    def __post_init__(self) -> None:
        if self.prior not in ("boulle2005", "khiops"):
            raise DataError("unknown prior", value=self.prior, remedy="use 'boulle2005' or 'khiops'")
        if self.max_values < 2:
            raise DataError("max_values must be at least 2", value=self.max_values)

    def group(self, counts: object, *, n_classes: int | None = None) -> Grouping:
        """Groups of the values whose class counts are the rows of `counts`, float64[V, K]."""
        table = np.ascontiguousarray(counts, dtype=np.float64)
        if table.ndim != 2:
            raise DataError(f"counts need shape [values, classes], got {table.shape}")
        k = max(table.shape[1], n_classes or 1)
        row_of = _heaviest(table.sum(axis=1), self.max_values)
        rows = _sum_by(table, row_of)
        if len(rows) == 0:
            return Grouping(np.full(len(table), -1, np.int32), np.zeros((1, table.shape[1])), 0.0)
        if self.prior == "khiops":
            groups, level = _khiops(rows, k, self.attributes)
        else:
            prior = math.log(len(rows)) + _log_groupings(len(rows))
            groups, cost = _search(rows, prior, k)
            level = _level(cost, float(prior[1]) + _null_cost(rows, k))
        groups = _renumbered(groups)
        group_of = np.where(row_of >= 0, groups[row_of], -1).astype(np.int32)
        if len(rows) == self.max_values < np.count_nonzero(row_of >= 0):
            group_of[row_of < 0] = groups[-1]  # a value never seen is as rare as the rarest
        return Grouping(group_of, _sum_by(table, np.where(row_of >= 0, group_of, -1)), level)


def _heaviest(weights: Floats, most: int) -> Ints:
    """The row of every value: one each for the heaviest, the last row for the others, -1 without weight."""
    row_of = np.full(len(weights), -1, dtype=np.int64)
    seen = np.flatnonzero(weights > 0)
    if len(seen) > most:
        apart = np.sort(seen[np.argsort(-weights[seen], kind="stable")[: most - 1]])
        row_of[seen] = most - 1
        seen = apart
    row_of[seen] = np.arange(len(seen))
    return row_of


def _sum_by(counts: Floats, part_of: NDArray[np.integer]) -> Floats:
    """Class counts added up by part; -1 is left out."""
    has_part = part_of >= 0
    sums = np.zeros((int(part_of.max(initial=-1)) + 1, counts.shape[1]))
    np.add.at(sums, part_of[has_part], counts[has_part])
    return sums


def _renumbered(groups: Ints) -> Ints:
    """Groups numbered in the order of their first value."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _null_cost(rows: Floats, k: int) -> float:
    return group_cost(
        log_factorials(k, rows.sum() + len(rows)), rows.sum(axis=0), np.zeros(rows.shape[1]), 1.0, k
    )


def _level(cost: float, null: float) -> float:
    return 1.0 - cost / null if 0.0 < cost < null - 1e-9 else 0.0


def _search(rows: Floats, prior: Floats, k: int) -> tuple[Ints, float]:
    """Best groups of the rows under prior[I], and their cost."""
    table = log_factorials(k, rows.sum() + len(rows))
    pure = (rows > 0).sum(axis=1) == 1
    keys = np.where(pure, rows.argmax(axis=1), rows.shape[1] + np.arange(len(rows)))
    _, atom_of = np.unique(keys, return_inverse=True)
    atoms = _sum_by(rows, atom_of)
    padded = np.append(prior[: len(atoms) + 1], np.inf)
    if rows.shape[1] == k == 2:
        order = np.argsort(-atoms[:, 0] / atoms.sum(axis=1), kind="stable")
        prefix = np.empty((len(atoms) + 1, 3))
        running_totals(prefix, atoms[order])
        bounds = np.empty(len(atoms) + 1, dtype=np.int64)
        edges = np.arange(len(atoms) + 1)
        size = search_cells(bounds, table, prefix, edges, padded, k, len(atoms), AUTO_CELLS)
        groups = np.empty(len(atoms), dtype=np.int64)
        groups[order] = np.repeat(np.arange(size), np.diff(bounds[: size + 1]))
    else:
        groups = np.empty(len(atoms), dtype=np.int64)
        size = search_groups(groups, table, atoms, padded, k)
    zero = np.zeros(rows.shape[1])
    sums = _sum_by(atoms, _renumbered(groups))
    cost = float(prior[size]) + sum(group_cost(table, row, zero, 1.0, k) for row in sums)
    return groups[atom_of], cost


def _khiops(rows: Floats, k: int, attributes: int) -> tuple[Ints, float]:
    """Best groups over all granularities: at 2^G, values lighter than N / 2^G are one value."""
    weights = rows.sum(axis=1)
    total = float(weights.sum())
    null = math.log(2.0) + _null_cost(rows, k)
    best, best_groups = null, np.zeros(len(rows), dtype=np.int64)
    finest = math.ceil(math.log2(total)) if total > 1 else 0
    n_apart = -1
    for granularity in range(1, finest + 1):
        apart = weights >= math.ceil(total / 2.0**granularity)
        if apart.sum() == n_apart:
            continue
        n_apart = int(apart.sum())
        row_of = np.where(apart, np.cumsum(apart) - 1, n_apart)
        groups, cost = _search(
            _sum_by(rows, row_of), _khiops_prior(row_of, granularity, finest, attributes), k
        )
        if cost < best - 1e-6:
            best, best_groups = cost, groups[row_of]
    return best_groups, _level(best, null)


def _khiops_prior(row_of: Ints, granularity: int, finest: int, attributes: int) -> Floats:
    """ln 2, and for I > 1: + ln attributes + U(G; Gmax) + [V > 7] ln 2 + U(I-1; V-1) + ln B(V, I)."""
    values = int(row_of.max()) + 1
    prior = _log_groupings(values).copy()
    stars = star_sums()
    prior[1] = math.log(2.0)
    prior[2:] += math.log(2.0) * (2 if values > 7 else 1) + math.log(max(1, attributes))
    prior[2:] += universal(stars, float(granularity), float(finest))
    prior[2:] += [universal(stars, float(i), values - 1.0) for i in range(1, values)]
    return prior


@functools.lru_cache(maxsize=64)
def _log_groupings(values: int) -> Floats:
    out = np.empty(values + 1)
    log_groupings(out)
    return out
