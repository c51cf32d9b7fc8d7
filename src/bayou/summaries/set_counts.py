"""Weight of the values of given sets of columns, of any size, besides that of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.checks import require
from bayou.errors import SchemaError
from bayou.kernels.set_counts import count_sets
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.state import declare

ColumnSets = tuple[tuple[int, ...], ...]  # of three columns or more, each ascending


class SetCounts(JointCounts):
    """`JointCounts` of pairs, and n(v_1, .., v_s, c) for chosen sets of three columns or more.

    The sets follow from the names of the columns seen (`keep`); before its last column was seen no row counts in a set,
    so that no row is missed by counting it from then on.

    Merge: EXACT, as `JointCounts`. Memory: that of pairs, and 8 K bytes per combination of values of each set; refuses
    beyond `max_bytes`.
    """

    counted: ClassVar[tuple[str, ...]] = (*JointCounts.counted, "wide")
    wide: Floats = declare("?wide", "classes", scales=True, valid=valid.non_negative)
    sets: ColumnSets = ()

    def derive(self) -> None:
        super().derive()
        self.starts = np.concatenate(([0], np.cumsum([len(s) for s in self.sets]))).astype(np.int64)
        self.members = np.array([j for s in self.sets for j in s], dtype=np.int64)
        self.base = np.concatenate(([0], np.cumsum(cells_of(self.sets, self.sizes)))).astype(np.int64)

    def keep(self, sets: ColumnSets) -> None:
        """Count these sets from now on, and no others; tables of sets that were counted before are kept."""
        if sets == self.sets:
            return
        self.check_sets(self.sizes.tolist(), len(self.classes), sets)
        tables = self._tables()
        self.sets = sets
        self._lay_out({s: tables[s] for s in sets if s in tables})

    def _tables(self) -> dict[tuple[int, ...], Floats]:
        """The table of every set."""
        shape = [(*(int(self.sizes[j]) for j in s), self.wide.shape[1]) for s in self.sets]
        return {
            s: self.wide[self.base[t] : self.base[t + 1]].reshape(shape[t]) for t, s in enumerate(self.sets)
        }

    def _lay_out(self, tables: dict[tuple[int, ...], Floats]) -> None:
        """Store the tables one after another; a set without one starts with zeros."""
        self.derive()
        wide = np.zeros((int(self.base[-1]), len(self.classes)))
        for t, s in enumerate(self.sets):
            if s in tables:
                wide[self.base[t] : self.base[t + 1]] = tables[s].reshape(-1, wide.shape[1])
        self.wide = wide

    def _count(self, codes: Codes, y: Codes, w: Floats, sign: float) -> None:
        super()._count(codes, y, w, sign)
        if self.sets:
            count_sets(self.wide, self.starts, self.members, self.base[:-1], self.sizes, codes, y, w, sign)

    def merge(self, other: Self) -> None:
        both = tuple(sorted({*self.sets, *other.sets}))
        self.keep(both)
        if other.sets != both:
            other = other.copy()
            other.keep(both)
        super().merge(other)

    def _move(self, sizes: Index, columns: Index, parts: list[Index]) -> None:
        old, before = self._tables(), (self.sizes, self.sets)
        super()._move(sizes, columns, parts)
        if self.sizes is before[0]:
            return
        tables = {}
        for s, table in old.items():
            at = [int(columns[j]) for j in s]
            moved = np.zeros((*(int(sizes[j]) for j in at), table.shape[-1]))
            np.add.at(moved, np.ix_(*(parts[j] for j in s)), table)
            order = np.argsort(at)
            tables[tuple(sorted(at))] = np.ascontiguousarray(moved.transpose(*order, len(s)))
        self.sets = tuple(sorted(tables))
        self._lay_out(tables)

    def bytes_for(self, sizes: list[int], k: int) -> int:
        """Bytes of counts over columns with these numbers of values and k classes, sets of its own columns included."""
        wide = sum(cells_of(self.sets, sizes)) if len(sizes) == len(self.sizes) else 0
        return super().bytes_for(sizes, k) + 8 * k * wide

    def check_sets(self, sizes: Sequence[int], k: int, sets: ColumnSets) -> None:
        """Raise `SchemaError` if tables of these sets exceed `max_bytes`."""
        need = super().bytes_for(list(sizes), k) + 8 * k * sum(cells_of(sets, sizes))
        if need > self.max_bytes:
            raise SchemaError(
                f"the counts of {len(sets)} sets of three columns or more and of all pairs need {need / 1e6:,.0f} MB, "
                f"beyond max_bytes={self.max_bytes:,}. Ways out: fewer or smaller parent sets, a smaller "
                "Declared(max_values=...), a coarser Grid(bins=...), or a larger max_bytes"
            )

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        cells = sum(cells_of(self.sets, arrays["sizes"].tolist()))
        require(len(arrays["wide"]) == cells, f"wide of the joint counts must have {cells} cells")

    def blank(self) -> Self:
        twin = super().blank()
        twin.sets = self.sets
        return twin


def cells_of(sets: ColumnSets, sizes: Sequence[int] | Index) -> list[int]:
    """Combinations of values of every set.

    >>> cells_of(((0, 1, 2),), [2, 3, 4])
    [24]
    """
    products = []
    for s in sets:
        cells = 1
        for j in s:
            cells *= int(sizes[j])
        products.append(cells)
    return products
