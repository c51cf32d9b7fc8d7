"""Class-conditional probabilities of groups of values, read off counts of nominal values of either kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment, Axis
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import counts, finite, parts, require
from bayou.errors import UnsupportedError
from bayou.kernels.intervals import fill_log_table
from bayou.kernels.value_groups import add_groups, group_codes, group_terms
from bayou.protocols import Arrays
from bayou.readings.categorical import CategoricalEstimator, MEstimate
from bayou.readings.dichotomies import Dichotomies, Odds, PairedOdds
from bayou.readings.modl_groups import Grouping, MODLGroups
from bayou.schema import Kind, Schema
from bayou.summaries.array_summary import move
from bayou.summaries.count_min import CountMin
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.summaries.value_counts import ValueCounts
from bayou.threads import over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node

GRAIN = 100_000  # cells worth a thread of their own

Columns = list[tuple[Index, Floats, Floats]]  # keys, class counts of each, and of all other values


@dataclass(frozen=True)
class Groups:
    r"""Searches groups of values for every column; $\log P(g \mid c) = \log (N_{gc} + a) - \log (N_c + a G)$.

    With the m-estimate (the default, m = 1) $a = m / G$. A column of one group adds exactly 0. Over
    `HeavyHitters` the garbage value `*` is one value among the others, and a value that is not kept goes to its
    group. Over `ValueCounts` a value never seen goes to the group of the rarest ones, if there were so many that
    these were pooled; otherwise it adds 0.

    Parameters
    ----------
    groups
        The grouping method.
    smoothing
        A table's smoothing: alpha per group, or m spread over the groups.

    Examples
    --------
    >>> Groups(smoothing=MEstimate(2.0).table()).smoothing
    CategoricalEstimator(alpha=0.0, m=2.0)
    """

    groups: MODLGroups = MODLGroups()  # noqa: RUF009 - frozen
    smoothing: CategoricalEstimator = MEstimate(1.0).table()  # noqa: RUF009 - frozen

    def read(self, summary: ValueCounts | HeavyHitters) -> GroupReading:
        """Groups of every column, searched over the classes that have weight (or more, if declared)."""
        columns, k = columns_of(summary)
        n_classes = classes_of(summary)
        groupings = [self._search(*column, n_classes) for column in columns]
        return self._reading(groupings, k, isinstance(summary, HeavyHitters))

    def _reading(self, groupings: list[tuple[Index, Grouping, int]], k: int, hashed: bool) -> GroupReading:
        """The reading of groups that were searched column by column."""
        sizes = [grouping.n_parts for _, grouping, _ in groupings]
        parts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        has_group = [grouping.group_of[: len(keys)] >= 0 for keys, grouping, _ in groupings]
        keys = [keys[inside] for (keys, _, _), inside in zip(groupings, has_group, strict=True)]
        rows = [
            parts[j] + grouping.group_of[: len(inside)][inside]
            for j, ((_, grouping, _), inside) in enumerate(zip(groupings, has_group, strict=True))
        ]
        rest = [parts[j] + other if other >= 0 else parts[-1] for j, (_, _, other) in enumerate(groupings)]
        return GroupReading(
            keys=np.concatenate([np.zeros(0, np.int64), *keys]),
            row_of=np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64),
            offsets=np.concatenate(([0], np.cumsum([len(one) for one in keys]))).astype(np.int64),
            parts=parts,
            counts=np.concatenate([np.zeros((0, k)), *(grouping.counts for _, grouping, _ in groupings)]),
            rest=np.array(rest, dtype=np.int64),
            levels=np.array([grouping.level for _, grouping, _ in groupings]),
            hashed=hashed,
            smoothing=self.smoothing,
        )

    def _search(
        self, keys: Index, counts: Floats, others: Floats, n_classes: int
    ) -> tuple[Index, Grouping, int]:
        """Keys, their groups, and the group of a value that is not among them (-1 if nothing is known of it)."""
        table = np.concatenate([counts, others[np.newaxis], np.zeros((1, len(others)))])
        order, classes = by_content(table)
        grouping = self.groups.group(table[np.ix_(order, classes)], n_classes=n_classes)
        group_of = np.empty_like(grouping.group_of)
        group_of[order] = grouping.group_of
        sums = np.zeros((grouping.n_parts, len(others)))
        sums[:, classes] = grouping.counts
        other = group_of[-2] if others.any() else group_of[-1]
        return keys, Grouping(group_of, sums, grouping.level), int(other)

    def restore(self, arrays: Arrays, summary: ValueCounts | HeavyHitters | CountMin) -> GroupReading:
        check_groups(arrays, summary)
        return GroupReading(
            **{name: np.array(arrays[name], dtype=np.int64) for name in ("keys", "row_of", "offsets", "parts", "rest")},
            counts=np.array(arrays["counts"], dtype=np.float64, ndmin=2),
            levels=np.array(arrays["levels"], dtype=np.float64),
            hashed=bool(arrays["hashed"][0]),
            smoothing=self.smoothing,
        )  # fmt: skip


def check_groups(arrays: Arrays, summary: ValueCounts | HeavyHitters | CountMin) -> None:
    """Raise `ModelFileError` unless the arrays are a reading of the summary; indices of kernels must be in range."""
    q, known, groups = len(arrays["levels"]), len(arrays["keys"]), len(arrays["counts"])
    shapes = {"offsets": (q + 1,), "parts": (q + 1,), "rest": (q,), "row_of": (known,), "hashed": (1,)}
    for name, shape in shapes.items():
        require(arrays[name].shape == shape, f"{name} of a reading of groups must have shape {shape}")
    require(arrays["counts"].ndim == 2 and arrays["keys"].ndim == 1, "every group has its class counts")
    for name, total in (("offsets", known), ("parts", groups)):
        require(arrays[name][0] == 0, f"{name} of a reading of groups do not begin with 0")
        parts(f"{name} of a reading of groups", np.diff(arrays[name]), total)
    first, last = arrays["parts"][:-1], arrays["parts"][1:]
    column, rest = np.repeat(np.arange(q), np.diff(arrays["offsets"])), arrays["rest"]
    keys, same = arrays["keys"], column[1:] == column[:-1]
    require((keys[1:] > keys[:-1])[same].all(), "the values of a column are not sorted")
    hashed = not isinstance(summary, ValueCounts)
    require(arrays["hashed"][0] == hashed, "values are known by their hash, or by their code")
    if isinstance(summary, ValueCounts):
        require(q == len(summary.sizes), "a reading has other columns than its summary")
        inside = (keys >= 1) & (keys <= summary.sizes[column])
        require(inside.all(), "a reading has groups of values that the schema does not know")
    in_range = (first[column] <= arrays["row_of"]) & (arrays["row_of"] < last[column])
    require(in_range.all(), "a value belongs to a group of another column")
    in_range = (first <= rest) & (rest < last)
    require(
        (in_range | (rest == groups)).all(), "the other values of a column belong to a group of another one"
    )
    counts("the class counts of groups", arrays["counts"])
    finite("the levels of columns", arrays["levels"])


def columns_of(summary: ValueCounts | HeavyHitters) -> tuple[Columns, int]:
    """The columns of either kind of summary, and the number of classes; keys of plain values are code + 1."""
    if isinstance(summary, HeavyHitters):
        return [summary.table(j) for j in range(len(summary.columns))], summary.shape[1]
    k = summary.counts.shape[1]
    return [
        (np.arange(1, size + 1), summary.counts[first : first + size], np.zeros(k))
        for first, size in zip(summary.offsets.tolist(), summary.sizes.tolist(), strict=False)
    ], k


def classes_of(summary: ValueCounts | HeavyHitters) -> int:
    """The number of classes seen, or declared if that is more."""
    if isinstance(summary, HeavyHitters):
        return max(1, len(summary.classes), int(summary.declared_classes[0]))
    return max(1, int(np.count_nonzero(summary.present.any(axis=0))))


def named_groups(
    reading: GroupReading, summary: ValueCounts | HeavyHitters | CountMin, schema: Schema
) -> dict[str, tuple[float, list[list[str]]]]:
    """Level and groups of values, as texts, by column; `*` stands for all values that are not listed."""
    by_column = {}
    for j, name in enumerate(schema.names(Kind.NOMINAL)):
        if isinstance(summary, HeavyHitters):
            texts = summary.names(j)
        elif isinstance(summary, CountMin):
            texts = {cell: f"(cell {cell})" for cell in range(1, summary.width + 1)}
        else:
            texts = {code + 1: str(schema.vocabularies[name].name(code)) for code in range(summary.sizes[j])}
        groups = [[texts.get(key, "(not kept any more)") for key in group] for group in reading.groups_of(j)]
        rest = reading.rest_of(j)
        if rest is not None:
            groups[rest].append("*")
        by_column[name] = (float(reading.levels[j]), groups)
    return by_column


def by_content(table: Floats) -> tuple[Index, Index]:
    """An order of rows and one of the columns with weight that do not depend on the order of arrival.

    >>> a = np.array([[1.0, 5.0], [0.0, 2.0]])
    >>> rows, columns = by_content(a); again = by_content(a[::-1, ::-1])
    >>> a[np.ix_(rows, columns)].tolist() == a[::-1, ::-1][np.ix_(*again)].tolist()
    True
    """
    has_weight = table.any(axis=1)
    if (
        has_weight.any() and not has_weight.all() and table.min() >= 0.0
    ):  # most cells of a sketch are empty: they come last
        full, empty = np.flatnonzero(has_weight), np.flatnonzero(~has_weight)
        rows, classes = by_content(table[full])
        return np.concatenate((full[rows], empty[::-1])), classes
    spread = np.sort(table, axis=1)
    rows = np.lexsort((*spread.T, spread.sum(axis=1)))[::-1]
    present = np.flatnonzero(table.any(axis=0))
    if len(present) == 0:
        return rows, present
    by_class = table[np.ix_(rows, present)]
    classes = present[np.lexsort(by_class[::-1])[::-1]]
    rows = np.lexsort((*table[:, classes[::-1]].T, table.sum(axis=1)))[::-1]
    return rows, classes


@dataclass(frozen=True, eq=False)
class GroupReading:
    """The groups of all nominal columns with their class counts, and the log-probabilities they give.

    keys, row_of : int64[m], known values and the group of each, column after column (offsets : int64[q + 1])
    counts : float64[G, K], weight of every group; parts : int64[q + 1], the groups of each column
    rest : int64[q], the group of all other values, G if they add 0; levels : float64[q], relevance
    """

    keys: Index
    row_of: Index
    offsets: Index
    parts: Index
    counts: Floats
    rest: Index
    levels: Floats
    hashed: bool
    smoothing: CategoricalEstimator

    @cached_property
    def table(self) -> Floats:
        """float64[G + 1, K] log P(g | c); the last row is 0."""
        table = np.zeros((len(self.counts) + 1, self.counts.shape[1]))
        fill_log_table(table, self.counts, self.parts, self.smoothing.alpha, self.smoothing.m, 0.0)
        return table

    def with_counts(self, counts: Floats) -> Self:
        return replace(self, counts=counts)

    def columns(self, plan: Alignment) -> Axis:
        return plan.nominal

    def cells_of(self, block: Block) -> Codes:
        codes = np.empty((block.n, len(self.rest)), dtype=np.int32)
        if codes.size == 0:
            return codes
        values = self._values(block)
        group_codes(codes, self.keys, self.row_of, self.offsets, self.rest, self.parts, values)
        return codes

    @property
    def shape(self) -> tuple[int, int, bool]:
        """Columns, classes, and whether values are known by their hash."""
        return len(self.levels), self.counts.shape[1], self.hashed

    def _values(self, block: Block) -> Index:
        values = HeavyHitters.keys_of(block) if self.hashed else block.codes.astype(np.int64) + 1
        require(values.shape[1] == len(self.rest), "the groups read belong to other columns")
        return values

    def add_log_prob(self, block: Block, out: Floats) -> None:
        self._add(self.table, block, out)

    def add_table(self, table: Floats, block: Block, out: Floats) -> None:
        self._add(np.concatenate([table, np.zeros((1, table.shape[1]))]), block, out)

    def _add(self, table: Floats, block: Block, out: Floats) -> None:
        q = len(self.rest)
        if q == 0 or block.n == 0:
            return
        values = self._values(block)
        require(out.shape[1] == table.shape[1], "the groups read belong to other classes")

        def rows(lo: int, hi: int) -> None:
            add_groups(out[lo:hi], table, self.keys, self.row_of, self.offsets, self.rest, values[lo:hi])

        over_ranges(rows, block.n, 1 + GRAIN // q)

    def terms(self, block: Block) -> Floats:
        """[n, q, K] log P(g_j | c), 0 where the value is missing or has no group."""
        values = self._values(block)
        out = np.zeros((*values.shape, self.table.shape[1]))
        group_terms(out, self.table, self.keys, self.row_of, self.offsets, self.rest, values)
        return out

    def scorer_columns(self) -> list[Node]:
        if self.hashed:
            raise UnsupportedError(
                "cannot be exported: values are known by their hash; nominal='counts' exports"
            )
        return [self._scorer_column(j) for j in range(len(self.rest))]

    def _scorer_column(self, j: int) -> Node:
        """A table of values, each with the terms of its group; values that are not listed have those of the rest."""
        from bayou.scorer import value_table

        keys, rows = (a[self.offsets[j] : self.offsets[j + 1]] for a in (self.keys, self.row_of))
        rest = self.table[self.rest[j]]
        values = np.tile(rest, (int(keys.max(initial=0)), 1))
        values[keys - 1] = self.table[rows]
        return value_table(j, values, rest)

    def free_parameters(self) -> Floats:
        """[d] groups of each column but one."""
        return np.maximum(np.diff(self.parts) - 1.0, 0.0)

    def odds(self, dichotomies: Dichotomies) -> Odds:
        """Log-odds for all columns of a code over the same groups of values."""
        return PairedOdds(self.with_counts(dichotomies.sums(self.counts)), dichotomies)

    def groups_of(self, column: int) -> list[list[int]]:
        """Keys by group; for plain values a key is the value's code + 1."""
        first, last = self.offsets[column], self.offsets[column + 1]
        listed: list[list[int]] = [[] for _ in range(self.parts[column + 1] - self.parts[column])]
        for key, row in zip(self.keys[first:last].tolist(), self.row_of[first:last].tolist(), strict=True):
            listed[row - int(self.parts[column])].append(key)
        return listed

    def rest_of(self, column: int) -> int | None:
        """The group of all values that are not listed; None if they have none."""
        row = int(self.rest[column])
        return row - int(self.parts[column]) if row < len(self.counts) else None

    def realign(self, plan: Alignment) -> Self:
        """Move the groups; a new column has one empty group, as after a search, a new class no counts."""
        old_column = np.full(plan.nominal.size, -1, dtype=np.int64)
        old_column[plan.nominal.to] = np.arange(len(plan.nominal.to))
        counts = move(self.counts, 1, plan.classes)
        keys, rows, sums, rest, levels = [], [], [], [], []
        at = 0
        for j, old in enumerate(old_column.tolist()):
            here = slice(self.offsets[old], self.offsets[old + 1]) if old >= 0 else slice(0, 0)
            part = slice(self.parts[old], self.parts[old + 1]) if old >= 0 else slice(0, 0)
            moved = self.keys[here] if self.hashed else plan.values[j].to[self.keys[here] - 1] + 1
            order = np.argsort(moved)
            keys.append(moved[order])
            rows.append(self.row_of[here][order] - part.start + at)
            sums.append(counts[part] if old >= 0 else np.zeros((1, plan.classes.size)))
            other = self.rest[old] if old >= 0 else len(self.counts)
            rest.append(other - part.start + at if other < len(self.counts) else -1)
            levels.append(self.levels[old] if old >= 0 else 0.0)
            at += len(sums[-1])
        return replace(
            self,
            keys=np.concatenate([np.zeros(0, np.int64), *keys]),
            row_of=np.concatenate([np.zeros(0, np.int64), *rows]),
            offsets=np.concatenate(([0], np.cumsum([len(one) for one in keys]))).astype(np.int64),
            parts=np.concatenate(([0], np.cumsum([len(one) for one in sums]))).astype(np.int64),
            counts=np.concatenate([np.zeros((0, plan.classes.size)), *sums]),
            rest=np.array([at if row < 0 else row for row in rest], dtype=np.int64),
            levels=np.array(levels),
        )

    def arrays(self) -> Arrays:
        return {
            "keys": self.keys, "row_of": self.row_of, "offsets": self.offsets, "parts": self.parts,
            "counts": self.counts, "rest": self.rest, "levels": self.levels,
            "hashed": np.array([int(self.hashed)], dtype=np.int64),
        }  # fmt: skip
