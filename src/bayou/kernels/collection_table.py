"""A collection's probabilities laid out for many rows: one table per term, one look-up per term and row.

Term t has a slot for every combination of its parents' values and one more per parent for "dropped"; its entry
for child value v and slot s is places[t] + s V + v. Entries are what `kernels.collection` computes for a row,
bit for bit: u P for a column with several terms, a difference of logarithms for a column with one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.collection import add_row, find_counts, known_values, speaks
from bayou.kernels.jit import kernel
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import log_or_floor


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
def look_up(
    found: NDArray[np.float64],
    table: NDArray[np.float64],
    sizes: NDArray[np.int64],
    slots: NDArray[np.int64],
    sets: NDArray[np.int64],
    places: NDArray[np.int64],
    size: int,
    v: int,
) -> None:
    """found[c] = sum over the terms of one column of their entries for this row.

    found : float64[K], out; table : float64[entries, K], in; sizes : int64[m], in; slots : int64[m], in
    sets : int64[t, 3], in; places : int64[t], in
    """
    for c in range(len(found)):
        found[c] = 0.0
    for t in range(len(sets)):
        p, q = sets[t, 1], sets[t, 2]
        slot = 0
        if q >= 0:
            slot = slots[p] * (sizes[q] + 1) + slots[q]
        elif p >= 0:
            slot = slots[p]
        at = places[t] + slot * size + v
        for c in range(len(found)):
            found[c] += table[at, c]


@kernel
def look_up_two(
    found: NDArray[np.float64],
    table: NDArray[np.float64],
    sizes: NDArray[np.int64],
    slots: NDArray[np.int64],
    sets: NDArray[np.int64],
    places: NDArray[np.int64],
    size: int,
    v: int,
) -> None:
    """`look_up` for two classes.

    found : float64[2], out; table : float64[entries, 2], in; sizes : int64[m], in; slots : int64[m], in
    sets : int64[t, 3], in; places : int64[t], in
    """
    a, b = 0.0, 0.0
    for t in range(len(sets)):
        p, q = sets[t, 1], sets[t, 2]
        slot = 0
        if q >= 0:
            slot = slots[p] * (sizes[q] + 1) + slots[q]
        elif p >= 0:
            slot = slots[p]
        at = places[t] + slot * size + v
        a += table[at, 0]
        b += table[at, 1]
    found[0] = a
    found[1] = b


@kernel
def add_collection(
    out: NDArray[np.float64],
    table: NDArray[np.float64],
    alone: NDArray[np.float64],
    singles: NDArray[np.float64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    sets: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.int64],
    split: int,
) -> None:
    """out[i, c] += the collection's log-probability, by look-up.

    out : float64[n, K], in/out; table : float64[entries, K], in; alone : float64[cells, K], in
    singles : float64[cells, K], in; layout : int64[3, m + 1], in; codes : int32[n, m], in
    sets : int64[t, 3], in; starts : int64[m + 1], in; places : int64[t], in
    """
    k, m = out.shape[1], codes.shape[1]
    terms, factors, logs = np.zeros((k, m)), np.ones((k, m)), np.empty(TILE)
    found, row = np.empty(k), np.empty(m, dtype=np.int32)
    slots, sizes = np.empty(m, dtype=np.int64), np.diff(layout[0])
    for i in range(out.shape[0]):
        known_values(row, codes[i], singles, layout)
        for j in range(m):
            slots[j] = row[j] if row[j] >= 0 else sizes[j]
        for j in range(m):
            for c in range(k):
                terms[c, j] = 0.0
                factors[c, j] = 1.0
            a, b = starts[j], starts[j + 1]
            if row[j] < 0 or a == b:
                continue
            if k == 2:
                look_up_two(found, table, sizes, slots, sets[a:b], places[a:b], sizes[j], row[j])
            else:
                look_up(found, table, sizes, slots, sets[a:b], places[a:b], sizes[j], row[j])
            heard = False
            for c in range(k):
                heard = heard or found[c] > 0.0
            for c in range(k):
                if b - a == 1:
                    terms[c, j] = found[c]
                elif heard:
                    factors[c, j] = found[c]
                else:
                    terms[c, j] = alone[layout[0, j] + row[j], c]
        add_row(out[i], terms, factors, logs, split)
