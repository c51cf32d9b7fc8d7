"""Counting the character n-grams of documents: of the whole text, or of each word padded with spaces."""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.characters import SPACE, Points, decoded, fold_row
from bayou.kernels.jit import ZERO, inner_kernel, kernel
from bayou.kernels.look_up import cell_present
from bayou.kernels.token_ids import (
    BUCKETS,
    FILLED,
    LEAST,
    MOST,
    NEED,
    NEW,
    NOTED,
    RING,
    ROOM_FOR_TEXT,
    ROW,
    SOME,
    WITHIN,
    add_feature,
    begin_notes,
    bucket_of,
    end_row,
    forget_notes,
)


@inner_kernel
def add_grams(
    ids: Codes,
    slots: Codes,
    starts: Index,
    names: Bytes,
    state: Index,
    low: Bytes,
    begin: int,
    end: int,
    known_slots: Codes,
    known_starts: Index,
    known_names: Bytes,
    rule: Index,
    points: Points,
) -> bool:
    """Add all character n-grams of the text from `begin` to `end`; return False where there is no room for one.

    With rule[WITHIN], a word that is no longer than the longest n-gram, or too short for any, counts once as a whole.

    ids : int32[f], in/out; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; low : uint8[b], in; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only; rule : int64[12], in
    points : uint32[1114112], in
    """
    ring = np.zeros(RING, dtype=np.int64)
    p, met = begin, ZERO
    quick = rule[BUCKETS] > 0 and state[NEW] >= rule[NOTED]
    while p < end:
        ring[met & (RING - 1)] = p
        p += decoded(low, p, end) & 7
        met += 1
        for n in range(rule[LEAST], min(rule[MOST], met) + 1):
            at = ring[(met - n) & (RING - 1)]
            if rule[WITHIN] > 0 and at == begin and p == end:
                continue
            if quick and state[FILLED] < len(ids):
                ids[state[FILLED]] = bucket_of(low, at, p - at, rule[BUCKETS])
                state[FILLED] += 1
            elif not add_feature(
                ids, slots, starts, names, state, low, at, p - at, known_slots, known_starts, known_names, rule
            ):  # fmt: skip
                return False
    if rule[WITHIN] > 0 and met <= rule[MOST]:
        return add_feature(
            ids, slots, starts, names, state, low, begin, end - begin, known_slots, known_starts, known_names, rule
        )  # fmt: skip
    return True


@kernel
def tokenize_characters(
    ids: Codes,
    counts: Floats,
    indptr: Index,
    low: Bytes,
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
    points: Points,
    accents: Codes,
    plain: Codes,
) -> None:
    """Count character n-grams from document state[ROW] on: of the text, or with rule[WITHIN] of each padded word.

    Several spaces in a row are reduced to one, as in scikit-learn's `CountVectorizer`.

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; low : uint8[b], scratch
    spare : int32[f], scratch; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; rule : int64[12], in/out; ends : int64[n + 1], in, read-only
    data : uint8[b], in, read-only; valid : uint8[v], in, read-only; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only
    points : uint32[1114112], in; accents : int32[0 or 1114112], in; plain : int32[m], in
    """
    own, below, order = np.empty(SOME, np.int32), np.empty(SOME, np.int32), np.empty(SOME, np.int32)
    while state[ROW] < len(ends) - 1:
        row = state[ROW]
        state[FILLED], before = indptr[row], state[NEW]
        end = ZERO + 1
        if cell_present(valid, offset + row):
            end = fold_row(low, ZERO + 1, data, ends[row], ends[row + 1], points, accents, plain)
        if end < 0:
            state[NEED] = ROOM_FOR_TEXT
            return
        begin_notes(state, rule)
        within = rule[WITHIN] > 0
        low[0] = 32
        r = w = begin = ZERO + 1
        while r <= end:
            spaces, after, size = 0, r, 1
            while after < end:
                found = decoded(low, after, end)
                if points[found >> 3] & np.uint32(SPACE) == 0:
                    break
                spaces, size = spaces + 1, found & 7
                after += size
            if r == end or (within and spaces > 0):
                last = w
                if within:
                    low[w] = 32
                    w += 1
                first = begin - 1 if within else begin
                if last > begin and not add_grams(
                    ids, slots, starts, names, state, low, first, w, known_slots, known_starts, known_names,
                    rule, points,
                ):  # fmt: skip
                    forget_notes(state, rule, before)
                    return
                if last == begin and within:
                    w = begin
                begin, r = w, max(after, r + 1)
            elif spaces > 1:
                low[w] = 32
                w, r = w + 1, after
            else:
                size = decoded(low, r, end) & 7
                for i in range(size):
                    low[w + i] = low[r + i]
                w, r = w + size, r + size
        end_row(ids, counts, indptr, state, spare, own, below, order, rule)
