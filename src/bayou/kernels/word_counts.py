"""Word counts per class, and the log-probabilities of documents.

Rows of the table are words of one text column; a document is a run of (id, count) pairs in ascending order of ids.
Terms are added in that order. A word never seen in any class adds no term, nor does one whose weight in all classes
together is below `least`.

Where the vocabulary is bounded, rows of the table are reassigned to other words: see `bayou.kernels.word_seats`. A
document is then predicted by the rows `ids` that its words have before it, and counted by the rows `later` that they
have with it. Words without a seat are counted in one row behind the last seat, which is emptied at once.

Three models use the same table of counts n, with class totals T and V words (those seen, or the declared number if
larger):

multinomial   sum count * (log(n_c + a) - log(T_c + a V))
complement    minus the same with the counts of all other classes
Bernoulli     present: log(n_c + a), absent: log(N_c - n_c + a), each - log(N_c + 2 a), where n counts documents
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.value_counts import cached_log, cell_seen, log_or_floor

EXACT = float(1 << 53)  # integers below it add up exactly


@kernel
def count_words(
    counts: Floats,
    total: Floats,
    seen: Index,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    sign: float,
    binary: bool,
) -> None:
    """Add (sign 1) or subtract (sign -1) documents; with `binary` a word counts once, and `total` counts documents.

    `seen`, the number of words seen, is updated when words are added, unless it is negative; after subtracting, the
    caller must count it again.

    counts : float64[V, K], in/out; total : float64[K], in/out; seen : int64[1], in/out
    indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in, >= 0
    y : int32[n], in; w : float64[n], in
    """
    k, one = np.uint64(counts.shape[1]), np.uint64(1)
    cells = counts.reshape(-1)
    counted = sign > 0.0 and seen[0] >= 0
    new = 0
    for i in range(len(y)):
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        step = sign * w[i]
        length = 0.0
        e, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        while e < end:
            amount, first = amounts[e], np.uint64(ids[e]) * k
            e += one
            if binary and amount > 0.0:
                amount = 1.0
            length += amount
            cell = first + np.uint64(c)
            before = cells[cell]
            if counted and before == 0.0 and amount > 0.0:
                met = False
                for b in range(k):
                    met |= cells[first + np.uint64(b)] > 0.0
                new += not met
            cells[cell] = before + amount * step
        total[c] += step if binary else length * step
    seen[0] += new


@inner_kernel
def forget_word(counts: Floats, seen: Index, word: int) -> None:
    """Set a row of the table to 0, and update the number of words seen.

    counts : float64[V, K], in/out; seen : int64[1], in/out
    """
    if cell_seen(counts, word):
        seen[0] -= 1
        for c in range(counts.shape[1]):
            counts[word, c] = 0.0


@kernel
def count_in_turn(
    counts: Floats,
    total: Floats,
    seen: Index,
    indptr: Index,
    later: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    binary: bool,
    taken_at: Index,
    taken: Codes,
) -> None:
    """Count document by document: empty the rows that are reassigned, then count; as `count_words` if there are none.

    counts : float64[V, K], in/out; total : float64[K], in/out; seen : int64[1], in/out
    indptr : int64[n + 1], in; later : int32[nnz], in; amounts : float64[nnz], in, >= 0
    y : int32[n], in; w : float64[n], in; taken_at : int64[n + 1], in, or int64[0]; taken : int32[m], in
    """
    if len(taken_at) == 0:
        count_words(counts, total, seen, indptr, later, amounts, y, w, 1.0, binary)
        return
    for i in range(len(y)):
        for t in range(taken_at[i], taken_at[i + 1]):
            forget_word(counts, seen, taken[t])
        row = indptr[i : i + 2]
        count_words(counts, total, seen, row, later, amounts, y[i : i + 1], w[i : i + 1], 1.0, binary)
        forget_word(counts, seen, counts.shape[0] - 1)


@inner_kernel
def word_in_use(counts: Floats, word: int, least: float) -> bool:
    """Return whether a word takes part: it was seen, and its weight is at least `least`.

    counts : float64[V, K], in
    """
    if least == 0.0:
        return bool(cell_seen(counts, word))
    weight = 0.0
    for c in range(counts.shape[1]):
        weight += counts[word, c]
    return weight >= least


@kernel
def words_in_use(in_use: Flags, counts: Floats, least: float) -> None:
    """Write which words take part, as `word_in_use` decides.

    in_use : bool[V], out; counts : float64[V', K], in, V' >= V
    """
    for word in range(len(in_use)):
        in_use[word] = word_in_use(counts, word, least)


@kernel
def multinomial_table(
    table: Floats, counts: Floats, total: Floats, size: float, alpha: float, least: float
) -> None:
    """table[v, c] = log(n + alpha) - log(T_c + alpha V); 0 for a word that takes no part.

    table : float64[V, K], out; counts : float64[V, K], in; total : float64[K], in
    """
    k = len(total)
    below = np.empty(k)
    for c in range(k):
        below[c] = log_or_floor(total[c] + alpha * size)
    for v in range(counts.shape[0]):
        if word_in_use(counts, v, least):
            for c in range(k):
                table[v, c] = log_or_floor(counts[v, c] + alpha) - below[c]
        else:
            table[v] = 0.0


@kernel
def complement_table(
    table: Floats, counts: Floats, total: Floats, size: float, alpha: float, least: float
) -> None:
    """table[v, c] = -(log(sum of n over other classes + alpha) - log(sum of T over other classes + alpha V)).

    table : float64[V, K], out; counts : float64[V, K], in; total : float64[K], in
    """
    k = len(total)
    below, rest = np.empty(k), np.empty(k)
    for c in range(k):
        below[c] = log_or_floor(others(total, c) + alpha * size)
    for v in range(counts.shape[0]):
        if word_in_use(counts, v, least):
            in_others(rest, counts[v])
            for c in range(k):
                table[v, c] = below[c] - log_or_floor(rest[c] + alpha)
        else:
            table[v] = 0.0


@inner_kernel
def in_others(rest: Floats, counts: Floats) -> None:
    """rest[c] = the sum over all classes but c, in order. Integers add up to the same bits in any order.

    rest : float64[K], out; counts : float64[K], in
    """
    total, whole = 0.0, True
    for c in range(len(counts)):
        total += counts[c]
        whole = whole and counts[c] == np.floor(counts[c])
    if whole and total < EXACT:
        for c in range(len(counts)):
            rest[c] = total - counts[c]
    else:
        for c in range(len(counts)):
            rest[c] = others(counts, c)


@inner_kernel
def others(counts: Floats, c: int) -> float:
    """Return the sum over all classes but c, in order.

    counts : float64[K], in
    """
    total = 0.0
    for b in range(len(counts)):
        if b != c:
            total += counts[b]
    return total


@tight_kernel
def small_log(x: float, logs: Floats) -> float:
    """Return log x as `cached_log` does; the look-up is written out here, so that LLVM puts it into the loop.

    logs : float64[m], in, log of integers
    """
    if x < float(len(logs)):
        i = np.uint32(x if x > 0.0 else 0.0)
        if x == i:
            return float(logs[i])
    return cached_log(x, logs)


@kernel
def add_multinomial(
    out: Floats,
    counts: Floats,
    total: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    logs: Floats,
    size: float,
    alpha: float,
    least: float,
) -> None:
    """Add the multinomial log-probabilities, each logarithm computed where it is needed: for few rows, no table pays.

    out : float64[n, K], in/out; counts : float64[V, K], in; total : float64[K], in
    indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in; logs : float64[m], in, log of integers
    """
    k = out.shape[1]
    score = np.empty(k)
    below = np.empty(k)
    for c in range(k):
        below[c] = cached_log(total[c] + alpha * size, logs)
    for i in range(out.shape[0]):
        score[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            row, amount = counts[np.uint32(ids[e])], amounts[e]
            met = False
            for c in range(k):
                met |= row[c] > 0.0
            if met and (least == 0.0 or word_in_use(counts, ids[e], least)):
                for c in range(k):
                    score[c] += amount * (small_log(row[c] + alpha, logs) - below[c])
        for c in range(k):
            out[i, c] += score[c]


@kernel
def multinomial_predict_then_update(
    counts: Floats,
    total: Floats,
    seen: Index,
    out: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    logs: Floats,
    declared: float,
    alpha: float,
    least: float,
    later: Codes,
    taken_at: Index,
    taken: Codes,
) -> None:
    """Predict, then learn, row by row: add the multinomial log-probability of the counts so far, then count the row.

    counts : float64[V, K], in/out; total : float64[K], in/out; seen : int64[1], in/out; out : float64[n, K], in/out
    indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in; y : int32[n], in; w : float64[n], in
    logs : float64[m], in, log of integers; later : int32[nnz], in; taken_at : int64[n + 1], in, or int64[0]
    taken : int32[m], in
    """
    for i in range(len(y)):
        row = indptr[i : i + 2]
        size = max(float(seen[0]), declared)
        add_multinomial(out[i : i + 1], counts, total, row, ids, amounts, logs, size, alpha, least)
        count_in_turn(
            counts, total, seen, row, later, amounts, y[i : i + 1], w[i : i + 1], False, taken_at[i : i + 2], taken
        )  # fmt: skip


@kernel
def add_complement(
    out: Floats,
    counts: Floats,
    total: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    logs: Floats,
    size: float,
    alpha: float,
    least: float,
) -> None:
    """Add the complement log-probabilities, each logarithm computed where it is needed: for few rows, no table pays.

    out : float64[n, K], in/out; counts : float64[V, K], in; total : float64[K], in
    indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in; logs : float64[m], in, log of integers
    """
    k = out.shape[1]
    score, below, rest = np.empty(k), np.empty(k), np.empty(k)
    for c in range(k):
        below[c] = cached_log(others(total, c) + alpha * size, logs)
    for i in range(out.shape[0]):
        score[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if word_in_use(counts, ids[e], least):
                in_others(rest, counts[ids[e]])
                for c in range(k):
                    score[c] += amounts[e] * (below[c] - cached_log(rest[c] + alpha, logs))
        for c in range(k):
            out[i, c] += score[c]


@kernel
def complement_predict_then_update(
    counts: Floats,
    total: Floats,
    seen: Index,
    out: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    logs: Floats,
    declared: float,
    alpha: float,
    least: float,
    later: Codes,
    taken_at: Index,
    taken: Codes,
) -> None:
    """Predict, then learn, row by row: add the complement log-probability of the counts so far, then count the row.

    counts : float64[V, K], in/out; total : float64[K], in/out; seen : int64[1], in/out; out : float64[n, K], in/out
    indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in; y : int32[n], in; w : float64[n], in
    logs : float64[m], in, log of integers; later : int32[nnz], in; taken_at : int64[n + 1], in, or int64[0]
    taken : int32[m], in
    """
    for i in range(len(y)):
        row = indptr[i : i + 2]
        size = max(float(seen[0]), declared)
        add_complement(out[i : i + 1], counts, total, row, ids, amounts, logs, size, alpha, least)
        count_in_turn(
            counts, total, seen, row, later, amounts, y[i : i + 1], w[i : i + 1], False, taken_at[i : i + 2], taken
        )  # fmt: skip
