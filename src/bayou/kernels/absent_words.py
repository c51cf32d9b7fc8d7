"""Bernoulli log-probabilities of documents: every word of the vocabulary counts, and most of them are absent.

base[c] = sum over all words of log(N_c - n + a) - log(N_c + 2 a) is the log-probability of an empty document; a
present word adds log(n + a) - log(N_c - n + a). The sum runs over the different counts rather than over the words:
words that never occurred in class c have one term in common, and so have all words with the same small count; the
others, with a large count or one that is no integer, follow one by one in the order of their ids, or in that of their
hashes, which are in `ranks`, where the vocabulary is bounded and a row of the table may be given to another word. So a
row that is learned changes a few numbers of its own class, and the sum is computed again from these. Words with too
little weight are ignored.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.value_counts import cached_log
from bayou.kernels.word_counts import count_words, forget_word, word_in_use

SMALL = 256  # counts below it are tallied


@inner_kernel
def is_small(count: float) -> bool:
    """Whether words with this count are tallied together."""
    return count < SMALL and count == np.uint32(count)


@inner_kernel
def follows(ranks: Index, word: int, other: int) -> bool:
    """Whether a word comes after another in the order of the sum: by `ranks`, or by their ids.

    ranks : int64[V], in, or int64[0]: by their ids
    """
    return bool(word > other) if len(ranks) == 0 else bool(ranks[word] > ranks[other])


@inner_kernel
def tally_word(
    tally: Index, large: Codes, n_large: Index, ranks: Index, c: int, word: int, count: float
) -> None:
    """Add a word that has weight in class c to the tally of its count, or to the list of large counts.

    tally : int64[K, SMALL], in/out; large : int32[K, V], in/out, in order; n_large : int64[K], in/out
    ranks : int64[V], in, or int64[0]
    """
    if is_small(count):
        tally[c, np.uint32(count)] += 1
        return
    at = n_large[c]
    while at > 0 and follows(ranks, large[c, at - 1], word):
        large[c, at] = large[c, at - 1]
        at -= 1
    large[c, at] = word
    n_large[c] += 1


@inner_kernel
def untally_word(
    tally: Index, large: Codes, n_large: Index, ranks: Index, c: int, word: int, count: float
) -> None:
    """Remove a word that has weight in class c from the tally of its count, or from the list of large counts.

    tally : int64[K, SMALL], in/out; large : int32[K, V], in/out, in order; n_large : int64[K], in/out
    ranks : int64[V], in, or int64[0]
    """
    if is_small(count):
        tally[c, np.uint32(count)] -= 1
        return
    at, end = 0, n_large[c]
    while at < end:
        middle = (at + end) // 2
        if follows(ranks, word, large[c, middle]):
            at = middle + 1
        else:
            end = middle
    n_large[c] -= 1
    for e in range(at, n_large[c]):
        large[c, e] = large[c, e + 1]


@inner_kernel
def tally_words(
    tally: Index, large: Codes, n_large: Index, ranks: Index, counts: Floats, least: float
) -> int:
    """Tally all words that are not ignored, in all classes; return how many they are.

    tally : int64[K, SMALL], in/out, 0; large : int32[K, V], out; n_large : int64[K], in/out, 0
    ranks : int64[V], in, or int64[0]; counts : float64[V, K], in
    """
    n_used = 0
    for v in range(counts.shape[0]):
        if word_in_use(counts, v, least):
            n_used += 1
            for c in range(counts.shape[1]):
                if counts[v, c] > 0.0:
                    tally_word(tally, large, n_large, ranks, c, v, counts[v, c])
    return n_used


@inner_kernel
def absent_sum(
    tally: Index,
    large: Codes,
    n_large: Index,
    counts: Floats,
    total: Floats,
    size: float,
    logs: Floats,
    alpha: float,
    c: int,
) -> float:
    """The log-probability of an empty document in class c, for a vocabulary of `size` words.

    tally : int64[K, SMALL], in; large : int32[K, V], in; n_large : int64[K], in; counts : float64[V, K], in
    total : float64[K], in; logs : float64[m], in, log of integers
    """
    below = cached_log(total[c] + 2.0 * alpha, logs)
    known, base = n_large[c], 0.0
    for u in range(1, SMALL):
        if tally[c, u] > 0:
            known += tally[c, u]
            base += tally[c, u] * (cached_log(total[c] - u + alpha, logs) - below)
    for e in range(n_large[c]):
        base += cached_log(total[c] - counts[large[c, e], c] + alpha, logs) - below
    if size > known:
        base += (size - known) * (cached_log(total[c] + alpha, logs) - below)
    return base


@kernel
def bernoulli_table(
    table: Floats,
    base: Floats,
    counts: Floats,
    total: Floats,
    logs: Floats,
    size: float,
    alpha: float,
    least: float,
    ranks: Index,
) -> None:
    """Write base[c] = sum_v log(1 - p_vc) and table[v, c] = log p - log(1 - p): a document takes only its own words.

    The vocabulary has `size` words, seen or declared; with `least` > 0, only the words of at least that weight count,
    and all others are ignored: their entries in the table are 0.
    table : float64[V, K], out; base : float64[K], out; counts : float64[V, K], in; total : float64[K], in
    logs : float64[m], in, log of integers; ranks : int64[V], in, or int64[0]
    """
    words, k = counts.shape
    tally, n_large = np.zeros((k, SMALL), np.int64), np.zeros(k, np.int64)
    large = np.empty((k, words), np.int32)
    n_used = tally_words(tally, large, n_large, ranks, counts, least)
    if least > 0.0:
        size = float(n_used)
    for c in range(k):
        base[c] = absent_sum(tally, large, n_large, counts, total, size, logs, alpha, c)
    for v in range(words):
        is_used = word_in_use(counts, v, least)
        for c in range(k):
            absent = cached_log(total[c] - counts[v, c] + alpha, logs)
            table[v, c] = cached_log(counts[v, c] + alpha, logs) - absent if is_used else 0.0


@kernel
def bernoulli_predict_then_update(
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
    takers: Index,
    ranks: Index,
) -> None:
    """Row by row: add the Bernoulli log-probability as it stood before the row, then count the row.

    counts : float64[V, K], in/out; total : float64[K], in/out; seen : int64[1], in/out; out : float64[n, K], in/out
    indptr : int64[n + 1], in; ids : int32[nnz], in, ascending in a row; amounts : float64[nnz], in; y : int32[n], in
    w : float64[n], in; logs : float64[m], in, log of integers; later : int32[nnz], in
    taken_at : int64[n + 1], in, or int64[0]; taken : int32[m], in; takers : int64[m], in
    ranks : int64[V], in/out, or int64[0]
    """
    words, k = counts.shape
    seats = words - 1 if len(taken_at) > 0 else words  # without the last one, which is emptied at once
    tally, n_large = np.zeros((k, SMALL), np.int64), np.zeros(k, np.int64)
    large = np.empty((k, words), np.int32)
    n_used = tally_words(tally, large, n_large, ranks, counts, least)
    was_in_use = np.empty(len(ids), np.bool_)
    base, stale, size = np.empty(k), np.ones(k, np.bool_), -1.0
    score = np.empty(k)
    for i in range(len(y)):
        row = indptr[i : i + 2]
        now = max(float(seen[0]), declared) if least == 0.0 else float(n_used)
        if now != size:
            size = now
            stale[:] = True
        for c in range(k):
            if stale[c]:
                base[c] = absent_sum(tally, large, n_large, counts, total, size, logs, alpha, c)
                stale[c] = False
        score[:] = 0.0
        for e in range(row[0], row[1]):
            if amounts[e] > 0.0 and word_in_use(counts, ids[e], least):
                for c in range(k):
                    absent = cached_log(total[c] - counts[ids[e], c] + alpha, logs)
                    score[c] += cached_log(counts[ids[e], c] + alpha, logs) - absent
        for c in range(k):
            out[i, c] += base[c]
            out[i, c] += score[c]
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        if len(taken_at) > 0:
            for t in range(taken_at[i], taken_at[i + 1]):
                if word_in_use(counts, taken[t], least):
                    n_used -= 1
                    for b in range(k):
                        if counts[taken[t], b] > 0.0:
                            untally_word(tally, large, n_large, ranks, b, taken[t], counts[taken[t], b])
                    stale[:] = True
                forget_word(counts, seen, taken[t])
                ranks[taken[t]] = takers[t]
        for e in range(row[0], row[1]):
            was_in_use[e] = word_in_use(counts, later[e], least)
            if amounts[e] > 0.0 and was_in_use[e] and counts[later[e], c] > 0.0:
                untally_word(tally, large, n_large, ranks, c, later[e], counts[later[e], c])
        count_words(counts, total, seen, row, later, amounts, y[i : i + 1], w[i : i + 1], 1.0, True)
        if seats < words:
            forget_word(counts, seen, seats)
        for e in range(row[0], row[1]):
            if amounts[e] > 0.0 and was_in_use[e]:
                tally_word(tally, large, n_large, ranks, c, later[e], counts[later[e], c])
            elif amounts[e] > 0.0 and word_in_use(counts, later[e], least):
                n_used += 1
                for b in range(k):
                    if counts[later[e], b] > 0.0:
                        tally_word(tally, large, n_large, ranks, b, later[e], counts[later[e], b])
        stale[c] = True
