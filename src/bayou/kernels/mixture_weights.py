"""Mixture weights of experts: predictions are mixed by how well each has predicted so far."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Flags, Floats
from bayou.kernels.jit import kernel_piece

LEAST_PROBABILITY = 1e-9


@kernel_piece
def mix(mixture_weights: Floats, scores: Floats, takes_part: Flags, out: Floats) -> None:
    """Mix predictions: out[c] = log sum_a q_a P_a(c) over the experts a with takes_part[a], their weights q normalised.

    mixture_weights : float64[experts], in, 0 = takes no part; takes_part : bool[experts], in
    scores : float64[experts, K], in, log P_a; out : float64[K], out
    """
    silent, share = False, 0.0
    for a in range(len(mixture_weights)):
        if takes_part[a]:
            share += mixture_weights[a]
        elif mixture_weights[a] > 0.0:
            silent = True
    whole = math.log(share) if silent else 0.0
    for c in range(len(out)):
        top = -np.inf
        for a in range(len(mixture_weights)):
            if takes_part[a] and mixture_weights[a] > 0.0:
                top = max(top, scores[a, c])
        total = 0.0
        for a in range(len(mixture_weights)):
            if takes_part[a] and mixture_weights[a] > 0.0 and top > -np.inf:
                total += mixture_weights[a] * math.exp(scores[a, c] - top)
        out[c] = top + math.log(total) - whole if top > -np.inf else -np.inf


@kernel_piece
def share_mixture_weights(
    mixture_weights: Floats, scores: Floats, label: int, weight: float, share: float
) -> None:
    """Update the mixture weights (fixed share): q_a times P_a(label)^weight, normalised; then `share` is spread evenly.

    An expert of weight 0 takes no part and keeps 0.

    mixture_weights : float64[experts], in/out; scores : float64[experts, K], in, log P_a
    """
    floor = math.log(LEAST_PROBABILITY)
    top = -np.inf
    part = 0.0
    for a in range(len(mixture_weights)):
        if mixture_weights[a] > 0.0:
            part += 1.0
            top = max(top, max(scores[a, label], floor))
    total = 0.0
    for a in range(len(mixture_weights)):
        if mixture_weights[a] > 0.0:
            mixture_weights[a] = max(
                mixture_weights[a] * math.exp(weight * (max(scores[a, label], floor) - top)), 1e-300
            )
            total += mixture_weights[a]
    for a in range(len(mixture_weights)):
        if mixture_weights[a] > 0.0:
            mixture_weights[a] = (1.0 - share) * (mixture_weights[a] / total) + share / part
