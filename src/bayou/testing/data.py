"""Random labelled records as hard as streams: late classes, columns and values, missing and odd numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.schema import Label

ODD = np.array([np.nan, np.inf, -1e300, 5e-324, 0.0])


@dataclass(frozen=True)
class Data:
    """Records with labels and integer weights."""

    records: Sequence[dict[str, Any]]
    labels: Sequence[Label]
    weights: Sequence[float]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, rows: slice) -> Data:
        return Data(self.records[rows], self.labels[rows], self.weights[rows])

    def take(self, rows: Sequence[int]) -> Data:
        """The rows with these numbers."""
        return Data(
            [self.records[i] for i in rows], [self.labels[i] for i in rows], [self.weights[i] for i in rows]
        )

    def cut(self, rng: np.random.Generator, most: int = 12) -> list[Data]:
        """Consecutive pieces of random length."""
        pieces, at = [], 0
        while at < len(self):
            step = int(rng.integers(1, most + 1))
            pieces.append(self[at : at + step])
            at += step
        return pieces


def random_data(seed: int, n: int = 60, *, words: bool = False, odd: bool = True) -> Data:
    """`n` rows over mixed columns, or over counts of words; `odd` adds missing, infinite and huge values.

    >>> data = random_data(0, 3)
    >>> len(data), sorted(set(data.labels)) <= ["a", "b", "c"]
    (3, True)
    """
    rng = np.random.default_rng(seed)
    classes = ["a", "b"] + ["c"] * (n > 20)
    records, labels = [], []
    for i in range(n):
        known = classes if i > n // 3 else classes[: 1 + (i > 2)]
        label = _one_of(rng, known)
        shift = classes.index(label)
        late = i > n // 2
        records.append(_words(rng, shift, late) if words else _mixed(rng, shift, late, odd))
        labels.append(label)
    weights = rng.choice([0.0, 1.0, 1.0, 1.0, 2.0, 3.0], n).tolist()
    return Data(records, labels, weights)


def _one_of(rng: np.random.Generator, values: Any) -> Any:
    """A random element, as of `rng.choice`, but without converting the values to an array."""
    return values[rng.integers(len(values))]


def _mixed(rng: np.random.Generator, shift: int, late: bool, odd: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "wide": float(rng.normal(1000.0 * shift, 50.0)),
        "fine": float(rng.normal(1e-4 * shift, 1e-4)),
        "steps": int(rng.integers(0, 4)),
        "sky": _one_of(rng, ["blue", "grey", "red"] if late else ["blue", "grey"]),
        "flag": bool(rng.random() < 0.3 + 0.2 * shift),
    }
    if late:
        record["tide"] = float(rng.exponential(1.0 + shift))
        record["moon"] = _one_of(rng, ["new", "full"])
    for name in list(record):
        if rng.random() < 0.1:
            del record[name]
        elif odd and rng.random() < 0.05:
            number = not isinstance(record[name], str | bool)
            record[name] = _one_of(rng, ODD) if number else None
    return record


def _words(rng: np.random.Generator, shift: int, late: bool) -> dict[str, Any]:
    words = ["be", "do", "go", "up", "so"] + (["we", "no"] if late else [])
    return {
        word: int(rng.poisson(0.6 + (i % 3 == shift))) for i, word in enumerate(words) if rng.random() < 0.8
    }
