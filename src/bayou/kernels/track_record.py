"""How well several readings of the same counts have predicted (their track record), and mixing them by it.

record[0, r] is the sum of the probabilities that reading r gave to the true class, record[1, r] the weight of its
hits, record[2, r] its log-loss in nats. Rows of a class that was never seen before are not recorded.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel

ALWAYS = 1000  # so many first rows are all recorded, of later ones a random sample
LEAST = 2.0**-52  # smaller probabilities are clipped to this one
NEAR = 1e-9  # logarithms this close count as equal: rounding must not decide which class is predicted


@kernel
def drawn(row: int, seed: int, sample: int) -> bool:
    """Return whether a row is recorded: all first rows, then one in `sample`, by a hash of seed and row number."""
    if row < ALWAYS or sample <= 1:
        return True
    x = np.uint64(row) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return bool(x % np.uint64(sample) == np.uint64(0))


@kernel
def draw_rows(read: Index, start: int, seed: int, sample: int, yes: int, no: int) -> None:
    """read[i] = `yes` where row start + i is drawn, else `no`.

    read : int64[n], out
    """
    for i in range(len(read)):
        read[i] = yes if drawn(start + i, seed, sample) else no


@inner_kernel
def log_total(scores: Floats, r: int, i: int) -> float:
    """Return log sum_c exp scores[r, i, c]; -inf where no class is possible.

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
def hit(scores: Floats, r: int, i: int, y: int) -> float:
    """Return 1 if the class is the most probable one, 1 / m if m classes are equally so up to rounding; else 0.

    scores : float64[R, n, K], in, logarithms
    """
    top = -np.inf
    for c in range(scores.shape[2]):
        top = max(top, scores[r, i, c])
    level = top - NEAR * max(1.0, abs(top))
    if scores[r, i, y] < level:
        return 0.0
    equals = 0
    for c in range(scores.shape[2]):
        equals += scores[r, i, c] >= level
    return 1.0 / equals


@inner_kernel
def record_row(record: Floats, scores: Floats, i: int, y: int, w: float) -> None:
    """Add a row to the record of every reading: the probability of the true class, the hit, the log-loss.

    record : float64[3, R], in/out; scores : float64[R, n, K], in, logarithms
    """
    for r in range(record.shape[1]):
        if scores[r, i, y] == -np.inf:
            continue
        p = math.exp(scores[r, i, y] - log_total(scores, r, i))
        record[0, r] += w * p
        record[1, r] += w * hit(scores, r, i, y)
        record[2, r] -= w * math.log(max(p, LEAST))


@kernel
def record_rows(record: Floats, scores: Floats, y: Codes, w: Floats, read: Index) -> None:
    """Record the labelled rows with weight for which all readings have scores.

    record : float64[3, R], in/out; scores : float64[R, n, K], in; y : int32[n], in; w : float64[n], in
    read : int64[n], in
    """
    for i in range(len(y)):
        if y[i] >= 0 and w[i] > 0.0 and read[i] >= len(scores):
            record_row(record, scores, i, y[i], w[i])


@kernel
def leader(record: Floats) -> int:
    """Return the reading with the most hits, then the least log-loss, then the smallest number.

    record : float64[3, R], in
    """
    best = 0
    for r in range(1, record.shape[1]):
        ahead = record[1, r] == record[1, best] and record[2, r] < record[2, best]
        if record[1, r] > record[1, best] or ahead:
            best = r
    return best


@inner_kernel
def mix_row(mixed: Floats, record: Floats, scores: Floats, by_hits: float, by_loss: float, i: int) -> None:
    """mixed[c] = sum_r v_r p_r(c), v_r = exp(by_hits * hits - by_loss * log-loss) over the largest of all r.

    mixed : float64[K], out; record : float64[3, R], in; scores : float64[R, n, K], in
    """
    top = -np.inf
    for r in range(len(scores)):
        top = max(top, by_hits * record[1, r] - by_loss * record[2, r])
    mixed[:] = 0.0
    for r in range(len(scores)):
        share = by_hits * record[1, r] - by_loss * record[2, r] - top - log_total(scores, r, i)
        for c in range(len(mixed)):
            if scores[r, i, c] > -np.inf:
                mixed[c] += math.exp(scores[r, i, c] + share)


@kernel
def join_rows(
    record: Floats,
    out: Floats,
    scores: Floats,
    y: Codes,
    w: Floats,
    by_hits: float,
    by_loss: float,
    learn: bool,
) -> None:
    """Predict, then record, row by row: add the log of the mixture of all readings, weighted by their record so far.

    With both rates 0 the leader alone is added. With rates 0 and 1 the log-loss of the mix never exceeds that of
    any reading by more than log R.
    record : float64[3, R], in/out; out : float64[n, K], in/out; scores : float64[R, n, K], in
    y : int32[n], in; w : float64[n], in
    """
    n, k = out.shape
    mixed = np.empty(k)
    for i in range(n):
        if by_hits > 0.0 or by_loss > 0.0:
            mix_row(mixed, record, scores, by_hits, by_loss, i)
            for c in range(k):
                out[i, c] += math.log(mixed[c]) if mixed[c] > 0.0 else -np.inf
        else:
            best = leader(record)
            for c in range(k):
                out[i, c] += scores[best, i, c]
        if learn and y[i] >= 0 and w[i] > 0.0:
            record_row(record, scores, i, y[i], w[i])
