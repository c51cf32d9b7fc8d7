"""Pseudo-random numbers that are the same in every process, on every machine, for ever (SplitMix64)."""

from __future__ import annotations

from collections.abc import Iterator

MASK = (1 << 64) - 1


def mixed(seed: int) -> Iterator[int]:
    """An endless sequence of 64-bit numbers.

    >>> numbers = mixed(0)
    >>> next(numbers), next(numbers)
    (16294208416658607535, 7960286522194355700)
    """
    state = seed & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        yield z ^ (z >> 31)


def shuffled(n: int, seed: int) -> list[int]:
    """0 ... n - 1 in drawn order (Fisher and Yates)."""
    items, numbers = list(range(n)), mixed(seed)
    for i in range(n - 1, 0, -1):
        j = next(numbers) % (i + 1)
        items[i], items[j] = items[j], items[i]
    return items
