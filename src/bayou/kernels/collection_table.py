"""A collection's probabilities laid out for many rows: one table per term, one look-up per term and row.

Term t has a slot for every combination of its parents' values and one more per parent for "dropped"; its entry
for child value v and slot s is places[t] + s V + v. Entries are what `kernels.collection` computes for a row,
bit for bit: u P for a column with several terms, a difference of logarithms for a column with one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.collection import add_row, find_counts, speaks
from bayou.kernels.jit import kernel
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import cell_seen, log_or_floor


@kernel
def place_terms(places: NDArray[np.int64], sets: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
    """Where each term's table starts; returns the number of entries.

    places : int64[t], out; sets : int64[t, 3], in; sizes : int64[m], in
    """
    total = 0
    for t in range(len(sets)):
        places[t] = total
        slots = sizes[sets[t, 0]]
        for p in sets[t, 1:]:
            if p >= 0:
                slots *= sizes[p] + 1
        total += slots
    return total


@kernel
def fill_alone(
    alone: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    layout: NDArray[np.int64],
    width: NDArray[np.int64],
    alpha: float,
) -> None:
    """alone[cell, c] = log P(x_i | c).

    alone : float64[cells, K], out; singles : float64[cells, K], in; present : float64[m, K], in
    layout : int64[3, m + 1], in; width : int64[m], in
    """
    for j in range(len(width)):
        for c in range(alone.shape[1]):
            below = log_or_floor(present[j, c] + alpha * width[j])
            for cell in range(layout[0, j], layout[0, j + 1]):
                alone[cell, c] = log_or_floor(singles[cell, c] + alpha) - below


@kernel
def fill_term(
    table: NDArray[np.float64],
    found: NDArray[np.float64],
    row: NDArray[np.int32],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    alone: NDArray[np.float64],
    layout: NDArray[np.int64],
    term: NDArray[np.int64],
    single: bool,
    u: float,
    width: int,
    alpha: float,
) -> None:
    """All entries of one term.

    table : float64[entries of the term, K], out; found : float64[2, K], scratch; row : int32[m], scratch
    singles : float64[cells, K], in; present : float64[m, K], in; pairs : float64[P, K], in
    triples : float64[T, K], in; alone : float64[cells, K], in; layout : int64[3, m + 1], in; term : int64[3], in
    """
    o = layout[0]
    i, p, q = term[0], term[1], term[2]
    size = o[i + 1] - o[i]
    size_p = o[p + 1] - o[p] if p >= 0 else 0
    size_q = o[q + 1] - o[q] if q >= 0 else 0
    at = 0
    for a in range(size_p + 1):
        for b in range(size_q + 1):
            dropped = (p >= 0 and a == size_p) or (q >= 0 and b == size_q)
            if p >= 0:
                row[p] = a
            if q >= 0:
                row[q] = b
            for v in range(size):
                row[i] = v
                said = False
                if not dropped:
                    find_counts(found, singles, present, pairs, triples, layout, row, term)
                    said = speaks(found, alpha)
                for c in range(table.shape[1]):
                    below = found[1, c] + alpha * width
                    if single and said:
                        table[at, c] = log_or_floor(found[0, c] + alpha) - log_or_floor(below)
                    elif single:
                        table[at, c] = alone[o[i] + v, c]
                    else:
                        table[at, c] = u * ((found[0, c] + alpha) / below) if said and below > 0.0 else 0.0
                at += 1


@kernel
def fill_terms(
    table: NDArray[np.float64],
    alone: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    sets: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.int64],
    u: NDArray[np.float64],
    width: NDArray[np.int64],
    alpha: float,
) -> None:
    """All entries of all terms, and the columns alone.

    table : float64[entries, K], out; alone : float64[cells, K], out; singles : float64[cells, K], in
    present : float64[m, K], in; pairs : float64[P, K], in; triples : float64[T, K], in
    layout : int64[3, m + 1], in; sets : int64[t, 3], in; starts : int64[m + 1], in; places : int64[t], in
    u : float64[t], in; width : int64[m], in
    """
    found = np.zeros((2, table.shape[1]))
    row = np.zeros(len(width), dtype=np.int32)
    fill_alone(alone, singles, present, layout, width, alpha)
    for j in range(len(width)):
        for t in range(starts[j], starts[j + 1]):
            end = places[t + 1] if t + 1 < len(places) else len(table)
            fill_term(
                table[places[t] : end], found, row, singles, present, pairs, triples, alone, layout,
                sets[t], starts[j + 1] - starts[j] == 1, u[t], width[j], alpha,
            )  # fmt: skip


@kernel
def mark_known(known: NDArray[np.bool_], singles: NDArray[np.float64]) -> None:
    """Which values were seen in any class.

    known : bool[cells], out; singles : float64[cells, K], in
    """
    for cell in range(len(known)):
        known[cell] = cell_seen(singles, cell)


@kernel
def fill_slots(
    slots: NDArray[np.uint64], known: NDArray[np.bool_], layout: NDArray[np.int64], row: NDArray[np.int32]
) -> None:
    """The slot of each column's value: the value itself, or the last slot where it is missing or never seen.

    slots : uint64[m], out; known : bool[cells], in; layout : int64[3, m + 1], in; row : int32[m], in
    """
    o = layout[0]
    for j in range(len(slots)):
        here = row[j] >= 0 and known[o[j] + row[j]]
        slots[j] = row[j] if here else o[j + 1] - o[j]


@kernel
def look_up(
    found: NDArray[np.float64],
    table: NDArray[np.float64],
    slots: NDArray[np.uint64],
    terms: NDArray[np.uint64],
    ends: NDArray[np.int64],
    size: int,
    v: int,
) -> None:
    """found[c] = sum over the terms of one column of their entries for this row.

    found : float64[K], out; table : float64[entries, K], in; slots : uint64[m], in
    terms : uint64[4, t], in, place, parents, and slots of the second parent
    ends : int64[4], in, where the column's terms without, with one and with two parents start, and their end
    """
    width, value = np.uint64(size), np.uint64(v)
    place, first, second, step = terms[0], terms[1], terms[2], terms[3]
    for c in range(len(found)):
        found[c] = 0.0
    for t in range(ends[0], ends[1]):
        for c in range(len(found)):
            found[c] += table[place[t] + value, c]
    for t in range(ends[1], ends[2]):
        at = place[t] + slots[first[t]] * width + value
        for c in range(len(found)):
            found[c] += table[at, c]
    for t in range(ends[2], ends[3]):
        at = place[t] + (slots[first[t]] * step[t] + slots[second[t]]) * width + value
        for c in range(len(found)):
            found[c] += table[at, c]


@kernel
def pack_terms(
    terms: NDArray[np.uint64],
    ends: NDArray[np.int64],
    sets: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    """Terms as `look_up` wants them; those of a column are sorted by their number of parents.

    terms : uint64[4, t], out; ends : int64[m, 4], out; sets : int64[t, 3], in; starts : int64[m + 1], in
    places : int64[t], in; sizes : int64[m], in
    """
    for j in range(len(ends)):
        ends[j] = starts[j + 1]
        ends[j, 0] = starts[j]
        for t in range(starts[j + 1] - 1, starts[j] - 1, -1):
            if sets[t, 2] >= 0:
                ends[j, 2] = t
            if sets[t, 1] >= 0:
                ends[j, 1] = t
        ends[j, 2] = max(ends[j, 1], ends[j, 2])
    for t in range(len(sets)):
        terms[0, t] = places[t]
        terms[1, t] = max(sets[t, 1], 0)
        terms[2, t] = max(sets[t, 2], 0)
        terms[3, t] = sizes[sets[t, 2]] + 1 if sets[t, 2] >= 0 else 1


@kernel
def add_collection(
    out: NDArray[np.float64],
    table: NDArray[np.float64],
    alone: NDArray[np.float64],
    known: NDArray[np.bool_],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    packed: NDArray[np.uint64],
    ends: NDArray[np.int64],
    split: int,
) -> None:
    """out[i, c] += the collection's log-probability, by look-up.

    out : float64[n, K], in/out; table : float64[entries, K], in; alone : float64[cells, K], in
    known : bool[cells], in; layout : int64[3, m + 1], in; codes : int32[n, m], in; packed : uint64[4, t], in
    ends : int64[m, 4], in
    """
    k, m, o = out.shape[1], codes.shape[1], layout[0]
    terms, factors, logs = np.zeros((k, m)), np.ones((k, m)), np.empty(TILE)
    found, slots = np.empty(k), np.empty(m, dtype=np.uint64)
    for i in range(out.shape[0]):
        fill_slots(slots, known, layout, codes[i])
        for j in range(m):
            for c in range(k):
                terms[c, j] = 0.0
                factors[c, j] = 1.0
            size = o[j + 1] - o[j]
            v = int(slots[j])
            several = ends[j, 3] - ends[j, 0]
            if v == size or several == 0:
                continue
            look_up(found, table, slots, packed, ends[j], size, v)
            heard = False
            for c in range(k):
                heard = heard or found[c] > 0.0
            for c in range(k):
                if several == 1:
                    terms[c, j] = found[c]
                elif heard:
                    factors[c, j] = found[c]
                else:
                    terms[c, j] = alone[o[j] + v, c]
        add_row(out[i], terms, factors, logs, split)


@kernel
def add_collection_two(
    out: NDArray[np.float64],
    table: NDArray[np.float64],
    alone: NDArray[np.float64],
    known: NDArray[np.bool_],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    packed: NDArray[np.uint64],
    ends: NDArray[np.int64],
    split: int,
) -> None:
    """`add_collection` for two classes, in one piece and without a test per index: the same bits.

    out : float64[n, 2], in/out; table : float64[entries, 2], in; alone : float64[cells, 2], in
    known : bool[cells], in; layout : int64[3, m + 1], in; codes : int32[n, m], in; packed : uint64[4, t], in
    ends : int64[m, 4], in
    """
    m, o = codes.shape[1], layout[0]
    terms, factors, logs = np.zeros((2, m)), np.ones((2, m)), np.empty(TILE)
    slots, zero, one = np.empty(m, dtype=np.uint64), np.uint64(0), np.uint64(1)
    place, first, second, step = packed[0], packed[1], packed[2], packed[3]
    for i in range(out.shape[0]):
        fill_slots(slots, known, layout, codes[i])
        for j in range(m):
            terms[0, j], terms[1, j] = 0.0, 0.0
            factors[0, j], factors[1, j] = 1.0, 1.0
            value, width = slots[j], np.uint64(o[j + 1] - o[j])
            if value == width or ends[j, 0] == ends[j, 3]:
                continue
            a, b = 0.0, 0.0
            for t in range(ends[j, 0], ends[j, 1]):
                at = place[np.uint64(t)] + value
                a += table[at, zero]
                b += table[at, one]
            for t in range(ends[j, 1], ends[j, 2]):
                x = np.uint64(t)
                at = place[x] + slots[first[x]] * width + value
                a += table[at, zero]
                b += table[at, one]
            for t in range(ends[j, 2], ends[j, 3]):
                x = np.uint64(t)
                at = place[x] + (slots[first[x]] * step[x] + slots[second[x]]) * width + value
                a += table[at, zero]
                b += table[at, one]
            if ends[j, 3] - ends[j, 0] == 1:
                terms[0, j], terms[1, j] = a, b
            elif a > 0.0 or b > 0.0:
                factors[0, j], factors[1, j] = a, b
            else:
                terms[0, j], terms[1, j] = alone[o[j] + np.int64(value), 0], alone[o[j] + np.int64(value), 1]
        add_row(out[i], terms, factors, logs, split)
