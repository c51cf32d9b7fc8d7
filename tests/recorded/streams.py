"""Small streams that are the same bits on every machine: made of hashed integers, sums and quotients only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCKS = (1, 7, 64, 200)


@dataclass(frozen=True)
class Stream:
    """Records with labels (None where a row has none) and weights."""

    records: Sequence[dict[str, Any]]
    labels: Sequence[Any]
    weights: Sequence[float]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, rows: slice) -> Stream:
        return Stream(self.records[rows], self.labels[rows], self.weights[rows])

    def labelled(self) -> Stream:
        """The rows that have a label."""
        kept = [i for i, label in enumerate(self.labels) if label is not None]
        return Stream(*([part[i] for i in kept] for part in (self.records, self.labels, self.weights)))

    def blocks(self) -> list[Stream]:
        """Consecutive blocks of several sizes."""
        out, at = [], 0
        for size in cycle(BLOCKS):
            if at >= len(self):
                return out
            out.append(self[at : at + size])
            at += size
        raise AssertionError


class Draws:
    """Uniform and bell-shaped numbers by a hash of (seed, draw, row); no function of the C library is involved."""

    def __init__(self, seed: int, n: int) -> None:
        self.n = n
        self._next = seed << 20

    def uniform(self) -> NDArray[np.float64]:
        """n numbers in [0, 1)."""
        self._next += 1
        z = np.arange(self.n, dtype=np.uint64) + np.uint64((self._next * 0x9E3779B97F4A7C15) % (1 << 64))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / (1 << 53)

    def bell(self) -> NDArray[np.float64]:
        """n numbers of mean 0 and variance 1: a sum of twelve."""
        total = -6.0 * np.ones(self.n)
        for _ in range(12):
            total = total + self.uniform()
        return total

    def below(self, k: int) -> NDArray[np.int64]:
        """n integers in [0, k)."""
        return (self.uniform() * k).astype(np.int64)


def numbers(n: int = 1600) -> Stream:
    """Five numeric columns and three classes whose places change after three fifths of the rows."""
    draw = Draws(1, n)
    y = draw.below(3)
    moved = np.where(np.arange(n) < 3 * n // 5, y, (y + 1) % 3)
    columns = {
        "wide": 1000.0 * moved + 400.0 * draw.bell(),
        "fine": (1e-4 * draw.bell() + 1e-4 * (y == 1)),
        "steps": (2.0 * draw.bell() + moved).round(),
        "noise": draw.uniform(),
        "square": draw.bell() * draw.bell() * (1.0 + y),
    }
    return _stream(columns, y.tolist(), np.ones(n))


def names(n: int = 1100) -> Stream:
    """Six nominal columns, some of which depend on others, and three classes."""
    draw = Draws(2, n)
    y = draw.below(3)
    a = np.where(draw.uniform() < 0.6, y, draw.below(4))
    b = np.where(draw.uniform() < 0.7, (a + y) % 3, draw.below(3))
    c = np.where(draw.uniform() < 0.5, (a + b) % 5, draw.below(6))
    d = np.where(draw.uniform() < 0.4, (b + c + y) % 4, draw.below(4))
    e = draw.below(2)
    f = np.where(draw.uniform() < 0.3, (y == 2) ^ (e == 1), draw.below(2))
    columns = {
        name: [f"{name}{v}" for v in column] for name, column in zip("abcd", (a, b, c, d), strict=True)
    }
    columns |= {"even": [bool(v) for v in e], "flag": [bool(v) for v in f]}
    return _stream(columns, [("low", "mid", "high")[c] for c in y], np.ones(n))


def mixed(n: int = 900) -> Stream:
    """Numbers and names with missing and odd values, weights, rows without label; things that appear late."""
    draw = Draws(3, n)
    row = np.arange(n)
    y = np.where(row < n // 4, draw.below(2), np.where(row < n // 2, draw.below(3), draw.below(4)))
    late = row >= n // 3
    columns: dict[str, list[Any]] = {
        "x1": (3.0 * y + draw.bell()).tolist(),
        "x2": (draw.bell() * (1.0 + y)).tolist(),
        "x10": (draw.below(6) + y).tolist(),
        "sky": [("blue", "grey", "red", "black")[v] for v in np.where(late, draw.below(4), draw.below(2))],
        "flag": (draw.uniform() < 0.2 + 0.2 * y).tolist(),
        "town": [f"t{v}" for v in np.where(draw.uniform() < 0.5, 5 * y, draw.below(30))],
        "tide": (draw.uniform() + y / 2).tolist(),
        "moon": [("new", "full")[v] for v in (draw.uniform() < 0.3 + 0.1 * y).astype(int)],
    }
    for name in ("tide", "moon"):
        columns[name] = [value if later else None for value, later in zip(columns[name], late, strict=True)]
    odd = (float("nan"), float("inf"), -1e300, 5e-324, 0.0)
    for name, values in columns.items():
        gone, strange, which = draw.uniform() < 0.08, draw.uniform() < 0.03, draw.below(5)
        for i in range(n):
            if gone[i]:
                values[i] = None
            elif strange[i] and values[i] is not None and name.startswith("x"):
                values[i] = odd[which[i]]
    weights = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 3.0])[draw.below(6)]
    labels = [None if u < 0.05 else "bcda"[c] for u, c in zip(draw.uniform(), y, strict=True)]
    return _stream(columns, labels, weights)


def shares(n: int = 700) -> Stream:
    """The rows of `mixed`, all with a label and with weights that are no whole numbers."""
    whole = mixed(n)
    labels = ["a" if label is None else label for label in whole.labels]
    return Stream(whole.records, labels, (Draws(4, n).uniform() + 0.25).tolist())


def texts(n: int = 600) -> Stream:
    """Documents as text, with words that appear late; a title that is often missing."""
    draw, length = Draws(5, n), 12
    y = draw.below(3)
    known = np.where(np.arange(n) < n // 2, 40, 120)
    said = np.array([np.where(draw.uniform() < 0.5, 7 * y + draw.below(9), (draw.uniform() * known).astype(int))
                     for _ in range(length)])  # fmt: skip
    many = 1 + draw.below(length)
    columns = {
        "text": [" ".join(f"w{v}" for v in said[: many[i], i]) for i in range(n)],
        "title": [f"w{said[0, i]} t{y[i]}" if i % 3 else None for i in range(n)],
    }
    return _stream(columns, [("news", "sport", "art")[c] for c in y], np.ones(n))


def counts(n: int = 600) -> Stream:
    """Documents as counts of words."""
    draw = Draws(6, n)
    y = draw.below(4)
    columns: dict[str, Any] = {}
    for word in range(24):
        often = draw.uniform() * (1.0 + 3.0 * (y == word % 4))
        column = np.where(often > 0.8, 1 + (2.0 * often).astype(int), 0)
        late = word >= 18
        columns[f"w{word}"] = [
            v if v and not (late and i < n // 2) else None for i, v in enumerate(column.tolist())
        ]
    return _stream(columns, y.tolist(), 1.0 + draw.below(2))


def many(n: int = 700, classes: int = 30) -> Stream:
    """Numbers and names of many classes, which arrive one after the other."""
    draw = Draws(7, n)
    y = (draw.uniform() * np.minimum(classes, 4 + np.arange(n) // 12)).astype(np.int64)
    columns = {f"x{j}": ((y * (3 + 2 * j)) % 11 + draw.bell()).tolist() for j in range(4)}
    for j in range(4):
        columns[f"n{j}"] = [
            f"v{v}" for v in np.where(draw.uniform() < 0.7, (y * (5 + 4 * j)) % 7, draw.below(7))
        ]
    return _stream(columns, (100 - y).tolist(), np.ones(n))


def values(n: int = 1200) -> Stream:
    """Nominal columns of hundreds of values, beside a plain one."""
    draw = Draws(8, n)
    y = draw.below(3)
    rare = draw.uniform()
    columns = {
        "shop": [f"s{v}" for v in (rare * rare * (100.0 + np.arange(n) / 4)).astype(int) * 3 + y],
        "user": [f"u{v}" for v in draw.below(900)],
        "code": [str(v) for v in draw.below(60) + 20 * y],
        "plain": [f"p{v}" for v in (y + draw.below(2)) % 4],
    }
    return _stream(columns, [("yes", "no", "maybe")[c] for c in y], np.ones(n))


def _stream(columns: dict[str, Any], labels: list[Any], weights: NDArray[Any]) -> Stream:
    lists = {
        name: np.asarray(v).tolist() if isinstance(v, np.ndarray) else list(v) for name, v in columns.items()
    }
    n = len(labels)
    records = [{name: v[i] for name, v in lists.items() if v[i] is not None} for i in range(n)]
    return Stream(records, labels, weights.tolist())


MAKERS = {f.__name__: f for f in (numbers, names, mixed, shares, texts, counts, many, values)}


@cache
def stream(name: str, rows: int | None = None) -> Stream:
    """A stream by name, its first rows if told how many."""
    made = MAKERS[name]()
    return made if rows is None else made[:rows]
