"""How much weight each pair, or each triple, of values has in each class."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import SLACK, require, rising
from bayou.errors import MergeError, SchemaError
from bayou.kernels.joint_counts import count_rows, fill_layout, move_pairs, move_triples, place_on_grid
from bayou.kernels.value_counts import count_seen
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Shape
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary, sweep
from bayou.summaries.bitmap_counting import bitmaps_pay, count_by_bitmaps, whole_numbers
from bayou.summaries.grid import Grid
from bayou.summaries.mark import Mark
from bayou.summaries.pending_rows import PendingRows
from bayou.summaries.state import declare, declared_classes, from_schema, move

MAX_BYTES = 1 << 29


class JointCounts(DecayingSummary):
    """n(c), n(v, c), n(v, v', c) and, of interaction order 3, n(v, v', v'', c), over nominal and gridded columns.

    Columns are the nominal ones, then the numeric ones. A row counts in a table when it has all its columns.
    Rows with a value in a numeric column that has no grid yet are pending, as state, until there are `warm_up` of
    them; `flushed` is the summary with the pending rows counted on the grid they give so far.

    Merge: EXACT (addition); an unfrozen side takes over the other's grid, two different grids refuse. Unlearning is
    exact on the grid as it is: once frozen it stays, since the values it was cut from are gone.
    Memory: 8 K bytes per pair or triple of values; refuses beyond `max_bytes`.

    Examples
    --------
    >>> JointCounts(interaction_order=3).bytes_for([2] * 19, 2)
    135904
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    counted: ClassVar[tuple[str, ...]] = ("classes", "singles", "present", "pairs", "triples")
    classes: Floats = declare("classes", scales=True, valid=valid.non_negative)
    singles: Floats = declare("?cells", "classes", scales=True, valid=valid.non_negative)
    present: Floats = declare("columns", "classes", scales=True, valid=valid.non_negative)
    pairs: Floats = declare("?pairs", "classes", scales=True, valid=valid.non_negative)
    triples: Floats = declare("?triples", "classes", scales=True, valid=valid.non_negative)
    sizes: Index = declare("columns", dtype=np.int64, frame=True, valid=valid.finite)
    declared: Index = declare("columns", dtype=np.int64, frame=True, valid=valid.finite)
    declared_classes: Index = from_schema(1, follows=declared_classes)
    ranks: Index = declare("?ranked", dtype=np.int64, frame=True, valid=valid.finite)
    # Of frozen columns: see `check`
    cuts: Floats = declare("numeric", "inner", frame=True, valid=valid.anything)
    frozen: Index = declare("numeric", dtype=np.int64, frame=True, valid=valid.finite)
    pending_numeric: Floats = declare("*pending", "numeric", valid=valid.not_infinite)
    pending_codes: Codes = declare("*pending", "nominal", dtype=np.int32, valid=valid.value_codes)
    pending_y: Codes = declare("*pending", dtype=np.int32, valid=valid.class_codes)
    pending_w: Floats = declare("*pending", scales=True, valid=valid.non_negative)

    def __init__(
        self,
        interaction_order: int = 2,
        bins: int = 3,
        rule: str = "width",
        warm_up: int = 500,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        if interaction_order not in (2, 3):
            raise SchemaError(
                f"interaction_order={interaction_order!r}; joint counts are of pairs (2) or of triples (3)"
            )
        self.interaction_order, self.max_bytes = interaction_order, max_bytes
        self.grid = Grid(bins, rule, warm_up)
        self.columns, self.inner = 0, bins - 1  # lengths before there is a schema
        super().__init__()
        self.derive()

    @property
    def pending(self) -> PendingRows:
        """The rows that are not counted before their columns have a grid."""
        return PendingRows(self.pending_numeric, self.pending_codes, self.pending_y, self.pending_w)

    @pending.setter
    def pending(self, rows: PendingRows) -> None:
        self.pending_numeric, self.pending_codes, self.pending_y, self.pending_w = (
            rows.numeric, rows.codes, rows.y, rows.w,
        )  # fmt: skip

    def config(self) -> dict[str, Scalar]:
        return {
            "interaction_order": self.interaction_order,
            **self.grid.get_params(),
            "max_bytes": self.max_bytes,
        }

    def derive(self) -> None:
        """Compute the layout of the cells and the numbers of values seen."""
        self.layout = np.empty((3, len(self.sizes) + 1), dtype=np.int64)
        fill_layout(self.layout, self.sizes)
        self.columns_mark = Mark()  # stands for the columns and their order
        self._count_seen()

    def order_by(self, ranks: Index) -> None:
        """Set the places of the columns in the reading order."""
        self.ranks = np.asarray(ranks, dtype=np.int64)
        self.columns_mark = Mark()
        self.changed()

    def _count_seen(self) -> None:
        self.seen = np.zeros_like(self.sizes)
        count_seen(self.seen, self.singles, self.layout[0], self.sizes)
        self.changed()

    def changed(self) -> None:
        """Take a new mark, since readers cache what they read under the mark of a state."""
        self.mark = Mark()
        self._flushed: JointCounts | None = None

    @property
    def width(self) -> Index:
        """Values per column as smoothing counts them: those seen, or the declared number if larger."""
        return np.maximum(self.seen, self.declared)

    @property
    def nominal(self) -> int:
        """Number of nominal columns, which come first."""
        return len(self.sizes) - len(self.frozen)

    @property
    def reading_order(self) -> Index:
        """Columns in the order in which one may be the parent of a later one; as stored, unless ranks are set."""
        return np.argsort(self.ranks, kind="stable") if len(self.ranks) else np.arange(len(self.sizes))

    def codes_of(self, block: Block) -> Codes:
        """int32[n, m]: the block's cells in every column, -1 where missing or not yet on a grid."""
        if len(self.frozen) == 0:
            return block.codes
        codes = np.empty((block.n, len(self.sizes)), dtype=np.int32)
        codes[:, : self.nominal] = block.codes
        place_on_grid(codes, block.numeric, self.cuts, self.frozen, self.nominal)
        return codes

    # -- counting --

    @property
    def frames_are_frozen(self) -> bool:
        return bool(np.all(self.frozen))

    def update(self, block: Block) -> None:
        flushed = self._flushed_with(block)
        self.changed()
        while block.n and not np.all(self.frozen):
            waits = self.waits(block)
            end = self._until_full(block, waits)
            part, pending = block.rows(0, end), waits[:end]
            self.pending = self.pending.joined(part, pending)
            self._count(self.codes_of(part), part.y, np.where(pending, 0.0, part.w), 1.0)
            if self._full():
                self._freeze(self.pending.sorted())
            block = block.rows(end, block.n)
        if block.n:
            self._count(self.codes_of(block), block.y, block.w, 1.0)
        self._flushed = flushed if len(self.pending) else None

    def subtract(self, block: Block) -> None:
        self.changed()
        before = {name: getattr(self, name).copy() for name in self.counted}
        waits = self.waits(block)
        for i in np.flatnonzero(waits):
            self.pending = self.pending.without(block.rows(int(i), int(i) + 1))
        self._count(self.codes_of(block), block.y, np.where(waits, 0.0, block.w), -1.0)
        for name, counts in before.items():
            sweep(counts, getattr(self, name))
        self._count_seen()

    def _count(self, codes: Codes, y: Codes, w: Floats, sign: float) -> None:
        if bitmaps_pay(self, codes, w):
            count_by_bitmaps(self, codes, y, w, sign)
            self._count_seen()
            return
        count_rows(
            self.classes, self.singles, self.present, self.seen, self.pairs, self.triples,
            self.layout, codes, y, w, sign,
        )  # fmt: skip

    # -- rows that are pending until there is a grid --

    def waits(self, block: Block) -> NDArray[np.bool_]:
        """bool[n], the labelled rows with weight that have a value in a column without a grid."""
        has_value = np.isfinite(block.numeric[:, self.frozen == 0]).any(axis=1)
        return np.asarray(has_value & (block.y >= 0) & (block.w > 0))

    def _until_full(self, block: Block, waits: NDArray[np.bool_]) -> int:
        """The number of rows of the block up to the grid: `warm_up` in weight, or four times as many in rows."""
        if block.n == 1 or len(self.pending_y) + np.count_nonzero(waits) >= 4 * self.grid.warm_up:
            return 1
        weight = float(self.pending_w.sum()) + np.cumsum(np.where(waits, block.w, 0.0))
        full = np.flatnonzero(weight >= self.grid.warm_up)
        return int(full[0]) + 1 if len(full) else block.n

    def _full(self) -> bool:
        if self.pending_w.sum() >= self.grid.warm_up:
            return True
        if len(self.pending_y) >= 4 * self.grid.warm_up:
            self.pending = self.pending.sorted()
        return len(self.pending_y) >= 4 * self.grid.warm_up

    def _freeze(self, pending: PendingRows) -> None:
        """Set the cuts of every column that has values in the pending rows, which are sorted, and count these."""
        rows = pending.block()
        self.cuts, self.frozen, sizes = self.cuts.copy(), self.frozen.copy(), self.sizes.copy()
        grid, bins = self.grid, self._affordable_bins(rows)
        if bins != grid.bins:
            grid = replace(grid, bins=bins)
        for j in np.flatnonzero(self.frozen == 0):
            values = rows.numeric[np.isfinite(rows.numeric[:, j]), j]
            if len(values):
                self.cuts[j, : grid.bins - 1], self.cuts[j, grid.bins - 1 :] = grid.cuts(values), np.inf
                self.frozen[j] = 1
                cells = 1 + np.count_nonzero(np.isfinite(self.cuts[j]))
                self.declared[self.nominal + j] = cells
                sizes[self.nominal + j] = cells if grid.rule == "frequency" else grid.bins
        self._move(sizes, np.arange(len(sizes)), [np.arange(s) for s in self.sizes])
        self.pending = self.pending.take(np.zeros(0, dtype=np.int64))
        self._count(self.codes_of(rows), rows.y, rows.w, 1.0)

    def _affordable_bins(self, rows: Block) -> int:
        """The number of intervals of new columns: `bins` of the grid, fewer where the tables would be too large.

        They may take an eighth of `max_bytes`; the rest is left for later classes, values and columns. The result must
        not depend on rows after these, which the schema may know: its sizes only decide whether `bins` fit anyway.
        """
        bins, room = self.grid.bins, self.max_bytes // 8
        if self.grid.rule == "width":
            return bins
        new = (self.frozen == 0) & np.isfinite(rows.numeric).any(axis=0)
        q, sizes = self.nominal, np.where(self.frozen > 0, self.sizes[self.nominal :], new * bins)
        if self.bytes_for([*self.sizes[:q].tolist(), *sizes.tolist()], len(self.classes)) <= room:
            return bins
        n_new_values = [len(np.unique(codes[codes >= 0])) for codes in rows.codes.T]
        nominal = (self.seen[:q] + np.array(n_new_values, dtype=np.int64)).tolist()
        k = len(np.union1d(np.flatnonzero(self.classes), rows.y))
        while bins > self.fewest_bins:
            sizes = np.where(self.frozen > 0, self.sizes[q:], new * bins)
            if self.bytes_for([*nominal, *sizes.tolist()], k) <= room:
                break
            bins -= 1
        return bins

    @property
    def fewest_bins(self) -> int:
        """The number of intervals for which room is reserved before a column has a grid."""
        return self.grid.bins if self.grid.rule == "width" else min(3, self.grid.bins)

    def reserved(self) -> list[int]:
        """The number of cells of every numeric column, or those reserved before it has a grid."""
        cells: list[int] = np.where(self.frozen > 0, self.sizes[self.nominal :], self.fewest_bins).tolist()
        return cells

    def flushed(self) -> JointCounts:
        """This summary with the pending rows counted on the grid they give so far."""
        if len(self.pending) == 0:
            return self
        if self._flushed is None:
            # Every prediction before a grid is frozen does this, so arrays that `_freeze` replaces are not copied first
            twin = copy(self)
            for name in (*self.counted, "declared", "seen"):
                setattr(twin, name, getattr(self, name).copy())
            twin.pending = self.pending.sorted()
            twin.changed()
            twin._freeze(twin.pending)
            twin.columns_mark = self.columns_mark
            self._flushed = twin
        return self._flushed

    def _flushed_with(self, block: Block) -> JointCounts | None:
        """The flushed counts updated by a block, without counting pending rows again; None if bits would differ.

        They are the same where no cut moves, and weights are whole, so that the order of counting does not matter.
        """
        twin, numeric = self._flushed, self.pending.numeric
        if twin is None or self.grid.rule != "width" or np.any(twin.waits(block)):
            return None
        if not (whole_numbers(block.w) and whole_numbers(self.pending.w)):
            return None
        provisional = (self.frozen == 0) & (twin.frozen > 0)
        values = block.numeric[:, provisional]
        low, high = np.nanmin(numeric[:, provisional], axis=0), np.nanmax(numeric[:, provisional], axis=0)
        if np.any((values < low) | (values > high)):
            return None
        twin.update(block)
        return twin

    # -- algebra --

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        both = (self.frozen > 0) & (other.frozen > 0)
        for j in np.flatnonzero(both):
            if not np.array_equal(self.cuts[j], other.cuts[j]):
                raise MergeError(
                    f"numeric column {j} is cut at {self.cuts[j].tolist()} here and {other.cuts[j].tolist()} "
                    "there; make shards with model.fresh() after the grid is frozen, so that they share it"
                )
        twin, pending = other.copy(), [self.pending.block(), other.pending.block()]
        for one, two in ((self, other), (twin, self)):
            one._adopt(two)
        for name in self.counted:
            setattr(self, name, getattr(self, name) + getattr(twin, name))
        self.declared = np.maximum(self.declared, twin.declared)
        self.declared_classes = np.maximum(self.declared_classes, twin.declared_classes)
        self._count_seen()
        for rows in pending:
            self.update(rows)

    def _adopt(self, other: Self) -> None:
        """Take over grids that only the other has, and drop the pending rows."""
        new = (self.frozen == 0) & (other.frozen > 0)
        self.cuts[new], self.frozen[new] = other.cuts[new], 1
        self.declared[self.nominal :] = np.maximum(self.declared, other.declared)[self.nominal :]
        sizes = np.maximum(self.sizes, other.sizes)
        self._move(sizes, np.arange(len(sizes)), [np.arange(s) for s in self.sizes])
        self.pending = self.pending.take(np.zeros(0, dtype=np.int64))

    def arrays(self) -> Arrays:
        rows = self.pending.sorted()
        pending: dict[str, NDArray[Any]] = {
            "pending_numeric": rows.numeric, "pending_codes": rows.codes, "pending_y": rows.y, "pending_w": rows.w,
        }  # fmt: skip
        return {**super().arrays(), **pending}

    def check(self, arrays: Arrays) -> None:
        """A frozen column has its cuts and cells, another none; counts are as long as the cells imply."""
        super().check(arrays)
        sizes, q, p, k = arrays["sizes"], self.nominal, len(self.frozen), len(self.classes)
        require(
            np.array_equal(sizes[:q], self.lengths.values), "nominal columns have other values in the schema"
        )
        require(np.array_equal(arrays["declared"][:q], self.declared[:q]), "other values are declared")
        require(
            arrays["declared"][q:].max(initial=0) <= self.grid.bins, "a grid has more cells than its bins"
        )
        frozen, cuts, cells = arrays["frozen"], arrays["cuts"], sizes[q:]
        require(frozen.max(initial=0) <= 1 and (cells[frozen == 0] == 0).all(), "cells without a grid")
        inside = np.count_nonzero(cuts < np.inf, axis=1) < cells
        require(
            inside[frozen > 0].all() and cells.max(initial=0) <= self.grid.bins, "a grid without its cells"
        )
        rising("the cuts of a frozen grid", cuts[frozen > 0])
        require((cuts[frozen > 0] > -np.inf).all(), "a cut lies at minus infinity")
        self.check_bytes([*sizes[:q].tolist(), *np.where(frozen > 0, cells, self.fewest_bins).tolist()], k)
        layout = np.empty((3, q + p + 1), dtype=np.int64)
        fill_layout(layout, np.array(sizes))  # arrays of a file are read-only: another type, another kernel
        lengths = {
            "singles": layout[0, -1],
            "pairs": layout[1, -1],
            "triples": layout[2, -1] * (self.interaction_order == 3),
        }
        for name, length in lengths.items():
            require(len(arrays[name]) == length, f"{name} of the joint counts must have {length} cells")
        most = arrays["classes"] * (1 + SLACK) + SLACK
        for name in self.counted[1:]:
            within = arrays[name].max(axis=0, initial=0.0) <= most
            require(within.all(), f"{name} of the joint counts hold more than their class")
        ranks = arrays["ranks"]
        require(
            not len(ranks) or np.array_equal(np.sort(ranks), np.arange(q + p)), "every column has a place"
        )
        require(arrays["pending_y"].min(initial=0) >= 0, "a pending row has no label")

    def regroup(self, groups: Floats) -> Self:
        """Counts with classes summed by groups; pending rows get the first group of their class."""
        twin = self.fresh()
        arrays = dict(self.arrays())
        arrays.update({name: arrays[name] @ groups.T for name in self.counted})  # exact: whole numbers
        arrays["declared_classes"] = np.minimum(self.declared_classes, len(groups))
        member = groups[:, arrays["pending_y"]] > 0
        arrays["pending_y"] = np.where(member.any(axis=0), member.argmax(axis=0), -1).astype(np.int32)
        twin.restore(arrays)
        return twin

    def coarsened(self, parts: list[Index]) -> Self:
        """The exact counts over groups of cells: parts[j][v] is the new cell of cell v of column j.

        Cells of a numeric column are joined with their neighbours; the cuts between groups remain. There must be no
        pending rows.
        """
        twin = self.copy()
        sizes = np.array([int(part.max(initial=-1)) + 1 for part in parts], dtype=np.int64)
        twin._move(sizes, np.arange(len(sizes)), parts)
        twin.declared = np.minimum(twin.declared, sizes)
        twin.grid = replace(self.grid, bins=int(sizes[self.nominal :].max(initial=1)))
        twin.cuts = np.full((len(self.cuts), twin.grid.bins - 1), np.inf)
        for cuts, fine, part in zip(twin.cuts, self.cuts, parts[self.nominal :], strict=True):
            remaining = fine[np.flatnonzero(np.diff(part))]
            cuts[: len(remaining)] = remaining
        return twin

    # -- growth --

    def bytes_for(self, sizes: list[int], k: int) -> int:
        """Bytes of counts over columns with these numbers of values and k classes."""
        cells = pairs = triples = 0  # as in `fill_layout`, but numbers of any length
        for size in sizes:
            triples += size * pairs if self.interaction_order == 3 else 0
            pairs += size * cells
            cells += size
        return 8 * k * (cells + pairs + triples + len(sizes) + 1)

    def least_bytes(self, shape: Shape) -> int:
        """Bytes of the counts of nominal columns and the cuts of numeric ones, which have no cells at first."""
        return self.bytes_for(list(shape.values), shape.classes) + 8 * shape.numeric * self.inner

    def check_bytes(self, sizes: list[int], k: int) -> None:
        """Raise `SchemaError` if tables of these sizes exceed `max_bytes`."""
        need = self.bytes_for(sizes, k)
        if need <= self.max_bytes:
            return
        largest = sorted(sizes, reverse=True)[:3]
        raise SchemaError(
            f"the counts of all {'pairs' if self.interaction_order == 2 else 'triples'} of {sum(sizes)} values in "
            f"{len(sizes)} columns and {k} classes need {need / 1e6:,.0f} MB, beyond max_bytes="
            f"{self.max_bytes:,}; the columns with most values have {largest}. Ways out: fewer columns, a "
            "smaller Declared(max_values=...), a coarser Grid(bins=...), a classifier that needs pairs only "
            "(AODE, FANC), or a larger max_bytes"
        )

    def realign(self, plan: Alignment) -> None:
        q, p = plan.nominal.size, plan.numeric.size
        old = self.nominal
        columns = moved_columns(plan)
        sizes = np.zeros(q + p, dtype=np.int64)
        sizes[:q] = [axis.size for axis in plan.values]
        sizes[columns[old:]] = self.sizes[old:]
        reserved = [self.fewest_bins] * p
        for j, cells in zip(plan.numeric.to, self.reserved(), strict=True):
            reserved[j] = cells
        self.check_bytes([*sizes[:q].tolist(), *reserved], plan.classes.size)
        self.lengths = plan.lengths
        parts = [plan.values[j].to[: self.sizes[i]] for i, j in enumerate(plan.nominal.to)]
        parts += [np.arange(s) for s in self.sizes[old:]]
        declared = np.zeros(q + p, dtype=np.int64)
        declared[:q] = [axis.declared for axis in plan.values]
        declared[columns[old:]] = self.declared[old:]
        self.pending = self.pending.realigned(plan)
        cuts = np.full((p, self.grid.bins - 1), np.nan)
        cuts[plan.numeric.to] = self.cuts
        self.cuts, self.frozen = cuts, move(self.frozen, 0, plan.numeric)
        self.declared = declared
        if len(self.ranks):
            ranks = np.full(q + p, -1, dtype=np.int64)
            ranks[columns] = self.ranks
            ranks[ranks < 0] = np.arange(len(columns), q + p)
            self.ranks = ranks
        self.declared_classes = np.array([plan.classes.declared], dtype=np.int64)
        self._move(sizes, columns, parts)
        self.classes = move(self.classes, 0, plan.classes)
        for name in self.counted[1:]:
            setattr(self, name, move(getattr(self, name), 1, plan.classes))
        self._count_seen()

    def _move(self, sizes: Index, columns: Index, parts: list[Index]) -> None:
        """Move all counts to a layout of other sizes: column j goes to columns[j], its value v to parts[j][v]."""
        layout = np.empty((3, len(sizes) + 1), dtype=np.int64)
        fill_layout(layout, sizes)
        unchanged = np.array_equal(layout, self.layout) and np.array_equal(columns, np.arange(len(sizes)))
        if unchanged and all(np.array_equal(part, np.arange(len(part))) for part in parts):
            return
        k = len(self.classes)
        start = layout[0, columns]
        cells = np.concatenate([a + part for a, part in zip(start, parts, strict=True)] or [start])
        cells = cells.astype(np.int64)
        singles, present = np.zeros((int(layout[0, -1]), k)), np.zeros((len(sizes), k))
        np.add.at(singles, cells, self.singles)
        present[columns] = self.present
        pairs = np.zeros((int(layout[1, -1]), k))
        move_pairs(pairs, self.pairs, layout, self.layout, columns, cells)
        if self.interaction_order == 3:
            triples = np.zeros((int(layout[2, -1]), k))
            move_triples(triples, self.triples, layout, self.layout, columns, cells)
            self.triples = triples
        self.singles, self.present, self.pairs = singles, present, pairs
        self.sizes = sizes
        self.derive()


def moved_columns(plan: Alignment) -> Index:
    """The new places of all columns, nominal ones first, then numeric ones."""
    return np.append(plan.nominal.to, plan.nominal.size + plan.numeric.to).astype(np.int64)
