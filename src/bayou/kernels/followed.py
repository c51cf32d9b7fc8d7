"""A mixture of classifiers, their mean and their log-linear pool, weighted by how well each has predicted so far.

Expert a has the weight (share) q_a and predicts P_a; the mixture is sum_a q_a P_a. After a row, q_a is multiplied by
the probability that the expert gave the label, and a small part of all shares is moved back to the initial shares
(fixed share; Herbster and Warmuth, 1998), so that the log-loss stays near that of the best expert of every stretch of
the stream.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.pool import MEANS, ROWS, fill_inputs, log_prior, score, step
from bayou.kernels.votes import choice

LEAST = 1e-9  # lower bound of the probability that an expert gave the label
SEEN, RIGHT, LOSS, LATELY = range(4)  # rows of `record`


@inner_kernel
def add_mean(opinions: Floats, active: Index, out: Floats) -> None:
    """Write the mean of the active members' probabilities to out.

    opinions : float64[M, K], in; active : int64[M], in, 0 or 1; out : float64[K], out
    """
    for c in range(len(out)):
        out[c] = 0.0
    members = 0.0
    for m in range(len(active)):
        if active[m] == 1:
            members += 1.0
            for c in range(len(out)):
                out[c] += opinions[m, c]
    for c in range(len(out)):
        out[c] /= max(members, 1.0)


@inner_kernel
def move_shares(shares: Floats, starts: Floats, given: Floats, weight: float, back: float) -> None:
    """Multiply each share q_a by given_a^weight, normalise, and move the part `back` of all shares to `starts`.

    shares, starts, given : float64[E], shares in/out, the others in; an expert that starts with 0 takes no part
    """
    top = 0.0
    for a in range(len(shares)):
        if starts[a] > 0.0:
            top = max(top, max(given[a], LEAST))
    total = 0.0
    for a in range(len(shares)):
        if starts[a] > 0.0:
            shares[a] = max(shares[a] * (max(given[a], LEAST) / top) ** weight, 1e-300)
            total += shares[a]
    for a in range(len(shares)):
        shares[a] = (1.0 - back) * (shares[a] / total) + back * starts[a] if starts[a] > 0.0 else 0.0


@inner_kernel
def keep_record(
    record: Floats, starts: Floats, said: Floats, label: int, weight: float, order: Index, given: Floats
) -> None:
    """Write the probability every expert gave the label, and add up rows, hits, log-losses and misses of each.

    Nothing is added up for an expert that takes no part.

    record : float64[4, E], in/out; starts : float64[E], in, 0 for who takes no part; said : float64[E, K], in
    order : int64[K], in; given : float64[E], out
    """
    for a in range(len(given)):
        given[a] = said[a, label]
        if starts[a] <= 0.0:
            continue
        record[SEEN, a] += weight
        record[LOSS, a] -= weight * math.log(max(given[a], LEAST))
        if choice(said[a], order) == label:
            record[RIGHT, a] += weight
        else:
            record[LATELY, a] += weight


@kernel
def follow_rows(
    shares: Floats, record: Floats, starts: Floats, active: Index, shared: Floats, cells: Floats, scalars: Floats,
    opinions: Floats, classes: Floats, declared: int, y: Codes, w: Floats, order: Index,
    eta: float, forget: float, back: float, out: Floats,
) -> None:  # fmt: skip
    """Row by row: write the log-probabilities of the mixture to out, then learn the label if there is one.

    A member that is not active takes no part: its inputs to the pool are 0, and so is its share.

    shares : float64[M + 2], in/out, of the members, of their mean, of the pool; starts : float64[M + 2], in
    record : float64[4, M + 2], in/out; active : int64[M], in, 0 or 1
    shared : float64[3, M], in/out; cells : float64[3, M + 1, K], in/out; scalars : float64[3], in/out
    opinions : float64[n, M, K], in; classes : float64[K], in/out, counted along
    y : int32[n], in; w : float64[n], in; order : int64[K], in; out : float64[n, K], out
    """
    members, k = opinions.shape[1], opinions.shape[2]
    prior, inputs, scratch = np.empty(k), np.empty((members, k)), np.empty((3, k))
    delta, shared_delta = np.empty((members + 1, k)), np.empty(members)
    said, given = np.zeros((members + 2, k)), np.empty(members + 2)
    for i in range(len(y)):
        log_prior(classes, declared, prior)
        fill_inputs(opinions[i], prior, inputs)
        for m in range(members):
            for c in range(k):
                said[m, c] = opinions[i, m, c] if active[m] == 1 else 0.0
                if active[m] == 0:
                    inputs[m, c] = 0.0
        add_mean(opinions[i], active, said[members])
        score(MEANS, 1.0 / members, shared, cells, inputs, prior, said[members + 1])
        for c in range(k):
            known = prior[c] > -np.inf
            said[members + 1, c] = math.exp(said[members + 1, c]) if known else 0.0
            total = 0.0
            for a in range(members + 2):
                total += shares[a] * said[a, c]
            out[i, c] = math.log(total) if total > 0.0 else -np.inf
        label = y[i]
        if label < 0 or w[i] <= 0.0:
            continue
        if prior[label] > -np.inf:
            keep_record(record, starts, said, label, w[i], order, given)
            move_shares(shares, starts, given, w[i], back)
            step(
                1.0 / members, shared, cells, scalars, inputs, prior, label, w[i], eta, forget,
                scratch, delta, shared_delta,
            )  # fmt: skip
        scalars[ROWS] += 1.0
        classes[label] += w[i]
