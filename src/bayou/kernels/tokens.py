"""Tokenizer of documents into features: words, n-grams of words, sparse pairs of words.

A feature is a run of bytes of the document in lower case, with one space between words. Ids of features are those of
`bayou.kernels.token_ids`.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.characters import Points
from bayou.kernels.jit import ZERO, inner_kernel, kernel, tight_kernel
from bayou.kernels.look_up import SPARE, cell_present, find_name
from bayou.kernels.token_ids import (
    BINARY,
    BUCKETS,
    FILLED,
    LEAST,
    MOST,
    NEED,
    NEW,
    NOTED,
    RING,
    ROOM_FOR_IDS,
    ROOM_FOR_TEXT,
    ROW,
    SOME,
    WINDOW,
    add_feature,
    begin_notes,
    bucket_of,
    count_some,
    end_row,
    few_codes,
    forget_notes,
    is_noted,
    known_code,
)
from bayou.kernels.word_spans import BLOCK, EDGES, SCAN, Marks, mark_row, next_edges

TOGETHER, ALL = (
    32,
    3 * EDGES // 2 - 64,
)  # the most short documents that are tokenized together, and their bytes: below EDGES / 2 words
TOGETHER_BYTES = ALL + 64 * TOGETHER + 6 * SOME  # the buffer they need


@inner_kernel
def add_word(
    ids: Codes,
    slots: Codes,
    starts: Index,
    names: Bytes,
    state: Index,
    low: Bytes,
    ring: Index,
    met: int,
    end: int,
    free: int,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
    rule: Index,
) -> bool:
    """Write the features that end with word number `met`, whose bytes end at `end`; return whether there was room.

    ids : int32[f], in/out; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; low : uint8[b], in/out, free from `free` on; ring : int64[8, 2], in, where words are
    known_slots : int32[s], in, read-only; known_starts : int64[m + 1], in, read-only
    known_names : uint8[c], in, read-only; rule : int64[12], in
    """
    for n in range(rule[LEAST], min(rule[MOST], met + 1) + 1):
        begin = ring[(met - n + 1) & (RING - 1), 0]
        if not add_feature(
            ids, slots, starts, names, state, low, begin, end - begin, known_slots, known_starts, known_names, rule
        ):  # fmt: skip
            return False
    begin = ring[met & (RING - 1), 0]
    for gap in range(1, min(rule[WINDOW] - 1, met) + 1):
        if gap == 1 and rule[LEAST] <= 2 <= rule[MOST]:
            continue
        a, b = ring[(met - gap) & (RING - 1), 0], ring[(met - gap) & (RING - 1), 1]
        n = (b - a) + 2 * gap - 1 + (end - begin)
        if free + n + SPARE > len(low):
            state[NEED] = ROOM_FOR_TEXT
            return False
        at = free
        for i in range(a, b):
            low[at] = low[i]
            at += 1
        for _ in range(gap - 1):
            low[at] = 32
            low[at + 1] = 95
            at += 2
        low[at] = 32
        at += 1
        for i in range(begin, end):
            low[at] = low[i]
            at += 1
        if not add_feature(
            ids, slots, starts, names, state, low, free, n, known_slots, known_starts, known_names, rule
        ):  # fmt: skip
            return False
    return True


@tight_kernel
def copy_word(line: Bytes, to: int, low: Bytes, at: int, n: int) -> None:
    """Copy the n bytes from `at` on, sixteen at a time: the bytes written beyond the end are overwritten later.

    line : uint8[b], out, at least 16 bytes longer than it is filled; low : uint8[b], in, likewise
    """
    goal, source = np.uint64(to), np.uint64(at)
    for done in range(np.uint64(0), np.uint64(n), np.uint64(16)):
        for i in range(16):
            line[goal + done + np.uint64(i)] = low[source + done + np.uint64(i)]


@inner_kernel
def simple_words(
    ids: Codes,
    filled: int,
    edges: Marks,
    found: int,
    low: Bytes,
    buckets: int,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
) -> bool:
    """Write the ids of words that are features by themselves, in order; return whether all of them have one.

    ids : int32[f], out, from `filled` on; edges : uint64[2 m], in; low : uint8[b], in
    known_slots : int32[s], in, read-only; known_starts : int64[m + 1], in, read-only
    known_names : uint8[c], in, read-only
    """
    goal = np.uint64(filled)
    if buckets > 0:
        for s in range(np.uint64(0), np.uint64(2 * found), np.uint64(2)):
            at = np.int64(edges[s])
            n = np.int64(edges[s + np.uint64(1)]) - at
            ids[goal + (s >> np.uint64(1))] = bucket_of(low, at, n, buckets)  # type: ignore[arg-type]
        return True
    least = 0
    for s in range(np.uint64(0), np.uint64(2 * found), np.uint64(2)):
        at = np.int64(edges[s])
        n = np.int64(edges[s + np.uint64(1)]) - at
        code = find_name(low, at, n, known_slots, known_starts, known_names)  # type: ignore[arg-type]
        ids[goal + (s >> np.uint64(1))] = code
        least = min(least, code)
    return least >= 0


@inner_kernel
def runs_of_words(
    ids: Codes,
    filled: int,
    many: Index,
    edges: Marks,
    low: Bytes,
    line: Bytes,
    begins: Index,
    rule: Index,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
) -> int:
    """Write the ids of word n-grams of some documents, and how many each has; return the end, -1 if a word is new.

    ids : int32[f], out, from `filled` on; many : int64[d], in/out, the words of each document, then its ids
    edges : uint64[2 m], in; low : uint8[b], in; line : uint8[b], scratch; begins : int64[m + 1], scratch
    rule : int64[12], in; known_slots : int32[s], in, read-only; known_starts : int64[m + 1], in, read-only
    known_names : uint8[c], in, read-only
    """
    words = ZERO
    for i in range(len(many)):
        words += many[i]
    w = ZERO
    for s in range(words):
        at: int = np.int64(edges[np.uint64(2 * s)])  # type: ignore[assignment]
        n: int = np.int64(edges[np.uint64(2 * s + 1)]) - at  # type: ignore[assignment]
        copy_word(line, w, low, at, n)  # words stand one space apart
        begins[s] = w
        w += n
        line[w] = 32
        w += 1
    begins[words] = w
    least, most, buckets = rule[LEAST], rule[MOST], rule[BUCKETS]
    s, smallest = ZERO, ZERO
    for i in range(len(many)):
        before = filled
        for t in range(many[i]):
            end = begins[s + t + 1] - 1
            for size in range(least, min(most, t + 1) + 1):
                at = begins[s + t + 1 - size]
                if buckets > 0:
                    code = bucket_of(line, at, end - at, buckets)
                else:
                    code = find_name(line, at, end - at, known_slots, known_starts, known_names)
                    smallest = min(smallest, code)
                ids[filled] = code
                filled += 1
        s += many[i]
        many[i] = filled - before
    return filled if smallest >= 0 else -1


@inner_kernel
def short_rows(
    ids: Codes,
    counts: Floats,
    indptr: Index,
    low: Bytes,
    line: Bytes,
    marks: Marks,
    state: Index,
    edges: Marks,
    scan: Index,
    own: Codes,
    below: Codes,
    order: Codes,
    begins: Index,
    flags: Bytes,
    rule: Index,
    ends: Index,
    data: Bytes,
    valid: Bytes,
    offset: int,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
    points: Points,
    accents: Codes,
    plain: Codes,
) -> int:
    """Tokenize some short documents together, whose features are word n-grams, from document state[ROW] on.

    One by one, each document would wait for the one before; together, all are folded, then cut into words, then looked
    up. Returns a document number: those from state[ROW] up to it must be tokenized one by one (long or with new words).

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; low, line : uint8[b], scratch
    marks : uint64[b / 64 + 2], scratch; state : int64[4], in/out; edges : uint64[EDGES + 80], scratch
    scan : int64[SCAN], scratch; own, below, order : int32[SOME], scratch; begins : int64[EDGES], scratch
    flags : uint8[64], scratch; rule : int64[12], in; ends : int64[n + 1], in, read-only; data : uint8[b], in, read-only
    valid : uint8[v], in, read-only; known_slots : int32[s], in, read-only; known_starts : int64[m + 1], in, read-only
    known_names : uint8[c], in, read-only; points : uint32[1114112], in; accents : int32[0 or 1114112], in
    plain : int32[m], in
    """
    behind = np.empty(TOGETHER, dtype=np.uint64)
    many = np.zeros(TOGETHER, dtype=np.int64)
    runs = rule[MOST] - rule[LEAST] + 1
    short = 3 * SOME // runs  # bytes: then no document has more than SOME ids
    first = row = state[ROW]
    blocks = size = ZERO
    while row < min(first + TOGETHER, len(ends) - 1) and not is_noted(rule, row):
        begin = ends[row]
        end = ends[row + 1] if cell_present(valid, offset + row) else begin
        if end - begin > short or size + (end - begin) > ALL:
            break
        found = mark_row(
            marks[blocks:], low[64 * blocks :], data, begin, end, points, accents, plain, flags
        )  # its last bit is 0, so that no word continues in the next document
        if found < 0 or found > short or size + found > ALL:
            break
        size += found
        blocks += (found >> 6) + 1
        behind[row - first] = 64 * blocks
        row += 1
    if row == first:
        return int(first + 1)
    scan[:] = 0
    words = next_edges(edges, scan, marks, 64 * blocks - 1)
    to = source = indptr[first]
    if source + words * runs > len(ids):
        return int(row)
    s = ZERO
    for i in range(row - first):
        while s + many[i] < words and edges[np.uint64(2 * (s + many[i]))] < behind[i]:
            many[i] += 1
        s += many[i]
    if rule[MOST] > 1:
        if runs_of_words(
            ids, source, many[: row - first], edges, low, line, begins, rule, known_slots, known_starts, known_names
        ) < 0:  # fmt: skip
            return int(row)
    elif not simple_words(
        ids, source, edges, words, low, rule[BUCKETS], known_slots, known_starts, known_names
    ):
        return int(row)
    for i in range(row - first):
        lo = to
        to = count_some(ids, counts, lo, source, many[i], own, below, order)
        if rule[BINARY] > 0:
            counts[lo:to] = 1.0
        source += many[i]
        indptr[first + i + 1] = to
    state[ROW] = row
    return int(row)


@kernel
def tokenize_words(
    ids: Codes,
    counts: Floats,
    indptr: Index,
    low: Bytes,
    line: Bytes,
    marks: Marks,
    spare: Codes,
    slots: Codes,
    starts: Index,
    names: Bytes,
    state: Index,
    rule: Index,
    ends: Index,
    data: Bytes,
    valid: Bytes,
    offset: int,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
    stop_slots: Codes,
    stop_starts: Index,
    stop_names: Bytes,
    points: Points,
    accents: Codes,
    plain: Codes,
) -> None:
    r"""Tokenize documents from state[ROW] on: words as `\b\w\w+\b` finds them, and the features made of them.

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; low : uint8[b], scratch
    line : uint8[b], scratch; marks : uint64[b / 64 + 2], scratch; spare : int32[f], scratch
    slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; rule : int64[12], in/out; ends : int64[n + 1], in, read-only
    data : uint8[b], in, read-only; valid : uint8[v], in, read-only; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only
    stop_slots : int32[s], in, read-only; stop_starts : int64[m + 1], in, read-only
    stop_names : uint8[c], in, read-only; points : uint32[1114112], in; accents : int32[0 or 1114112], in
    plain : int32[m], in
    """
    ring = np.zeros((RING, 2), dtype=np.int64)
    edges, scan = np.empty(EDGES + 80, dtype=np.uint64), np.zeros(SCAN, dtype=np.int64)
    flags = np.empty(64, dtype=np.uint8)
    own, below, order = np.empty(SOME, np.int32), np.empty(SOME, np.int32), np.empty(SOME, np.int32)
    stops = len(stop_starts) > 1
    least, most, buckets = rule[LEAST], rule[MOST], rule[BUCKETS]
    alone = not stops and rule[WINDOW] <= 1 and few_codes(state, rule)
    begins = np.empty(EDGES, dtype=np.int64)
    one_by_one = state[ROW]
    while state[ROW] < len(ends) - 1:
        row = state[ROW]
        if alone and row >= one_by_one:
            one_by_one = short_rows(
                ids, counts, indptr, low, line, marks, state, edges, scan, own, below, order, begins, flags, rule,
                ends, data, valid, offset, known_slots, known_starts, known_names, points, accents, plain,
            )  # fmt: skip
            continue
        filled, before = indptr[row], state[NEW]
        begin = ends[row]
        end = mark_row(
            marks, low, data, begin, ends[row + 1] if cell_present(valid, offset + row) else begin,
            points, accents, plain, flags,
        )  # fmt: skip
        if end < 0:
            state[NEED] = ROOM_FOR_TEXT
            return
        begin_notes(state, rule)
        several = rule[NOTED] > 0 or rule[WINDOW] > 1
        simple = not several and not stops and most == 1
        scan[:] = 0
        w = met = ZERO
        while scan[BLOCK] <= end >> 6:
            found = next_edges(edges, scan, marks, end)
            if filled + found * (most - least + 1) > len(ids):
                state[NEED] = ROOM_FOR_IDS
                forget_notes(state, rule, before)
                return
            if simple and simple_words(
                ids, filled, edges, found, low, buckets, known_slots, known_starts, known_names
            ):  # fmt: skip
                filled += found
                continue
            for s in range(found):
                at: int = np.int64(edges[np.uint64(2 * s)])  # type: ignore[assignment]
                n: int = np.int64(edges[np.uint64(2 * s + 1)]) - at  # type: ignore[assignment]
                if stops and known_code(low, at, n, stop_slots, stop_starts, stop_names) >= 0:
                    continue
                copy_word(line, w, low, at, n)  # words stand one space apart
                ring[met & (RING - 1), 0], ring[met & (RING - 1), 1] = w, w + n
                w += n
                if several:
                    state[FILLED] = filled
                    if not add_word(
                        ids, slots, starts, names, state, line, ring, met, w, end + SPARE,
                        known_slots, known_starts, known_names, rule,
                    ):  # fmt: skip
                        forget_notes(state, rule, before)
                        return
                    filled = state[FILLED]
                else:  # unrolled for the most common features
                    for size in range(least, min(most, met + 1) + 1):
                        at = ring[(met - size + 1) & (RING - 1), 0]
                        if buckets > 0:
                            code = bucket_of(line, at, w - at, buckets)
                        else:
                            code = find_name(line, at, w - at, known_slots, known_starts, known_names)
                        if code < 0:
                            state[FILLED] = filled
                            if not add_feature(
                                ids, slots, starts, names, state, line, at, w - at,
                                known_slots, known_starts, known_names, rule,
                            ):  # fmt: skip
                                return
                            filled = state[FILLED]
                        else:
                            ids[filled] = code
                            filled += 1
                line[w] = 32
                w += 1
                met += 1
        state[FILLED] = filled
        end_row(ids, counts, indptr, state, spare, own, below, order, rule)
