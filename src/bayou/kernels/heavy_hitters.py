"""Space-Saving with class counts: the counters of one nominal column, found by key, the lightest on top of a heap.

Slot s holds the value keys[s] with cells[s] = count, error, hits per class: hits are the rows counted since the value
entered, count = error + all hits, and the true count lies between count - error and count. heap[0] is the slot of
the least (count, key), place[s] the position of slot s in the heap. index maps keys to slots by linear probing, 0 is
free, otherwise slot + 1. The hits of evicted values are added up in `rest`, per class.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sums import TILE, row_sum

HEAD = 2  # count and error come before the hits
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FLOOR = -1e290  # stands for the logarithm of 0


@inner_kernel
def log_or_floor(x: float) -> float:
    """log x, and a finite stand-in for log 0."""
    return math.log(x) if x > 0.0 else FLOOR


@inner_kernel
def home_of(index: Codes, key: int) -> int:
    """The position in the index where the search for a key begins.

    index : int32[2^b], in
    """
    mixed = np.uint64(key) * GOLDEN
    mixed ^= mixed >> np.uint64(32)
    return int(np.int64(mixed & np.uint64(len(index) - 1)))


@inner_kernel
def find_slot(index: Codes, keys: Index, key: int) -> int:
    """The slot of a key, -1 if it has none.

    index : int32[2^b], in; keys : int64[S], in
    """
    at = home_of(index, key)
    while index[at] > 0:
        slot = index[at] - 1
        if keys[slot] == key:
            return int(slot)
        at = (at + 1) & (len(index) - 1)
    return -1


@inner_kernel
def enter(index: Codes, key: int, slot: int) -> None:
    """Enter the slot of a key into the index.

    index : int32[2^b], in/out
    """
    at = home_of(index, key)
    while index[at] > 0:
        at = (at + 1) & (len(index) - 1)
    index[at] = slot + 1


@inner_kernel
def leave(index: Codes, keys: Index, key: int) -> None:
    """Remove a key from the index, and move others into the gap so that linear probing still finds them.

    index : int32[2^b], in/out; keys : int64[S], in
    """
    last = len(index) - 1
    at = home_of(index, key)
    while keys[index[at] - 1] != key:
        at = (at + 1) & last
    gap = at
    while True:
        at = (at + 1) & last
        if index[at] == 0:
            break
        home = home_of(index, keys[index[at] - 1])
        if ((at - home) & last) >= ((at - gap) & last):
            index[gap] = index[at]
            gap = at
    index[gap] = 0


@inner_kernel
def lighter(cells: Floats, keys: Index, a: int, b: int) -> bool:
    """Whether slot a goes before slot b: smaller count, then smaller key.

    cells : float64[S, 2 + k], in; keys : int64[S], in
    """
    if cells[a, 0] != cells[b, 0]:
        return bool(cells[a, 0] < cells[b, 0])
    return bool(keys[a] < keys[b])


@inner_kernel
def flush(heap: Codes, place: Codes, cells: Floats, keys: Index, slot: int, size: int) -> None:
    """Move a slot whose count changed to where it belongs in the heap. O(log S).

    heap : int32[S], in/out; place : int32[S], in/out; cells : float64[S, 2 + k], in; keys : int64[S], in
    """
    at = int(place[slot])
    while at > 0:
        above = (at - 1) // 2
        if not lighter(cells, keys, slot, heap[above]):
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and lighter(cells, keys, heap[below + 1], heap[below]):
            below += 1
        if not lighter(cells, keys, heap[below], slot):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = slot
    place[slot] = at


@kernel
def rebuild(heap: Codes, place: Codes, index: Codes, cells: Floats, keys: Index, size: int) -> None:
    """Build the heap and the index of the first `size` slots.

    heap : int32[S], out; place : int32[S], out; index : int32[2^b], out; zeros before
    cells : float64[S, 2 + k], in; keys : int64[S], in
    """
    for slot in range(size):
        enter(index, keys[slot], slot)
        heap[slot] = slot
        place[slot] = slot
        flush(heap, place, cells, keys, slot, slot + 1)


@inner_kernel
def read_row(
    out: Floats,
    cells: Floats,
    present: Floats,
    rest: Floats,
    seats: Codes,
    slot: int,
    values: int,
    alpha: float,
    m: float,
) -> None:
    """out[c] = log(n + alpha + m/V) - log(N_c + alpha V + m); n are the slot's hits, or those of evicted values.

    out : float64[K], out; cells : float64[S, 2 + k], in; present : float64[k], in; rest : float64[k], in
    seats : int32[K], in, where a class stands among those met, -1 if it was not
    """
    above = alpha + m / values
    below = alpha * values + m
    for c in range(len(out)):
        seat = seats[c]
        n = 0.0
        total = 0.0
        if seat >= 0:
            n = cells[slot, HEAD + seat] if slot >= 0 else rest[seat]
            total = present[seat]
        out[c] = log_or_floor(n + above) - log_or_floor(total + below)


@inner_kernel
def any_weight(rest: Floats) -> bool:
    """Whether anything was evicted.

    rest : float64[k], in
    """
    for seat in range(len(rest)):
        if rest[seat] > 0.0:
            return True
    return False


@inner_kernel
def count_value(
    cells: Floats,
    keys: Index,
    heap: Codes,
    place: Codes,
    index: Codes,
    named: Flags,
    totals: Floats,
    rest: Floats,
    slot: int,
    key: int,
    seat: int,
    w: float,
) -> None:
    """Count one row with the value of a slot; for -1 the value takes a free slot or evicts the lightest. O(log S).

    cells : float64[S, 2 + k], in/out; keys : int64[S], in/out; heap : int32[S], in/out; place : int32[S], in/out
    index : int32[2^b], in/out; named : bool[S], in/out, whether the slot's text is known
    totals : float64[2], in/out, number of slots in use, and the most that any absent value can have
    rest : float64[k], in/out
    """
    size = int(totals[0])
    if slot < 0:
        least = totals[1]
        if size < len(keys):
            slot = size
            size += 1
            totals[0] = float(size)
            heap[slot] = slot
            place[slot] = slot
        else:
            slot = int(heap[0])
            least = cells[slot, 0]
            totals[1] = max(totals[1], least)
            for c in range(len(rest)):
                rest[c] += cells[slot, HEAD + c]
            leave(index, keys, keys[slot])
        for c in range(len(rest)):
            cells[slot, HEAD + c] = 0.0
        cells[slot, 0] = least
        cells[slot, 1] = least
        keys[slot] = key
        named[slot] = False
        enter(index, key, slot)
    cells[slot, 0] += w
    cells[slot, HEAD + seat] += w
    flush(heap, place, cells, keys, slot, size)


@kernel
def sweep(
    cells: Floats,
    keys: Index,
    heap: Codes,
    place: Codes,
    index: Codes,
    named: Flags,
    totals: Floats,
    present: Floats,
    rest: Floats,
    column: Index,
    y: Codes,
    w: Floats,
    seats: Codes,
    capacity: int,
    declared: int,
    alpha: float,
    m: float,
    learns: bool,
    first: int,
    terms: Floats,
) -> int:
    """Row by row: write the log-probabilities before the row, if `terms` has rows; then count the row, if `learns`.

    Begins with row `first` and returns the row where it stopped: n, or one that needs a further slot, for which the
    arrays must be enlarged first, as the capacity allows.

    cells : float64[S, 2 + k], in/out; keys : int64[S], in/out; heap : int32[S], in/out; place : int32[S], in/out
    index : int32[2^b], in/out; named : bool[S], in/out; totals : float64[2], in/out; present : float64[k], in/out
    rest : float64[k], in/out; column : int64[n], in, 0 = missing; y : int32[n], in; w : float64[n], in
    seats : int32[K], in; terms : float64[n, K], out, or float64[0, K]
    """
    for i in range(first, len(column)):
        key = column[i]
        slot = find_slot(index, keys, key) if key != 0 else -1
        if i < len(terms):
            garbage = any_weight(rest)
            if key != 0 and (slot >= 0 or garbage):
                values = max(int(totals[0]) + int(garbage), declared)
                read_row(terms[i], cells, present, rest, seats, slot, values, alpha, m)
            else:
                for c in range(terms.shape[1]):
                    terms[i, c] = 0.0
        if learns and key != 0 and y[i] >= 0 and w[i] > 0.0:
            if slot < 0 and int(totals[0]) == len(keys) < capacity:
                return i
            seat = seats[y[i]]
            present[seat] += w[i]
            count_value(cells, keys, heap, place, index, named, totals, rest, slot, key, seat, w[i])
    return len(column)


@kernel
def add_terms(out: Floats, terms: Floats) -> None:
    """out[i, c] += the sum of one tile of columns, terms[0, i, c] .. terms[d - 1, i, c].

    out : float64[n, K], in/out; terms : float64[d, n, K], in, d <= 64
    """
    line = np.empty(TILE)
    d = len(terms)
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            for j in range(d):
                line[j] = terms[j, i, c]
            out[i, c] = row_sum(out[i, c], line[:d])
