"""Test-then-train from Arrow beside MOA and River, AODE beside Weka's: the same rows, held as each system wants them.

Ours are timed from a table in the user's hands, in batches, encoding included; MOA's and Weka's rows are instances in
memory; River's are dicts. Processor time, one core.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from river import naive_bayes as river

from bayou import AODE, NaiveBayes
from benchmarks import jars
from benchmarks.measure import alone, best, row

BATCH = 8_192
RIVER_ROWS = 3_000


def run() -> list[dict[str, object]]:
    return [line for work in (names, mixed, wide, indicators, aode) for line in alone(work)]


def two_valued(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """19 columns of two names."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    flags = rng.random((n, 19)) < np.where(y[:, None] == 1, 0.6, 0.4)
    return {f"c{j}": np.where(flags[:, j], "yes", "no") for j in range(19)}, y


def numbers_and_names(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """6 numeric columns and 2 of seven names."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    numbers = rng.normal(size=(n, 6)) + 0.5 * y[:, None]
    found = {f"n{j}": np.round(numbers[:, j], 4) for j in range(6)}
    return found | {f"c{j}": rng.integers(0, 7, n).astype(str) for j in range(2)}, y


def numbers(n: int, columns: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Numeric columns alone."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    drawn = np.round(rng.normal(size=(n, columns)) + 0.1 * y[:, None], 4)
    return {f"n{j}": drawn[:, j] for j in range(columns)}, y


def numbers_and_flags(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """10 numeric columns and 44 of 0 and 1, half of which are constant in a class, in 7 classes: as in Covertype."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, n)
    chance = rng.random((7, 44)) * (rng.random((7, 44)) < 0.5)
    drawn = np.round(rng.normal(size=(n, 10)) + 0.1 * y[:, None], 4)
    flags = (rng.random((n, 44)) < chance[y]).astype(float)
    return {f"n{j}": column for j, column in enumerate(np.column_stack([drawn, flags]).T)}, y


def as_table(columns: dict[str, np.ndarray]) -> pa.Table:
    """An Arrow table with names as dictionaries."""
    return pa.table(
        {
            name: pa.array(values) if values.dtype.kind == "f" else pa.array(values).dictionary_encode()
            for name, values in columns.items()
        }
    )


def _by_batches(work: Callable[[pa.Table, np.ndarray], object], X: pa.Table, y: np.ndarray) -> float:
    """Rows per second of work on all batches, one after the other."""

    def through() -> None:
        for lo in range(0, len(y), BATCH):
            work(X[lo : lo + BATCH], y[lo : lo + BATCH])

    through()
    return len(y) / best(through, 7)


def _rates(make: Callable[[], Any], X: pa.Table, y: np.ndarray) -> jars.Rates:
    learned, asked, both = make(), make(), make()
    asked.learn_batch(X, y)
    return jars.Rates(
        _by_batches(learned.learn_batch, X, y),
        _by_batches(lambda X, _: asked.proba(asked.encode(X)), X, y),
        _by_batches(both.test_then_train_batch, X, y),
    )


def _river(model: Any, columns: dict[str, np.ndarray], y: np.ndarray) -> float:
    keys = list(columns)
    lines = zip(*(values[:RIVER_ROWS].tolist() for values in columns.values()), strict=True)
    records = [dict(zip(keys, line, strict=True)) for line in lines]
    labels = y[:RIVER_ROWS].tolist()

    def loop() -> None:
        for x, label in zip(records, labels, strict=True):
            model.predict_proba_one(x)
            model.learn_one(x, label)

    return len(labels) / best(loop, 2)


def _beside(
    subject: str, ours: jars.Rates, name: str, peer: jars.Rates | None, targets: dict[str, object]
) -> list[dict[str, object]]:
    lines = []
    for work in jars.Rates._fields:
        a = getattr(ours, work)
        label = f"{subject}, {work.replace('_', '-')}"
        if peer is None:
            lines.append(row(label, _rate(a), f"{name}: not here", None, targets.get(work, "-")))
        else:
            b = getattr(peer, work)
            lines.append(row(label, _rate(a), f"{name} {_rate(b)}", a / b, targets.get(work, "-")))
    return lines


def _rate(value: float) -> str:
    return f"{value / 1e6:.2f}M rows/s" if value >= 1e5 else f"{value:,.0f} rows/s"


def _naive_bayes(
    subject: str,
    columns: dict[str, np.ndarray],
    y: np.ndarray,
    targets: dict[str, object],
    densities: tuple[str, ...],
) -> list[dict[str, object]]:
    X = as_table(columns)
    with tempfile.TemporaryDirectory() as place:
        peer = jars.moa(jars.write_arff(Path(place) / "rows.arff", columns, y))
    lines = []
    for density in densities:
        ours = _rates(lambda density=density: NaiveBayes(density), X, y)
        lines += _beside(f"NaiveBayes('{density}') from Arrow, {subject}", ours, "MOA", peer, targets)
    return lines


def names() -> list[dict[str, object]]:
    columns, y = two_valued(100_000)
    lines = _naive_bayes("19 names", columns, y, {"test_then_train": 2}, ("gaussian",))
    flags = {name: (values == "yes").astype(int) for name, values in columns.items()}
    return [
        *lines,
        *_beside_river("19 names", columns, y, "BernoulliNB", _river(river.BernoulliNB(), flags, y)),
    ]


def mixed() -> list[dict[str, object]]:
    columns, y = numbers_and_names(100_000)
    lines = _naive_bayes("6 numbers + 2 names", columns, y, {"test_then_train": 3}, ("gaussian", "auto"))
    floats = {name: values.astype(float) for name, values in columns.items()}
    peer = _river(river.GaussianNB(), floats, y)
    return [*lines, *_beside_river("6 numbers + 2 names", columns, y, "GaussianNB", peer)]


def _beside_river(
    subject: str, columns: dict[str, np.ndarray], y: np.ndarray, name: str, peer: float
) -> list[dict[str, object]]:
    ours = _by_batches(NaiveBayes("gaussian").test_then_train_batch, as_table(columns), y)
    label = f"NaiveBayes('gaussian') from Arrow, {subject}, test-then-train beside River"
    return [row(label, _rate(ours), f"River {name} {_rate(peer)}", ours / peer, 400)]


def wide() -> list[dict[str, object]]:
    columns, y = numbers(8_000, 500)
    return _naive_bayes("500 numbers", columns, y, {"test_then_train": 8}, ("gaussian", "auto"))


def indicators() -> list[dict[str, object]]:
    columns, y = numbers_and_flags(50_000)
    return _naive_bayes("10 numbers + 44 flags, 7 classes", columns, y, {}, ("gaussian",))


def aode() -> list[dict[str, object]]:
    columns, y = two_valued(100_000)
    with tempfile.TemporaryDirectory() as place:
        peer = jars.weka_aode(jars.write_arff(Path(place) / "rows.arff", columns, y))
    targets = {"learn": 2, "predict": 1.3, "test_then_train": 1}
    return _beside("AODE from Arrow, 19 names", _rates(AODE, as_table(columns), y), "Weka", peer, targets)
