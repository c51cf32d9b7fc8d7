"""Blocks of numeric columns and the truth about them, for tests of quantile summaries."""

from __future__ import annotations

import numpy as np

from bayou.align import Alignment, Axis
from bayou.block import Block


def plan(p, k, p0=0, k0=0, declared=0):
    """From p0 numeric columns and k0 classes to p and k, nothing else."""
    none = Axis(np.arange(0), 0)
    return Alignment(Axis(np.arange(k0), k, declared), Axis(np.arange(p0), p), none, (), none, ())


def block_of(x, y, w=None):
    x = np.ascontiguousarray(np.asarray(x, dtype=np.float64))
    x = x[:, None] if x.ndim == 1 else x
    w = np.ones(len(x)) if w is None else np.asarray(w, dtype=np.float64)
    return Block(x, np.empty((len(x), 0), np.int32), (), np.asarray(y, dtype=np.int32), w)


def filled(summary, x, y, w=None, k=None):
    block = block_of(x, y, w)
    summary.realign(plan(block.numeric.shape[1], k or int(max(y)) + 1))
    summary.update(block)
    return summary


def order(name, n, rng):
    """n numbers in an order that is hard on somebody."""
    a = np.sort(rng.normal(size=n))
    ends = np.empty(n)
    ends[0::2], ends[1::2] = a[: (n + 1) // 2], a[::-1][: n // 2]
    blocks = np.array_split(a, max(1, n // 97))
    mixed = np.array_split(rng.permutation(a), max(1, n // 300))
    return {
        "random": lambda: rng.permutation(a),
        "sorted": lambda: a,
        "reversed": lambda: a[::-1],
        "outside-in": lambda: ends,
        "inside-out": lambda: ends[::-1],
        "zigzag": lambda: np.concatenate([np.sort(m)[:: 1 - 2 * (i % 2)] for i, m in enumerate(mixed)]),
        "shuffled blocks": lambda: np.concatenate([blocks[i] for i in rng.permutation(len(blocks))]),
        "duplicates": lambda: np.round(rng.permutation(a) * 20),
        "few": lambda: np.round(rng.permutation(a) * 3),
        "spike": lambda: np.where(rng.random(n) < 0.5, 0.0, rng.permutation(a)),
    }[name]()


ORDERS = [
    "random", "sorted", "reversed", "outside-in", "inside-out", "zigzag", "shuffled blocks", "duplicates",
    "few", "spike",
]  # fmt: skip
