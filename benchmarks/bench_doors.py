"""From the user's hands: naive Bayes on 19 two-valued names, held in every form, encoding included.

The peer of each line is the kernel alone, given a block that is encoded already: the ratio is the share of its rate
that reaches the user. Both are timed turn by turn, as the machine's speed changes within seconds. A cold vocabulary
meets every value for the first time; a warm one knows them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from bayou import NaiveBayes
from benchmarks.measure import alone, beside, best, row

N, Q = 8_192, 19
NAMES = [f"c{j}" for j in range(Q)]
# million rows per second that learning with a warm vocabulary must reach
TARGETS = {
    "Arrow dictionary": 8.0,
    "Arrow string": 2.0,
    "pandas category": 8.0,
    "pandas str": 2.0,
    "polars Categorical": 8.0,
    "polars Enum": 8.0,
}


def run() -> list[dict[str, object]]:
    return [*alone(doors), *alone(one_record)]


def forms(flags: Any) -> dict[str, Callable[[], Any]]:
    """One table in all its forms."""
    strings = np.where(flags, "yes", "no")
    lists = {name: strings[:, j].tolist() for j, name in enumerate(NAMES)}
    arrow, frame, polars = pa.table(lists), pd.DataFrame(lists), pl.DataFrame(lists)
    return {
        "Arrow dictionary": lambda: pa.table({name: arrow[name].dictionary_encode() for name in NAMES}),
        "Arrow string": lambda: arrow,
        "Arrow string_view": lambda: arrow.cast(pa.schema([(name, pa.string_view()) for name in NAMES])),
        "pandas category": lambda: frame.astype("category"),
        "pandas str": lambda: frame,
        "pandas object": lambda: frame.astype(object),
        "polars Categorical": lambda: polars.with_columns(pl.all().cast(pl.Categorical)),
        "polars Enum": lambda: polars.with_columns(pl.all().cast(pl.Enum(["no", "yes"]))),
        "polars String": lambda: polars,
        "NumPy bool": lambda: flags,
        "NumPy float": lambda: flags.astype(float),
        "NumPy U": lambda: strings,
        "NumPy StringDType": lambda: strings.astype(np.dtypes.StringDType()),
        "lists": lambda: lists,
        "records": lambda: [dict(zip(NAMES, cells, strict=True)) for cells in strings.tolist()],
    }


def doors() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    flags = rng.random((N, Q)) < np.where(y[:, None] == 1, 0.6, 0.4)
    return [line for name, form in forms(flags).items() for line in _door(name, form(), y)]


def _door(name: str, X: Any, y: Any) -> list[dict[str, object]]:
    model = NaiveBayes("gaussian")
    block = model.encode(X, y, learn=True)
    works: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "learn": (lambda: model.learn_batch(X, y), lambda: model.learn(block)),
        "predict": (lambda: model.proba(model.encode(X)), lambda: model.proba(block)),
        "test-then-train": (
            lambda: model.test_then_train_batch(X, y),
            lambda: model.test_then_train_encoded(block),
        ),
        "learn, cold": (lambda: NaiveBayes("gaussian").learn_batch(X, y), lambda: model.learn(block)),
    }
    lines = []
    for work, (ours, kernel) in works.items():
        ours(), kernel()
        repeats = 5 if best(ours, 1) > 0.05 else 50
        a, b = (N / seconds / 1e6 for seconds in beside(ours, kernel, repeats))
        target = f"{TARGETS[name]}M" if work == "learn" and name in TARGETS else "-"
        lines.append(row(f"{name}, {work}", f"{a:.3f}M rows/s", f"kernel only {b:.1f}M", a / b, target))
    return lines


def one_record() -> list[dict[str, object]]:
    """What one record costs before any model sees it."""
    rng = np.random.default_rng(0)
    numbers = [dict(zip("abcdefgh", cells, strict=True)) for cells in rng.random((1_000, 8)).tolist()]
    mixed = [{**x, "a": "no" if x["a"] < 0.5 else "yes", "b": "u" if x["b"] < 0.5 else "v"} for x in numbers]
    lines = []
    for name, records in (("8 numbers", numbers), ("6 numbers + 2 names", mixed)):
        model = NaiveBayes("gaussian")
        model.learn_batch(records, [i % 2 for i in range(1_000)])
        lane = model._require().records

        def encode(records=records, lane=lane):
            for x in records:
                lane.cells(x)

        def loop(records=records, model=model):
            for x in records:
                model.predict_proba_one(x)
                model.learn_one(x, 1)

        a, b = best(encode, 20) * 1e3, best(loop, 5) * 1e3
        lines.append(
            row(f"one record, {name}: encode", f"{a:.2f} us", f"predict-then-learn {b:.1f} us", b / a, "-")
        )
    return lines
