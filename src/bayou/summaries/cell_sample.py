"""A bounded sample of rows with one byte per cell, chosen by a hash of the row."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Bytes, Codes, Floats, Index
from bayou.checks import require
from bayou.errors import DataError, UnsupportedError
from bayou.hashing import hash_keys
from bayou.kernels.forest_epochs import hash_cells
from bayou.kernels.forest_rows import MISSING_CELL, NO_PLACE
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Kind
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.state import declare

PENDING = 4096  # rows that may be pending before they are sorted
PER_ROW = 20  # bytes of a row besides its cells
Part = tuple[Bytes, Bytes, Codes, Floats, Index]


def places(name: str, array: Bytes, summary: Any) -> None:
    """Places of nominal values, 0 to 63."""
    require(int(array.max(initial=0)) <= NO_PLACE, f"{name} holds a place behind the last")


class CellSample(DecayingSummary):
    """The rows whose hash, of their cells and class, is below 2^(64 - h); h rises by one whenever they are too many.

    Which rows are kept depends on the rows alone: neither on their order nor on how they are divided among shards.
    Equal rows are kept once, with their weights added.

    Merge: EXACT, between samples over the same cells, which the caller checks. Memory: rows (d + 20) bytes, at most
    `max_bytes`, and as much for pending rows.

    Parameters
    ----------
    rows
        Rows kept at most.
    max_bytes
        Limit for the rows kept.
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    numeric: Bytes = declare("*rows", "numeric", dtype=np.uint8, fill=MISSING_CELL, valid=valid.anything)
    nominal: Bytes = declare("*rows", "nominal", dtype=np.uint8, fill=NO_PLACE, valid=places)
    y: Codes = declare("*rows", dtype=np.int32, codes=True, valid=valid.class_codes)
    w: Floats = declare("*rows", scales=True, valid=valid.non_negative)
    hashes: Index = declare("*rows", dtype=np.int64, valid=valid.anything)
    halvings: Index = declare(1, dtype=np.int64, valid=valid.finite)
    partial: Index = declare(1, dtype=np.int64, frame=True, valid=valid.finite)
    grows: Index = declare(1, dtype=np.int64, frame=True, fill=1, valid=valid.finite)

    def __init__(self, rows: int, max_bytes: int) -> None:
        self.rows, self.max_bytes = rows, max_bytes
        self._column_keys: Index = np.zeros(0, dtype=np.int64)
        self._class_keys: Index = np.zeros(0, dtype=np.int64)
        self._pending: list[Part] = []
        super().__init__()

    def config(self) -> dict[str, Scalar]:
        return {"rows": self.rows, "max_bytes": self.max_bytes}

    @property
    def is_whole(self) -> bool:
        """Whether all rows are still kept."""
        return not self.halvings[0]

    def update(self, block: Block) -> None:
        raise UnsupportedError("a sample of cells is taught through the forest that has the cells")

    def hashes_of(self, cells: Bytes, y: Codes) -> Index:
        """int64[n]: hashes that decide whether a row is kept, and which bootstrap samples it is in."""
        hashes = np.empty(len(y), dtype=np.int64)
        hash_cells(hashes, cells, y, self._column_keys, self._class_keys, self.numeric.shape[1])
        return hashes

    def add(self, cells: Bytes, y: Codes, w: Floats) -> None:
        """Keep the rows with a label, weight and a small enough hash."""
        hashes, p = self.hashes_of(cells, y), self.numeric.shape[1]
        which = (y >= 0) & (w > 0) & self._chosen(hashes)
        part = (cells[which, :p], cells[which, p:], y[which], w[which], hashes[which])
        self._pending.append(part)
        if sum(len(each[2]) for each in self._pending) > len(self.y) + PENDING or len(self._pending) > 256:
            self.flush()

    def flush(self) -> None:
        """Merge the pending rows into the sample, equal ones as one, in the order of their hashes."""
        parts = [(self.numeric, self.nominal, self.y, self.w, self.hashes), *self._pending]
        self._pending = []
        if len(parts) > 1:
            self._take([np.concatenate(arrays) for arrays in zip(*parts, strict=True)])

    def _take(self, rows: list[Any]) -> None:
        numeric, nominal, y, w, hashes = rows
        unique, first, same = np.unique(hashes, return_index=True, return_inverse=True)
        weights = np.zeros(len(unique))
        np.add.at(weights, same, w)
        columns = numeric.shape[1] + nominal.shape[1]
        most = max(1, min(self.rows, self.max_bytes // (columns + PER_ROW)))
        which = self._chosen(unique)
        while np.count_nonzero(which) > most:
            self.halvings = self.halvings + 1
            which = self._chosen(unique)
        first, weights, unique = first[which], weights[which], unique[which]
        self.numeric, self.nominal = numeric[first], nominal[first]
        self.y, self.w, self.hashes = y[first], weights, unique

    def _chosen(self, hashes: Index) -> Any:
        if not self.halvings[0]:
            return np.ones(len(hashes), dtype=bool)
        return hashes.view(np.uint64) >> np.uint64(64 - int(self.halvings[0])) == 0

    def cells(self) -> Bytes:
        """uint8[n, d]: the rows, numeric columns first."""
        self.flush()
        cells: Bytes = np.concatenate([self.numeric, self.nominal], axis=1)
        return cells

    def subtract_cells(self, cells: Bytes, y: Codes, w: Floats) -> None:
        """Take rows out again."""
        self.flush()
        hashes = self.hashes_of(cells, y)
        which = np.flatnonzero((y >= 0) & (w > 0) & self._chosen(hashes))
        at = np.searchsorted(self.hashes, hashes[which])
        known = at < len(self.hashes)
        known[known] = self.hashes[at[known]] == hashes[which][known]
        remaining = self.w.copy()
        np.subtract.at(remaining, at[known], w[which][known])
        if not known.all() or (remaining < -1e-9).any():
            raise DataError(
                "rows that were never learned cannot be unlearned",
                remedy="unlearn rows as they were learned, with the weights they had",
            )
        stays = remaining > 1e-9
        self.w = remaining
        for name in ("numeric", "nominal", "y", "w", "hashes"):
            setattr(self, name, getattr(self, name)[stays])

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.flush()
        other.flush()
        self.halvings = np.maximum(self.halvings, other.halvings)
        names = ("numeric", "nominal", "y", "w", "hashes")
        self._take([np.concatenate([getattr(self, name), getattr(other, name)]) for name in names])
        self.partial, self.grows = (
            np.maximum(self.partial, other.partial),
            np.maximum(self.grows, other.grows),
        )

    def scale(self, factor: float) -> None:
        self.flush()
        super().scale(factor)

    def realign(self, plan: Alignment) -> None:
        self.flush()
        super().realign(plan)
        names = (*plan.schema.names(Kind.NUMERIC), *plan.schema.names(Kind.NOMINAL))
        self._column_keys, self._class_keys = hash_keys(names), _class_keys(plan)

    def blank(self) -> Self:
        twin = super().blank()
        twin._column_keys, twin._class_keys = self._column_keys, self._class_keys
        return twin

    def arrays(self) -> Arrays:
        self.flush()
        return super().arrays()

    def check(self, arrays: Arrays) -> None:
        """Rows have classes and are sorted by their hashes; flags are 0 or 1."""
        super().check(arrays)
        require(int(arrays["y"].min(initial=0)) >= 0, "a row is kept without its label")
        hashes = arrays["hashes"]
        require((hashes[1:] > hashes[:-1]).all(), "the rows of the sample are not in their order")
        require(int(arrays["halvings"][0]) < 64, "a sample cannot be halved more than 63 times")
        require(arrays["partial"][0] in (0, 1) and arrays["grows"][0] in (0, 1), "a yes or no is neither")


def _class_keys(plan: Alignment) -> Index:
    """A key for every class: the hash of its label, or its place for classes beyond the limit, which have no label."""
    keys = np.arange(plan.classes.size, dtype=np.int64)
    hashes = hash_keys(plan.schema.classes.values)
    keys[: len(hashes)] = hashes
    return keys
