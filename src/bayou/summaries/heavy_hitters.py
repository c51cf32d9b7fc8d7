"""The heaviest values of nominal columns with any number of values, with class counts, in a fixed number of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import SLACK, parts, require
from bayou.errors import DataError, SchemaError
from bayou.kernels.heavy_hitters import HEAD
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import declare, declared_classes, declared_values, from_schema
from bayou.summaries.value_counters import NAME, SLOT, Texts, ValueCounters
from bayou.threads import over_ranges

GRAIN = 20_000  # cells worth a thread of their own
LEAST = 4096


def _texts(name: str, array: Texts, summary: HeavyHitters) -> None:
    for text in array:
        bytes(text).decode()  # raises UnicodeDecodeError


class HeavyHitters(ArraySummary):
    r"""Space-Saving with class counts: of each column the k heaviest values, and `*` for all the others.

    While the values fit, all is exact. When they do not, a new value takes the place of the lightest one (of
    the smallest key among equals) and inherits its count as its *error*: hits since then are counted by class,
    the error belongs to no class. For every value kept, $count - error \le n \le count$; a value that is not
    kept has at most $N / k$ rows, and no error is larger than that (Metwally, Agrawal and El Abbadi 2005). The
    garbage value `*` has the weight of all rows whose value is not kept, class by class.

    k follows from the bytes: a slot takes 96 + 8 K of them, K the number of classes met (or declared).

    Parameters
    ----------
    max_bytes
        Bytes per column, however many values there are.

    Merge: BOUNDED by `error()`, which is 0 (and the merge exact) while the values of every column fit. Memory: at
    most `max_bytes` per column.

    Examples
    --------
    >>> from bayou.align import from_empty
    >>> from bayou.encoding import Encoder
    >>> from bayou.schema import Declared, Schema
    >>> schema = Schema(Declared(hash_values=True))
    >>> rows = [{"user": "ann"}, {"user": "bob"}, {"user": "ann"}]
    >>> block, growth = Encoder(schema).encode(rows, ["buys", "leaves", "leaves"], learn=True)
    >>> schema.grow(growth); users = HeavyHitters(); users.realign(from_empty(schema)); users.update(block)
    >>> users.kept(0), users.error()
    ([('ann', 2.0, 0.0, [1.0, 1.0]), ('bob', 1.0, 0.0, [0.0, 1.0])], 0.0)
    """

    law: ClassVar[MergeLaw] = MergeLaw.BOUNDED
    classes: Codes = declare("*met", dtype=np.int32, valid=valid.class_codes)  # met, in order of arrival
    sizes: Index = declare("nominal", dtype=np.int64, valid=valid.finite)
    keys: Index = declare("*values", dtype=np.int64, valid=valid.anything)
    cells: Floats = declare("*values", "*cells", valid=valid.non_negative)
    texts: Texts = declare("*values", NAME, dtype=np.uint8, valid=_texts)
    floor: Floats = declare("nominal", valid=valid.non_negative)
    present: Floats = declare("nominal", "*met", valid=valid.non_negative)
    rest: Floats = declare("nominal", "*met", valid=valid.non_negative)
    declared: Index = from_schema("nominal", follows=declared_values)
    declared_classes: Index = from_schema(1, follows=declared_classes)

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        if max_bytes < LEAST:
            raise DataError(f"max_bytes must be at least {LEAST}", value=max_bytes)
        self.max_bytes = max_bytes
        self.columns: list[ValueCounters] = []
        self.classes = np.zeros(0, dtype=np.int32)
        self.declared = np.zeros(0, dtype=np.int64)
        self.declared_classes = np.zeros(1, dtype=np.int64)
        self._number_classes(0)

    def _number_classes(self, k: int) -> None:
        self.seats = np.full(k, -1, dtype=np.int32)
        self.seats[self.classes] = np.arange(len(self.classes))

    def config(self) -> Mapping[str, Scalar]:
        return {"max_bytes": self.max_bytes}

    @property
    def has_no_columns(self) -> bool:
        return not self.columns

    @property
    def capacity(self) -> int:
        """Values that a column may keep, k."""
        classes = max(len(self.classes), int(self.declared_classes[0]))
        return max(1, self.max_bytes // (SLOT + 8 * classes))

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and classes."""
        return len(self.columns), len(self.seats)

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return sum(column.nbytes for column in self.columns)

    def update(self, block: Block) -> None:
        self.sweep(block, None, (0.0, 0.0))

    def sweep(self, block: Block, out: Floats | None, smoothing: tuple[float, float]) -> None:
        """Learn the rows in order; with `out`, first write log P(v | c) as it stood before each row.

        out : float64[q, n, K], terms of every column; smoothing : alpha and m of the table.
        """
        keys = self.keys_of(block)
        for lo, hi in self._pieces(block):
            if lo < hi:
                part = None if out is None else out[:, lo:hi]
                self._sweep(np.ascontiguousarray(keys[lo:hi].T), block.rows(lo, hi), part, smoothing)

    def _sweep(self, keys: Index, block: Block, out: Floats | None, smoothing: tuple[float, float]) -> None:
        capacity = self.capacity
        size = block.n if out is not None else 0

        def columns(lo: int, hi: int) -> None:
            for j in range(lo, hi):
                column = self.columns[j]
                terms = np.empty((size, len(self.seats)))
                column.sweep(
                    keys[j],
                    block.y,
                    block.w,
                    self.seats,
                    capacity,
                    int(self.declared[j]),
                    smoothing,
                    True,
                    terms,
                )
                if block.hashed is not None:
                    column.name_new(block.hashed)
                if out is not None:
                    out[j] = terms

        over_ranges(columns, len(self.columns), 1 + GRAIN // max(1, block.n))

    def read(self, block: Block, out: Floats, smoothing: tuple[float, float]) -> None:
        """out[q, n, K] = log P(v | c) as it stands; changes nothing."""
        keys = np.ascontiguousarray(self.keys_of(block).T)
        for j, column in enumerate(self.columns):
            column.sweep(
                keys[j], block.y, block.w, self.seats, 0, int(self.declared[j]), smoothing, False, out[j]
            )

    @staticmethod
    def keys_of(block: Block) -> Index:
        """int64[n, q], the hashed values of a block."""
        if block.hashed is None:
            raise SchemaError(
                "these rows carry no hashes; a model that keeps heavy hitters declares hash_values=True"
            )
        return block.hashed.keys

    def _pieces(self, block: Block) -> Iterator[tuple[int, int]]:
        """Ranges of rows within which the set of classes seen stays the same, and with it the capacity."""
        labelled = np.flatnonzero((block.y >= 0) & (block.w > 0))
        new = labelled[self.seats[block.y[labelled]] < 0]
        codes, first = np.unique(block.y[new], return_index=True)
        arrivals = sorted(zip(new[first].tolist(), codes.tolist(), strict=True))
        at = 0
        for row, code in arrivals:
            yield at, row
            self._add_class(code)
            at = row
        yield at, block.n

    def _add_class(self, code: int) -> None:
        self.classes = np.append(self.classes, np.int32(code))
        self._number_classes(len(self.seats))
        for column in self.columns:
            column.add_class()
            column.trim(self.capacity)

    def error(self) -> float:
        """The largest share of a column's weight by which a count can be off; 0 while all values fit."""
        return max((c.floor / max(float(c.present.sum()), 1e-300) for c in self.columns), default=0.0)

    def kept(self, column: int) -> list[tuple[str, float, float, list[float]]]:
        """Text, count, error and hits by class code of the values kept, heaviest first; `*` last, if there is one."""
        c = self.columns[column]
        keys, cells, texts = c.held()
        order = np.lexsort((keys, cells[:, 0]))[::-1]
        values = [
            (
                bytes(texts[i]).decode().rstrip(),
                float(cells[i, 0]),
                float(cells[i, 1]),
                self._by_class(cells[i, HEAD:]).tolist(),
            )
            for i in order
        ]
        if c.rest.any():
            values.append(("*", float(c.rest.sum()), 0.0, self._by_class(c.rest).tolist()))
        return values

    def distinct(self) -> Floats:
        """The number of values that every column keeps, `*` included where there is one."""
        return np.array([c.size + float(c.rest.any()) for c in self.columns])

    def names(self, column: int) -> dict[int, str]:
        """The texts of the values kept, by key."""
        keys, _, texts = self.columns[column].held()
        return {key: bytes(text).decode().rstrip() for key, text in zip(keys.tolist(), texts, strict=True)}

    def table(self, column: int) -> tuple[Index, Floats, Floats]:
        """Keys int64[V], class counts float64[V, K], and those of `*`, float64[K]."""
        keys, cells, _ = self.columns[column].held()
        return keys, self._by_class(cells[:, HEAD:]), self._by_class(self.columns[column].rest)

    def _by_class(self, hits: Floats) -> Floats:
        out = np.zeros((*hits.shape[:-1], len(self.seats)))
        out[..., self.classes] = hits
        return out

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        for code in other.classes.tolist():
            if self.seats[code] < 0:
                self.classes = np.append(self.classes, np.int32(code))
                self._number_classes(len(self.seats))
                for column in self.columns:
                    column.add_class()
        self.declared = np.maximum(self.declared, other.declared)
        self.declared_classes = np.maximum(self.declared_classes, other.declared_classes)
        places = np.zeros((len(self.classes), len(other.classes)))
        places[self.seats[other.classes], np.arange(len(other.classes))] = 1.0
        for column, theirs in zip(self.columns, other.columns, strict=True):
            column.merge(theirs.regroup(places, len(theirs.keys)), self.capacity)

    def scale(self, factor: float) -> None:
        for column in self.columns:
            column.scale(factor)

    def regroup(self, groups: Floats) -> Self:
        twin = type(self)(self.max_bytes)
        weight = groups[:, self.classes]
        seen = np.flatnonzero(weight.any(axis=1))
        twin.classes = seen.astype(np.int32)
        twin._number_classes(len(groups))
        twin.declared = self.declared.copy()
        twin.declared_classes = np.minimum(self.declared_classes, len(groups))
        twin.columns = [column.regroup(weight[seen], twin.capacity) for column in self.columns]
        return twin

    def realign(self, plan: Alignment) -> None:
        self.lengths = plan.lengths
        self.classes = plan.classes.to[self.classes].astype(np.int32)
        self._number_classes(plan.classes.size)
        self.declared_classes = np.array([plan.classes.declared], dtype=np.int64)
        self.declared = np.array([axis.declared for axis in plan.values], dtype=np.int64)
        columns = [ValueCounters(len(self.classes)) for _ in range(plan.nominal.size)]
        for old, new in enumerate(plan.nominal.to.tolist()):
            columns[new] = self.columns[old]
        self.columns = columns
        for column in self.columns:
            column.trim(self.capacity)

    def fresh(self) -> Self:
        twin = type(self)(self.max_bytes)
        twin.lengths = self.lengths
        twin._number_classes(len(self.seats))
        twin.declared, twin.declared_classes = self.declared.copy(), self.declared_classes.copy()
        twin.columns = [ValueCounters() for _ in self.columns]
        return twin

    def arrays(self) -> Arrays:
        """Values by key and classes by code, so that equal content gives equal arrays."""
        order = np.argsort(self.classes)
        seats = np.concatenate([np.arange(HEAD), HEAD + order])
        kept = [column.held() for column in self.columns]
        k = len(order)
        return {
            "classes": self.classes[order],
            "sizes": np.array([len(keys) for keys, _, _ in kept], dtype=np.int64),
            "keys": np.concatenate([np.zeros(0, np.int64), *(keys for keys, _, _ in kept)]),
            "cells": np.concatenate([np.zeros((0, HEAD + k)), *(cells[:, seats] for _, cells, _ in kept)]),
            "texts": np.concatenate([np.zeros((0, NAME), np.uint8), *(texts for _, _, texts in kept)]),
            "floor": np.array([column.floor for column in self.columns]),
            "present": np.array([c.present[order] for c in self.columns]).reshape(len(kept), k),
            "rest": np.array([c.rest[order] for c in self.columns]).reshape(len(kept), k),
            "declared": self.declared,
            "declared_classes": self.declared_classes,
        }

    def restore(self, arrays: Arrays) -> None:
        self.classes = np.array(arrays["classes"], dtype=np.int32)
        self._number_classes(max(len(self.seats), int(self.classes.max(initial=-1)) + 1))
        self.declared = np.array(arrays["declared"], dtype=np.int64)
        self.declared_classes = np.array(arrays["declared_classes"], dtype=np.int64)
        self.columns = []
        ends = np.cumsum(arrays["sizes"])
        for j, (lo, hi) in enumerate(zip(ends - arrays["sizes"], ends, strict=True)):
            column = ValueCounters(len(self.classes))
            column.present, column.rest = np.array(arrays["present"][j]), np.array(arrays["rest"][j])
            column.totals[1] = arrays["floor"][j]
            column.hold(arrays["keys"][lo:hi], arrays["cells"][lo:hi], arrays["texts"][lo:hi])
            self.columns.append(column)

    def check(self, arrays: Arrays) -> None:
        """The lists of the columns are stored end to end and fit in the bytes; hits and rest add up."""
        super().check(arrays)
        codes, total = arrays["classes"], len(arrays["keys"])
        k = len(codes)
        require((codes[1:] > codes[:-1]).all() and codes.min(initial=0) >= 0, "classes are met once each")
        parts("the numbers of values kept", arrays["sizes"], total)
        require(arrays["cells"].shape[1] == HEAD + k, "a value has a count, an error and hits by class")
        capacity = max(1, self.max_bytes // (SLOT + 8 * max(k, int(self.declared_classes[0]))))
        require(arrays["sizes"].max(initial=0) <= capacity, "more values are kept than the bytes allow")
        ends = np.cumsum(arrays["sizes"])
        for j, (lo, hi) in enumerate(zip(ends - arrays["sizes"], ends, strict=True)):
            keys, cells, present = arrays["keys"][lo:hi], arrays["cells"][lo:hi], arrays["present"][j]
            require((keys[1:] > keys[:-1]).all() and (keys != 0).all(), "keys of values must rise")
            gap = np.abs(cells[:, HEAD:].sum(axis=0) + arrays["rest"][j] - present)
            require((gap <= SLACK * (1.0 + present)).all(), f"the counts of nominal column {j} do not add up")
            gap = np.abs(cells[:, 1:].sum(axis=1) - cells[:, 0])
            require((gap <= SLACK * (1.0 + cells[:, 0])).all(), "a count is its error and its hits")
