"""How well every column would have done as super parent: the record of candidates, row by row.

Candidate s of m columns; candidate m is "none". A candidate's score is the log-probability of a row under the
collection, or the single network, in which s may be, or is, a parent of all other columns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.class_counts import add_prior
from bayou.kernels.collection import find_counts, known_values
from bayou.kernels.jit import kernel
from bayou.kernels.joint_counts import count_row
from bayou.kernels.value_counts import log_or_floor

ALWAYS = 1000  # the first rows are all recorded, later ones by lot


@kernel
def drawn(row: int, seed: int, sample: int) -> bool:
    """Whether a row is recorded: all of the first, later one in `sample`, by a hash of seed and row number."""
    if row < ALWAYS or sample <= 1:
        return True
    x = np.uint64(row) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return bool(x % np.uint64(sample) == np.uint64(0))


@kernel
def add_probability(
    into: NDArray[np.float64],
    found: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    row: NDArray[np.int32],
    term: NDArray[np.int64],
    width: int,
    alpha: float,
) -> None:
    """into[c] += P(x_i | c, pa) of a term whose values the row has.

    into : float64[K], in/out; found : float64[2, K], scratch; singles : float64[cells, K], in
    present : float64[m, K], in; pairs : float64[P, K], in; triples : float64[T, K], in
    layout : int64[3, m + 1], in; row : int32[m], in; term : int64[3], in
    """
    find_counts(found, singles, present, pairs, triples, layout, row, term)
    for c in range(len(into)):
        below = found[1, c] + alpha * width
        if below > 0.0:
            into[c] += (found[0, c] + alpha) / below


@kernel
def score_candidates(
    scores: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    row: NDArray[np.int32],
    order: NDArray[np.int64],
    width: NDArray[np.int64],
    alpha: float,
) -> None:
    """scores[s, c] = log P(x | c) of every candidate: of its collection, or of its one network without triples.

    scores : float64[m + 1, K], out; singles : float64[cells, K], in; present : float64[m, K], in
    pairs : float64[P, K], in; triples : float64[T, K], in; layout : int64[3, m + 1], in
    row : int32[m], in, values never seen taken for missing; order : int64[m], in; width : int64[m], in
    """
    m, k = len(row), scores.shape[1]
    collect = len(triples) > 0
    found, term = np.empty((2, k)), np.empty(3, dtype=np.int64)
    alone, acc = np.empty(k), np.empty(k)
    scores[:] = 0.0
    for r in range(m):
        i = order[r]
        if row[i] < 0:
            continue
        term[0], term[1], term[2] = i, -1, -1
        alone[:] = 0.0
        add_probability(alone, found, singles, present, pairs, triples, layout, row, term, width[i], alpha)
        for s in range(m + 1):
            takes = s < m and s != i and row[s] >= 0
            for c in range(k):
                acc[c] = alone[c] if collect or not takes else 0.0
            if takes:
                term[1], term[2] = s, -1
                add_probability(
                    acc, found, singles, present, pairs, triples, layout, row, term, width[i], alpha
                )
            if collect and s != i:
                for q in range(r):
                    j = order[q]
                    if j == s or row[j] < 0:
                        continue
                    term[1], term[2] = j, -1
                    add_probability(
                        acc, found, singles, present, pairs, triples, layout, row, term, width[i], alpha
                    )
                    if takes:
                        term[1], term[2] = min(s, j), max(s, j)
                        add_probability(
                            acc, found, singles, present, pairs, triples, layout, row, term, width[i], alpha
                        )
            for c in range(k):
                scores[s, c] += log_or_floor(acc[c])


@kernel
def record_row(
    record: NDArray[np.float64], scores: NDArray[np.float64], prior: NDArray[np.float64], y: int, w: float
) -> None:
    """Credit each candidate with the probability it gave to the class, and with being right.

    record : float64[2, m + 1], in/out; scores : float64[m + 1, K], in; prior : float64[K], in, logarithms
    """
    for s in range(len(scores)):
        top = -np.inf
        best = 0
        for c in range(len(prior)):
            if prior[c] + scores[s, c] > top:
                top = prior[c] + scores[s, c]
                best = c
        if top == -np.inf or prior[y] == -np.inf:
            continue
        total = 0.0
        for c in range(len(prior)):
            total += math.exp(prior[c] + scores[s, c] - top)
        record[0, s] += w * math.exp(prior[y] + scores[s, y] - top) / total
        if best == y:
            record[1, s] += w


@kernel
def record_candidates(
    record: NDArray[np.float64],
    classes: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    seen: NDArray[np.int64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    order: NDArray[np.int64],
    declared: NDArray[np.int64],
    declared_classes: int,
    alpha: float,
    prior_alpha: float,
    before: float,
    after: float,
    start: int,
    seed: int,
    sample: int,
) -> None:
    """Record the drawn rows, adding each row's weight `before` times before, `after` times after it is scored.

    0 and 1 learn the rows as they come; 0 and 0 score them on the counts as they are; -1 and 1 leave each out.
    record : float64[2, m + 1], in/out; classes : float64[K], in/out; singles : float64[cells, K], in/out
    present : float64[m, K], in/out; seen : int64[m], in/out; pairs : float64[P, K], in/out
    triples : float64[T, K], in/out; layout : int64[3, m + 1], in; codes : int32[n, m], in; y : int32[n], in
    w : float64[n], in; order : int64[m], in; declared : int64[m], in
    """
    m, k = codes.shape[1], len(classes)
    scores, prior = np.empty((m + 1, k)), np.empty((1, k))
    row, held = np.empty(m, dtype=np.int32), np.empty((2, m), dtype=np.uint64)
    width = np.empty(m, dtype=np.int64)
    for i in range(len(y)):
        if y[i] < 0 or w[i] <= 0.0:
            continue
        if before != 0.0:
            count_row(
                classes, singles, present, seen, pairs, triples, held, layout, codes[i], y[i], before * w[i]
            )
        if drawn(start + i, seed, sample):
            for j in range(m):
                width[j] = max(seen[j], declared[j])
            known_values(row, codes[i], singles, layout)
            score_candidates(scores, singles, present, pairs, triples, layout, row, order, width, alpha)
            prior[:] = 0.0
            add_prior(prior, classes, declared_classes, prior_alpha)
            record_row(record, scores, prior[0], y[i], w[i])
        if after != 0.0:
            count_row(
                classes, singles, present, seen, pairs, triples, held, layout, codes[i], y[i], after * w[i]
            )
