"""The counters of one column with any number of values (Space-Saving)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Hashed, Index
from bayou.hashing import label_text
from bayou.kernels.heavy_hitters import HEAD, rebuild, sweep
from bayou.schema import Label

NAME = 40  # bytes of a value's text that are kept
SLOT = 96  # bytes of a slot without its hits: key, count, error, text, and its places in heap and index

Texts = NDArray[np.uint8]


def short_text(value: Label) -> bytes:
    """40 bytes for people to recognise a value by: the two ends of its text if that is longer.

    >>> short_text("https://example.org/a/very/long/address/42.html").decode()
    'https://example.or…g/address/42.html  '
    """
    raw = (value if type(value) is str else label_text(value)).encode(errors="replace")
    if len(raw) > NAME:
        head, tail = raw[:18].decode(errors="ignore"), raw[-17:].decode(errors="ignore")
        raw = f"{head}…{tail}".encode()
    return raw.ljust(NAME)


class ValueCounters:
    """At most `capacity` values of one column with their counts per class.

    cells : float64[S, 2 + k], count, error, hits of every class; keys : int64[S]; texts : uint8[S, 40], or [S, 0]
    totals : slots in use, and the most an absent value can have; present, rest : float64[k], the weight of the
    rows with a value, and of those whose value is not kept any more
    """

    def __init__(self, k: int = 0) -> None:
        self.present, self.rest, self.totals = np.zeros(k), np.zeros(k), np.zeros(2)
        self.hold(np.empty(0, np.int64), np.zeros((0, HEAD + k)), np.zeros((0, NAME), np.uint8), 0)

    @property
    def size(self) -> int:
        """Number of counters in use."""
        return int(self.totals[0])

    @property
    def floor(self) -> float:
        """The largest weight that a value without a counter can have: 0 until the first is evicted."""
        return float(self.totals[1])

    def hold(self, keys: Index, cells: Floats, texts: Texts, room: int = 0) -> None:
        """Replace the counters by those of these values, with room for more."""
        size = len(keys)
        room = max(room, size)
        self.keys = np.zeros(room, dtype=np.int64)
        self.cells = np.zeros((room, cells.shape[1]))
        self.texts = np.zeros((room, texts.shape[1]), dtype=np.uint8)
        self.named = np.zeros(room, dtype=np.bool_)
        self.keys[:size], self.cells[:size], self.texts[:size] = keys, cells, texts
        self.named[:size] = True
        self.heap = np.zeros(room, dtype=np.int32)
        self.place = np.zeros(room, dtype=np.int32)
        self.index = np.zeros(1 << max(2, 2 * room - 1).bit_length(), dtype=np.int32)
        rebuild(self.heap, self.place, self.index, self.cells, self.keys, size)
        self.totals[0] = size

    def held(self) -> tuple[Index, Floats, Texts]:
        """Keys, cells and texts of the values kept, sorted by key."""
        order = np.argsort(self.keys[: self.size])
        return self.keys[order], self.cells[order], self.texts[order]

    def sweep(
        self,
        column: Index,
        y: Codes,
        w: Floats,
        seats: Codes,
        capacity: int,
        declared: int,
        smoothing: tuple[float, float],
        learns: bool,
        terms: Floats,
    ) -> None:
        """Read and count rows, see the kernel; slots double where the capacity allows it."""
        done = 0
        while True:
            done = sweep(
                self.cells, self.keys, self.heap, self.place, self.index, self.named, self.totals, self.present,
                self.rest, column, y, w, seats, capacity, declared, smoothing[0], smoothing[1], learns, done,
                terms,
            )  # fmt: skip
            if done == len(column):
                return
            named = self.named[: self.size]
            self.hold(
                self.keys[: self.size], self.cells[: self.size], self.texts[: self.size],
                min(capacity, max(8, 2 * self.size)),
            )  # fmt: skip
            self.named[: len(named)] = named

    def name_new(self, hashed: Hashed) -> None:
        """Store the texts of values that are new in these rows."""
        new = np.flatnonzero(~self.named[: self.size])
        if len(new):
            values = hashed.values
            raw = b"".join([short_text(values[key]) for key in self.keys[new].tolist()])
            self.texts[new] = np.frombuffer(raw, dtype=np.uint8).reshape(-1, NAME)
            self.named[new] = True

    def add_class(self) -> None:
        """Make room for the hits of one more class."""
        self.cells = np.ascontiguousarray(np.pad(self.cells, ((0, 0), (0, 1))))
        self.present, self.rest = np.append(self.present, 0.0), np.append(self.rest, 0.0)

    def trim(self, capacity: int) -> None:
        """Keep the heaviest values; ties keep the larger key."""
        if self.size > capacity:
            keys, cells, texts = self.held()
            order = np.lexsort((keys, cells[:, 0]))[::-1]
            kept, evicted = np.sort(order[:capacity]), order[capacity:]
            self.totals[1] = max(self.totals[1], cells[evicted[0], 0])
            for row in np.sort(evicted):
                self.rest += cells[row, HEAD:]
            self.hold(keys[kept], cells[kept], texts[kept], capacity)
        elif len(self.keys) > capacity:
            self.hold(*self.held(), capacity)

    def merge(
        self,
        other: ValueCounters,
        capacity: int,
        most: Callable[[Index], tuple[Floats, Floats]] | None = None,
    ) -> None:
        """Add the counters of another column; a value that one side lacks may have had that side's `floor` there.

        `most` gives tighter bounds, from keys to what each may have had on either side without a counter.
        """
        keys, cells, texts = self.held()
        their_keys, their_cells, their_texts = other.held()
        union = np.union1d(keys, their_keys)
        mine, theirs = np.searchsorted(union, keys), np.searchsorted(union, their_keys)
        here, there = (np.zeros((len(union), cells.shape[1])) for _ in range(2))
        here[:, :HEAD], there[:, :HEAD] = self.floor, other.floor
        if most is not None:
            for side, floors in zip((here, there), most(union), strict=True):
                side[:, :HEAD] = floors[:, np.newaxis]
        here[mine], there[theirs] = cells, their_cells
        named = np.zeros((len(union), texts.shape[1]), dtype=np.uint8)
        named[theirs], named[mine] = their_texts, texts
        self.totals[1] += other.floor
        self.present, self.rest = self.present + other.present, self.rest + other.rest
        self.hold(union, here + there, named, 0)
        self.trim(capacity)

    def scale(self, factor: float) -> None:
        """Multiply everything counted by a factor."""
        for part in (self.cells, self.present, self.rest):
            part *= factor
        self.totals[1] *= factor
        self.hold(*self.held(), len(self.keys))

    def regroup(self, groups: Floats, capacity: int) -> ValueCounters:
        """The counters of rows relabelled by groups of these classes; float64[G, k] of 0 and 1."""
        keys, cells, texts = self.held()
        hits = cells[:, HEAD:] @ groups.T
        change = hits.sum(axis=1) - cells[:, HEAD:].sum(axis=1)
        head = cells[:, :HEAD] + np.column_stack([change, np.zeros(len(change))])
        kept = head[:, 0] > 0
        twin = ValueCounters(len(groups))
        twin.present, twin.rest = groups @ self.present, groups @ self.rest
        twin.totals[1] = self.floor
        twin.hold(keys[kept], np.column_stack([head, hits])[kept], texts[kept], 0)
        twin.trim(capacity)
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = (self.keys, self.cells, self.texts, self.named, self.heap, self.place, self.index)
        return sum(part.nbytes for part in parts) + self.present.nbytes + self.rest.nbytes + 16
