"""The choice of words that have a row ("seat") in a table of counts of bounded size: filtered Space-Saving.

Documents hold hashes of words. A document is learned as a whole: the words that have a seat are counted first, in
order of their hashes, then the others are seated, in free rows or in those of lighter words. So a prediction before a
document does not depend on it, and nothing depends on how documents are cut into blocks. The row behind the last seat
stands for words without one.

A word without a seat is counted in a cell of a filter, given by the last bits of its hash, together with all others of
that cell: an upper bound on its count. It gets a seat once the bound exceeds the count of the lightest word with a
seat, and starts with the bound as its error; the count of the word it replaces goes into that word's cell of the filter
(Homem and Carvalho 2010). So words that occur once, half of all words of a language, do not replace those that recur,
and still no word without a seat can have a larger count than the lightest one with a seat.

The counters are those of `bayou.kernels.heavy_hitters`, of one class: a count is its error and its hits. A word that
has a seat is counted among the hits alone, so that nine words in ten cost no step in the heap: counts in the heap lag
behind, never ahead, and are brought up to date from the top until the lightest word is known.
"""

from __future__ import annotations

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.heavy_hitters import HEAD, count_value, find_slot, flush
from bayou.kernels.jit import ZERO, inner_kernel, kernel


@inner_kernel
def lightest(heap: Codes, place: Codes, cells: Floats, keys: Index) -> int:
    """Return the seat of the lightest word, after counts at the top of the heap were brought up to date.

    heap : int32[S], in/out; place : int32[S], in/out; cells : float64[S, 3], in/out; keys : int64[S], in
    """
    while True:
        slot = int(heap[0])
        count = cells[slot, 1] + cells[slot, HEAD]
        if cells[slot, 0] == count:
            return slot
        cells[slot, 0] = count
        flush(heap, place, cells, keys, slot, len(keys))


@kernel
def seat_words(
    cells: Floats,
    keys: Index,
    heap: Codes,
    place: Codes,
    index: Codes,
    named: Flags,
    totals: Floats,
    present: Floats,
    rest: Floats,
    waiting: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    binary: bool,
    before: Codes,
    after: Codes,
    taken_at: Index,
    taken: Codes,
    takers: Index,
) -> None:
    """Count documents one by one, and write the rows that the words of each have before it is learned and afterwards.

    The seats taken[taken_at[i]:taken_at[i + 1]] are given to words of document i, whose hashes are in `takers`.

    cells : float64[S, 3], in/out; keys : int64[S], in/out; heap : int32[S], in/out; place : int32[S], in/out
    index : int32[2^b], in/out; named : bool[S], in/out; totals : float64[2], in/out; present : float64[1], in/out
    rest : float64[1], in/out; waiting : float64[2^c], in/out, the filter; indptr : int64[n + 1], in
    ids : int32[nnz], in; amounts : float64[nnz], in, >= 0
    y : int32[n], in; w : float64[n], in; before : int32[nnz], out; after : int32[nnz], out
    taken_at : int64[n + 1], out, 0 at first; taken : int32[nnz], out; takers : int64[nnz], out
    """
    nowhere = len(keys)
    filled = 0
    for i in range(len(y)):
        lo, hi = indptr[i], indptr[i + 1]
        first = filled
        taught = y[i] >= 0 and w[i] > 0.0
        for e in range(lo, hi):
            slot = find_slot(index, keys, ids[e])
            before[e] = slot if slot >= 0 else nowhere
            after[e] = before[e]
            if taught and slot >= 0 and amounts[e] > 0.0:
                weight = w[i] if binary else w[i] * amounts[e]
                present[0] += weight
                cells[slot, HEAD] += weight
        if taught:
            for e in range(lo, hi):
                if before[e] == nowhere and amounts[e] > 0.0:
                    weight = w[i] if binary else w[i] * amounts[e]
                    present[0] += weight
                    slot = int(totals[0])
                    cell = ids[e] & (len(waiting) - 1)
                    error = waiting[cell]
                    if slot == len(keys):
                        slot = lightest(heap, place, cells, keys)
                        least = cells[slot, 0]
                        if error + weight <= least:
                            waiting[cell] += weight
                            continue
                        gone = keys[slot] & (len(waiting) - 1)
                        waiting[gone] = max(waiting[gone], least)
                    taken[filled] = slot
                    takers[filled] = ids[e]
                    filled += 1
                    count_value(
                        cells, keys, heap, place, index, named, totals, rest, -1, int(ids[e]), ZERO, weight
                    )
                    cells[slot, 1] = error
                    cells[slot, 0] = error + weight
                    flush(heap, place, cells, keys, slot, int(totals[0]))
        if filled > first:
            for e in range(lo, hi):
                slot = find_slot(index, keys, ids[e])
                after[e] = slot if slot >= 0 else nowhere
        taken_at[i + 1] = filled


@kernel
def find_seats(
    index: Codes,
    keys: Index,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    seated_at: Index,
    seats: Codes,
    seated: Floats,
) -> None:
    """Write the seats and amounts of the words of every document, without the words that have no seat.

    index : int32[2^b], in; keys : int64[S], in; indptr : int64[n + 1], in; ids : int32[nnz], in
    amounts : float64[nnz], in; seated_at : int64[n + 1], out, 0 at first; seats : int32[nnz], out
    seated : float64[nnz], out
    """
    filled = 0
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            slot = find_slot(index, keys, ids[e])
            if slot >= 0:
                seats[filled] = slot
                seated[filled] = amounts[e]
                filled += 1
        seated_at[i + 1] = filled
