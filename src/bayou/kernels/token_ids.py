"""Ids of the features of documents: codes of known strings, codes of new ones, or hashes within a number of buckets.

Ids of a document are sorted, equal ones counted. Where an array is too small, the kernel stops before the document; the
caller enlarges it and goes on.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, tight_kernel
from bayou.kernels.look_up import SPARE, find_name, name_slot, span_hash

# places of `state`
ROW, FILLED, NEW, NEED = 0, 1, 2, 3  # next document, ids written, new strings, which array is too small
STATE = 4
ROOM_FOR_IDS, ROOM_FOR_TEXT, ROOM_FOR_NAMES = 1, 2, 3
# places of `rule`
LEAST, MOST, WINDOW, BUCKETS, BASE, LIMIT, LEARN, BINARY, WITHIN, NOTED, START, NAMES = range(12)
RULE = 12
RING = 8  # the most words or characters that a feature may span
INSERTED = 48  # ids of a document that are sorted by insertion where they are large
SOME, FEW = 128, 1 << 24  # ids of a document that are sorted by counting, and how large they may be
EARLY, SELDOM = 512, 1024  # so many first documents have their features recorded by name, then one in so many


@tight_kernel
def bucket_of(text: Bytes, at: int, n: int, buckets: int) -> int:
    """Return the hash bucket of the n bytes from `at` on; the number of buckets is a power of two.

    text : uint8[b], in
    """
    return int(np.int64(span_hash(text, at, n) >> np.uint64(1)) & (buckets - 1))


@inner_kernel
def _new_name(
    slots: Codes, starts: Index, names: Bytes, state: Index, text: Bytes, at: int, n: int, code: int
) -> bool:
    """Append a string; return whether there was room. `code` is stored with it, or -1 to insert it into the hash table.

    slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out; state : int64[4], in/out
    text : uint8[b], in
    """
    k = state[NEW]
    begin = starts[k]
    if k + 2 > len(starts) or 2 * (k + 1) > len(slots) or begin + n + SPARE > len(names):
        state[NEED] = ROOM_FOR_NAMES
        return False
    for i in range(n):
        names[begin + i] = text[at + i]
    starts[k + 1] = begin + n
    state[NEW] = k + 1
    if code >= 0:
        slots[k] = code
        return True
    slot = name_slot(text, at, n, len(slots))
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = k
    return True


@inner_kernel
def known_code(text: Bytes, at: int, n: int, slots: Codes, starts: Index, names: Bytes) -> int:
    """Return the code of the string in the n bytes from `at` on; -1 if it has none.

    text : uint8[b], in; slots : int32[s], in, read-only; starts : int64[m + 1], in, read-only
    names : uint8[c], in, read-only
    """
    return find_name(text, at, n, slots, starts, names)


@inner_kernel
def add_feature(
    ids: Codes,
    slots: Codes,
    starts: Index,
    names: Bytes,
    state: Index,
    text: Bytes,
    at: int,
    n: int,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
    rule: Index,
) -> bool:
    """Write the id of the feature in the n bytes from `at` on; return whether there was room.

    ids : int32[f], in/out; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; text : uint8[b], in; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only; rule : int64[12], in
    """
    if state[FILLED] >= len(ids):
        state[NEED] = ROOM_FOR_IDS
        return False
    if rule[BUCKETS] > 0:
        code = bucket_of(text, at, n, rule[BUCKETS])
        if state[NEW] < rule[NOTED] and not _new_name(slots, starts, names, state, text, at, n, code):
            return False
    else:
        code = known_code(text, at, n, known_slots, known_starts, known_names)
        if code < 0 and rule[LEARN] == 0:
            code = int(rule[LIMIT]) if rule[BASE] > rule[LIMIT] else -1
        elif code < 0:
            place = int(rule[BASE] + known_code(text, at, n, slots, starts, names))
            if place < rule[BASE]:
                place = int(rule[BASE] + state[NEW])
                if place <= rule[LIMIT] and not _new_name(slots, starts, names, state, text, at, n, code):
                    return False
            code = int(min(place, rule[LIMIT]))
    if code >= 0:
        ids[state[FILLED]] = code
        state[FILLED] += 1
    return True


@inner_kernel
def sort_ids(ids: Codes, lo: int, hi: int, spare: Codes) -> None:
    """Sort ids[lo:hi], all >= 0, byte by byte; a few by insertion. O(hi - lo).

    ids : int32[f], in/out; spare : int32[f], scratch
    """
    if hi - lo <= INSERTED:
        for i in range(lo + 1, hi):
            x, at = ids[i], i
            while at > lo and ids[at - 1] > x:
                ids[at] = ids[at - 1]
                at -= 1
            ids[at] = x
        return
    largest = 0
    for i in range(lo, hi):
        largest = max(largest, int(ids[i]))
    ends = np.empty(257, dtype=np.int64)
    shift = 0
    while (largest >> shift) > 0:
        ends[:] = 0
        for i in range(lo, hi):
            ends[((int(ids[i]) >> shift) & 255) + 1] += 1
        for b in range(256):
            ends[b + 1] += ends[b]
        for i in range(lo, hi):
            b = (int(ids[i]) >> shift) & 255
            spare[lo + ends[b]] = ids[i]
            ends[b] += 1
        for i in range(lo, hi):
            ids[i] = spare[i]
        shift += 8


@tight_kernel
def count_sorted(ids: Codes, counts: Floats, lo: int, order: Codes, n: int) -> int:
    """Write each of n sorted ids once, from `lo` on, with the number of its occurrences; return the end.

    ids : int32[f], in/out; counts : float64[f], in/out; order : int32[n or more], in, or ids from `lo` on
    """
    if n == 0:
        return lo
    last, times, before = np.uint64(lo), 0, order[0]
    for i in range(n):
        x = order[np.uint64(i)]
        last += np.uint64(x != before)
        times = times + 1 if x == before else 1
        ids[last] = x
        counts[last] = float(times)
        before = x
    return int(last) + 1


@tight_kernel
def count_some(
    ids: Codes, counts: Floats, lo: int, source: int, n: int, own: Codes, below: Codes, order: Codes
) -> int:
    """Sort and count at most SOME ids below FEW, without branches on their values; return the end.

    Ids are read from `source` >= lo on, and written from `lo` on.

    The rank of an id is the number of smaller ones. To make all different, each has its position in its last bits.
    Eight ids at a time are compared with all others, which are padded to a whole number of vectors.

    ids : int32[f], in/out; counts : float64[f], in/out; own, below, order : int32[SOME], scratch
    """
    first, some, width = np.uint64(source), np.uint64(n), np.uint64((n + 7) & ~7)
    for i in range(some, width):
        own[i] = 0x7FFFFFFF
    for i in range(some):
        own[i] = np.int32((ids[first + i] << 7) | i)
    for j in range(width):
        below[j] = 0
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    for p in range(np.uint64(0), width, np.uint64(8)):
        q = p + four
        a, b, c, d = own[p], own[p + one], own[p + two], own[p + two + one]
        e, f, g, h = own[q], own[q + one], own[q + two], own[q + two + one]
        for j in range(width):
            z = own[j]
            more = np.int32(z > a) + np.int32(z > b) + np.int32(z > c) + np.int32(z > d)
            still = np.int32(z > e) + np.int32(z > f) + np.int32(z > g) + np.int32(z > h)
            below[j] = np.int32(below[j] + (more + still))
    for i in range(some):
        order[np.uint32(below[i])] = own[i] >> np.int32(7)
    return count_sorted(ids, counts, lo, order, n)


@inner_kernel
def few_codes(state: Index, rule: Index) -> bool:
    """Return whether all codes so far are small enough to be sorted by counting.

    state : int64[4], in; rule : int64[12], in
    """
    codes = rule[BUCKETS] if rule[BUCKETS] > 0 else rule[BASE] + state[NEW]
    return bool(codes < FEW)


@tight_kernel
def end_row(
    ids: Codes,
    counts: Floats,
    indptr: Index,
    state: Index,
    spare: Codes,
    own: Codes,
    below: Codes,
    order: Codes,
    rule: Index,
) -> None:
    """Finish a document: sort its ids, count equal ones, and go to the next document.

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; state : int64[4], in/out
    spare : int32[f], scratch; own, below, order : int32[SOME], scratch; rule : int64[12], in
    """
    lo, hi = indptr[state[ROW]], state[FILLED]
    if hi - lo <= SOME and few_codes(state, rule):
        last = count_some(ids, counts, lo, lo, hi - lo, own, below, order)
    else:
        sort_ids(ids, lo, hi, spare)
        last = count_sorted(ids, counts, lo, ids[lo:hi], hi - lo)
    if rule[BINARY] > 0:
        counts[lo:last] = 1.0
    state[FILLED] = last
    state[ROW] += 1
    indptr[state[ROW]] = last


@inner_kernel
def is_noted(rule: Index, row: int) -> bool:
    """Return whether the features of a document are recorded by name: those of the first documents, then of a few.

    rule : int64[12], in
    """
    number = rule[START] + row
    early = number < EARLY or number % SELDOM == 0
    return bool(early and rule[LEARN] > 0 and rule[BUCKETS] > 0)


@inner_kernel
def begin_notes(state: Index, rule: Index) -> None:
    """Decide whether the features of the next document are recorded; rule[NOTED] is the limit on names, 0 for none.

    state : int64[4], in; rule : int64[12], in/out
    """
    rule[NOTED] = state[NEW] + rule[NAMES] if is_noted(rule, state[ROW]) else 0


@inner_kernel
def forget_notes(state: Index, rule: Index, before: int) -> None:
    """Discard the recorded names of a document that is started again; new words stay, as they come in the same order.

    state : int64[4], in/out; rule : int64[12], in
    """
    if rule[BUCKETS] > 0:
        state[NEW] = before
