"""Joint counts and collections: 19 binary attributes, two classes, one core, from encoded blocks.

Kernels only: `bench_moa` times AODE from the user's hands, beside Weka's. For the rest there is no peer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bayou.align import from_empty
from bayou.block import Block
from bayou.readings.aode import OneDependence
from bayou.readings.collection import CollectionReader
from bayou.readings.joint_rows import OneDependent, readings_predict_then_update
from bayou.readings.parent_sets import Forests, NoParents, SuperParents, TwoParents
from bayou.schema import Declared, Schema
from bayou.summaries.joint_counts import JointCounts
from bayou.threads import set_threads

COLUMNS, ROWS = 19, 100_000


def random_block(n: int = ROWS, values: int = 2, missing: float = 0.0) -> Block:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, values, (n, COLUMNS)).astype(np.int32)
    codes[rng.random(codes.shape) < missing] = -1
    return Block(np.zeros((n, 0)), codes, (), rng.integers(0, 2, n).astype(np.int32), np.ones(n))


def empty_counts(order: int, values: int = 2) -> JointCounts:
    columns = {f"x{j}": [f"v{v}" for v in range(values)] for j in range(COLUMNS)}
    counts = JointCounts(order)
    counts.realign(from_empty(Schema(Declared(columns=columns, classes=["a", "b"]))))
    return counts


def rows_per_second(work: Callable[[], object], rows: int, repeats: int = 7) -> float:
    """The best of several runs in processor time, after one that compiles."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return rows / best


def row(work: str, ours: float, asked: float) -> dict[str, Any]:
    """A rate beside what is asked of it."""
    peer = f"asked {asked / 1e6:.2f}M"
    return {
        "work": work,
        "ours": f"{ours / 1e6:.2f}M rows/s",
        "peer": peer,
        "ratio": ours / asked,
        "target": 1,
    }


def learning() -> list[dict[str, Any]]:
    results, block = [], random_block()
    for order, name, target in ((2, "pairs", 50e6), (3, "triples", 25e6)):
        counts = empty_counts(order)
        rate = rows_per_second(lambda counts=counts: counts.update(block), ROWS)
        results.append(row(f"count {name}, 19 binary columns", rate, target))
    for values, missing, what in (
        (4, 0.0, "19 columns of 4 values"),
        (2, 0.05, "19 binary columns, 5 % missing"),
    ):
        block, counts = random_block(values=values, missing=missing), empty_counts(2, values)
        rate = rows_per_second(lambda counts=counts, block=block: counts.update(block), ROWS)
        results.append(row(f"count pairs, {what}", rate, 10e6))
    few = random_block(2_000, values=12)
    counts = empty_counts(2, 12)
    rate = rows_per_second(lambda: counts.update(few), few.n)
    results.append(row("count pairs one by one, 19 columns of 12 values", rate, 2e6))
    return results


def predicting() -> list[dict[str, Any]]:
    results, block, out = [], random_block(), np.zeros((ROWS, 2))
    for name, reader, order, target in (
        ("NB", CollectionReader(NoParents()), 2, 5e6),
        ("AODE", OneDependence(), 2, 1.2e6),
        ("FANC", CollectionReader(Forests()), 2, 1.5e6),
        ("SPC", CollectionReader(SuperParents(0)), 3, 0.8e6),
        ("TC", CollectionReader(TwoParents()), 3, 300e3),
    ):
        counts = empty_counts(order)
        counts.update(block)

        def predict(counts: JointCounts = counts, reader: Any = reader) -> None:
            counts.changed()
            reader.add_log_prob(counts, block, out)

        rate = rows_per_second(predict, ROWS, 3)
        results.append(row(f"predict {name}, table included", rate, target))
        part = block.rows(0, 5_000)

        def predict_then_update(
            counts: JointCounts = counts, reader: Any = reader, part: Block = part
        ) -> None:
            reader.predict_then_update(counts, part, out[: part.n])

        rate = rows_per_second(predict_then_update, part.n, 3)
        results.append(row(f"test-then-train {name}", rate, target / 2))
    return results


def reading_many() -> list[dict[str, Any]]:
    """Four readings predict and update one set of counts."""
    block, counts = random_block(5_000), empty_counts(3)
    collections = [CollectionReader(rule) for rule in (NoParents(), Forests(), TwoParents())]
    out = np.zeros((4, block.n, 2))

    def predict_then_update() -> None:
        readings_predict_then_update(
            counts, lambda s: [OneDependent, *(c.terms(s) for c in collections)], 1.0, block, out
        )

    rate = rows_per_second(predict_then_update, block.n, 3)
    return [row("test-then-train NB, AODE, FANC and TC at once", rate, 100e3)]


def run() -> list[dict[str, Any]]:
    """All rows of the table, rates in rows per second."""
    set_threads(1)
    return [*learning(), *predicting(), *reading_many()]
