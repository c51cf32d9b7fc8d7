"""Documents to features: words, n-grams of words, sparse pairs of words, n-grams of characters.

A feature is a run of bytes: of a document in lower case whose words stand one space apart. Its id is the code of a
known string, or the next code of a new one, or its hash within a number of buckets. Ids of a document are sorted,
equal ones counted. What there is no room for ends the work before its document; who called makes room and goes on.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.characters import SPACE, WORD, Points, decoded, fold_row
from bayou.kernels.jit import ZERO, inner_kernel, kernel, tight_kernel
from bayou.kernels.look_up import cell_present, find_name, name_slot, span_hash

# places of `state`
ROW, FILLED, NEW, NEED = 0, 1, 2, 3  # next document, ids written, new strings, what there was no room for
STATE = 4
ROOM_FOR_IDS, ROOM_FOR_TEXT, ROOM_FOR_NAMES = 1, 2, 3
# places of `rule`
LEAST, MOST, WINDOW, BUCKETS, BASE, LIMIT, LEARN, BINARY, WITHIN, NOTED, START = range(11)
RULE = 11
RING = 8  # words or characters that a feature may span, at most
FEW = 48  # ids of a document that are sorted by insertion
EARLY, SELDOM = 1024, 64  # documents whose features are all noted by name, and then one in so many
SPARE = 8  # bytes behind names, so that each can be read in words of eight


@tight_kernel
def bucket_of(text: Bytes, at: int, n: int, buckets: int) -> int:
    """The bucket of the n bytes from `at` on, among a power of two of them.

    text : uint8[b], in
    """
    return int(np.int64(span_hash(text, at, n) >> np.uint64(1)) & (buckets - 1))


@inner_kernel
def _new_name(
    slots: Codes, starts: Index, names: Bytes, state: Index, text: Bytes, at: int, n: int, code: int
) -> bool:
    """Append a string; whether there was room. `code` is what is noted of it, or -1 to enter it into the hash table.

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
    """The code of the string that the n bytes from `at` on are; -1 if there is none.

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
    """Write the id of the n bytes from `at` on; whether there was room.

    ids : int32[f], in/out; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; text : uint8[b], in; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only; rule : int64[11], in
    """
    if state[FILLED] >= len(ids):
        state[NEED] = ROOM_FOR_IDS
        return False
    if rule[BUCKETS] > 0:
        code = bucket_of(text, at, n, rule[BUCKETS])
        if rule[NOTED] > 0 and not _new_name(slots, starts, names, state, text, at, n, code):
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
    """Sort ids[lo:hi], all >= 0: by insertion if they are few, else byte by byte. O(hi - lo).

    ids : int32[f], in/out; spare : int32[f], scratch
    """
    if hi - lo <= FEW:
        for i in range(lo + 1, hi):
            x, j = ids[i], i
            while j > lo and ids[j - 1] > x:
                ids[j] = ids[j - 1]
                j -= 1
            ids[j] = x
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


@inner_kernel
def end_row(ids: Codes, counts: Floats, indptr: Index, state: Index, spare: Codes, binary: bool) -> None:
    """Sort the ids of the document, count equal ones, and go to the next.

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; state : int64[4], in/out
    spare : int32[f], scratch
    """
    lo, hi = indptr[state[ROW]], state[FILLED]
    sort_ids(ids, lo, hi, spare)
    last = lo - 1
    for i in range(lo, hi):
        if last >= lo and ids[last] == ids[i]:
            counts[last] += 0.0 if binary else 1.0
        else:
            last += 1
            ids[last] = ids[i]
            counts[last] = 1.0
    state[FILLED] = last + 1
    state[ROW] += 1
    indptr[state[ROW]] = last + 1


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
    """The features that end with word number `met`, whose bytes end at `end`; whether there was room.

    ids : int32[f], in/out; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; low : uint8[b], in/out, free from `free` on; ring : int64[8, 2], in, where words are
    known_slots : int32[s], in, read-only; known_starts : int64[m + 1], in, read-only
    known_names : uint8[c], in, read-only; rule : int64[11], in
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


@inner_kernel
def is_noted(rule: Index, row: int) -> bool:
    """Whether the features of a document are noted by name: those of the first documents, and then of one in 64.

    rule : int64[11], in
    """
    number = rule[START] + row
    early = number < EARLY or number % SELDOM == 0
    return bool(early and rule[LEARN] > 0 and rule[BUCKETS] > 0)


@inner_kernel
def forget_notes(state: Index, rule: Index, before: int) -> None:
    """Take back the notes of a document that is begun again; new words stay, since they come again in their order.

    state : int64[4], in/out; rule : int64[11], in
    """
    if rule[BUCKETS] > 0:
        state[NEW] = before


@kernel
def tokenize_words(
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
    stop_slots: Codes,
    stop_starts: Index,
    stop_names: Bytes,
    points: Points,
    accents: Codes,
    plain: Codes,
) -> None:
    r"""Words as `\b\w\w+\b` finds them, and what is made of them, from document state[ROW] on.

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; low : uint8[b], scratch
    spare : int32[f], scratch; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; rule : int64[11], in/out; ends : int64[n + 1], in, read-only
    data : uint8[b], in, read-only; valid : uint8[v], in, read-only; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only
    stop_slots : int32[s], in, read-only; stop_starts : int64[m + 1], in, read-only
    stop_names : uint8[c], in, read-only; points : uint32[1114112], in; accents : int32[0 or 1114112], in
    plain : int32[m], in
    """
    ring = np.zeros((RING, 2), dtype=np.int64)
    stops = len(stop_starts) > 1
    least, most, buckets = rule[LEAST], rule[MOST], rule[BUCKETS]
    one = np.uint64(1)  # unsigned places need no test for being counted from the end
    while state[ROW] < len(ends) - 1:
        row = state[ROW]
        filled, before = indptr[row], state[NEW]
        end = ZERO
        if cell_present(valid, offset + row):
            end = fold_row(low, ZERO, data, ends[row], ends[row + 1], points, accents, plain)
        if end < 0:
            state[NEED] = ROOM_FOR_TEXT
            return
        rule[NOTED] = 1 if is_noted(rule, row) else 0
        several = rule[NOTED] > 0 or rule[WINDOW] > 1
        r, w, begin, stop = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(end)
        letters = met = ZERO
        while r <= stop:
            word, size = False, one
            if r < stop:
                if low[r] < 0x80:
                    word = points[low[r]] & np.uint32(WORD) != 0
                else:
                    found = decoded(low, int(r), end)
                    word, size = points[found >> 3] & np.uint32(WORD) != 0, np.uint64(found & 7)
            if word:
                for _ in range(size):
                    low[w] = low[r]
                    w += one
                    r += one
                letters += 1
                continue
            r += size
            if letters < 2 or (
                stops
                and known_code(low, int(begin), int(w - begin), stop_slots, stop_starts, stop_names) >= 0
            ):
                w, letters = begin, ZERO
                continue
            ring[met & (RING - 1), 0], ring[met & (RING - 1), 1] = begin, w
            if several:
                state[FILLED] = filled
                if not add_word(
                    ids, slots, starts, names, state, low, ring, met, int(w), end + SPARE,
                    known_slots, known_starts, known_names, rule,
                ):  # fmt: skip
                    forget_notes(state, rule, before)
                    return
                filled = state[FILLED]
            else:  # the same, written out for the features that most documents are made of
                for n in range(least, min(most, met + 1) + 1):
                    at = ring[(met - n + 1) & (RING - 1), 0]
                    if filled >= len(ids):
                        state[NEED] = ROOM_FOR_IDS
                        return
                    if buckets > 0:
                        code = bucket_of(low, at, int(w) - at, buckets)
                    else:
                        code = find_name(low, at, int(w) - at, known_slots, known_starts, known_names)
                    if code < 0:
                        state[FILLED] = filled
                        if not add_feature(
                            ids, slots, starts, names, state, low, at, int(w) - at,
                            known_slots, known_starts, known_names, rule,
                        ):  # fmt: skip
                            return
                        filled = state[FILLED]
                    else:
                        ids[filled] = code
                        filled += 1
            low[w] = 32
            w += one
            begin, letters = w, ZERO
            met += 1
        state[FILLED] = filled
        end_row(ids, counts, indptr, state, spare, rule[BINARY] > 0)


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
    """All runs of characters of the text from `begin` to `end`; with rule[WITHIN], one that is too short counts once.

    ids : int32[f], in/out; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; low : uint8[b], in; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only; rule : int64[11], in
    points : uint32[1114112], in
    """
    ring = np.zeros(RING, dtype=np.int64)
    p, met = begin, ZERO
    quick = rule[BUCKETS] > 0 and rule[NOTED] == 0
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
    """Runs of characters, from document state[ROW] on: of the whole text, or with rule[WITHIN] of each word in spaces.

    Of several spaces in a row one is left, as in scikit-learn's `CountVectorizer`.

    ids : int32[f], in/out; counts : float64[f], in/out; indptr : int64[n + 1], in/out; low : uint8[b], scratch
    spare : int32[f], scratch; slots : int32[s], in/out; starts : int64[m], in/out; names : uint8[c], in/out
    state : int64[4], in/out; rule : int64[11], in/out; ends : int64[n + 1], in, read-only
    data : uint8[b], in, read-only; valid : uint8[v], in, read-only; known_slots : int32[s], in, read-only
    known_starts : int64[m + 1], in, read-only; known_names : uint8[c], in, read-only
    points : uint32[1114112], in; accents : int32[0 or 1114112], in; plain : int32[m], in
    """
    while state[ROW] < len(ends) - 1:
        row = state[ROW]
        state[FILLED], before = indptr[row], state[NEW]
        end = ZERO + 1
        if cell_present(valid, offset + row):
            end = fold_row(low, ZERO + 1, data, ends[row], ends[row + 1], points, accents, plain)
        if end < 0:
            state[NEED] = ROOM_FOR_TEXT
            return
        rule[NOTED] = 1 if is_noted(rule, row) else 0
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
        end_row(ids, counts, indptr, state, spare, rule[BINARY] > 0)
