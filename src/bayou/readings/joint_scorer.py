"""Readings of joint counts as nodes of a scorer: see `bayou.scorer`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from bayou.block import Flags, Floats
from bayou.kernels.class_counts import add_prior, prior_size
from bayou.kernels.value_counts import FLOOR
from bayou.readings.parent_sets import ParentSetTable, SetTermTable
from bayou.scorer import (
    Cell,
    Constant,
    FirstPossible,
    Interval,
    Log,
    Mixture,
    Node,
    Table,
    Value,
    added,
    plain_sum,
    total,
)
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.set_counts import SetCounts


class JointTables:
    """The cells of joint counts, and the probabilities of one column given others, as tables over them.

    A value that was never seen in any class counts as missing: tables have `missing` for it.
    """

    def __init__(self, counts: JointCounts, alpha: float) -> None:
        self.counts, self.alpha = counts, alpha
        self.k, self.width = len(counts.classes), counts.width
        self.cells: list[Cell] = [self._cell(j) for j in range(len(counts.sizes))]
        self.no_missing = (counts.present == counts.classes).all(axis=1)

    def _cell(self, j: int) -> Cell:
        s = self.counts
        if j < s.nominal:
            return Value(j, np.arange(s.sizes[j]))
        numeric = j - s.nominal
        if not s.frozen[numeric]:
            return Interval(numeric, np.zeros(0))
        return Interval(numeric, s.cuts[numeric][np.isfinite(s.cuts[numeric])])

    @cached_property
    def seen(self) -> list[Flags]:
        """By column, which of its cells have weight."""
        return [np.asarray(self.of((j,)).any(axis=1)) for j in range(len(self.cells))]

    def of(self, columns: Sequence[int]) -> Floats:
        """Counts n(v, .., c) of a set of columns, with an axis per column in the order given."""
        s = self.counts
        values = dict(zip(columns, np.ix_(*(np.arange(s.sizes[j]) for j in columns)), strict=True))
        if len(columns) > 3 or (len(columns) == 3 and isinstance(s, SetCounts)):
            return self._wide(columns)
        if len(columns) == 1:
            (j,) = columns
            return np.asarray(s.singles[s.layout[0, j] + values[j]])
        if len(columns) == 2:
            low, high = sorted(columns)
            at = s.layout[1, high] + values[high] * s.layout[0, high] + s.layout[0, low] + values[low]
            return np.asarray(s.pairs[at])
        low, middle, high = sorted(columns)
        at = s.layout[2, high] + values[high] * s.layout[1, high]
        at = at + s.layout[1, middle] + values[middle] * s.layout[0, middle] + s.layout[0, low] + values[low]
        return np.asarray(s.triples[at])

    def _wide(self, columns: Sequence[int]) -> Floats:
        s = self.counts
        assert isinstance(s, SetCounts)
        ordered = tuple(sorted(columns))
        t = s.sets.index(ordered)
        table = s.wide[s.base[t] : s.base[t + 1]].reshape(*(int(s.sizes[j]) for j in ordered), self.k)
        return table.transpose(*(ordered.index(j) for j in columns), len(columns))

    def table(self, columns: Sequence[int], values: Floats, missing: float) -> Node:
        """A table over columns, with `missing` wherever one of the values was never seen."""
        values = np.array(values)
        for axis, j in enumerate(columns):
            values[(slice(None),) * axis + (~self.seen[j],)] = missing
        width = values.shape[-1]
        cells = tuple(self.cells[j] for j in columns)
        if any(cell.size != n for cell, n in zip(cells, values.shape[:-1], strict=True)):
            sizes = tuple(slice(0, cell.size) for cell in cells)  # cells that no value can reach
            values = values[sizes]
        if any(n == 0 for n in values.shape):
            return Constant(np.full(width, missing))
        return Table(cells, values, np.full(width, missing))

    def alone(self, j: int) -> Node:
        """log P(x_j | c)."""
        below = _log(self.counts.present[j] + self.alpha * self.width[j])
        return self.table((j,), _log(self.of((j,)) + self.alpha) - below, 0.0)

    def _parts(self, j: int, parents: Sequence[int], sums: bool) -> tuple[Floats, Floats]:
        """n(x_j, pa, c) with the child first, and n_j(pa, c)."""
        n = self.of((j, *parents))
        if not parents:
            return n, np.broadcast_to(n.sum(axis=0) if sums else self.counts.present[j], n.shape)
        use_parent_counts = self.no_missing[j] and not sums
        return n, np.broadcast_to(self.of(parents) if use_parent_counts else n.sum(axis=0), n.shape)

    def share(self, j: int, parents: Sequence[int], sums: bool = False) -> Floats:
        """P(x_j | c, pa), 0 without counts; with `sums` the parents' count is always a sum over the child's values."""
        n, below = self._parts(j, parents, sums)
        below = below + self.alpha * self.width[j]
        return np.asarray(np.divide(n + self.alpha, below, out=np.zeros(n.shape), where=below > 0.0))

    def given(self, j: int, parents: Sequence[int]) -> Node:
        """log P(x_j | c, pa); -inf where a value is missing, or where all classes have probability 0."""
        n, below = self._parts(j, parents, False)
        values = _log(n + self.alpha) - _log(below + self.alpha * self.width[j])
        values[~(n + self.alpha > 0.0).any(axis=-1)] = -np.inf
        return self.table((j, *parents), values, -np.inf)

    def vote(self, j: int, sets: Iterable[tuple[Sequence[int], float]], sums: bool = False) -> Node:
        """log sum over parent sets of u P(x_j | c, pa)."""
        return Log(plain_sum([self.table((j, *pa), u * self.share(j, pa, sums), 0.0) for pa, u in sets]))


def collection_scorer(summary: JointCounts, terms: ParentSetTable, alpha: float, so_far: Node) -> Node:
    """`so_far` plus what `bayou.readings.collection.add_terms` adds."""
    tables = JointTables(summary, alpha)
    columns = [
        _column(tables, j, [(tuple(p for p in pa if p >= 0), u) for pa, u in sets])
        for j, sets in enumerate(_by_child(terms, len(summary.sizes)))
    ]
    return total(so_far, columns[: summary.nominal], columns[summary.nominal :])


def _by_child(terms: ParentSetTable, m: int) -> list[list[tuple[tuple[int, ...], float]]]:
    sets_by_child: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in range(m)]
    for (child, *parents), u in zip(terms.sets.tolist(), terms.u.tolist(), strict=True):
        sets_by_child[child].append((tuple(parents), u))
    return sets_by_child


def _column(tables: JointTables, j: int, sets: list[tuple[tuple[int, ...], float]]) -> Node:
    alone = tables.alone(j)
    if not sets:
        return Constant(np.zeros(tables.k))
    if len(sets) > 1:
        return FirstPossible((tables.vote(j, sets), alone))
    return FirstPossible((tables.given(j, sets[0][0]), alone)) if sets[0][0] else alone


def sets_scorer(summary: SetCounts, terms: SetTermTable, alpha: float, so_far: Node) -> Node:
    """`so_far` plus what `bayou.readings.set_collection.SetReader` adds."""
    tables = JointTables(summary, alpha)
    sets: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in summary.sizes]
    for t, child in enumerate(terms.child.tolist()):
        members = terms.members[terms.starts[t] : terms.starts[t + 1]].tolist()
        sets[child].append((tuple(j for j in members if j != child), float(terms.u[t])))
    columns: list[Node] = []
    for j, column_sets in enumerate(sets):
        alone = tables.table((j,), _log(tables.share(j, (), sums=True)), 0.0)
        columns.append(
            FirstPossible((tables.vote(j, column_sets, sums=True), alone)) if column_sets else alone
        )
    return total(so_far, columns[: summary.nominal], columns[summary.nominal :])


def aode_scorer(summary: JointCounts, alpha: float, min_count: float, so_far: Node) -> Node:
    """`so_far` plus what `bayou.readings.aode.OneDependence` adds, up to the log of the number of parents."""
    s, tables = summary, JointTables(summary, alpha)
    m, k = len(s.sizes), len(s.classes)
    declared = int(s.declared_classes[0])
    size = prior_size(s.classes, declared)
    prior = np.zeros((1, k))
    add_prior(prior, s.classes, declared, alpha)
    naive = [tables.alone(j) for j in range(m)]
    alternatives: list[Node] = []
    by_parent: list[Node] = []
    for parent in range(m):
        n = tables.of((parent,))
        below = float(s.present[parent].sum()) + alpha * size * int(s.width[parent])
        if below <= 0.0 or not tables.seen[parent].any():
            continue
        values = _log((n + alpha) / below)
        values[n.sum(axis=1) < min_count] = -np.inf
        others = [_given_value(tables, j, parent) for j in range(m) if j != parent]
        by_parent.append(total(tables.table((parent,), values, -np.inf), others))
    if by_parent:
        alternatives.append(Mixture(tuple(by_parent), np.zeros(len(by_parent))))
    alternatives.append(total(Constant(prior[0]), naive[: s.nominal], naive[s.nominal :]))
    impossible = np.where((s.classes <= 0.0) & (declared == 0), -np.inf, 0.0)
    result = alternatives[0] if len(alternatives) == 1 else FirstPossible(tuple(alternatives))
    result = added(result, impossible) if impossible.any() else result
    return added(result, so_far.values) if isinstance(so_far, Constant) and so_far.values.any() else result


def _given_value(tables: JointTables, j: int, parent: int) -> Node:
    """log P(x_j | c, x_parent), 0 where x_j is missing."""
    return tables.table((parent, j), np.swapaxes(_log(tables.share(j, (parent,))), 0, 1), 0.0)


def _log(values: Floats) -> Floats:
    """Logarithms, with a finite floor for 0, as `log_or_floor` of the kernels."""
    with np.errstate(divide="ignore"):
        return np.where(values > 0.0, np.log(values), FLOOR)
