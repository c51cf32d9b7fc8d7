"""Forests: `CountForest` beside scikit-learn's RandomForest with as many trees, `AdaptiveForest` beside MOA's forests.

    python -m benchmarks forests

Processor time on one core. `CountForest`: 40 trees on 20 numeric columns and two classes; rows are Arrow tables in
batches, encoding included, and single rows are dictionaries, beside scikit-learn's single-row matrices. Both forests
have learned the same rows. `AdaptiveForest`: test-then-train on the first rows of Electricity, which MOA holds in
memory as instances and ours as a table; without MOA or the data its lines are left out.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from reproduce.order import table
from reproduce.sets import load
from reproduce.streams import THEIRS, write_arff
from sklearn.ensemble import RandomForestClassifier

from bayou import AdaptiveForest, CountForest
from benchmarks import jars
from benchmarks.measure import alone, beside, best, row

COLUMNS, TREES = 20, 40
WARM_UP, ROWS, SINGLE = 20_000, 100_000, 200
BATCH = 10_000
STREAM_ROWS, PASSES = 20_000, 3


def run() -> list[dict[str, object]]:
    return [line for work in (counts, adaptive) for line in alone(work)]


def made_up(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of which five tell of the class, two of them only together."""
    x = np.random.default_rng(0).normal(size=(n, COLUMNS))
    y = x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * x[:, 3] - x[:, 4] > 0
    return x, y.astype(int)


def as_table(x: np.ndarray) -> pa.Table:
    return pa.table({f"x{j:02}": np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])})


def counts() -> list[dict[str, object]]:
    """A forest of counts after its warm-up."""
    x, y = made_up(WARM_UP + ROWS)
    model = CountForest(trees=TREES, warm_up=WARM_UP)
    model.learn_batch(as_table(x[:WARM_UP]), y[:WARM_UP])
    model.refresh()
    later, labels = as_table(x[WARM_UP:]), y[WARM_UP:]
    rate = _rate(lambda lo: model.test_then_train_batch(later[lo : lo + BATCH], labels[lo : lo + BATCH]))
    model_name = f"CountForest, {TREES} trees, {COLUMNS} columns"
    lines = [row(f"{model_name}, test-then-train", f"{rate:,.0f} rows/s", "asked 100,000", rate / 100_000, 1)]
    peer = RandomForestClassifier(TREES, n_jobs=1, random_state=0).fit(x[:WARM_UP], y[:WARM_UP])
    few = x[WARM_UP : WARM_UP + BATCH]
    asked = as_table(few)
    ours, theirs = beside(lambda: model.predict_proba(asked), lambda: peer.predict_proba(few))
    lines.append(_line(f"{model_name}, predict {BATCH:,} rows", BATCH / ours, BATCH / theirs, 1.5))
    records = [{f"x{j:02}": float(v) for j, v in enumerate(values)} for values in few[:SINGLE]]
    single = [few[i : i + 1] for i in range(SINGLE)]
    ours, theirs = beside(
        lambda: [model.predict_proba_one(record) for record in records],
        lambda: [peer.predict_proba(values) for values in single],
        3,
    )
    lines.append(_line(f"{model_name}, predict single rows", SINGLE / ours, SINGLE / theirs, 50))
    return lines


def _rate(work: Callable[[int], object]) -> float:
    """Rows per second of the median batch."""
    times = []
    for lo in range(0, ROWS, BATCH):
        begin = time.process_time()
        work(lo)
        times.append(time.process_time() - begin)
    return BATCH / float(np.median(times))


def _line(work: str, ours: float, theirs: float, target: float) -> dict[str, object]:
    peer_rate = f"RandomForest({TREES}) {theirs:,.0f} rows/s"
    return row(work, f"{ours:,.0f} rows/s", peer_rate, ours / theirs, target)


def adaptive() -> list[dict[str, object]]:
    """Test-then-train on a stream that drifts."""
    try:
        rows = load("elec", STREAM_ROWS)
    except FileNotFoundError:
        return []
    rows = rows.take(np.arange(min(STREAM_ROWS, len(rows))))
    X, y = table(rows)
    arrow = pa.table(X)

    def ours() -> None:
        model = AdaptiveForest(trees=10)  # as many as the peers have
        for lo in range(0, len(y), BATCH):
            model.test_then_train_batch(arrow[lo : lo + BATCH], y[lo : lo + BATCH])

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.arff"
        write_arff(path, rows)
        ours()
        for setting in THEIRS:
            rate = len(y) / best(ours, PASSES)
            peer = jars.moa(path, f"meta.{setting} -s 10", PASSES)
            if peer is not None:
                peer_rate = f"MOA {setting} {peer.test_then_train:,.0f} rows/s"
                work = f"AdaptiveForest(trees=10), first {len(y):,} rows of Electricity, test-then-train"
                lines.append(row(work, f"{rate:,.0f} rows/s", peer_rate, rate / peer.test_then_train, 5))
    return lines
