"""Bootstrap weights, votes and adaptive windows, one value at a time."""

from __future__ import annotations

import math

MASK = (1 << 64) - 1


def mix(z: int) -> int:
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def poisson(seed: int, member: int, row: int, rate: float = 1.0) -> int:
    u = (mix(mix(mix(seed) ^ member) ^ row) >> 11) / 2**53
    k, term, total = 0, math.exp(-rate), math.exp(-rate)
    while u >= total:
        k += 1
        term *= rate / k
        total += term
    return k


def voted(joints, weights, hard):
    """Sum of the members' weighted distributions (or choices) over one row; classes in canonical order."""
    votes = [0.0] * len(joints[0])
    for joint, weight in zip(joints, weights, strict=True):
        top = max(joint)
        if top == -math.inf or weight <= 0:
            continue
        if hard:
            votes[joint.index(top)] += weight
            continue
        total = sum(math.exp(j - top) for j in joint)
        for c, j in enumerate(joint):
            votes[c] += weight * math.exp(j - top) / total
    return votes


class NaiveWindow:
    """Buckets as a list of (size, total, squares), oldest first."""

    def __init__(self, delta=0.002, clock=32):
        self.delta, self.clock, self.ticks = delta, clock, 0
        self.buckets: list[tuple[int, float, float]] = []

    def push(self, value: float) -> bool:
        self.buckets.append((1, value, value * value))
        size = 1
        while sum(b[0] == size for b in self.buckets) > 5:
            at = next(i for i, b in enumerate(self.buckets) if b[0] == size)
            a, b = self.buckets[at : at + 2]
            self.buckets[at : at + 2] = [(2 * size, a[1] + b[1], a[2] + b[2])]
            size *= 2
        self.ticks += 1
        rose = False
        if self.ticks % self.clock == 0:
            while sum(b[0] for b in self.buckets) > 10:
                found = self.cut()
                if found == 0:
                    break
                rose = rose or found > 0
                del self.buckets[0]
        return rose

    def cut(self) -> int:
        n = sum(b[0] for b in self.buckets)
        total = sum(b[1] for b in self.buckets)
        var = max(0.0, sum(b[2] for b in self.buckets) / n - (total / n) ** 2)
        d = math.log(2 * math.log(n) / self.delta)
        n0, u0 = 0, 0.0
        for size, u, _ in self.buckets:
            n0, u0 = n0 + size, u0 + u
            n1 = n - n0
            if n1 < 5:
                return 0
            if n0 >= 5:
                m = 1 / (n0 - 4) + 1 / (n1 - 4)
                gap = (total - u0) / n1 - u0 / n0
                if abs(gap) > math.sqrt(2 * m * var * d) + 2 / 3 * d * m:
                    return 1 if gap > 0 else -1
        return 0
