"""Bootstrap weights of a stream: Poisson numbers that depend on seed, member and row number only."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


@inner_kernel
def mix(z: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: a bijection of 64 bits in which every bit depends on all."""
    z = z + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@kernel
def poisson_weights(
    y: Codes, w: Floats, cumulative: Floats, seed: int, member: int, first: int, out: Floats
) -> None:
    """out[i] = w[i] times a Poisson number, drawn by the row's number among those with label and weight.

    y : int32[n], in; w : float64[n], in; cumulative : float64[m], in, P(K <= k); out : float64[n], out
    """
    base = mix(mix(np.uint64(seed)) ^ np.uint64(member))
    row = first
    for i in range(len(y)):
        out[i] = 0.0
        if y[i] >= 0 and w[i] > 0.0:
            u = float(mix(base ^ np.uint64(row)) >> np.uint64(11)) * UNIT
            k = 0
            while k < len(cumulative) and u >= cumulative[k]:
                k += 1
            out[i] = w[i] * k
            row += 1
