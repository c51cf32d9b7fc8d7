"""How well several readings of the same counts have predicted: their record, and what it makes of them.

record[0, r] is the sum of the probabilities that reading r gave to the true class, record[1, r] the weight of its
hits, record[2, r] its log-loss in nats. Rows of a class that was never seen before tell nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel

ALWAYS = 1000  # the first rows are all recorded, later ones by lot
LEAST = 2.0**-52  # no probability counts as smaller


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
def draw_rows(read: NDArray[np.int64], start: int, seed: int, sample: int, yes: int, no: int) -> None:
    """read[i] = `yes` where row start + i is drawn, else `no`.

    read : int64[n], out
    """
    for i in range(len(read)):
        read[i] = yes if drawn(start + i, seed, sample) else no


@kernel
def log_total(scores: NDArray[np.float64], r: int, i: int) -> float:
    """log sum_c exp scores[r, i, c]; -inf where no class is possible.

    scores : float64[R, n, K], in
    """
    top = -np.inf
    for c in range(scores.shape[2]):
        top = max(top, scores[r, i, c])
    if top == -np.inf:
        return top
    total = 0.0
    for c in range(scores.shape[2]):
        total += math.exp(scores[r, i, c] - top)
    return top + math.log(total)


@kernel
def record_row(record: NDArray[np.float64], scores: NDArray[np.float64], i: int, y: int, w: float) -> None:
    """Credit every reading with the probability it gave to the class, with being right, and with its log-loss.

    record : float64[3, R], in/out; scores : float64[R, n, K], in, logarithms
    """
    for r in range(record.shape[1]):
        if scores[r, i, y] == -np.inf:
            continue
        best = 0
        for c in range(scores.shape[2]):
            if scores[r, i, c] > scores[r, i, best]:
                best = c
        p = math.exp(scores[r, i, y] - log_total(scores, r, i))
        record[0, r] += w * p
        record[1, r] += w * (best == y)
        record[2, r] -= w * math.log(max(p, LEAST))


@kernel
def record_rows(
    record: NDArray[np.float64],
    scores: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    read: NDArray[np.int64],
) -> None:
    """Record the labelled rows with weight that all readings have read.

    record : float64[3, R], in/out; scores : float64[R, n, K], in; y : int32[n], in; w : float64[n], in
    read : int64[n], in
    """
    for i in range(len(y)):
        if y[i] >= 0 and w[i] > 0.0 and read[i] >= len(scores):
            record_row(record, scores, i, y[i], w[i])


@kernel
def leader(record: NDArray[np.float64]) -> int:
    """The reading with most hits, then with the least log-loss; the first among equals.

    record : float64[3, R], in
    """
    best = 0
    for r in range(1, record.shape[1]):
        ahead = record[1, r] == record[1, best] and record[2, r] < record[2, best]
        if record[1, r] > record[1, best] or ahead:
            best = r
    return best


@kernel
def join_rows(
    record: NDArray[np.float64],
    out: NDArray[np.float64],
    scores: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    mix: bool,
    learn: bool,
) -> None:
    """Row by row: add what the leader says, or the log of the mix, by the record before the row; then record it.

    The mix is sum_r v_r p_r(c) with v_r proportional to exp(-log-loss of r): its own log-loss never exceeds that
    of any reading by more than log R.
    record : float64[3, R], in/out; out : float64[n, K], in/out; scores : float64[R, n, K], in
    y : int32[n], in; w : float64[n], in
    """
    n, k = out.shape
    for i in range(n):
        if mix:
            least = np.inf
            for r in range(len(scores)):
                least = min(least, record[2, r])
            for c in range(k):
                total = 0.0
                for r in range(len(scores)):
                    if scores[r, i, c] > -np.inf:
                        share = scores[r, i, c] - log_total(scores, r, i)
                        total += math.exp(share + least - record[2, r])
                out[i, c] += math.log(total) if total > 0.0 else -np.inf
        else:
            best = leader(record)
            for c in range(k):
                out[i, c] += scores[best, i, c]
        if learn and y[i] >= 0 and w[i] > 0.0:
            record_row(record, scores, i, y[i], w[i])
